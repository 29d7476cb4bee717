"""Parameters: bad ones are refused before the first fetch, extreme ones that are accepted do not overflow, crash or storm."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from hypothesis import strategies as st

from ...faults.plan import WaitPlan, answer
from ...faults.run import run_wait
from ...faults.strategies import bad_calls, effective_default, extreme_calls, wait_plans
from ...harness.history import History
from ...harness.protocols import WaitCall, WaiterSubject
from ...harness.suite import Suite
from ...models.following import first_parting
from ._formats import WAIT_FORMAT
from ._judged import special

BUDGET = 20_000
"""Events: some plans poll more than a thousand times, because powers overflow at the 1025th."""


def run(plan: WaitPlan, subject: WaiterSubject) -> History:
    """Run one wait."""
    return run_wait(plan, subject, suite="waiter-parameters", budget=BUDGET)


def plans(subject: WaiterSubject) -> st.SearchStrategy[WaitPlan]:
    """Half of them bad calls, half extreme ones; answers are plain, so that only the parameters are in question."""
    dialect = subject.dialect
    extreme = wait_plans(
        dialect, calls=extreme_calls(dialect), kinds=("status", "http_error", "rate_limit"), most_answers=5
    )
    if not can_be_bad(subject):
        return extreme
    bad = st.builds(WaitPlan, call=bad_calls(dialect), ending=st.just(answer("status")))
    return bad | extreme


def can_be_bad(subject: WaiterSubject) -> bool:
    """Does it take a number that could be invalid?"""
    return bool(subject.dialect.parameters - {"raise_on_failure", "jitter_seed", "attempts"})


def corners(subject: WaiterSubject) -> Sequence[WaitPlan]:
    """Each parameter once as bad as it gets, and the extremes that have broken real waiters."""
    base = effective_default(subject.dialect)
    able = subject.dialect.parameters
    values: tuple[tuple[str, tuple[float, ...]], ...] = (
        ("timeout", (-1.0, math.nan, True)),
        ("poll_interval", (0.0, math.nan, math.inf, True)),
        ("first_delay", (0.0, math.inf)),
        ("factor", (0.5, math.nan)),
        ("cap", (0.5,)),
        ("fetch_timeout", (0.0, math.inf)),
        ("not_found_grace", (-1.0,)),
    )
    bad = [
        WaitPlan(call=dataclasses.replace(base, **{name: value}))  # type: ignore[arg-type]
        for name, given in values
        if name in able
        for value in given
    ]
    pending = answer("status", word="processing")
    extreme = [WaitPlan(call=WaitCall(timeout=1e300), answers=(pending,) * 3)]
    if "timeout" in able:
        endless = dataclasses.replace(base, timeout=math.inf)
        giant = answer("rate_limit", form="text", text="9" * 400)
        extreme += [
            WaitPlan(call=endless, answers=(pending,) * 3),
            WaitPlan(call=endless, answers=(giant,)),
            WaitPlan(call=dataclasses.replace(base, timeout=0.0), ending=pending),
        ]
    if {"factor", "cap"} <= able:
        steep = dataclasses.replace(base, factor=1e308, cap=1e308, timeout=1e9)
        # A delay is computed at each poll: 2**1025 overflows at the 1025th, so the power must never be taken.
        level = dataclasses.replace(base, first_delay=0.5, factor=2.0, cap=0.5, timeout=600.0)
        extreme += [WaitPlan(call=steep, answers=(pending,) * 4), WaitPlan(call=level, answers=(pending,) * 1_100)]
    elif "poll_interval" in able:
        extreme.append(WaitPlan(call=dataclasses.replace(base, poll_interval=0.5), answers=(pending,) * 1_100))
    else:
        extreme.append(WaitPlan(call=dataclasses.replace(base, timeout=1e6), answers=(pending,) * 400))
    if {"timeout", "poll_interval"} <= able:
        # Past a day: an infinite timeout that is capped at one gives up here.
        day = dataclasses.replace(base, timeout=math.inf, poll_interval=20_000.0)
        extreme.append(WaitPlan(call=day, answers=(pending,) * 6))
    return [*bad, *extreme]


SUITES = (
    Suite(
        name="waiter-parameters",
        summary="bad parameters are refused, extreme ones are survived",
        kind="waiter",
        invariants=special("parameters", "waiter.no_storm", "waiter.total_time"),
        format=WAIT_FORMAT,
        run=run,
        model=first_parting,
        strategy=plans,
        corners=corners,
        share=0.5,
    ),
)
