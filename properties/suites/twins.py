"""Twins: the synchronous, asyncio and trio forms of one implementation take the same decisions in the same order."""

from __future__ import annotations

from ...faults.plan import WaitPlan, plan_to_json
from ...faults.run import header_of, run_wait
from ...faults.strategies import wait_plans
from ...harness.history import History
from ...harness.protocols import WaiterSubject
from ...harness.suite import Suite
from ...models.following import first_parting
from ._corners import corners
from ._formats import WAIT_FORMAT
from ._judged import special


def run(plan: WaitPlan, subject: WaiterSubject) -> History:
    """Run the wait once in each mode, into one history."""
    history = History(header_of(subject, plan_to_json(plan), "waiter-twins"))
    for twin in subject.twins():
        run_wait(plan, twin, prefix=f"{twin.mode}/", history=history)
    return history


SUITES = (
    Suite(
        name="waiter-twins",
        summary="the same wait by the synchronous and the asynchronous twins",
        kind="waiter",
        invariants=special("twins"),
        format=WAIT_FORMAT,
        run=run,
        model=first_parting,
        strategy=lambda subject: wait_plans(subject.dialect),
        corners=lambda subject: corners(subject.dialect),
        refuses=lambda subject: "" if len(subject.twins()) > 1 else "it has no twin",
        share=0.5,
    ),
)
