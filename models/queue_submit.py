"""A submit: the checks in their order, room made for it, the twin that it joins (SPEC 4, submit, bounded, coalescing).

Every check says whether the submit *must* be refused, *may* be, or must not: two readings differ only while an outcome that is due has
not been told, or within the resolution of an instant. The result is every state that a correct queue may be in afterwards.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ..harness.calls import ApiCall
from . import queue_limits as limits
from . import queue_ready as ready
from . import queue_rules as rules
from .queue_draft import Draft
from .queue_state import Entry, Setup, State, Submit


@dataclass(frozen=True, slots=True)
class Check:
    """One check that does not let the submit pass: the outcome it gives, and whether another reading would let it pass."""

    kind: str
    reason: str
    force: Literal["may", "must"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """What is submitted. ``payload``: as text, compared only. ``operation``: the harness's id of the logical operation."""

    op: str
    call: ApiCall
    operation: str = ""
    payload: str = ""


def after_submit(setup: Setup, state: State, arrival: Arrival) -> tuple[State, ...]:
    """Every state that a correct queue may be in once this was submitted, those in which it is refused included."""
    found: list[State] = []
    for check in checks(setup, state, arrival):
        found.append(_refused(setup, state, arrival, check))
        if check.force == "must":
            return tuple(found)
    for roomy in _with_room(setup, state, arrival):
        found.extend(_accepted(setup, roomy, arrival))
    return tuple(found)


# -- the checks, in their order ----------------------------------------------------------------------------------------


def checks(setup: Setup, state: State, arrival: Arrival) -> Iterator[Check]:
    """What stands against it: closed, type, gate, expired, coalesce, supersede, breaker, plugin share, capacity."""
    call, dialect = arrival.call, setup.dialect
    strictly: Literal["may", "must"] = "must" if "validates" in setup.claims else "may"
    if state.closing:
        yield Check("closed", "closed", "must")
    if not rules.known(call):
        yield Check("refused", "type", strictly)
    if call.needed_in_cycle:
        yield Check("refused", "in_cycle", strictly)
    if dialect.deadlines and call.deadline <= state.now + setup.near:
        yield Check("expired", "deadline", "must" if call.deadline < state.now - setup.near else "may")
    yield from _key_checks(setup, state, arrival, strictly)
    yield from _supersede_checks(setup, state, call)
    if _over(setup, state, call):
        yield Check("refused", "context", "may")
    if limits.has_breaker(setup) and limits.may_be_open(state.breaker):
        yield Check("breaker_open", "breaker", "must" if limits.forbids(state.breaker, setup, state.now) else "may")
    if dialect.shares and call.plugin in setup.config.shares:
        most = setup.config.shares[call.plugin][0]
        mine = [one for one in state.submits if one.call.plugin == call.plugin]
        if len(mine) >= most:
            yield Check("refused", "share", "must" if sum(not one.due for one in mine) >= most else "may")
    if dialect.when_full in ("refuse", "drop") and state.live >= setup.config.capacity:
        full = sum(not one.due for one in state.submits) >= setup.config.capacity
        if dialect.when_full == "refuse":
            yield Check("refused", "capacity", "must" if full else "may")
        elif not any(
            _surely_less(_rank(setup, state, one), _newcomer(setup, state, call)) for one in _droppable(state)
        ):
            least = any(True for _ in _victims(setup, state, arrival))
            yield Check("refused", "capacity", "must" if full and not least else "may")


def _key_checks(setup: Setup, state: State, arrival: Arrival, strictly: Literal["may", "must"]) -> Iterator[Check]:
    call = arrival.call
    if setup.dialect.coalescing != "twins":
        strictly = "may"
    for entry in state.entries:
        if not entry.live or entry.payload == arrival.payload:
            continue
        if call.key is not None and entry.call.key == call.key:
            yield Check("refused", "key_payload", strictly)
            return
        if call.key is None and rules.is_write(call) and rules.twins(entry.call, call):
            yield Check("refused", "key_payload", "may")
    if call.key is not None and any(key == call.key and payload != arrival.payload for key, payload in state.keys):
        yield Check("refused", "key_payload", "may")


