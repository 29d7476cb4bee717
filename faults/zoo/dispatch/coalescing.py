"""Seeded bugs of coalescing: strangers joined, twins not joined, joiners who get what is not theirs."""

from __future__ import annotations

from typing import Any

from ....harness.subjects.dispatch.ending import finish, leave
from ....harness.subjects.dispatch.parts import Fate
from ..bug import wrapping
from ._bug import QueueBug


def _by_object(call: Any) -> tuple[Any, ...]:
    return (call.uid, call.type, call.target)


def _whoever_is_there(self: Any, call: Any, key: Any) -> Any:  # noqa: ARG001 - the seam's
    return self.by_key.get(key)


def _by_identity(original: Any, call: Any) -> tuple[Any, ...]:
    return (*original(call), object())


def _one_for_all(original: Any, parts: Any, entry: Any, kind: str, *args: Any, **options: Any) -> None:
    if kind == "failed":
        for ticket in entry.waiting()[1:]:
            parts.tell(ticket, parts.view("merged", own="applied"))
    original(parts, entry, kind, *args, **options)


def _runs_after_all(original: Any, parts: Any, entry: Any, fate: Fate) -> Any:
    return original(parts, entry, Fate.NOT if fate is Fate.DONE else fate)


def _all_leave(original: Any, parts: Any, ticket: Any, kind: str, reason: str) -> None:
    entry = ticket.entry
    others = [] if entry is None or entry.tickets[0] is not ticket or kind != "cancelled" else entry.waiting()[1:]
    original(parts, ticket, kind, reason)
    for other in others:
        leave(parts, other, kind, reason)


def _first_deadline(original: Any, parts: Any, ticket: Any, kind: str, reason: str) -> None:
    entry = ticket.entry
    others = [] if entry is None or kind != "expired" else entry.waiting()
    original(parts, ticket, kind, reason)
    for other in others:
        leave(parts, other, kind, reason)


def _own_priority(original: Any, entry: Any, *args: Any) -> bool:
    kept = entry.priority, entry.rank
    original(entry, *args)
    entry.priority, entry.rank = kept
    return False


def _told_as_superseded(original: Any, parts: Any, ticket: Any, twin: Any) -> None:
    first = next(iter(twin.waiting()), None) if twin.state != 2 else None
    original(parts, ticket, twin)
    if first is not None and twin.call.effect != "READ":
        parts.tell(first, parts.view("merged", own="applied"))


def _own_is_left_out(
    original: Any, self: Any, kind: str, reason: str = "", *, own: Any = None, status: Any = None
) -> Any:
    return original(self, kind, reason, own=None if own == "noop" or kind == "merged" else own, status=status)


def _unknown_too(original: Any, parts: Any, entry: Any, fate: Fate) -> Any:
    if fate is Fate.UNKNOWN and entry.parked is not None:
        heir, entry.parked = entry.parked, None
        heir.twin_of = None
        finish(parts, heir, "unknown", "ambiguous", fate)
        return None
    return original(parts, entry, fate)


BUGS = (
    QueueBug(
        name="like-and-like-are-twins", summary="calls with the same object, type and target are joined, whatever their version, key and payload",
        invariant="dispatch.only_twins_merge", source="own",
        replaced={"admission:twin_key": _by_object, "coalescing:Twins.twin_of": _whoever_is_there},
    ),
    QueueBug(
        name="twins-by-identity", summary="the key of a call is the object itself, so that equal calls never join", invariant="dispatch.twins_sent_once",
        source="D58 solo-io/solo-kit!353", replaced={"admission:twin_key": wrapping(_by_identity)},
    ),
    QueueBug(
        name="one-failure-is-told-to-one", summary="only the first of those who joined is told that the call failed, the others that it was applied",
        invariant="dispatch.joiner_outcome", source="D28 volcano-sh/volcano#2865", replaced={"attempts:finish": wrapping(_one_for_all)},
    ),
    QueueBug(
        name="parked-twins-run-after-all", summary="a call that was parked behind its twin is run though the twin was applied",
        invariant="dispatch.twins_sent_once", source="D81 python-arq/arq#394", replaced={"ending:_pass_on_parked": wrapping(_runs_after_all)},
        mode="trio",
    ),
    QueueBug(
        name="the-first-caller-cancels-for-all", summary="the cancel of the first of those who joined cancels the call for all",
        invariant="dispatch.joiner_lives_on", source="D108 aio-libs/async-lru!697", replaced={"core:leave": wrapping(_all_leave)},
    ),
    QueueBug(
        name="the-first-deadline-ends-all", summary="those who joined all expire at the earliest of their deadlines",
        invariant="dispatch.not_expired_early", source="own", replaced={"core:leave": wrapping(_first_deadline)},
    ),
    QueueBug(
        name="joiners-do-not-lift", summary="a call keeps the priority of its first submit, however urgent those are who join it",
        invariant="dispatch.joined_priority", source="own", replaced={"admission:joined": wrapping(_own_priority)},
    ),
    QueueBug(
        name="merged-with-nobody-knows", summary="whoever was merged is not told what became of the call that did the work",
        invariant="dispatch.outcome_kind", source="D5 kubernetes/kubernetes!135180", replaced={"parts:Parts.view": wrapping(_own_is_left_out)},
    ),
    QueueBug(
        name="a-joiner-relieves-the-first", summary="whoever joined before is told at once that it was merged and applied when another joins",
        invariant="dispatch.done_is_true", source="D5 kubernetes/kubernetes!135180", replaced={"admission:_join": wrapping(_told_as_superseded)},
    ),
    QueueBug(
        name="unknown-for-those-parked-too", summary="a parked call whose key makes it safe ends unknown with its twin instead of being sent",
        invariant="dispatch.follows_model", source="own", replaced={"ending:_pass_on_parked": wrapping(_unknown_too)}, mode="trio",
    ),
)  # fmt: skip
