"""Memory: a long wait keeps no more answers than a short one."""

from __future__ import annotations

from ...faults.memory import MemoryPlan, memory_plans, run_memory
from ...harness.history import History
from ...harness.protocols import WaiterSubject
from ...harness.suite import Suite
from ._formats import format_of
from ._judged import special


def run(plan: MemoryPlan, subject: WaiterSubject) -> History:
    """Run one long wait and count."""
    return run_memory(plan, subject, suite="waiter-memory")


SUITES = (
    Suite(
        name="waiter-memory",
        summary="a long wait keeps no more answers in memory than a short one",
        kind="waiter",
        invariants=special("memory"),
        format=format_of(MemoryPlan, words=lambda plan: plan.words(), parts=lambda _: ()),
        run=run,
        strategy=lambda subject: memory_plans(subject.dialect),
        corners=lambda _: (MemoryPlan(),),
        share=0.02,
    ),
)
