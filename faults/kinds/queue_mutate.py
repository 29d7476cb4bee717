"""The caller changes its own payload object after it has been submitted."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from ..kind import Kind
from ._queue_words import instants


@dataclass(frozen=True, kw_only=True)
class QueueMutate:
    """``submit``: the number of the submit, in order of submission."""

    at: float = 1.0
    submit: int = 0


KINDS = (
    Kind(
        name="queue_mutate",
        place="step",
        data=QueueMutate,
        strategy=lambda: st.builds(QueueMutate, at=instants(), submit=st.integers(0, 3)),
        words=lambda data: f"at {data.at:g} s changes the payload object of submit {data.submit}",
        at=lambda data: float(data.at),
        act=lambda data, hands: hands.mutate(data.submit),
        suits=lambda dialect: dialect.snapshots,
    ),
)
