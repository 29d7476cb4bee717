"""Submit: the checks in their order, and what becomes of a call that passes them (SPEC 4, 'Submit').

Closed, type, gate, expired, coalesce, supersede, breaker, plugin share, capacity. A refused submit changes nothing.
"""

from __future__ import annotations

import math

from ...calls import ApiCall, OutcomeView
from .coalescing import joined, parks, twin_key
from .config import BIND
from .ending import leave
from .entry import BLOCKED, PARKED, READY, WITHHELD, Entry, Ticket
from .parts import Parts
from .snapshots import NotCopyableError, snapshot
from .standing import arrange, consider, demand_again, promote, release

__all__ = ["admit"]


def admit(parts: Parts, ticket: Ticket) -> OutcomeView | None:
    """Take a submit in, or return its outcome."""
    call = ticket.call
    assert call is not None
    config, now = parts.config, parts.now
    if parts.closed:
        return parts.view("closed", "closed")
    level = _level(parts, call)
    if level is None:
        return parts.view("refused", "type")
    if call.needed_in_cycle:
        return parts.view("refused", "in_cycle")
    if parts.gate is not None and (reason := parts.gate(call)):
        return parts.view("refused", reason)
    if not call.deadline > now:
        return parts.view("expired", "deadline")
    if parts.twins.payloads and parts.twins.reused(call):
        return parts.view("refused", "key_payload")
    key = twin_key(call)
    twin = parts.twins.twin_of(call, key)
    if call.type == BIND and parts.binds.other_target(call):
        return parts.view("refused", "second_bind")
    if parts.breaker.opened is not None and (wait := parts.breaker.open_for(now)) > 0:
        return OutcomeView(kind="breaker_open", reason="breaker", retry_after=wait)
    if parts.room.shares and parts.room.share_is_used_up(call.plugin):
        return OutcomeView(kind="refused", reason="share", retry_after=_hint(parts))
    priority: float = call.priority
    if priority < config.priority_low:
        priority = config.priority_low
    elif priority > config.priority_high:
        priority = config.priority_high
    ticket.priority = priority
    rank = config.aging * now - priority
    victim: Entry | None = None
    if parts.accounts.live >= config.capacity:
        victim = parts.room.victim((-rank, -call.deadline, call.rebuild_cost), parts.entries())
        if victim is None or victim is twin:
            return OutcomeView(kind="refused", reason="capacity", retry_after=_hint(parts))
    payload = None
    if twin is None or parks(twin):
        try:
            payload = snapshot(call.payload)
        except NotCopyableError:
            return parts.view("refused", "type")
    if victim is not None:
        for one in victim.waiting():
            leave(parts, one, "dropped", "room")
        if twin is not None and twin.twin_key is None:  # it was decided by the drop
            twin = None
            payload = snapshot(call.payload)
    _count(parts, ticket, call)
    if twin is None:
        _enter(parts, ticket, call, payload, level, rank, key)
    elif parks(twin):
        _park(parts, ticket, call, payload, level, rank, twin)
    else:
        _join(parts, ticket, twin)
    return None


def _level(parts: Parts, call: ApiCall) -> int | None:
    """The relevance of a call's type; `None` if it, or another field that must be told apart, can't be understood."""
    try:
        level = parts.relevance.get(call.type)
        hash((call.uid, call.target, call.key, call.context, call.plugin))
        if call.priority != call.priority or call.effect not in ("READ", "IDEMPOTENT_WRITE", "CREATE"):
            return None
        return level if call.rebuild_cost == call.rebuild_cost else None
    except TypeError:
        return None


def _hint(parts: Parts) -> float:
    """When to come back (seconds): one turn of the queue as it is set up."""
    qps = parts.bucket.qps
    return max(parts.config.backoff_first, 1 / qps if 0 < qps < math.inf else 0.0, 0.01)


