"""Cancellation, by the caller, by the end of a context or of an object: unsent, a call has no effect, ever (SPEC 4)."""

from __future__ import annotations

from ....harness import queue_events as ev
from ....harness.history import Event
from ....harness.verdicts import Finding, held
from ...dispatch_trace import NEVER, DispatchTrace, Submit
from ._ending import word_of
from ._judging import breach, call, must, seconds, told


def _unsent(trace: DispatchTrace, submit: Submit) -> Event | None:
    """The word that came while it was live, alone and unsent."""
    word = word_of(trace, submit)
    if word is None or not submit.live_at(word.seq) or submit.operation.alone is None:
        return None
    first = submit.operation.first
    return word if first is None or first.start.seq > word.seq else None


def _never_sent(trace: DispatchTrace) -> Finding:
    witnesses = []
    for submit in trace.submits:
        word = _unsent(trace, submit)
        if word is None:
            continue
        first = submit.operation.first
        if first is not None and first.began > word.at + trace.near:
            return breach(
                "was sent after it had been called off", [submit, word, first], of=call(submit),
                expected=f"never sent after {word.kind} at {seconds(word.at)}", observed=f"{first.op} at {seconds(first.began)}",
            )  # fmt: skip
        if first is None:
            witnesses.append(word.seq)
    return held(witnesses)


def _told_at_once(trace: DispatchTrace) -> Finding:
    witnesses = []
    for submit in trace.submits:
        word = _unsent(trace, submit)
        if word is None or submit.operation.first is not None or submit.start.seq > word.seq:
            continue
        if submit.kind != "cancelled" or submit.told > word.at + trace.near:
            ended = submit.deadline <= word.at + trace.near or trace.closed_at <= word.at + trace.near
            if ended and submit.told <= word.at + trace.near:
                continue
            if submit.told <= word.at + trace.near and submit.kind in ("superseded", "failed", "dropped"):
                continue  # something else settled it in that instant
            return breach(
                "was called off unsent and not told so at once", [submit, word, submit.outcome], of=call(submit),
                expected=f"cancelled at {seconds(word.at)}", observed=told(submit),
            )  # fmt: skip
        witnesses.append(submit.told_seq)
    return held(witnesses)


def _sent_is_open(trace: DispatchTrace) -> Finding:
    """Called off by its caller while an attempt was under way."""
    witnesses = []
    for submit in trace.submits:
        word = submit.cancel
        if word is None or not submit.live_at(word.seq) or submit.operation.alone is None or not submit.writes:
            continue
        last = submit.operation.last_try(word.seq)
        if last is None or last.end_seq < word.seq or last.ended <= word.at + trace.near or submit.outcome is None:
            continue
        if submit.kind not in ("unknown", "stale", "closed"):
            return breach(
                "was called off while an attempt was under way", [submit, last, word, submit.outcome], of=call(submit),
                expected="stale if it is answered by the deadline, else unknown", observed=told(submit),
            )  # fmt: skip
        witnesses.append(submit.told_seq)
    return held(witnesses)


def _for_a_reason(trace: DispatchTrace) -> Finding:
    witnesses: list[int] = []
    ended: dict[str, int] = {}
    for submit in trace.submits:
        if submit.type in ("delete", "preempt"):
            ended.setdefault(submit.uid, submit.start.seq)
    for submit in trace.submits:
        if submit.final != "cancelled" or submit.outcome is None:
            continue
        # A queue may remember what was over before the submit, and may take the name for one that is used again: both are right.
        words = [*trace.contexts.get(submit.context, ()), *trace.deleted.get(submit.uid, ()), submit.cancel]
        told_so = min((word.seq for word in words if word is not None), default=NEVER)
        seq = min(told_so, ended.get(submit.uid, NEVER), trace.closed_seq)
        if seq > submit.told_seq:
            return breach(
                "was told that it was cancelled, and nobody had cancelled it", [submit, submit.outcome], of=call(submit),
                expected="a cancel, or the end of its context or object, first", observed=told(submit),
            )  # fmt: skip
        witnesses.append(submit.told_seq)
    return held(witnesses)


def _waiter(trace: DispatchTrace) -> Finding:
    witnesses = []
    for event in trace.waiters:
        submit = trace.by_op.get(event.op)
        if submit is None or not submit.live_at(event.seq):
            continue
        word = trace.over(submit)
        if (
            submit.kind == "cancelled"
            and (word is None or word.seq > submit.told_seq)
            and trace.closed_seq > submit.told_seq
        ):
            return breach(
                "was cancelled with the task that waited for it", [submit, event, submit.outcome], of=call(submit),
                expected="the submit goes on: only its waiter was cancelled", observed=told(submit),
            )  # fmt: skip
        if submit.outcome is not None:
            witnesses.append(event.seq)
    return held(witnesses)


def _can(dialect: object) -> bool:
    return bool(getattr(dialect, "cancels", False) or getattr(dialect, "contexts", False))


INVARIANTS = (
    must(
        "cancelled_never_sent", "cancel", _never_sent, "SPEC 4 cancellation; D10, D81",
        "A call that was cancelled, or whose context or object ended, before it was sent is never sent.", _can,
    ),
    must("cancelled_told_at_once", "cancel", _told_at_once, "SPEC 4 cancellation", "A call that is called off unsent is told at once that it is cancelled.", _can),
    must(
        "cancelled_while_sent", "cancel", _sent_is_open, "SPEC 4 what ends a call; D77",
        "A call that is cancelled while an attempt is under way ends stale or unknown.", lambda dialect: dialect.cancels,
    ),
    must("cancelled_for_a_reason", "cancel", _for_a_reason, "SPEC 4 cancellation; D108", "Nobody is told cancelled whose call was not called off.", _can),
    must(
        "waiter_cancel_harmless", "cancel", _waiter, f"SPEC 5 cancellation at every await point; D94, D95; {ev.WAITER_CANCEL}",
        "Cancelling the task that waits for an outcome does not cancel the submit.", lambda dialect: dialect.waiters,
    ),
)  # fmt: skip