def _supersede_checks(setup: Setup, state: State, call: ApiCall) -> Iterator[Check]:
    if call.type == "bind":
        pinned = setup.dialect.supersedes and "validates" in setup.claims
        if any(
            uid == call.uid and context == call.context and target != call.target
            for uid, context, target in state.binds
        ):
            yield Check("refused", "second_bind", "must" if pinned else "may")
            return
        others = [
            one
            for one in state.submits
            if one.call.type == "bind"
            and (one.call.uid, one.call.context) == (call.uid, call.context)
            and one.call.target != call.target
            and not (one.due and one.due <= {"refused", "closed", "expired", "breaker_open"})
        ]
        if others:
            sure = pinned and any(not one.due and not one.loose for one in others)
            yield Check("refused", "second_bind", "must" if sure else "may")
    if call.precondition.generation is not None and rules.on_object(call) and _obsolete(state, call):
        yield Check("refused", "obsolete", "may")


def _over(setup: Setup, state: State, call: ApiCall) -> bool:
    """Its context or its object is over already; SPEC leaves open what then."""
    return setup.dialect.contexts and (f"context {call.context}" in state.ended or f"uid {call.uid}" in state.ended)


def _obsolete(state: State, call: ApiCall) -> bool:
    return any(rules.newer(one.call, call) and one.call.uid == call.uid for one in state.submits)


def _refused(setup: Setup, state: State, arrival: Arrival, check: Check) -> State:
    draft = Draft(setup, state)
    index = state.submitted
    draft.submits[index] = Submit(
        index=index,
        op=arrival.op,
        call=arrival.call,
        at=state.now,
        entry=-1,
        due=frozenset({check.kind}),
        reasons=frozenset({check.reason}),
    )
    draft.fields["submitted"] = state.submitted + 1
    return draft.freeze()


# -- room --------------------------------------------------------------------------------------------------------------

_Range = tuple[tuple[float, float], tuple[float, float], tuple[float, float]]
"""Aged priority, minus the deadline, rebuild cost; each as its least and its most."""


def _droppable(state: State) -> list[Entry]:
    found = []
    for entry in state.entries:
        joined = [one for one in state.of(entry.index) if not one.parked]
        if not (entry.live and joined) or entry.attempts or entry.call.prerequisite_of is not None:
            continue
        if all(one.call.droppable and one.call.prerequisite_of is None for one in joined):
            found.append(entry)
    return found


def _rank(setup: Setup, state: State, entry: Entry) -> _Range:
    joined = [one.call for one in state.of(entry.index) if not one.parked] or [entry.call]
    own = ready.worth(setup, state, entry)
    lent = max([own, *(ready.worth(setup, state, one) for one in ready.lenders(state, entry))])
    until = -rules.deadline(joined) if setup.dialect.deadlines else 0.0
    costs = [call.rebuild_cost for call in joined]
    return ((own, lent), (until, until), (min(costs), max(costs)))


def _newcomer(setup: Setup, state: State, call: ApiCall) -> _Range:
    own = rules.aged(setup.config, [(call, state.now)], setup.dialect.order == "aged")
    until = -call.deadline if setup.dialect.deadlines else 0.0
    return ((own, own), (until, until), (call.rebuild_cost, call.rebuild_cost))


def _surely_less(one: _Range, other: _Range) -> bool:
    for (low, high), (floor, ceiling) in zip(one, other, strict=True):
        if high < floor - 1e-9:
            return True
        if not (math.isclose(low, ceiling, abs_tol=1e-9) and math.isclose(high, floor, abs_tol=1e-9)):
            return False  # greater, or nobody knows
    return False


def _tie(one: _Range, other: _Range) -> bool:
    return all(
        mine[0] == mine[1] and theirs[0] == theirs[1] and mine[0] == theirs[0]
        for mine, theirs in zip(one, other, strict=True)
    )


