"""The caller cancels one of its submits."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from ..kind import Kind
from ._queue_words import instants


@dataclass(frozen=True, kw_only=True)
class QueueCancel:
    """``submit``: the number of the submit, in order of submission."""

    at: float = 1.0
    submit: int = 0


KINDS = (
    Kind(
        name="queue_cancel",
        place="step",
        data=QueueCancel,
        strategy=lambda: st.builds(QueueCancel, at=instants(), submit=st.integers(0, 3)),
        words=lambda data: f"at {data.at:g} s cancels submit {data.submit}",
        at=lambda data: float(data.at),
        act=lambda data, hands: hands.cancel(data.submit),
        suits=lambda dialect: dialect.cancels,
        weight=2,
    ),
)
