"""What a submit may be told now, and what follows from it (SPEC 4, exactly one outcome; what ends a call)."""

from __future__ import annotations

from . import queue_ready as ready
from . import queue_rules as rules
from .queue_draft import DONE, Draft, with_merged
from .queue_state import ABSTRACT, Entry, Setup, State, Submit


def choices(setup: Setup, state: State, one: Submit) -> frozenset[str]:
    """The outcomes that this submit may be told now."""
    if one.due:
        return one.due
    entry = next((each for each in state.entries if each.index == one.entry), None)
    if entry is None:
        return one.loose
    return one.loose | _at_its_deadline(setup, state, one, entry) | with_merged(of_entry(setup, one, entry))


def of_entry(setup: Setup, one: Submit, entry: Entry) -> frozenset[str]:
    """How the queue may end the whole call now, of its own accord."""
    if entry.flying or one.parked or one.asked:
        return frozenset()
    words = set(entry.loose)
    if entry.undecided == "no" or not rules.is_write(entry.call):
        return frozenset(words)
    dialect = setup.dialect
    spent = entry.attempts >= setup.config.attempts or not dialect.retries
    resends = dialect.ambiguous == "resend" or (dialect.ambiguous == "guarded" and rules.guarded(entry.call))
    if entry.conflict:
        words |= {"unknown"} if entry.read else set()
    elif spent or not resends or entry.call.key is None:
        words |= {"unknown"}
    if entry.undecided == "maybe" or dialect.ambiguous == "resend":
        words |= {"unknown", "exhausted", "failed"} if spent else {"unknown"}
    return frozenset(words)


def _at_its_deadline(setup: Setup, state: State, one: Submit, entry: Entry) -> frozenset[str]:
    if not setup.dialect.deadlines:
        return frozenset()
    until, near = one.call.deadline, setup.near
    hopeless = entry.attempts > 0 and not entry.in_flight and entry.low > until
    if state.now < until - 2 * near and not hopeless:
        return frozenset()
    if one.parked:
        return frozenset({"expired", "unknown"})
    if entry.flying or entry.reading or entry.conflict or entry.undecided == "yes":
        return frozenset({"unknown", "stale"} if one.asked or not hopeless else {"unknown"})
    return frozenset({"expired", "unknown"} if entry.undecided == "maybe" or entry.mute else {"expired"})


def told(draft: Draft, one: Submit, word: str) -> None:
    """The submit is told: count it, forget it, and end its call if that was the queue's choice or nobody waits for it any more."""
    if not one.due:
        entry = draft.entries.get(one.entry)
        if entry is not None:
            _follows(draft, one, entry, word)
    kind = word.partition(":")[0]
    del draft.submits[one.index]
    counts = dict(draft.fields.get("outcomes", draft.state.outcomes))
    counts[kind] = counts.get(kind, 0) + 1
    draft.fields["outcomes"] = tuple(sorted(counts.items()))
    draft.left(one)
    draft.close_up(one.entry)


def _follows(draft: Draft, one: Submit, entry: Entry, word: str) -> None:
    own = word.rpartition(":")[2]
    if own not in of_entry(draft.setup, one, entry):
        return
    if own == "unknown" and _at_its_deadline(draft.setup, draft.state, one, entry):
        return  # its own deadline, not the end of the call
    if word in one.loose:
        return
    if own in DONE:
        draft.end(entry.index, {own}, "done")
    elif own == "unknown" or entry.undecided == "yes":
        draft.end(entry.index, {own}, "unknown")
    else:
        draft.end(entry.index, {own}, "not")


def named(setup: Setup, state: State, one: Submit) -> str:
    """The named state of a submit, one of :data:`~.queue_state.ABSTRACT`."""
    entry = next((each for each in state.entries if each.index == one.entry), None)
    if one.due or entry is None or not entry.live:
        return ABSTRACT[-1]
    if one.parked:
        return "parked"
    if one.asked:
        return "cancelled in flight"
    if entry.flying:
        return "executing"
    if entry.reading:
        return "reading back"
    if entry.undecided != "no" or entry.conflict:
        return "unanswered"
    if ready.withholders(setup, state, entry):
        return "withheld"
    if state.now < entry.low and entry.attempts:
        return "backoff"
    if entry.waits and setup.dialect.prerequisites:
        return "blocked on prerequisite"
    if " object" in ready.blocked(setup, state, entry):
        return "blocked on object"
    return "pending"
