"""Which calls may start now, and which are eligible beyond doubt (SPEC 4, order on an object, eligible, pop).

Two readings of one rule: :func:`blocked` says why a call must not start, and is silent where SPEC leaves it free; with ``strict`` it
also names whatever might keep a correct queue from starting it, so that its silence means that the call is eligible beyond doubt.
"""

from __future__ import annotations

from . import queue_limits as limits
from . import queue_rules as rules
from .queue_state import Entry, Setup, State, Submit


def waiting(state: State, entry: Entry) -> list[Submit]:
    """The joiners for whose sake an attempt may be made."""
    return [one for one in state.of(entry.index) if not one.parked and not one.asked]


def withholders(setup: Setup, state: State, entry: Entry) -> list[Entry]:
    """The live calls that withhold this one."""
    if not setup.dialect.supersedes:
        return []
    return [
        one for one in state.entries if one.live and one.index != entry.index and rules.dominates(one.call, entry.call)
    ]


def blocked(setup: Setup, state: State, entry: Entry, *, strict: bool = False) -> str:
    """Why this call does not start now, apart from workers and tokens; empty if it may (``strict``: if it is eligible beyond doubt)."""
    return (
        _own(setup, state, entry, strict=strict)
        or _object(setup, state, entry, strict=strict)
        or _prerequisites(setup, state, entry, strict=strict)
        or _share(setup, state, entry, strict=strict)
        or _breaker(setup, state, strict=strict)
    )


def _own(setup: Setup, state: State, entry: Entry, *, strict: bool) -> str:
    now, near, dialect = state.now, setup.near, setup.dialect
    joined = waiting(state, entry)
    if (state.closing and dialect.close == "abandon") or state.closed:
        return "the queue is closed"
    if not entry.live or not joined:
        return "nobody waits for it"
    if entry.in_flight:
        return "an attempt of it is in flight"
    if entry.attempts >= (setup.config.attempts if dialect.retries else 1):
        return f"its {entry.attempts} attempts are spent"
    until = rules.deadline(one.call for one in joined)
    if dialect.deadlines and now > until + near:
        return f"its deadline ({until:.6g} s) is past"
    if now < entry.low - near:
        return f"its pause lasts until {entry.low:.6g} s at least"
    if entry.conflict:
        return "a conflict after an ambiguous attempt is read back first"
    if entry.undecided == "yes" and rules.is_write(entry.call):
        if dialect.ambiguous == "give_up":
            return "it is unanswered, and such a write is never sent again"
        if dialect.ambiguous == "guarded" and not rules.guarded(entry.call):
            return "it is unanswered and the server does not guard it"
    if strict:
        if dialect.when_full == "block" and state.live > setup.config.capacity:
            return "its submit may be waiting for room"
        if now < entry.high + near and entry.attempts:
            return "its pause may last until later"
        if entry.undecided != "no" or entry.free or entry.loose or any(one.loose for one in joined):
            return "SPEC leaves it open"
        if dialect.deadlines and now > until - near:
            return "its deadline is here"
    return ""


def _object(setup: Setup, state: State, entry: Entry, *, strict: bool) -> str:
    call = entry.call
    if not rules.is_write(call):
        return ""
    above = withholders(setup, state, entry)
    if above and entry.undecided == "no" and (strict or not all(_knotted(state, entry, one) for one in above)):
        return f"it is withheld by s{above[0].index}"
    for other in state.entries:
        if other.index == entry.index or other.call.uid != call.uid or not rules.is_write(other.call):
            continue
        if strict and (other.in_flight or other.undecided != "no" or other.free or not rules.on_object(other.call)):
            return f"s{other.index} of the same object is not settled"
        if not setup.dialect.serialises or not (rules.on_object(call) and rules.on_object(other.call)):
            continue
        if not other.live:
            continue
        if other.flying:
            return f"s{other.index} executes on the same object"
        if reason := _earlier(setup, state, entry, other, strict=strict):
            return reason
    return ""


def _knotted(state: State, entry: Entry, above: Entry) -> bool:
    """Whether ``above``, which withholds this call, is withheld itself by a bind that waits for it: SPEC does not say who goes first."""
    return any(one.live and entry.index in one.waits and rules.dominates(one.call, above.call) for one in state.entries)


def _earlier(setup: Setup, state: State, entry: Entry, other: Entry, *, strict: bool) -> str:
    """Whether ``other``, not in flight, goes before."""
    before = rules.dominates(entry.call, other.call) or other.order < entry.order
    if before and other.undecided == "yes" and not rules.broken_by_successor(other.call.precondition):
        return f"s{other.index} of the same object is unanswered"
    if withholders(setup, state, other) or other.order > entry.order or other.undecided != "no":
        return ""
    if rules.is_prerequisite(entry.call, other.call) and not strict:
        return ""
    if other.free and not strict:
        return ""
    return f"s{other.index} was submitted earlier on the same object" if not _goes_round(entry, other) else ""


