"""An object is made anew under the same name, with another uid; one that is there is deleted first."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from ..kind import Kind
from ._queue_words import instants


@dataclass(frozen=True, kw_only=True)
class QueueRecreate:
    """``name``: of the pod. ``uid``: of the new one. ``told``: the queue is told that the old one is gone."""

    at: float = 1.0
    name: str = "pod-1"
    uid: str = "uid-9"
    told: bool = True


KINDS = (
    Kind(
        name="queue_recreate",
        place="step",
        data=QueueRecreate,
        strategy=lambda: st.builds(
            QueueRecreate,
            at=instants(),
            name=st.sampled_from(("pod-1", "pod-2")),
            told=st.sampled_from((True, True, False)),
        ),
        words=lambda data: (
            f"at {data.at:g} s deletes {data.name} and makes it anew as {data.uid}{'' if data.told else ' (the queue is not told)'}"
        ),
        at=lambda data: float(data.at),
        act=lambda data, hands: hands.recreate(data.name, data.uid, told=data.told),
    ),
)