def _victims(setup: Setup, state: State, arrival: Arrival) -> Iterator[Entry]:
    """The calls that may be the one to drop."""
    droppable = _droppable(state)
    new = _newcomer(setup, state, arrival.call)
    ranks = {one.index: _rank(setup, state, one) for one in droppable}
    for entry in droppable:
        mine = ranks[entry.index]
        if any(_surely_less(ranks[other.index], mine) for other in droppable if other.index != entry.index):
            continue
        if not _surely_less(new, mine) and not _tie(new, mine):
            yield entry


def _with_room(setup: Setup, state: State, arrival: Arrival) -> Iterator[State]:
    if setup.dialect.when_full != "drop" or state.live < setup.config.capacity:
        yield state
        return
    if sum(not one.due for one in state.submits) < setup.config.capacity:
        yield state  # somebody's outcome is due already: there may be room
    for entry in _victims(setup, state, arrival):
        draft = Draft(setup, state)
        draft.end(entry.index, {"dropped"}, "not", ("room",))
        yield draft.freeze()


# -- acceptance --------------------------------------------------------------------------------------------------------


def _accepted(setup: Setup, state: State, arrival: Arrival) -> Iterator[State]:
    call, index = arrival.call, state.submitted
    over = _over(setup, state, call)
    submit = Submit(
        index=index,
        op=arrival.op,
        call=call,
        at=state.now,
        entry=index,
        loose=frozenset({"cancelled", "stale"}) if over else frozenset(),
    )
    twins = [
        one
        for one in state.entries
        if setup.dialect.coalescing == "twins"
        and one.live
        and one.payload == arrival.payload
        and rules.twins(one.call, call)
    ]
    alone = not twins
    for twin in twins:
        parks = rules.is_write(call) and (twin.in_flight or twin.undecided != "no" or twin.conflict)
        joins = not (twin.flying and rules.is_write(call))
        if twin.flying and not rules.is_write(call):
            alone = True
        if parks:
            yield _added(setup, state, arrival, dataclasses.replace(submit, entry=twin.index, parked=True), None)
        if joins:
            yield _added(setup, state, arrival, dataclasses.replace(submit, entry=twin.index), None)
    if alone:
        waits = frozenset(
            one.index
            for one in state.entries
            if one.live and one.index != index and rules.is_prerequisite(one.call, call)
        )
        entry = Entry(
            index=index,
            order=index,
            call=call,
            operation=arrival.operation,
            payload=arrival.payload,
            waits=waits if setup.dialect.prerequisites else frozenset(),
        )
        yield _added(setup, state, arrival, submit, entry)


def _added(setup: Setup, state: State, arrival: Arrival, submit: Submit, entry: Entry | None) -> State:
    draft = Draft(setup, state)
    draft.submits[submit.index] = submit
    draft.fields["submitted"] = state.submitted + 1
    if arrival.call.key is not None:
        draft.fields["keys"] = state.keys | {(arrival.call.key, arrival.payload)}
    if entry is None:
        serves = arrival.call.prerequisite_of
        entry = draft.entries[submit.entry]
        if serves is not None and entry.call.prerequisite_of != serves:  # the strictest flags of all joiners
            entry = draft.entry(entry.index, call=dataclasses.replace(entry.call, prerequisite_of=serves))
            for index, other in list(draft.entries.items()):
                if other.live and rules.is_prerequisite(entry.call, other.call) and not other.attempts:
                    draft.entry(index, waits=other.waits | {entry.index}, free=True)
    else:
        draft.entries[entry.index] = entry
        for index, other in list(draft.entries.items()):
            if not other.live or index == entry.index:
                continue
            if rules.is_prerequisite(entry.call, other.call) and not other.attempts:
                draft.entry(index, waits=other.waits | {entry.index}, free=True)
            elif _replaces(setup, entry.call, other):
                words = {"superseded", "dropped", "merged:applied", "merged:noop", "merged:", "merged:superseded"}
                draft.entry(index, loose=other.loose | words, free=True)
    return draft.freeze()


def _replaces(setup: Setup, call: ApiCall, other: Entry) -> bool:
    """Where the newest full state wins, one that waits may give way to it in whatever words."""
    return (
        setup.dialect.coalescing == "newest"
        and not other.attempts
        and (call.uid, call.type, call.target) == (other.call.uid, other.call.type, other.call.target)
    )
