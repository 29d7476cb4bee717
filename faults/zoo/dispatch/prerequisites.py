"""Seeded bugs of prerequisites: a bind that does not wait for them, or goes on without."""

from __future__ import annotations

from typing import Any

from ....harness.subjects.dispatch.parts import Fate
from ....harness.subjects.dispatch.standing import consider
from ....harness.subjects.dispatch.superseding import dominates
from ..bug import wrapping
from ._bug import QueueBug


def _sent_is_done(original: Any, parts: Any, now: float) -> Any:
    attempt = original(parts, now)
    if attempt is not None:
        for uid in attempt.entry.prerequisite_of:
            parts.needs.remove(uid, attempt.entry)
            for bind in parts.binds.live.of(uid):
                consider(parts, bind)
    return attempt


def _over_is_done(original: Any, parts: Any, entry: Any, fate: Fate, heir: Any) -> None:  # noqa: ARG001 - the seam's
    original(parts, entry, Fate.DONE, heir)


def _droppable_all_the_same(item: Any) -> bool:
    entry = item[4]
    return (
        entry.state in (0, 1, 4)
        and entry.attempts == 0
        and entry.droppable
        and item[:3] == (-entry.rank, -entry.deadline, entry.cost)
    )


def _its_own_too(one: Any, other: Any) -> bool:
    return one.level > other.level or dominates(one, other)


BUGS = (
    QueueBug(
        name="sent-is-done", summary="a bind is sent as soon as its prerequisite is under way", invariant="dispatch.prerequisite_first",
        source="D27 volcano-sh/volcano#1383", replaced={"core:start": wrapping(_sent_is_done)},
    ),
    QueueBug(
        name="over-is-done", summary="a bind is sent when its prerequisite is over, though it has failed", invariant="dispatch.prerequisite_failed",
        source="D10 kubernetes/kubernetes!135495", replaced={"ending:_tell_binds": wrapping(_over_is_done)},
    ),
    QueueBug(
        name="a-prerequisite-is-dropped", summary="a prerequisite of a bind is dropped for room like any other call",
        invariant="dispatch.no_prerequisite_dropped", source="own", replaced={"limits:_droppable": _droppable_all_the_same},
    ),
    QueueBug(
        name="a-bind-supersedes-what-it-needs", summary="a bind supersedes the patch of its own pod that it has to wait for, so that neither is ever sent",
        invariant="dispatch.settles", source="own", replaced={"superseding:dominates": _its_own_too, "ending:dominates": _its_own_too},
        mode="threads",
    ),
)  # fmt: skip
