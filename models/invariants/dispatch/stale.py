"""Stale: an answer that comes after the context, the object or the deadline of its call is recorded, and never acts (SPEC 4)."""

from __future__ import annotations

import math

from ....harness.history import Event
from ....harness.verdicts import Finding, held
from ...dispatch_trace import Attempt, DispatchTrace, Submit, first_of
from ._judging import breach, call, must, seconds, told


def _word(trace: DispatchTrace, submit: Submit) -> Event | None:
    gone = trace.object_deleted(submit) if submit.rank and submit.type != "delete" else None
    return first_of(trace.context_ended(submit), gone)


def _late_answers(trace: DispatchTrace) -> list[tuple[Submit, Attempt, Event | None]]:
    """Submits whose attempt was under way when their context or object ended, or at their deadline, and was answered strictly later."""
    found = []
    for submit in trace.submits:
        word = _word(trace, submit) if trace.contexts or trace.deleted else None
        due = submit.deadline if trace.dialect.deadlines else math.inf
        at = min(word.at if word is not None else math.inf, due)
        if not math.isfinite(at) or submit.operation.alone is None or submit.began >= at:
            continue
        for attempt in submit.operation.tries:
            if attempt.status is not None and attempt.began < at - trace.near and attempt.ended > at + trace.near:
                found.append((submit, attempt, word if word is not None and word.at <= due else None))
                break
    return found


def _outcome(trace: DispatchTrace) -> Finding:
    witnesses = []
    for submit, attempt, word in _late_answers(trace):
        if submit.outcome is None:
            continue
        since = word.at if word is not None else submit.deadline
        if submit.told < since - trace.near:
            continue
        if submit.final not in ("stale", "unknown"):
            why = (
                f"{word.kind} at {seconds(word.at)}"
                if word is not None
                else f"the deadline at {seconds(submit.deadline)}"
            )
            return breach(
                f"was answered after {why}", [submit, word, attempt, attempt.end, submit.outcome], of=call(submit),
                expected="stale or unknown", observed=told(submit),
            )  # fmt: skip
        witnesses.append(submit.told_seq)
    return held(witnesses)


def _no_act(trace: DispatchTrace) -> Finding:
    acts: dict[str, list[Event]] = {}
    for event in trace.reevaluations:
        acts.setdefault(str(event.data.get("operation")), []).append(event)
    witnesses = []
    for submit, attempt, word in _late_answers(trace):
        if attempt.end is None:
            continue
        for event in acts.get(submit.operation.name, []):
            if event.seq > attempt.end.seq:
                return breach(
                    "a stale answer was acted on", [submit, word, attempt.end, event], of=call(submit),
                    expected="recorded only", observed=f"{event.kind} at {seconds(event.at)}",
                )  # fmt: skip
        witnesses.append(attempt.end.seq)
    return held(witnesses)


def _can(dialect: object) -> bool:
    return bool(getattr(dialect, "contexts", False) or getattr(dialect, "deadlines", False))


INVARIANTS = (
    must(
        "stale_outcome", "stale", _outcome, "SPEC 4 completion; D27",
        "An answer that comes after the context, the object or the deadline of its call does not make it applied.", _can,
    ),
    must("stale_never_acts", "stale", _no_act, "SPEC 4 completion; D11", "A stale answer asks for no re-evaluation.", _can),
)  # fmt: skip
