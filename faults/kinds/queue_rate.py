"""The quota changes."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from ..kind import Kind
from ._queue_words import instants


@dataclass(frozen=True, kw_only=True)
class QueueRate:
    """``qps``: attempts a second. ``burst``: attempts at once."""

    at: float = 1.0
    qps: float = 1.0
    burst: int = 1


KINDS = (
    Kind(
        name="queue_rate",
        place="step",
        data=QueueRate,
        strategy=lambda: st.builds(
            QueueRate, at=instants(), qps=st.sampled_from((1.0, 0.2, 5.0, 50.0)), burst=st.sampled_from((1, 2, 10))
        ),
        words=lambda data: f"at {data.at:g} s sets the quota to {data.qps:g} a second, {data.burst} at once",
        at=lambda data: float(data.at),
        act=lambda data, hands: hands.set_rate(data.qps, data.burst),
        suits=lambda dialect: dialect.rate,
    ),
)
