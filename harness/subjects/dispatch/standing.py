"""Where a live call stands: blocked, ready, withheld, pausing; and the loans that follow from it (SPEC 4, 'Order on an object').

A waiting call lends its aged priority to the holder of its object, a bind also to its prerequisites; a loan ends with its reason.
"""

from __future__ import annotations

from .config import BIND
from .entry import BACKOFF, BLOCKED, READY, WITHHELD, Entry
from .parts import Parts
from .superseding import dominator, subjects

__all__ = ["arrange", "consider", "demand_again", "pause", "pause_over", "promote", "release", "withhold"]


def consider(parts: Parts, entry: Entry) -> None:
    """Make a blocked call ready if nothing of its own is in its way: it holds its object, its prerequisites are confirmed."""
    if entry.state != BLOCKED:
        return
    call = entry.call
    if entry.ordered and (not entry.placed or parts.objects.holder(call.uid) is not entry):
        return
    if call.type == BIND and not entry.undecided and call.uid in parts.needs.held:
        return
    entry.state = READY
    parts.ready.push(entry)


def promote(parts: Parts, uid: str) -> None:
    """Something about an object's writes has changed: its holder takes the loans, and may be ready."""
    holder = parts.objects.holder(uid)
    if holder is not None:
        _rekey(parts, holder)
        consider(parts, holder)


def arrange(parts: Parts, entry: Entry) -> None:
    """Give an unplaced write its place on its object: under a more relevant one, or in the order with its own subjects under it."""
    objects, uid = parts.objects, entry.call.uid
    if uid not in objects.held:
        objects.place(entry)  # alone, and so the holder
        if entry.state == BLOCKED and (entry.call.type != BIND or entry.undecided or uid not in parts.needs.held):
            entry.state = READY
            parts.ready.push(entry)
        return
    top = dominator(objects, entry)
    if top is not None:
        withhold(parts, entry, top)
        return
    before = objects.holder(uid)
    objects.place(entry)
    for one in subjects(objects, entry):
        withhold(parts, one, entry)
    after = objects.holder(uid)
    if before is not None and before is not after and before.placed:
        if before.state == READY:
            before.state = BLOCKED
        _rekey(parts, before)
    promote(parts, uid)


def withhold(parts: Parts, entry: Entry, survivor: Entry) -> None:
    """Let a call give way to one that supersedes it: it stays live and unsettled."""
    parts.objects.unplace(entry)
    entry.state = WITHHELD
    entry.survivor = survivor
    if survivor.withheld is None:
        survivor.withheld = {}
    survivor.withheld[entry] = None
    _rekey(parts, entry)


def release(parts: Parts, entry: Entry) -> None:
    """A withheld or parked call is pending again."""
    entry.survivor = None
    entry.state = BLOCKED
    if entry.not_before > parts.now:
        pause(parts, entry)
    if entry.ordered:
        arrange(parts, entry)
    else:
        consider(parts, entry)


def pause(parts: Parts, entry: Entry) -> None:
    """Let a call wait until its `not_before`."""
    entry.state = BACKOFF
    parts.pauses.push((entry.not_before, entry.seq, entry))


def pause_over(parts: Parts, entry: Entry) -> None:
    """A backoff is over."""
    entry.state = BLOCKED
    consider(parts, entry)


def demand_again(parts: Parts, entry: Entry) -> None:
    """The own rank of a call, or the key of a bind that it is a prerequisite of, is another now."""
    demand = entry.rank
    for uid in entry.prerequisite_of:
        for bind in parts.binds.live.of(uid):
            if bind is not entry and bind.key < demand:
                demand = bind.key
    if demand != entry.demand:
        entry.demand = demand
        parts.objects.demand_changed(entry)
    if entry.placed:
        holder = parts.objects.holder(entry.call.uid)
        if holder is not None and holder is not entry:
            _rekey(parts, holder)
    _rekey(parts, entry)


def _rekey(parts: Parts, entry: Entry) -> None:
    key = entry.demand
    if entry.placed:
        best = parts.objects.demanded(entry.call.uid)
        if best is not None and best < key and parts.objects.holder(entry.call.uid) is entry:
            key = best
    if key == entry.key and entry.lifted == (key < entry.rank):
        return
    changed = key != entry.key
    entry.key = key
    if entry.state == READY:
        parts.ready.push(entry)
    else:
        entry.lifted = key < entry.rank
    if changed and entry.call.type == BIND:
        for prerequisite in parts.needs.of(entry.call.uid):
            if prerequisite is not entry:
                demand_again(parts, prerequisite)
