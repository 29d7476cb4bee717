"""The queue is closed."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from ..kind import Kind
from ._queue_words import instants


@dataclass(frozen=True, kw_only=True)
class QueueClose:
    """``at``: virtual seconds since the start."""

    at: float = 1.0


KINDS = (
    Kind(
        name="queue_close",
        place="step",
        data=QueueClose,
        strategy=lambda: st.builds(QueueClose, at=instants()),
        words=lambda data: f"at {data.at:g} s closes the queue",
        at=lambda data: float(data.at),
        act=lambda _, hands: hands.close("caller"),
    ),
)
