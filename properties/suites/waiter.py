"""One wait under any plan: the main suite of waiters."""

from __future__ import annotations

from collections.abc import Sequence

from ...faults.plan import WaitPlan
from ...faults.run import run_wait
from ...faults.strategies import wait_plans
from ...harness.history import History
from ...harness.protocols import WaiterSubject
from ...harness.suite import Suite
from ...models.following import first_parting
from ._corners import corners
from ._formats import WAIT_FORMAT
from ._judged import plain


def run(plan: WaitPlan, subject: WaiterSubject) -> History:
    """Run one wait."""
    return run_wait(plan, subject, suite="waiter")


def corner_plans(subject: WaiterSubject) -> Sequence[WaitPlan]:
    """Plans that reach each situation at least once, whatever is drawn."""
    return corners(subject.dialect)


SUITES = (
    Suite(
        name="waiter",
        summary="one wait under any plan of answers, delays, wakes, cancellation and clock jumps",
        kind="waiter",
        invariants=plain(),
        format=WAIT_FORMAT,
        run=run,
        model=first_parting,
        strategy=lambda subject: wait_plans(subject.dialect),
        corners=corner_plans,
    ),
)
