"""A scheduling context is over, and the queue is told."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from ..kind import Kind
from ._queue_words import instants


@dataclass(frozen=True, kw_only=True)
class QueueContextEnd:
    """``context``: its name."""

    at: float = 1.0
    context: str = "context-1"


KINDS = (
    Kind(
        name="queue_context_end",
        place="step",
        data=QueueContextEnd,
        strategy=lambda: st.builds(QueueContextEnd, at=instants(), context=st.sampled_from(("context-1", "context-2"))),
        words=lambda data: f"at {data.at:g} s ends {data.context}",
        at=lambda data: float(data.at),
        act=lambda data, hands: hands.end_context(data.context),
        suits=lambda dialect: dialect.contexts,
        weight=2,
    ),
)
