"""What the suites of dispatch queues share: their invariants, their plans' format, and how one plan is run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from ...faults.plan import plan_from_json, plan_to_json
from ...faults.queue_plan import QueuePlan, plan_size, simpler_plans
from ...faults.queue_running import run_queue
from ...harness.history import History
from ...harness.invariant import Invariant
from ...harness.parting import Parting
from ...harness.queue_protocols import QueueSubject
from ...harness.suite import PlanFormat
from ...models.dispatch_bounds import figures
from ...models.invariants import catalogue
from ...models.queue_following import followed

__all__ = ["FORMAT", "figures", "invariants", "model", "parted", "runner"]


def invariants() -> tuple[Invariant, ...]:
    """Every invariant of dispatch queues: each is judged on every run, so that a new one is a new file and no other change."""
    return tuple(item for name, item in catalogue().items() if name.startswith("dispatch."))


def _reach(plan: QueuePlan) -> Mapping[str, Mapping[str, int]]:
    found = {
        "answers": Counter(item.answer.kind for item in plan.answers),
        "steps": Counter(item.kind for item in plan.steps),
        "calls": Counter(item.data.call.type for item in plan.steps if item.kind == "queue_submit"),
        "schedules": Counter(["seeded" if plan.schedule else "first in, first out"]),
        "kills": Counter([plan.kill.who] if plan.kill is not None and plan.kill.step >= 0 else []),
    }
    return {group: dict(counts) for group, counts in found.items() if counts}


def _from_json(data: object) -> QueuePlan:
    return plan_from_json(QueuePlan, data)  # type: ignore[arg-type]


FORMAT: PlanFormat[QueuePlan] = PlanFormat(
    to_json=plan_to_json,
    from_json=_from_json,
    words=lambda plan: plan.words(),
    size=plan_size,
    simpler=simpler_plans,
    reach=_reach,
)


def model(history: History) -> Parting | None:
    """Where the reference model parts from a history."""
    breach = followed(history).breach
    if breach is None:
        return None
    return Parting(
        event=breach.seq,
        state="\n".join(breach.state),
        allowed="\n".join(breach.allowed) or breach.expected,
        observed=f"{breach.observed}; {breach.expected}",
    )


def runner(suite: str) -> Callable[[QueuePlan, QueueSubject], History]:
    """How a suite of this name runs one plan."""

    def run(plan: QueuePlan, subject: QueueSubject) -> History:
        return run_queue(plan, subject, suite=suite)

    return run


def parted(history: History, subject: QueueSubject) -> bool:
    """Whether a queue that claims to follow the reference model has parted from it."""
    return "reference" in subject.claims and followed(history).breach is not None
