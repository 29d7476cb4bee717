"""Several waits at once over one client: each goes as it would alone."""

from __future__ import annotations

import dataclasses

from ...faults.concurrent_plan import ConcurrentPlan, StartedWait
from ...faults.plan import WaitPlan, answer, plan_to_json
from ...faults.run import distinct, header_of, run_many
from ...faults.strategies import concurrent_plans
from ...harness.history import History
from ...harness.protocols import WaitCall, WaiterSubject
from ...harness.suite import Suite
from ...models.following import first_parting
from ._formats import format_of
from ._judged import special


def run(plan: ConcurrentPlan, subject: WaiterSubject) -> History:
    """Run the waits together, then each alone, into one history."""
    history = History(header_of(subject, plan_to_json(plan), "waiter-concurrent"))
    waits = distinct([wait.plan for wait in plan.waits])
    # One clock for all: it starts where the first plan says, also when a wait is alone.
    waits = [dataclasses.replace(wait, origin=waits[0].origin) for wait in waits]
    pairs = [(wait, started.start) for wait, started in zip(waits, plan.waits, strict=True)]
    if pairs:
        run_many(pairs, subject, prefix="together/", history=history)
    for number, pair in enumerate(pairs):
        run_many([pair], subject, prefix="alone/", history=history, first=number)
    return history


_SLOW = WaitPlan(call=WaitCall(job_id="slow", timeout=30.0), answers=(answer("status", word="processing"),) * 4)
_QUICK = WaitPlan(call=WaitCall(job_id="quick", timeout=30.0), answers=(answer("status", word="queued"),))
_LATE = WaitPlan(call=WaitCall(job_id="late", timeout=4.0), ending=answer("status", word="processing"))

CORNERS = (
    ConcurrentPlan(waits=(StartedWait(plan=_SLOW), StartedWait(plan=_QUICK, start=0.5))),
    ConcurrentPlan(waits=(StartedWait(plan=_LATE), StartedWait(plan=_SLOW), StartedWait(plan=_QUICK))),
)

SUITES = (
    Suite(
        name="waiter-concurrent",
        summary="several waits over one client, each compared with itself alone",
        kind="waiter",
        invariants=special("concurrent"),
        format=format_of(
            ConcurrentPlan,
            words=lambda plan: plan.words(),
            parts=lambda plan: [wait.plan for wait in plan.waits],
        ),
        run=run,
        model=first_parting,
        # The wall clock is one for all, so what it does to one wait it does to the others: no jumps here. Synchronous waits go one
        # after the other, so that a cancellation would fall elsewhere when it is alone.
        strategy=lambda subject: concurrent_plans(subject.dialect, most=3, jumps=False, cancels=subject.mode != "sync"),
        corners=lambda _: CORNERS,
        share=0.3,
    ),
)
