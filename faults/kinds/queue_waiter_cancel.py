"""The task that waits for an outcome is cancelled; the submit is not."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from ..kind import Kind
from ._queue_words import instants


@dataclass(frozen=True, kw_only=True)
class QueueWaiterCancel:
    """``submit``: the number of the submit, in order of submission."""

    at: float = 1.0
    submit: int = 0


KINDS = (
    Kind(
        name="queue_waiter_cancel",
        place="step",
        data=QueueWaiterCancel,
        strategy=lambda: st.builds(QueueWaiterCancel, at=instants(), submit=st.integers(0, 3)),
        words=lambda data: f"at {data.at:g} s cancels the task that waits for submit {data.submit}",
        at=lambda data: float(data.at),
        act=lambda data, hands: hands.cancel_waiter(data.submit),
    ),
)
