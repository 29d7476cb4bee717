"""What the families of normaliser invariants share: judging call by call, and saying where a call broke a rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from ....harness import normaliser_events as events
from ....harness.history import Event, History
from ....harness.invariant import Checker
from ....harness.verdicts import Finding, first_bad, held, violated
from ...normaliser import Wanted
from ...normaliser_trace import Call, Reading, trace_of

Judge: TypeAlias = Callable[[Call, Reading], Finding]

LONGEST = 300
"""Characters of a value that a finding shows."""


def each_call(judge: Callable[[Call], Finding]) -> Checker:
    """A checker that judges every call by itself, whatever its body is."""

    def check(history: History) -> Finding:
        return first_bad([judge(call) for call in trace_of(history).calls])

    return check


def each_job(judge: Judge) -> Checker:
    """A checker that judges each job that was made of an object. Where none was made there is nothing to judge."""

    def one(call: Call) -> Finding:
        return judge(call, call.reading) if call.is_object and not call.deep and call.reading is not None else held()

    return each_call(one)


def short(value: object) -> str:
    """A text for a finding: not too long, and of a time what it says."""
    text = str(value.get("text", "null") if isinstance(value, dict) else value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def breach(call: Call, cause: str, *, expected: object, observed: object, more: Iterable[Event | None] = ()) -> Finding:
    """A violation by this call, shown by its events (and some more)."""
    name = f"{call.op}: " if call.run else ""
    shown = [*call.shown, *(event.seq for event in more if event is not None)]
    return violated(f"{name}{cause}", events=tuple(shown), expected=short(expected), observed=short(observed))


def field_is(call: Call, name: str, want: Wanted, why: str = "") -> Finding:
    """Held if the part of the reading is as wanted, with a witness unless it is open."""
    assert call.reading is not None
    said = call.reading.get(name)
    if want.admits(said):
        return held([] if want.open else call.shown[-1:])
    return breach(call, f"{name} is wrong{why}", expected=want.words(), observed=said)


def outcome_words(call: Call) -> str:
    """How a call ended, in words."""
    if call.outcome is None:
        return "it did not end"
    if call.outcome.kind == events.RETURN:
        return "returned a job"
    return f"raised {call.outcome.data.get('type')}: {short(call.outcome.data.get('message'))}"
