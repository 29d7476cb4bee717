"""Attempts: never more than configured, all of them before a call is exhausted, none once it has been told (SPEC 4, 'Retry')."""

from __future__ import annotations

from ....harness.verdicts import Finding, held
from ...dispatch_trace import DispatchTrace
from ._judging import breach, call, must, seconds, told


def _bound(trace: DispatchTrace) -> Finding:
    most, witnesses = trace.config.attempts, []
    for operation in trace.operations.values():
        if not operation.submits:
            continue
        allowed = most * len(operation.submits)
        if len(operation.tries) > allowed:
            return breach(
                f"was sent {len(operation.tries)} times", [operation.submits[0], *operation.tries[allowed - 1 : allowed + 1]],
                of=call(operation.submits[0]), expected=f"at most {most} attempts a call", observed=str(len(operation.tries)),
            )  # fmt: skip
        if len(operation.tries) >= most:
            witnesses.append(operation.tries[most - 1].start.seq)
    return held(witnesses)


def _all_used(trace: DispatchTrace) -> Finding:
    witnesses = []
    for submit in trace.submits:
        if submit.final != "exhausted" or submit.outcome is None:
            continue
        made = sum(1 for attempt in submit.operation.attempts if attempt.start.seq < submit.told_seq)
        if made < trace.config.attempts:
            return breach(
                f"was told exhausted after {made} attempts", [submit, *submit.operation.tries[-1:], submit.outcome], of=call(submit),
                expected=f"all {trace.config.attempts} of them", observed=told(submit),
            )  # fmt: skip
        witnesses.append(submit.told_seq)
    return held(witnesses)


def _not_once_told(trace: DispatchTrace) -> Finding:
    witnesses = []
    for operation in trace.operations.values():
        submits = operation.submits
        if not submits or any(submit.outcome is None for submit in submits):
            continue
        last = max((submit.outcome for submit in submits if submit.outcome is not None), key=lambda event: event.seq)
        witnesses.append(last.seq)
        if not operation.tries:
            continue
        late = operation.tries[-1]
        if late.start.seq > last.seq and late.began > last.at + trace.near:
            return breach(
                f"{late.op} was sent after everybody had been told the outcome", [submits[0], last, late], of=call(submits[0]),
                expected=f"nothing sent after {seconds(last.at)}", observed=f"{told(submits[-1])}; sent at {seconds(late.began)}",
            )  # fmt: skip
    return held(witnesses)


INVARIANTS = (
    must("attempts_bound", "attempts", _bound, "SPEC 4 retry; D102", "A call is never sent more often than the attempts that are configured."),
    must(
        "attempts_all_used", "attempts", _all_used, "SPEC 4 retry", "A call is exhausted only when all its attempts are spent.",
        lambda dialect: dialect.retries,
    ),
    must("told_never_sent", "attempts", _not_once_told, "SPEC 4 exactly one outcome; D5, D74", "A call whose outcome has been told is not sent any more."),
)  # fmt: skip
