"""Seeded bugs of room: capacity, drops, workers and shares."""

from __future__ import annotations

import dataclasses
from typing import Any

from ....harness.subjects.dispatch.coalescing import twin_key
from ....harness.subjects.dispatch.entry import BACKOFF, BLOCKED, READY, WITHHELD
from ....harness.subjects.dispatch.heaps import LazyHeap
from ....harness.subjects.dispatch.limits import _least
from ..bug import wrapping
from ._bug import QueueBug


def _twins_take_no_room(original: Any, parts: Any, ticket: Any) -> Any:
    config = parts.config
    if parts.twins.twin_of(ticket.call, twin_key(ticket.call)) is not None:
        parts.config = dataclasses.replace(config, capacity=10**9)
    try:
        return original(parts, ticket)
    finally:
        parts.config = config


def _ghosts_take_room(original: Any, parts: Any, ticket: Any) -> Any:
    config, ghosts = parts.config, vars(parts).get("ghosts", 0)
    parts.config = dataclasses.replace(config, capacity=max(1, config.capacity - ghosts))
    try:
        return original(parts, ticket)
    finally:
        parts.config = config


def _leaves_a_ghost(original: Any, parts: Any, ticket: Any, kind: str, reason: str) -> None:
    if kind == "cancelled" and ticket.entry is not None and not ticket.entry.unanswered:
        vars(parts)["ghosts"] = vars(parts).get("ghosts", 0) + 1
    original(parts, ticket, kind, reason)


def _also_in_backoff(item: Any) -> bool:
    entry = item[4]
    return entry.state in (READY, BLOCKED, WITHHELD, BACKOFF) and entry.droppable and not entry.prerequisite_of


def _old_for_new(self: Any, newcomer: Any, entries: Any) -> Any:  # noqa: ARG001 - the seam's
    """A tie is the newcomer's."""
    droppable = [
        one for one in entries if one.state in (READY, BLOCKED, WITHHELD) and one.attempts == 0 and one.droppable
    ]
    least = LazyHeap(lambda _: True, [_least(one) for one in droppable if not one.prerequisite_of]).top()
    return least[4] if least is not None and least[:3] <= newcomer[:3] else None


def _loosest(original: Any, entry: Any, ticket: Any, call: Any, aging: float) -> bool:
    loose = entry.droppable or call.droppable
    changed: bool = original(entry, ticket, call, aging)
    entry.droppable = loose
    return changed


def _one_more(original: Any, self: Any, config: Any, **options: Any) -> None:
    original(self, dataclasses.replace(config, workers=config.workers + 1), **options)


def _joiners_take_no_share(original: Any, parts: Any, ticket: Any, twin: Any) -> None:
    original(parts, ticket, twin)
    if ticket.call.plugin in parts.room.live:
        parts.room.live[ticket.call.plugin] -= 1


def _the_other_share(self: Any) -> Any:
    """The first number of the pair, where the second is meant."""
    best = self.common.top()
    for plugin, lane in self.lanes.items():
        if self.executing[plugin] < self.shares[plugin][0]:
            first = lane.top()
            if first is not None and (best is None or first < best):
                best = first
    return None if best is None else best[2]


BUGS = (
    QueueBug(
        name="twins-take-no-room", summary="a twin is let in however full the queue is", invariant="dispatch.capacity",
        source="D72 celery/celery#9849", replaced={"core:admit": wrapping(_twins_take_no_room)},
    ),
    QueueBug(
        name="cancelled-calls-take-room", summary="a call that was cancelled takes room until the queue is opened anew",
        invariant="dispatch.given_up_only_when_full", source="D92 aio-libs/aiojobs#290",
        replaced={"core:admit": wrapping(_ghosts_take_room), "core:leave": wrapping(_leaves_a_ghost)},
    ),
    QueueBug(
        name="what-was-sent-is-dropped", summary="a call that was sent and waits to be tried again is dropped for room",
        invariant="dispatch.drop_allowed", source="own", replaced={"limits:_droppable": _also_in_backoff},
    ),
    QueueBug(
        name="one-joiner-makes-it-droppable", summary="a call is droppable if one of those who joined says so", invariant="dispatch.drop_allowed",
        source="own", replaced={"admission:joined": wrapping(_loosest)}, mode="threads",
    ),
    QueueBug(
        name="the-newcomer-wins-ties", summary="when full, a call is dropped for a newcomer that is no better", invariant="dispatch.drop_victim",
        source="own", replaced={"limits:Room.victim": _old_for_new},
    ),
    QueueBug(
        name="one-worker-too-many", summary="workers are numbered from 0 to their number, both included", invariant="dispatch.workers",
        source="D4 kubernetes/kubernetes!134154", replaced={"parts:Parts.__init__": wrapping(_one_more)}, mode="trio",
    ),
    QueueBug(
        name="a-joiner-gives-back-what-it-never-took", summary="a joiner takes nothing of its plugin's share, but gives back one when it is told",
        invariant="dispatch.share_live", source="D107 PrefectHQ/prefect#21794", replaced={"admission:_join": wrapping(_joiners_take_no_share)},
    ),
    QueueBug(
        name="the-wrong-half-of-the-share", summary="the most executing calls of a plugin are read from the number of its most live ones",
        invariant="dispatch.share_executing", source="own", replaced={"eligible:Ready.top": _the_other_share},
    ),
)  # fmt: skip
