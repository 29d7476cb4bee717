"""Another writer changes an object: its resourceVersion moves on."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from ..kind import Kind
from ._queue_words import instants


@dataclass(frozen=True, kw_only=True)
class QueueExternal:
    """``name``: of the pod. ``target``: the condition that is written."""

    at: float = 1.0
    name: str = "pod-1"
    target: str = "other"


KINDS = (
    Kind(
        name="queue_external",
        place="step",
        data=QueueExternal,
        strategy=lambda: st.builds(
            QueueExternal,
            at=instants(),
            name=st.sampled_from(("pod-1", "pod-2")),
            target=st.sampled_from(("other", "status")),
        ),
        words=lambda data: f"at {data.at:g} s another writer changes {data.target} of {data.name}",
        at=lambda data: float(data.at),
        act=lambda data, hands: hands.external_write(data.name, data.target),
    ),
)