def _goes_round(entry: Entry, other: Entry) -> bool:
    """A bind holds its object, but not against what it waits for."""
    return entry.index in other.waits


def _prerequisites(setup: Setup, state: State, entry: Entry, *, strict: bool) -> str:
    if not setup.dialect.prerequisites or entry.call.type != "bind":
        return ""
    if entry.waits and not entry.free:
        return f"it waits for its prerequisite s{min(entry.waits)}"
    if strict:
        for other in state.entries:
            if other.live and other.index != entry.index and rules.is_prerequisite(other.call, entry.call):
                return f"s{other.index} may be its prerequisite"
    return ""


def lenders(state: State, entry: Entry) -> list[Entry]:
    """Waiting calls that lend this one their priority: those behind it on its object, and the bind that it is a prerequisite of."""
    return [
        other
        for other in state.entries
        if other.index != entry.index
        and other.live
        and not other.flying
        and (
            (other.call.uid == entry.call.uid and rules.is_write(other.call))
            or entry.index in other.waits
            or rules.is_prerequisite(entry.call, other.call)
        )
    ]


def _share(setup: Setup, state: State, entry: Entry, *, strict: bool) -> str:
    if not setup.dialect.shares or not setup.config.shares:
        return ""
    plugins = {one.call.plugin for one in state.of(entry.index)} | {entry.call.plugin}
    for plugin in sorted(plugins):
        share = setup.config.shares.get(plugin)
        if share is None:
            continue
        running = [one for one in state.entries if one.in_flight and one.call.plugin == plugin]
        if strict and len(running) >= share[1]:
            return f"the executing share of {plugin} may be used up"
        if strict or len(plugins) > 1 or lenders(state, entry):
            continue
        if sum(one.flying for one in running) >= share[1]:
            return f"{share[1]} calls of {plugin} execute already"
    return ""


def _breaker(setup: Setup, state: State, *, strict: bool) -> str:
    if not limits.has_breaker(setup):
        return ""
    if strict and limits.may_be_open(state.breaker):
        return "the breaker may be open"
    if limits.forbids(state.breaker, setup, state.now):
        return "the breaker is open"
    opened = state.breaker.opened
    if opened is not None and state.now > opened + setup.near:
        half = opened + setup.config.breaker_open - setup.near
        probes = sum(one.flying and one.started >= half for one in state.entries)
        if probes >= setup.config.breaker_probes:
            return f"{probes} probes are out already"
    return ""


# -- who is best -------------------------------------------------------------------------------------------------------


def better(setup: Setup, state: State, entry: Entry) -> Entry | None:
    """A call that was eligible beyond doubt since before a worker and a token were free, and that comes before ``entry`` beyond doubt."""
    if state.worker_free is None:
        return None
    free = max(state.worker_free, (limits.free_at(state.bucket), -1.0))
    for other in state.entries:
        if other.index == entry.index or other.since is None or other.since > free:
            continue
        if _first(setup, state, other, entry):
            return other
    return None


def _first(setup: Setup, state: State, one: Entry, other: Entry) -> bool:
    if setup.dialect.order == "fifo":
        return one.attempts == 0 and other.attempts == 0 and one.order < other.order
    lent = [other, *lenders(state, other)]
    top = max(worth(setup, state, each) for each in lent)
    return worth(setup, state, one) > top + setup.config.aging * setup.near


def worth(setup: Setup, state: State, entry: Entry) -> float:
    """Its own priority with age, in a form that compares calls at any one instant."""
    joined = [(one.call, one.at) for one in state.submits if one.entry == entry.index]
    return rules.aged(setup.config, joined or [(entry.call, 0.0)], setup.dialect.order == "aged")


def workers_free(setup: Setup, state: State) -> int:
    """Workers without an attempt in flight."""
    return setup.config.workers - sum(one.in_flight for one in state.entries)


def unstartable(setup: Setup, state: State, entry: Entry) -> str:
    """Why an attempt of this call must not start now; empty if it may."""
    if reason := blocked(setup, state, entry):
        return reason
    if workers_free(setup, state) <= 0:
        return f"all {setup.config.workers} workers are busy"
    if setup.dialect.rate and not limits.has_token(state.bucket, state.now, setup.near):
        return f"no token is there before {limits.free_at(state.bucket):.6g} s"
    first = better(setup, state, entry)
    return f"s{first.index} was eligible and comes first" if first is not None else ""
