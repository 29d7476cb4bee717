"""Somebody else deletes an object; mostly the queue is told."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from ..kind import Kind
from ._queue_words import instants


@dataclass(frozen=True, kw_only=True)
class QueueDelete:
    """``name``: of the pod. ``told``: the queue is told at once; if not, never."""

    at: float = 1.0
    name: str = "pod-1"
    told: bool = True


KINDS = (
    Kind(
        name="queue_delete",
        place="step",
        data=QueueDelete,
        strategy=lambda: st.builds(
            QueueDelete,
            at=instants(),
            name=st.sampled_from(("pod-1", "pod-2")),
            told=st.sampled_from((True, True, False)),
        ),
        words=lambda data: f"at {data.at:g} s deletes {data.name}{'' if data.told else ' (the queue is not told)'}",
        at=lambda data: float(data.at),
        act=lambda data, hands: hands.delete_object(data.name, told=data.told),
    ),
)
