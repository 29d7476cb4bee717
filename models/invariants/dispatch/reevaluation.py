"""A completion asks for re-evaluation of its pod (SPEC 4, 'Completion')."""

from __future__ import annotations

from ....harness.history import Event
from ....harness.verdicts import Finding, held
from ...dispatch_trace import DONE, DispatchTrace
from ._judging import breach, call, must, seconds, told


def _asked(trace: DispatchTrace) -> Finding:
    acts: dict[str, list[Event]] = {}
    for event in trace.reevaluations:
        acts.setdefault(str(event.data.get("operation")), []).append(event)
    witnesses = []
    end = trace.last.at if trace.last is not None else 0.0
    for submit in trace.submits:
        if submit.kind not in DONE or submit.outcome is None or not submit.writes:
            continue
        mine = [event for event in acts.get(submit.operation.name, []) if event.seq > submit.start.seq]
        if not mine:
            if end <= submit.told + trace.near and trace.settled is None:
                continue  # the history ends in that instant
            return breach(
                "was completed and nobody was asked to look at its pod", [submit, submit.outcome], of=call(submit),
                expected=f"{submit.uid} re-evaluated at {seconds(submit.told)}", observed=f"{told(submit)}, nothing else",
            )  # fmt: skip
        first = mine[0]
        if first.data.get("uid") != submit.uid or first.at > submit.told + trace.slack:
            return breach(
                "the wrong pod was to be looked at, or too late", [submit, submit.outcome, first], of=call(submit),
                expected=f"{submit.uid} at {seconds(submit.told)}", observed=f"{first.data.get('uid')} at {seconds(first.at)}",
            )  # fmt: skip
        witnesses.append(first.seq)
    return held(witnesses)


def _not_early(trace: DispatchTrace) -> Finding:
    witnesses = []
    for event in trace.reevaluations:
        operation = trace.operations.get(str(event.data.get("operation")))
        if operation is None or not operation.submits:
            continue
        ended = any(attempt.end_seq < event.seq for attempt in operation.attempts)
        settled = any(submit.told_seq <= event.seq for submit in operation.submits)
        unsent = operation.sent_seq > event.seq
        if not ended and not settled and not unsent:
            return breach(
                "re-evaluation was asked for while the call was under way", [operation.submits[0], operation.first, event],
                of=call(operation.submits[0]), expected="the end of its attempt first", observed=f"asked at {seconds(event.at)}",
            )  # fmt: skip
        witnesses.append(event.seq)
    return held(witnesses)


INVARIANTS = (
    must("reevaluates", "reevaluation", _asked, "SPEC 4 completion; D8", "A call that is done, or was done already, asks for re-evaluation of its pod."),
    must("reevaluates_after", "reevaluation", _not_early, "SPEC 4 completion; D7", "Re-evaluation is asked for after the attempt has ended, not while it is under way."),
)  # fmt: skip
