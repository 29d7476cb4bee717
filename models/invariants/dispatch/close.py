"""Close: nothing starts after it, everybody is told, and it may be called again (SPEC 4)."""

from __future__ import annotations

from ....harness.history import Event
from ....harness.invariant import Invariant, Level
from ....harness.verdicts import Finding, held, undecided
from ...dispatch_trace import Close, DispatchTrace
from ._judging import breach, call, each_queue, seconds, told


def _given_up(close: Close) -> bool:
    """The bench cancelled the task that waited for this close: it says nothing about what has been done by then."""
    return close.end is not None and bool(close.end.data.get("cancelled"))


def _ended(trace: DispatchTrace) -> Event | None:
    """The first return of a close; ``None`` if none has returned by itself."""
    ends = [close.end for close in trace.closes if close.end is not None and not _given_up(close)]
    return min(ends, key=lambda end: end.seq, default=None)


def _starts_nothing(trace: DispatchTrace) -> Finding:
    if not trace.closes:
        return held()
    first = trace.closes[0]
    ended = _ended(trace)
    for attempt in reversed(trace.attempts):
        if attempt.start.seq < first.start.seq:
            break
        # In the instant of the call an attempt may have been on its way already; one that drains waits for those.
        returned = trace.dialect.close == "drain" and ended is not None and attempt.start.seq > ended.seq
        called = trace.dialect.close == "abandon" and attempt.began > first.start.at + trace.near
        if returned or called:
            return breach(
                f"{attempt.op} was sent after close", [first.start, ended if returned else None, attempt],
                expected="nothing sent any more", observed=f"{attempt.op} at {seconds(attempt.began)}",
            )  # fmt: skip
    return held([first.start.seq])


def _tells_all(trace: DispatchTrace) -> Finding:
    witnesses = []
    if not trace.closes:
        return held()
    first = trace.closes[0]
    if first.end is None:
        return undecided("the history ends before close returns", events=(first.start.seq,))
    if _given_up(first):
        return held()
    for submit in trace.submits:
        if not submit.live_at(first.start.seq):
            continue
        if submit.told > first.end.at + trace.near:
            return breach(
                "was live at close and was not told by its return", [submit, first.start, first.end, submit.outcome], of=call(submit),
                expected=f"an outcome by {seconds(first.end.at)}", observed=told(submit),
            )  # fmt: skip
        witnesses.append(submit.start.seq)
    return held(witnesses)


def _returns(trace: DispatchTrace) -> Finding:
    witnesses = []
    for number, close in enumerate(trace.closes):
        if close.end is None:
            if trace.stop is not None or trace.settled is None:
                return undecided("the history ends before close returns", events=(close.start.seq,))
            return breach(
                f"close number {number + 1} never returned", [close.start, trace.settled],
                expected="its return", observed="none by the time everything must have settled",
            )  # fmt: skip
        if _given_up(close):
            continue
        if close.end.data.get("raised"):
            return breach(
                f"close number {number + 1} raised {close.end.data['raised']}", [close.start, close.end],
                expected="a return, in any state and any number of times", observed=str(close.end.data["raised"]),
            )  # fmt: skip
        witnesses.append(close.end.seq)
    return held(witnesses)


def _refuses_after(trace: DispatchTrace) -> Finding:
    witnesses = []
    ended = _ended(trace)
    if ended is None:
        return held()
    for submit in reversed(trace.submits):
        if submit.start.seq < ended.seq:
            break
        if submit.outcome is None and trace.last is not None and trace.last.at <= submit.began + trace.near:
            continue  # the history ends in that instant
        over = trace.over(submit)
        if submit.kind == "cancelled" and over is not None and over.seq < submit.told_seq:
            continue
        if submit.kind not in ("closed", "refused") or submit.told > submit.began + trace.near:
            return breach(
                "was submitted after close and was not turned away at once", [ended, submit, submit.outcome], of=call(submit),
                expected="closed", observed=told(submit),
            )  # fmt: skip
        witnesses.append(submit.start.seq)
    return held(witnesses)


INVARIANTS = (
    Invariant(
        id="dispatch.close_starts_nothing", level=Level.MUST, safety=True, check=each_queue(_starts_nothing), source="SPEC 4 close; SPEC 5; D55, D74",
        expectation="No attempt starts after close was called (or, where close drains, after it has returned).",
    ),
    Invariant(
        id="dispatch.close_tells_all", level=Level.MUST, claim="close", check=each_queue(_tells_all), source="SPEC 4 close; D50, D54, D100",
        expectation="When close returns, everybody who had a live submit has been told its outcome.",
    ),
    Invariant(
        id="dispatch.close_returns", level=Level.MUST, claim="close", check=each_queue(_returns), source="SPEC 4 close; D20, D57, D70",
        expectation="close returns, without an error, in any state, from anywhere and any number of times.",
    ),
    Invariant(
        id="dispatch.closed_to_newcomers", level=Level.MUST, claim="close", check=each_queue(_refuses_after), source="SPEC 4 submit: closed first",
        expectation="A submit after close is told at once that the queue is closed, and is never run.",
    ),
)  # fmt: skip
