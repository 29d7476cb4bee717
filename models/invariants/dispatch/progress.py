"""Progress: whatever can run does run, whatever goes on on other objects; in the end everything settles (SPEC 5)."""

from __future__ import annotations

from ....harness.verdicts import Finding, held
from ...dispatch_trace import DispatchTrace
from ...dispatch_waiting import waiting
from ...event_data import number
from ._judging import breach, call, must, seconds, told


def _no_lost_wakeup(trace: DispatchTrace) -> Finding:
    found, witnesses = waiting(trace), []
    for wait in found.waits:
        if wait.tries:
            continue
        submit = wait.operation.submits[0]
        span = found.idle(found.sure, wait.since, wait.until, trace.slack)
        if span is not None:
            return breach(
                f"was not sent for {seconds(span[1] - span[0])} though it could have been", [submit, wait.operation.first, submit.outcome], of=call(submit),
                expected=f"an attempt at {seconds(span[0])}: a worker and a token were free, and nothing else was live on {submit.uid}",
                observed=f"none by {seconds(span[1])}",
            )  # fmt: skip
        if wait.operation.first is not None:
            witnesses.append(wait.operation.sent_seq)
    return held(witnesses)


def _settles(trace: DispatchTrace) -> Finding:
    if trace.healed is None or trace.stop is not None:
        return held()
    within = number(trace.healed.data.get("within"), 0.0)
    until, witnesses = trace.healed.at + within, [trace.healed.seq] if trace.submits else []
    for submit in trace.submits:
        if submit.start.seq > trace.healed.seq or submit.told_seq < trace.healed.seq:
            continue
        if submit.told > until + trace.slack and trace.last is not None and trace.last.at >= until:
            return breach(
                f"had not settled {seconds(within)} after the faults had stopped", [submit, trace.healed, submit.outcome], of=call(submit),
                expected=f"an outcome by {seconds(until)}", observed=told(submit),
            )  # fmt: skip
        witnesses.append(submit.start.seq)
    return held(witnesses)


def _isolation(trace: DispatchTrace) -> Finding:
    """As ``no_lost_wakeup``, while a call on another object was under way, or waited to be tried again."""
    found, witnesses = waiting(trace), []
    running = 0
    for seq, what, item in trace.steps:
        if what == "end":
            running -= 1
        elif what == "start":
            if running and item.operation.submits:
                witnesses.append(seq)
            running += 1
    for wait in found.waits:
        if wait.tries:
            continue
        span = found.idle(found.free, wait.since, wait.until, trace.slack)
        if span is None:
            continue
        submit = wait.operation.submits[0]
        for attempt in trace.attempts:
            other = attempt.operation.submits[0] if attempt.operation.submits else None
            if attempt.began > span[1] or other is None:
                break
            last = min((item.told for item in attempt.operation.submits), default=attempt.ended)
            if other.uid != submit.uid and max(attempt.ended, last) > span[0] + trace.near:
                return breach(
                    f"was held up by {call(other)}, on another object", [submit, attempt, wait.operation.first], of=call(submit),
                    expected=f"an attempt at {seconds(span[0])}: a worker and a token were free", observed=f"none by {seconds(span[1])}",
                )  # fmt: skip
    return held(witnesses)


INVARIANTS = (
    must(
        "no_lost_wakeup", "progress", _no_lost_wakeup, "SPEC 5 no lost wake-up; D7, D8, D31, D51, D91, D92, D94, D97",
        "A call that nothing blocks is sent as soon as a worker and a token are free.",
    ),
    must("settles", "progress", _settles, "SPEC 6 heal, then converge; D31", "Once the faults have stopped everything settles within the stated bound."),
    must("isolation", "isolation", _isolation, "SPEC 4 order on an object; D30", "A call that is slow or fails on one object does not hold up calls on others."),
)  # fmt: skip
