"""Numbers: nothing that is accepted overflows, and what is bad is refused before the first fetch (SPEC 2, ``ValueError``)."""

from __future__ import annotations

import math

from ....harness import events
from ....harness.invariant import Invariant, Level
from ....harness.verdicts import Finding, held, undecided
from ...parameters import bad_parameters, surely_bad
from ...trace import Fetch, Sleep, WaitTrace
from ._judging import breach, each_wait, how, seconds

MANY_POLLS = 1_025
"""From here on ``2.0 ** n`` is no float any more (W17, W18, W20, W21)."""

HUGE = 1e9


def _extreme(wait: WaitTrace) -> list[int]:
    """What in this wait could overflow: events, empty if nothing."""
    call, seen = wait.call, []
    if any(
        value is not None and value >= HUGE
        for value in (call.timeout, call.cap, call.factor, call.first_delay, call.poll_interval)
    ):
        seen.append(wait.start.seq)
    if len(wait.fetches) >= MANY_POLLS:
        seen.append(wait.fetches[MANY_POLLS - 1].start.seq)
    for fetch in wait.fetches:
        if (
            fetch.end is not None
            and fetch.says is not None
            and fetch.says.paced
            and (fetch.says.hint is None or fetch.says.hint.counted)
        ):
            seen.append(fetch.end.seq)
            break
    return seen


def _overflow(wait: WaitTrace) -> Finding:
    seen = _extreme(wait)
    for sleep in wait.sleeps:
        if not 0 <= sleep.asked < math.inf:
            return breach(
                wait,
                "asked for a sleep that is no time",
                [sleep],
                expected="a finite number of at least 0",
                observed=repr(sleep.asked),
            )
    if not seen:
        return held()
    if wait.outcome is not None and not wait.cancelled and wait.outcome.kind == events.WAIT_RAISE:
        name = str(wait.outcome.data.get("type", ""))
        if name.rpartition(".")[2] in (
            "OverflowError",
            "FloatingPointError",
            "ZeroDivisionError",
            "RecursionError",
        ) or (wait.category == "value" and (wait.final is None or wait.final.kind not in ("unclear", "not_a_job"))):
            return breach(
                wait,
                "crashed on a number",
                [wait.outcome],
                expected="no number that is accepted can crash it",
                observed=how(wait),
            )
    if wait.outcome is None and not wait.fetches:
        return undecided("the run ended before the first fetch")
    return held(seen)


def _refuses_bad(wait: WaitTrace) -> Finding:
    if not surely_bad(wait.call):
        return held()
    wrong = "; ".join(bad_parameters(wait.call))
    touched: list[Fetch | Sleep] = [*wait.fetches[:1], *wait.side[:1], *wait.sleeps[:1]]
    if touched:
        return breach(
            wait,
            f"used bad arguments: {wrong}",
            [wait.start, *touched],
            expected="a ValueError before the first fetch",
            observed="a fetch or sleep",
        )
    if wait.outcome is None:
        return held() if wait.cancelled else undecided("the run ended before the first fetch")
    if wait.category != "value":
        return breach(
            wait,
            f"did not refuse bad arguments: {wrong}",
            [wait.start, wait.outcome],
            expected="a ValueError",
            observed=how(wait),
        )
    return held([wait.outcome.seq])


def _accepts_good(wait: WaitTrace) -> Finding:
    if not wait.sane or wait.cancelled:
        return held()
    if wait.category == "value" and not wait.fetches and wait.outcome is not None:
        message = str(wait.outcome.data.get("message", ""))
        return breach(
            wait, "refused good arguments", [wait.start, wait.outcome], expected="arguments within SPEC 2's limits to be accepted", observed=message or how(wait),
        )  # fmt: skip
    edges = (
        wait.call.timeout == 0
        or math.isinf(wait.call.timeout)
        or wait.call.factor == 1
        or wait.call.first_delay == wait.call.cap
    )
    fixed = wait.call.poll_interval is not None
    return held([wait.fetches[0].start.seq] if wait.fetches and (edges or fixed) else [])


def _bad_delay_unused(wait: WaitTrace) -> Finding:
    """Everyone: a sleep of a negative time, or of NaN, is a bug whatever was passed in."""
    for sleep in wait.sleeps:
        if sleep.asked < 0 or math.isnan(sleep.asked):
            return breach(
                wait,
                f"asked for a sleep of {seconds(sleep.asked)}",
                [sleep],
                expected="at least 0",
                observed=repr(sleep.asked),
            )
    return held([wait.sleeps[0].start.seq] if wait.sleeps else [])


INVARIANTS = (
    Invariant(
        id="waiter.overflow_safe", level=Level.MUST, claim="overflow_safe", check=each_wait(_overflow),
        source="SPEC 2 pacing, SPEC 5; W17, W18, W20, W21, W22, W24, W28",
        expectation="Thousands of polls, absurd hints and the largest accepted parameters neither crash it nor make a sleep that is no time.",
    ),
    Invariant(
        id="waiter.sleep_is_a_time", level=Level.MUST, claim="schedule", check=each_wait(_bad_delay_unused), source="SPEC 2 step 3; W27",
        expectation="Every sleep is asked for a number of seconds of at least 0.",
        possible=lambda dialect: dialect.clock != "loop",  # there the bench may see timers alone
    ),
    Invariant(
        id="waiter.bad_parameters_refused", level=Level.MUST, claim="validates", check=each_wait(_refuses_bad, bad_calls=True), source="SPEC 2 ValueError; W24",
        expectation="Bad arguments raise ValueError before the first fetch or sleep.",
    ),
    Invariant(
        id="waiter.good_parameters_accepted", level=Level.MUST, claim="validates", check=each_wait(_accepts_good), source="SPEC 2 ValueError",
        expectation="Arguments at the edge of what SPEC 2 allows (timeout 0 or infinite, factor 1, cap equal to first delay) are accepted.",
    ),
)  # fmt: skip
