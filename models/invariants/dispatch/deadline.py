"""One absolute deadline: no attempt starts after it, and the submitter is told then (SPEC 4)."""

from __future__ import annotations

import math

from ....harness.verdicts import Finding, held
from ...dispatch_trace import DispatchTrace, Submit
from ._judging import breach, call, must, seconds, told


def _no_attempt_after(trace: DispatchTrace) -> Finding:
    witnesses = []
    for operation in trace.operations.values():
        if not any(math.isfinite(submit.deadline) for submit in operation.submits):
            continue
        for attempt in operation.tries:
            latest = max(
                submit.deadline
                for submit in operation.submits
                if submit.start.seq < attempt.start.seq or submit is operation.submits[0]
            )
            if attempt.began > latest + trace.near:
                return breach(
                    f"{attempt.op} started after the deadline", [operation.submits[0], attempt], of=call(operation.submits[0]),
                    expected=f"no attempt after {seconds(latest)}", observed=seconds(attempt.began),
                )  # fmt: skip
        witnesses += [submit.start.seq for submit in operation.submits if submit.told >= submit.deadline - trace.near]
    return held(witnesses)


def _read_back(trace: DispatchTrace, submit: Submit) -> bool:
    """An ambiguous attempt may be read back after the deadline; the outcome comes when that is over."""
    late = submit.deadline - trace.near
    return trace.dialect.read_back and any(item.back and item.ended >= late for item in submit.operation.attempts)


def _told_then(trace: DispatchTrace) -> Finding:
    witnesses = []
    end = trace.last.at if trace.last is not None else 0.0
    for submit in trace.submits:
        due = max(submit.deadline, submit.began)
        if not math.isfinite(due) or submit.told < due - trace.near or due + trace.slack >= end:
            continue
        if submit.told > due + trace.slack and not _read_back(trace, submit):
            return breach(
                "was not told when its deadline had passed", [submit, submit.outcome], of=call(submit),
                expected=f"an outcome at {seconds(due)}", observed=told(submit),
            )  # fmt: skip
        witnesses.append(submit.start.seq)
    return held(witnesses)


def _not_early(trace: DispatchTrace) -> Finding:
    witnesses = []
    for submit in trace.submits:
        if submit.kind != "expired" or submit.outcome is None:
            continue
        if submit.told < submit.deadline - trace.near:
            return breach(
                "was told that it had expired before its deadline", [submit, submit.outcome], of=call(submit),
                expected=f"not before {seconds(submit.deadline)}", observed=told(submit),
            )  # fmt: skip
        witnesses.append(submit.told_seq)
    return held(witnesses)


def _has(dialect: object) -> bool:
    return bool(getattr(dialect, "deadlines", False))


INVARIANTS = (
    must(
        "no_attempt_after_deadline", "deadline", _no_attempt_after, "SPEC 4 one absolute deadline; D101",
        "No attempt starts after the deadline of its call, that of its latest joiner; reading back an ambiguous one may.", _has,
    ),
    must("told_at_deadline", "deadline", _told_then, "SPEC 4 one absolute deadline; D62", "A submit that is live at its deadline is told an outcome then.", _has),
    must("not_expired_early", "deadline", _not_early, "SPEC 4 coalescing: each joiner keeps its own deadline", "Nothing expires before its own deadline.", _has),
)  # fmt: skip
