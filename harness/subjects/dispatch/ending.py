"""How a call ends: what its joiners are told, and what follows for those parked, withheld or waiting behind it (SPEC 4)."""

from __future__ import annotations

from ...calls import ApiCall, OutcomeView
from .coalescing import recomputed
from .config import BIND
from .entry import DONE, PARKED, Entry, Ticket, changed
from .parts import Abort, Failed, Fate, Parts, Reevaluate
from .standing import consider, demand_again, promote, release, withhold
from .superseding import dominates, tree

__all__ = ["completed", "finish", "leave", "tell_asked"]


def told_call(entry: Entry) -> ApiCall:
    """The call of an entry with the snapshot of its payload."""
    return entry.call if entry.payload is entry.call.payload else changed(entry.call, payload=entry.payload)


def finish(
    parts: Parts, entry: Entry, kind: str, reason: str, fate: Fate, *, status: int | None = None, merged: bool = False
) -> None:
    """End a call: its first joiner is told `kind`, the others `merged` with it if it was done, else the same.

    `merged`: all are (they were parked behind the call that did it). A joiner who asked to end is told `stale`, or `unknown`.
    """
    first = not merged
    for ticket in entry.waiting():
        if ticket.asked:
            never_sent = fate is Fate.NOT and entry.attempts == 0
            kind_asked = "unknown" if fate is Fate.UNKNOWN else "cancelled" if never_sent else "stale"
            view = parts.view(kind_asked, ticket.asked)
        elif fate is Fate.DONE and not first:
            view = parts.view("merged", reason, own=kind, status=status)
        else:
            view = parts.view(kind, reason, status=status)
            first = False
        parts.tell(ticket, view)
    entry.done_as = kind
    bury(parts, entry, fate)


def tell_asked(parts: Parts, entry: Entry) -> None:
    """Everything that was sent is decided, so that joiners who asked to end meanwhile are told: the answer is stale for them."""
    if entry.live != entry.wanting:
        for ticket in entry.waiting():
            if ticket.asked:
                parts.tell(ticket, parts.view("stale", ticket.asked))


def completed(parts: Parts, entry: Entry, view: OutcomeView, plugins: list[str]) -> None:
    """A completion asks for re-evaluation; a permanent error reaches each plugin's failure handler. Nobody is asked for a stale one."""
    if not parts.handlers:
        return
    call = told_call(entry)
    if view.kind == "failed" and view.reason in ("permanent", "conflict"):
        for plugin in plugins:
            parts.deeds.append(Failed(call if plugin == call.plugin else changed(call, plugin=plugin), view))
    parts.deeds.append(Reevaluate(call, view))


def leave(parts: Parts, ticket: Ticket, kind: str, reason: str) -> None:
    """One joiner leaves (cancelled, expired, dropped). If the call was sent and is unanswered: who cancels waits for the answer, which
    will be stale; who expires is told unknown."""
    entry = ticket.entry
    if entry is None:
        return
    if not entry.unanswered:
        parts.tell(ticket, parts.view(kind, reason))
    elif kind == "cancelled":
        if not ticket.asked:
            ticket.asked = reason
            entry.wanting -= 1
    else:
        parts.tell(ticket, parts.view("unknown", reason))
    after_leaving(parts, entry)


def after_leaving(parts: Parts, entry: Entry) -> None:
    """A joiner has left: is there still anybody for whose sake the call goes on?"""
    if entry.wanting:
        if recomputed(entry, parts.config.aging):
            demand_again(parts, entry)
        if len(entry.tickets) > 2 * entry.live + 8:
            entry.tickets = entry.waiting()
        parts.room.changed(entry)
    elif entry.attempt is None:
        finish(parts, entry, "unknown", "ambiguous", Fate.UNKNOWN if entry.undecided else Fate.NOT)
    elif not entry.live and not entry.living():
        attempt = entry.attempt
        fate = Fate.UNKNOWN if entry.unanswered else Fate.NOT
        parts.deeds.append(Abort(attempt))
        bury(parts, entry, fate)


def bury(parts: Parts, entry: Entry, fate: Fate) -> None:
    """Take a call whose joiners are all told out of everything, and settle what depended on it."""
    was_parked = entry.state == PARKED
    entry.state = DONE
    call = entry.call
    uid = call.uid
    parts.twins.remove(entry)
    parts.contexts.remove(call.context, entry)
    parts.uids.remove(uid, entry)
    if call.type == BIND:
        parts.binds.went(entry, surely_not=fate is Fate.NOT)
        for prerequisite in parts.needs.of(uid):
            demand_again(parts, prerequisite)
    placed = entry.placed
    if placed:
        parts.objects.unplace(entry)
    if was_parked and entry.twin_of is not None:
        entry.twin_of.parked = None
    heir = None if entry.parked is None else _pass_on_parked(parts, entry, fate)
    if entry.withheld or entry.survivor is not None:
        _settle_withheld(parts, entry, fate)
    if entry.prerequisite_of:
        _tell_binds(parts, entry, fate, heir)
    if placed and uid in parts.objects.held:
        promote(parts, uid)
    entry.attempt = entry.twin_of = entry.survivor = entry.twin_key = entry.payload = None
    entry.tickets = []


def _pass_on_parked(parts: Parts, entry: Entry, fate: Fate) -> Entry | None:
    heir, entry.parked = entry.parked, None
    if heir is None:
        return None
    heir.twin_of = None
    if fate is Fate.DONE:
        finish(parts, heir, entry.done_as, "", fate, merged=True)
        return None
    if fate is Fate.UNKNOWN and heir.call.key is None:
        finish(parts, heir, "unknown", "ambiguous", fate)
        return None
    if entry.twin_key is not None:
        parts.twins.add(heir, entry.twin_key)
    release(parts, heir)
    return heir


def _settle_withheld(parts: Parts, entry: Entry, fate: Fate) -> None:
    survivor, entry.survivor = entry.survivor, None
    if survivor is not None and survivor.withheld is not None:
        survivor.withheld.pop(entry, None)
    if not entry.withheld:
        return
    if fate is Fate.NOT:
        direct = sorted(entry.withheld, key=lambda one: one.order)
        entry.withheld = None
        for one in direct:
            if survivor is not None and survivor.state != DONE and dominates(survivor, one):
                withhold(parts, one, survivor)  # a survivor that is itself superseded passes them on
            else:
                release(parts, one)
        return
    under = sorted(tree(entry), key=lambda one: one.order)
    entry.withheld = None
    for one in under:
        one.survivor = one.withheld = None
    under.sort(key=lambda one: one.call.type != BIND)  # a bind is told what became of itself, not of its prerequisites
    for one in under:
        if not dominates(entry, one):
            release(parts, one)
        elif one.undecided and not (fate is Fate.DONE and one.pinned == entry.sent_version):
            finish(parts, one, "unknown", "ambiguous", Fate.UNKNOWN)
        elif fate is Fate.DONE:
            finish(parts, one, "superseded", "", Fate.NOT)
        else:
            finish(parts, one, "failed", "survivor", Fate.NOT)


def _tell_binds(parts: Parts, entry: Entry, fate: Fate, heir: Entry | None) -> None:
    for uid in entry.prerequisite_of:
        parts.needs.remove(uid, entry)
        for bind in parts.binds.live.of(uid):
            if bind is entry or bind.state == DONE:
                continue
            if fate is Fate.DONE or (heir is not None and uid in heir.prerequisite_of):
                consider(parts, bind)
            elif bind.attempts == 0:
                finish(parts, bind, "failed", "prerequisite", Fate.NOT)
