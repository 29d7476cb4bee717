"""Ends: a run must end by the subject's own hand, in one of the ways that can be judged (SPEC 5)."""

from __future__ import annotations

from ....harness import events
from ....harness.history import Event, History
from ....harness.invariant import Invariant, Level
from ....harness.verdicts import Finding, first_bad, held, undecided, violated
from ...trace import WaitTrace, traces

JUDGED = ("timeout", "failure", "transport", "cancelled", "value")

ODD = ("unclear", "not_a_job", "wrong_id", "permanent", "not_found")
"""After such an answer an error of a type of its own is no crash: whether it has the right name is for permanent_surfaced."""


ENDLESS = 1e6
"""A pause of more seconds than this, asked for by the caller's own arguments, may be more than a bench can play."""


def _stopped(stop: Event, waits: list[WaitTrace]) -> Finding:
    reason = str(stop.data.get("reason"))
    asked = [
        max(wait.call.cap, wait.call.first_delay, wait.call.poll_interval or 0.0)
        for wait in waits
        if wait.stop is stop and wait.sane
    ]
    if reason in ("hang", "deadlock") and any(longest > ENDLESS for longest in asked):
        return undecided("the caller asked for pauses that the bench can't play to their end", events=(stop.seq,))
    if reason == "refused":
        return undecided(f"the bench can't run this: {stop.data.get('detail', '')}", events=(stop.seq,))
    if reason == "budget":
        return undecided(f"the bench ended the run: {stop.data.get('detail', reason)}", events=(stop.seq,))
    return violated(
        f"the run did not end by itself: {reason}",
        events=(stop.seq,),
        expected="a return or an error",
        observed=str(stop.data.get("detail") or reason),
    )


def _plain(wait: WaitTrace) -> bool:
    """The last answer was a job as it should be: whatever can't be read of it, the answer is not to blame."""
    last = wait.final
    body = last.says.body if last is not None and last.says is not None and last.kind == "terminal" else None
    return isinstance(body, dict) and isinstance(body.get("job_id"), str) and isinstance(body.get("status"), str)


def _wait_ends(wait: WaitTrace) -> Finding:
    if wait.outcome is None:
        return undecided("the history ends before the wait does", events=(wait.start.seq,))
    unread = str(wait.view.get("other") or "")
    if wait.category == "returned" and unread and _plain(wait) and wait.sane:
        return violated(
            f"{wait.name}: what was returned can't be read by the adapter's view", events=(wait.outcome.seq,),
            expected="a value that the view of the adapter can read", observed=unread[:200],
        )  # fmt: skip
    if wait.category in ("returned", *JUDGED) or wait.cancelled or not wait.sane:
        return held([wait.outcome.seq])
    last = wait.final
    unknown = last is not None and last.kind == "unknown" and wait.dialect.unknown_status != "continue"
    transient = last is not None and last.kind == "transient" and wait.dialect.transient != "retry"
    if not wait.fetches and wait.odd_id:
        return held([wait.outcome.seq])
    if last is not None and (last.kind in ODD or unknown or transient):
        return held([wait.outcome.seq])
    data = wait.outcome.data
    return violated(
        f"{wait.name} ended by an error of no known kind, {data.get('type')}", events=(wait.outcome.seq,),
        expected=f"a return, or an error that is one of {', '.join(JUDGED)}", observed=f"{data.get('type')}: {str(data.get('message', ''))[:200]}",
    )  # fmt: skip


def _ends(history: History) -> Finding:
    waits = traces(history)
    stops = [_stopped(stop, waits) for stop in history.of_kind(events.BENCH_STOP)]
    others = [event.seq for event in history.of_kind(events.WAIT_RETURN, events.WAIT_RAISE)]
    findings = [_wait_ends(wait) for wait in waits]
    return first_bad([*stops, *findings, held(others)])


INVARIANTS = (
    Invariant(
        id="subject.ends", level=Level.MUST, safety=True, check=_ends, source="SPEC 5; W1, W7, W8",
        expectation="A run ends by the subject's own hand: no deadlock, no hang, nothing that the bench had to refuse, no error of an unknown kind.",
    ),
)  # fmt: skip