def _count(parts: Parts, ticket: Ticket, call: ApiCall) -> None:
    parts.accounts.live += 1
    if parts.room.shares:
        parts.room.came(call.plugin)
    if call.deadline != math.inf:
        parts.deadlines.push((call.deadline, ticket.number, ticket))


def _enter(  # noqa: PLR0917
    parts: Parts, ticket: Ticket, call: ApiCall, payload: object, level: int, rank: float, key: tuple[object, ...]
) -> None:
    entry = _entry(parts, ticket, call, payload, level, rank)
    parts.twins.add(entry, key)
    if entry.ordered:
        _before_its_bind(parts, entry)
        arrange(parts, entry)
    else:
        consider(parts, entry)
    if entry.prerequisite_of:
        demand_again(parts, entry)
    if call.type == BIND and parts.needs.held:
        for one in parts.needs.of(call.uid):
            demand_again(parts, one)


def _entry(  # noqa: PLR0917
    parts: Parts, ticket: Ticket, call: ApiCall, payload: object, level: int, rank: float
) -> Entry:
    entry = Entry(ticket, call, payload, level, rank)
    ticket.entry = entry
    parts.contexts.add(call.context, entry)
    parts.uids.add(call.uid, entry)
    if call.key is not None:
        parts.twins.add_payload(entry)
    if call.type == BIND:
        if call.uid in entry.prerequisite_of:
            entry.prerequisite_of = ()
        parts.binds.came(entry)
    for uid in entry.prerequisite_of:
        _is_needed(parts, entry, uid)
    if parts.room.drops is not None:
        parts.room.changed(entry)
    return entry


def _is_needed(parts: Parts, entry: Entry, uid: str) -> None:
    """A call is a prerequisite of a pod's bind: one that is ready and unsent waits from now on."""
    parts.needs.add(uid, entry)
    for bind in parts.binds.live.of(uid):
        if bind is not entry and bind.state == READY and not bind.undecided:
            bind.state = BLOCKED


def _before_its_bind(parts: Parts, entry: Entry) -> None:
    """A prerequisite on the object of its own bind goes before it, though submitted later: the bind waits for it."""
    uid = entry.call.uid
    if uid in entry.prerequisite_of:
        for bind in parts.binds.live.of(uid):
            if bind is not entry:
                entry.order = min(entry.order, bind.order - 1)


def _park(  # noqa: PLR0917
    parts: Parts, ticket: Ticket, call: ApiCall, payload: object, level: int, rank: float, twin: Entry
) -> None:
    if twin.parked is not None:
        _join(parts, ticket, twin.parked)
        return
    entry = _entry(parts, ticket, call, payload, level, rank)
    entry.state = PARKED
    entry.twin_of = twin
    twin.parked = entry


def _join(parts: Parts, ticket: Ticket, entry: Entry) -> None:
    call = ticket.call
    assert call is not None
    ticket.entry = entry
    entry.tickets.append(ticket)
    entry.live += 1
    entry.wanting += 1
    needed = call.prerequisite_of
    if needed is not None and needed not in entry.prerequisite_of and not (call.type == BIND and needed == call.uid):
        entry.prerequisite_of += (needed,)
        _is_needed(parts, entry, needed)
        if entry.ordered and needed == entry.call.uid:
            _move_before_its_bind(parts, entry)
    if joined(entry, ticket, call, parts.config.aging) or needed is not None:
        demand_again(parts, entry)
    parts.room.changed(entry)


def _move_before_its_bind(parts: Parts, entry: Entry) -> None:
    """A waiting call has become a prerequisite of the bind on its own object, by a joiner."""
    if entry.state not in (BLOCKED, READY, WITHHELD):
        return
    if entry.survivor is not None and entry.survivor.withheld is not None:
        entry.survivor.withheld.pop(entry, None)
    parts.objects.unplace(entry)
    _before_its_bind(parts, entry)
    release(parts, entry)
    promote(parts, entry.call.uid)
