"""One outcome each: a submit is told once what became of it, in a word of the closed set (SPEC 4, 'Exactly one outcome')."""

from __future__ import annotations

from ....harness.calls import OUTCOMES
from ....harness.invariant import Invariant, Level
from ....harness.verdicts import Finding, held, undecided, violated
from ...dispatch_trace import DispatchTrace
from ._judging import breach, call, each_queue, seconds, told


def _one_outcome(trace: DispatchTrace) -> Finding:
    witnesses = []
    waiting = []
    for submit in trace.submits:
        if submit.again:
            return breach(
                f"was told {len(submit.again) + 1} outcomes", [submit, submit.outcome, *submit.again], of=call(submit),
                expected="one outcome", observed=f"{told(submit)}, then another at {seconds(submit.again[0].at)}",
            )  # fmt: skip
        if submit.outcome is None or (trace.settled is not None and submit.live_at(trace.settled.seq)):
            waiting.append(submit)
        else:
            witnesses.append(submit.outcome.seq)
    if trace.settled is not None:
        for submit in waiting:
            if submit.start.seq < trace.settled.seq:
                return breach(
                    "has no outcome though everything must have settled", [submit, trace.settled], of=call(submit),
                    expected=f"an outcome by {seconds(trace.settled.at)}", observed=told(submit),
                )  # fmt: skip
    if trace.stop is not None:
        reason, detail = str(trace.stop.data.get("reason")), str(trace.stop.data.get("detail") or "")
        if reason in ("budget", "refused"):
            return undecided(f"the bench ended the run: {detail or reason}", events=(trace.stop.seq,))
        return violated(
            f"the run did not end by itself: {reason}", events=(trace.stop.seq,),
            expected="an outcome for every submit", observed=detail or reason,
        )  # fmt: skip
    if waiting:
        return undecided(
            f"the history ends before {call(waiting[0])} has an outcome", events=(waiting[0].start.seq,),
            witnesses=witnesses,
        )  # fmt: skip
    return held(witnesses)


def _outcome_kind(trace: DispatchTrace) -> Finding:
    witnesses = []
    for submit in trace.submits:
        if submit.outcome is None:
            continue
        witnesses.append(submit.outcome.seq)
        if submit.kind not in OUTCOMES:
            return breach(
                f"was told {submit.kind!r}, which is no outcome", [submit, submit.outcome], of=call(submit),
                expected=f"one of {', '.join(OUTCOMES)}", observed=told(submit),
            )  # fmt: skip
        if submit.kind == "merged" and (submit.own not in OUTCOMES or submit.own == "merged"):
            return breach(
                "was merged, and is not told what the call's own outcome was", [submit, submit.outcome], of=call(submit),
                expected="merged with the outcome of the call that did the work", observed=told(submit),
            )  # fmt: skip
    return held(witnesses)


INVARIANTS = (
    Invariant(
        id="dispatch.one_outcome", level=Level.MUST, safety=True, check=each_queue(_one_outcome), source="SPEC 4 exactly one outcome; D7, D31",
        expectation="Every submit is told exactly one outcome by the time everything must have settled.",
    ),
    Invariant(
        id="dispatch.outcome_kind", level=Level.MUST, safety=True, check=each_queue(_outcome_kind), source="SPEC 4 closed set",
        expectation="An outcome is one of the closed set, and merged comes with the outcome of the call that did the work.",
    ),
)  # fmt: skip
