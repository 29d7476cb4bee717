"""Totality: no JSON value makes a normaliser raise, except the one error for a body that is no object (SPEC 3 and 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ....harness import events as bench
from ....harness import normaliser_events as events
from ....harness.history import History
from ....harness.invariant import Invariant, Level
from ....harness.verdicts import Finding, first_bad, held, undecided, violated
from ...normaliser import lacks, retyped
from ...normaliser_trace import Call, trace_of
from ._judging import breach, each_call, outcome_words


def _ends(history: History) -> Finding:
    for stop in history.of_kind(bench.BENCH_STOP):
        return violated(
            f"a call did not end by itself: {stop.data.get('reason')}", events=(stop.seq,),
            expected="a return or an error", observed=str(stop.data.get("detail")),
        )  # fmt: skip
    findings = []
    for event in history.of_kind(events.RETURN, events.RAISE, events.LIST_RETURN, events.LIST_RAISE):
        if event.data.get("exception") is False:
            return violated(
                f"{event.op} ended by {event.data.get('type')}, which no caller's `except Exception` catches", events=(event.seq,),
                expected="a return, or an Exception", observed=str(event.data.get("message")),
            )  # fmt: skip
        findings.append(held([event.seq]))
    open_calls = [call for call in trace_of(history).calls if call.outcome is None]
    if open_calls:
        return undecided("the history ends before a call does", events=open_calls[0].shown)
    return first_bad(findings)


def _survives(wants: Callable[[Mapping[str, Any]], bool], what: str) -> Callable[[Call], Finding]:
    """One rule, judged apart for each way in which envelopes drift: else the commonest crash would hide the others."""

    def judge(call: Call) -> Finding:
        if not call.is_object or call.deep or call.outcome is None or not wants(call.envelope):
            return held()
        if call.reading is None:
            return breach(call, f"{what} made it raise", expected="a job", observed=outcome_words(call))
        return held(call.shown[-1:])

    return judge


_missing = _survives(lacks, "an envelope without an id or a status")
_retyped = _survives(lambda envelope: not lacks(envelope) and bool(retyped(envelope)), "a field of another type")
_total = _survives(
    lambda envelope: not lacks(envelope) and not retyped(envelope), "an envelope whose fields are as usual"
)


def _deep(call: Call) -> Finding:
    if not call.is_object or not call.deep or call.outcome is None:
        return held()
    if call.reading is None:
        return breach(call, "deep nesting made it raise", expected="a job", observed=outcome_words(call))
    again = call.later(events.AGAIN)
    if again is not None and "reading" not in again.data:
        return breach(
            call, "its own raw, which is nested deeply, made it raise", expected="the same job",
            observed=f"raised {again.data.get('type')}", more=[again],
        )  # fmt: skip
    return held(call.shown[-1:])


def _non_objects(call: Call) -> Finding:
    if call.is_object or call.outcome is None:
        return held()
    if call.reading is not None or call.outcome.data.get("named") is not True:
        return breach(
            call, "a body that is no object did not raise the documented error", expected="the one documented error", observed=outcome_words(call)
        )  # fmt: skip
    return held(call.shown[-1:])


INVARIANTS = (
    Invariant(
        id="normaliser.ends", level=Level.MUST, safety=True, check=_ends, source="SPEC 8",
        expectation="A call ends by the subject's own hand, by a return or an ordinary exception.",
    ),
    Invariant(
        id="normaliser.total", level=Level.MUST, claim="total", check=each_call(_total), source="SPEC 3; W5",
        expectation="No envelope whose fields are as usual makes it raise, whatever else it and its payload hold.",
    ),
    Invariant(
        id="normaliser.missing_fields_survived", level=Level.MUST, claim="total", check=each_call(_missing), source="SPEC 3; W85",
        expectation="An envelope without an id or a status makes a job.",
    ),
    Invariant(
        id="normaliser.retyped_fields_survived", level=Level.MUST, claim="total", check=each_call(_retyped), source="SPEC 3; W65",
        expectation="Fields of another type, of any JSON type and size, make a job.",
    ),
    Invariant(
        id="normaliser.deep_nesting", level=Level.MUST, claim="deep", check=each_call(_deep), source="SPEC 3",
        expectation="No depth of nesting makes it raise.",
    ),
    Invariant(
        id="normaliser.one_error_for_non_objects", level=Level.MUST, claim="non_objects", check=each_call(_non_objects), source="SPEC 3",
        expectation="A body that is no object raises one documented error, whatever else it is.",
        possible=lambda dialect: dialect.non_object == "raise",
    ),
)  # fmt: skip
