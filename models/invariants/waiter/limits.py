"""Limits: total time and the time of one fetch (SPEC 2, "Every fetch has an absolute fetch_timeout"; SPEC 5 safety)."""

from __future__ import annotations

from itertools import pairwise

from ....harness.invariant import Invariant, Level
from ....harness.verdicts import Finding, held, undecided
from ...event_data import number
from ...schedule import Delays
from ...trace import Fetch, WaitTrace
from ._judging import breach, each_wait, how, seconds


def _slack(wait: WaitTrace, deadline: float) -> float:
    """Seconds past the deadline that this dialect may spend outside its fetches, and that the clock added."""
    slack = sum(
        max(sleep.late, 0.0) for sleep in wait.sleeps if sleep.end is None or sleep.end.at > deadline - wait.tolerance
    )
    if not wait.dialect.clips:
        longest = Delays(wait.call)[len(wait.fetches)]
        hints = [
            fetch.says.hint.high
            for fetch in wait.fetches[-1:]
            if fetch.says is not None and fetch.says.hint is not None
        ]
        before = [
            fetch.says.hint.high
            for fetch in wait.fetches[-2:-1]
            if fetch.says is not None and fetch.says.hint is not None
        ]
        slack += max([longest, *hints, *before])
    if wait.dialect.transient == "client":
        for poll in wait.polls():
            for one, other in pairwise(poll):  # the client's own pauses between its retries
                slack += max(0.0, other.began - max(one.ended, deadline))
    return slack


def _total_time(wait: WaitTrace) -> Finding:
    if wait.dialect.limit == "attempts" and wait.call.attempts is not None:
        return _attempts(wait, wait.call.attempts)
    deadline, near = wait.deadline, wait.tolerance
    end = wait.outcome or wait.last
    if deadline is None or end is None or wait.cancelled:
        return held()
    if end.at < deadline - near:
        return held() if wait.outcome is not None else undecided("the run ended before the deadline")
    everything = sorted((*wait.fetches, *wait.side), key=lambda fetch: fetch.start.seq)
    in_fetches = _time_after(everything, deadline, end.at)
    if "absolute_fetch_timeout" in wait.claims:
        polls = 1 + (wait.dialect.client_retries if wait.dialect.transient == "client" else 0)
        in_fetches = min(in_fetches, polls * number(wait.call.fetch_timeout))
    latest = deadline + in_fetches + _slack(wait, deadline)
    late = [poll[0] for poll in wait.polls() if poll[0].began > deadline + near]
    if end.at > latest + near:
        return breach(
            wait, f"still at work {seconds(end.at - deadline)} after the deadline", [*late[:1], end],
            expected=f"the end by {seconds(latest)} (deadline {seconds(deadline)})", observed=how(wait),
        )  # fmt: skip
    if len(late) > 1:
        return breach(
            wait, f"{len(late)} polls began after the deadline", late[:2], expected="at most one", observed=f"{len(late)} polls",
        )  # fmt: skip
    return (
        held([end.seq])
        if wait.outcome is not None
        else undecided("the run ended before the wait did", witnesses=[end.seq])
    )


def _attempts(wait: WaitTrace, attempts: int) -> Finding:
    """The limit of a waiter that counts; whether its first poll is an attempt or not is its own affair here."""
    polls = wait.polls()
    if len(polls) > attempts + 1:
        return breach(
            wait,
            "polled on after its attempts",
            [polls[attempts + 1][0]],
            expected=f"{attempts} polls",
            observed=f"{len(polls)} polls",
        )
    if wait.outcome is None:
        return undecided("the run ended before the attempts were used up")
    return held([wait.outcome.seq] if len(polls) >= attempts else [])


def _time_after(fetches: list[Fetch], deadline: float, end: float) -> float:
    """Seconds spent inside fetches after the deadline, overlaps counted once."""
    total, covered = 0.0, deadline
    for fetch in fetches:
        start, stop = max(fetch.began, covered), min(fetch.ended, end)
        if stop > start:
            total += stop - start
            covered = stop
    return total


def _fetch_bounded(wait: WaitTrace) -> Finding:
    limit = number(wait.call.fetch_timeout)
    seen = []
    for fetch in (*wait.fetches, *wait.side):
        until = fetch.ended if fetch.end is not None else (wait.stop or wait.outcome or fetch.start).at
        if until - fetch.began > limit + wait.tolerance:
            return breach(
                wait, "a fetch outlasted its timeout", [fetch, fetch.end or wait.stop or wait.outcome],
                expected=f"its end within {seconds(limit)}", observed=f"{seconds(until - fetch.began)} and {'an end' if fetch.end else 'no end'}",
            )  # fmt: skip
        if fetch.end is None and wait.outcome is None:
            return undecided("the run ended in the middle of a fetch", events=(fetch.start.seq,))
        if until - fetch.began >= limit - wait.tolerance:
            seen.append(fetch.start.seq)
    return held(seen)


def _fetch_patient(wait: WaitTrace) -> Finding:
    limit, near, deadline = number(wait.call.fetch_timeout), wait.tolerance, wait.deadline
    seen = []
    for fetch in wait.fetches:
        if (
            fetch.end is None
            or fetch.kind == "aborted"
            or (wait.cancel is not None and wait.cancel.seq < fetch.end.seq)
        ):
            continue
        lasted = fetch.ended - fetch.began
        ending = fetch.end.data.get("ending")
        given_up = ending == "cancelled" or (
            ending == "error" and str(fetch.end.data.get("error", "")).endswith("Timeout")
        )
        if given_up and lasted < limit - near and (deadline is None or fetch.ended < deadline - near):
            return breach(
                wait, "gave a fetch up before its timeout", [fetch, fetch.end],
                expected=f"to wait for {seconds(limit)}", observed=f"gave up after {seconds(lasted)}",
            )  # fmt: skip
        if lasted > near:
            seen.append(fetch.end.seq)
    return held(seen)


INVARIANTS = (
    Invariant(
        id="waiter.total_time", level=Level.MUST, safety=True, check=each_wait(_total_time),
        source="SPEC 2 fetch_timeout; SPEC 5 safety; W1, W40, W54, W55, W81",
        expectation="A wait with a time limit ends by it, plus one bounded fetch and the clock's own lateness (plus one wait if it does not clip).",
        possible=lambda dialect: dialect.limit != "none",
    ),
    Invariant(
        id="waiter.fetch_bounded", level=Level.MUST, claim="absolute_fetch_timeout", check=each_wait(_fetch_bounded),
        source="SPEC 2 fetch_timeout; W7, W42", expectation="Every fetch ends within the fetch timeout, however slowly bytes drip in.",
    ),
    Invariant(
        id="waiter.fetch_patient", level=Level.MUST, claim="absolute_fetch_timeout", check=each_wait(_fetch_patient),
        source="SPEC 2 fetch_timeout", expectation="A fetch is not given up before the fetch timeout, unless the deadline or the caller ends it.",
    ),
)  # fmt: skip
