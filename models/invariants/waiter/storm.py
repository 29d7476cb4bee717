"""No storm: a waiter is never a denial of service, whatever it is given (SPEC 2, last bullet; SPEC 5 safety)."""

from __future__ import annotations

from itertools import pairwise

from ....harness.invariant import Invariant, Level
from ....harness.verdicts import Finding, held
from ...trace import NOISE, Fetch, WaitTrace
from ...waiter import MOST_REMAINDERS
from ._judging import breach, each_wait, seconds

LEAST_APART = 0.005


def _no_storm(wait: WaitTrace) -> Finding:
    deadline, near = wait.deadline, wait.tolerance
    excepted = 0
    seen = []
    polls = wait.polls()
    sleeps = iter(wait.sleeps)
    sleep = next(sleeps, None)
    for before, after in pairwise(polls):
        woken_early, slept = False, 0
        while sleep is not None and sleep.start.seq < after[0].start.seq:
            woken_early |= sleep.late < 0
            slept += 1
            sleep = next(sleeps, None)
        apart = after[0].began - before[-1].began
        if apart >= LEAST_APART - NOISE:
            seen.append(after[0].start.seq)
            continue
        if _asked_for(before[-1], wait.dialect.least_hint):
            continue
        if (woken_early and wait.dialect.early_wake == "fetch") or slept >= MOST_REMAINDERS:
            continue  # the bench's own early wakes made it so
        if deadline is not None and after[0].began >= deadline - near and not excepted:
            excepted += 1
            continue
        return breach(
            wait, f"two fetches {apart * 1000:.4g} ms apart", [before[-1], after[0]],
            expected=f"at least {LEAST_APART * 1000:g} ms between fetches", observed=f"{seconds(apart)}",
        )  # fmt: skip
    return held(seen)


def _asked_for(fetch: Fetch, least: float) -> bool:
    """The server itself asked for so short a pause, and the dialect obeys it to the letter."""
    hint = fetch.says.hint if fetch.says is not None else None
    return least < LEAST_APART and hint is not None and hint.low < LEAST_APART


INVARIANTS = (
    Invariant(
        id="waiter.no_storm", level=Level.MUST, safety=True, check=each_wait(_no_storm, bad_calls=True), source="SPEC 2 no storm; W24",
        expectation="Two polls are never less than 5 ms apart, the one at the deadline excepted, for any parameters that are accepted.",
    ),
)  # fmt: skip
