"""Twins: who they are, what joins them, and what becomes of what the joiners share (SPEC 4, 'Coalescing')."""

from __future__ import annotations

from typing import Any

from ...calls import ApiCall
from .entry import EXECUTING, Entry, Ticket
from .snapshots import payload_mark, same_payload

__all__ = ["Twins", "joined", "parks", "recomputed", "twin_key"]


def twin_key(call: ApiCall) -> tuple[Any, ...]:
    """Equal for twins: object, type, target, idempotency key, context and precondition (reads: resourceVersion).

    Without an idempotency key the payload takes its place, by a mark that equal payloads share.
    """
    told, key = call.precondition, call.key
    mark = payload_mark(call.payload) if key is None and call.payload is not None else 0
    if call.effect == "READ":
        return (call.uid, call.type, call.target, key, call.context, told.resource_version, mark)
    return (
        call.uid, call.type, call.target, key, call.context, told.resource_version, told.uid, told.generation, call.effect, mark,
    )  # fmt: skip


class Twins:
    """The entry that a twin would join, by twin key; and the payload of each idempotency key that is live."""

    __slots__ = ("by_key", "payloads")

    def __init__(self) -> None:
        self.by_key: dict[tuple[Any, ...], Entry] = {}
        self.payloads: dict[str, tuple[Any, int]] = {}

    def reused(self, call: ApiCall) -> bool:
        """Whether a live call has the same idempotency key and another payload."""
        if call.key is None or call.key not in self.payloads:
            return False
        return not same_payload(self.payloads[call.key][0], call.payload)

    def twin_of(self, call: ApiCall, key: tuple[Any, ...]) -> Entry | None:
        """The live twin of a call. Without a key of their own, calls with different payloads are none."""
        entry = self.by_key.get(key)
        if entry is None or (call.key is None and not same_payload(entry.payload, call.payload)):
            return None
        return entry

    def add(self, entry: Entry, key: tuple[Any, ...]) -> None:
        """An entry that later twins join; the first one of its key."""
        if self.by_key.setdefault(key, entry) is entry:
            entry.twin_key = key

    def add_payload(self, entry: Entry) -> None:
        """Count an entry's use of its idempotency key."""
        key = entry.call.key
        if key is not None:
            payload, count = self.payloads.get(key, (entry.payload, 0))
            self.payloads[key] = (payload, count + 1)

    def remove(self, entry: Entry) -> None:
        """An entry is over."""
        if entry.twin_key is not None:  # and so it is the one that stands there; the key is hashed once
            self.by_key.pop(entry.twin_key, None)
        key = entry.call.key
        if key is not None and key in self.payloads:
            payload, count = self.payloads[key]
            if count == 1:
                del self.payloads[key]
            else:
                self.payloads[key] = (payload, count - 1)


def parks(twin: Entry) -> bool:
    """Whether a newcomer is parked rather than joined: a write whose twin is out, or may have been done already."""
    return twin.call.effect != "READ" and (twin.state == EXECUTING or twin.undecided or twin.read_next)


def joined(entry: Entry, ticket: Ticket, call: ApiCall, aging: float) -> bool:
    """Take one more joiner into what joiners share, without looking at the others. Returns whether the rank has changed."""
    if entry.wanting == 1:  # the others asked to end
        return recomputed(entry, aging)
    entry.priority = max(entry.priority, ticket.priority)
    entry.enqueued = min(entry.enqueued, ticket.enqueued)
    entry.deadline = max(entry.deadline, call.deadline)
    entry.droppable = entry.droppable and call.droppable
    entry.cost = max(entry.cost, call.rebuild_cost)
    rank = aging * entry.enqueued - entry.priority
    changed = rank != entry.rank
    entry.rank = rank
    return changed


def recomputed(entry: Entry, aging: float) -> bool:
    """Recompute what joiners share from the living ones: highest priority, latest deadline, oldest age, strictest flags.

    Returns whether the rank has changed.
    """
    living = [one for one in entry.tickets if one.outcome is None and not one.asked] or entry.waiting()
    if not living:
        return False
    calls = [one.call for one in living if one.call is not None]
    entry.priority = max(one.priority for one in living)
    entry.enqueued = min(one.enqueued for one in living)
    entry.deadline = max(call.deadline for call in calls)
    entry.droppable = all(call.droppable for call in calls)
    entry.cost = max(call.rebuild_cost for call in calls)
    rank = aging * entry.enqueued - entry.priority
    changed = rank != entry.rank
    entry.rank = rank
    return changed
