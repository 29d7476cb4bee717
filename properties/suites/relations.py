"""Metamorphic relations of one wait: clock origin, wall clock, resource, time scale, further pending answers."""

from __future__ import annotations

from ...faults.plan import WaitPlan, answer
from ...faults.relations import RelationPlan, relation_plans, run_relation
from ...harness.history import History
from ...harness.protocols import WaitCall, WaiterSubject
from ...harness.suite import Suite
from ...models.following import first_parting
from ._formats import format_of
from ._judged import special


def run(plan: RelationPlan, subject: WaiterSubject) -> History:
    """Run the wait twice."""
    return run_relation(plan, subject, suite="waiter-relations")


_BASE = WaitPlan(call=WaitCall(timeout=20.0), answers=(answer("status", word="processing", delay=0.25),) * 2)
_SLOW = WaitPlan(call=WaitCall(timeout=100.0, poll_interval=20.0), ending=answer("status", word="processing"))
_TIMEOUT = WaitPlan(call=WaitCall(timeout=4.0), ending=answer("status", word="processing"))

CORNERS = (
    RelationPlan(plan=_BASE, relation="origin", amount=123_456.0),
    RelationPlan(plan=_TIMEOUT, relation="origin", amount=86_400.0),
    RelationPlan(plan=_TIMEOUT, relation="wall", amount=3600.0),
    RelationPlan(plan=_BASE, relation="wall", amount=-3600.0),
    RelationPlan(plan=_BASE, relation="resource", amount=0.0),
    RelationPlan(plan=_BASE, relation="resource", amount=1.0),
    RelationPlan(plan=WaitPlan(ending=answer("status", word="failed")), relation="resource", amount=0.0),
    RelationPlan(plan=WaitPlan(ending=answer("status", word="done")), relation="resource", amount=0.0),
    RelationPlan(plan=WaitPlan(ending=answer("status", word="done")), relation="resource", amount=1.0),
)

SUITES = (
    Suite(
        name="waiter-relations",
        summary="the same wait twice, changed in a way that must not matter",
        kind="waiter",
        invariants=special("relations", "waiter.wall_clock_ignored"),
        format=format_of(RelationPlan, words=lambda plan: plan.words(), parts=lambda plan: [plan.plan]),
        run=run,
        model=first_parting,
        strategy=lambda subject: relation_plans(subject.dialect),
        corners=lambda subject: [
            *CORNERS,
            *(
                [
                    RelationPlan(plan=_BASE, relation="scale", amount=2.0),
                    RelationPlan(plan=_TIMEOUT, relation="scale", amount=4.0),
                    RelationPlan(plan=_SLOW, relation="scale", amount=4.0),
                ]
                if "cap" in subject.dialect.parameters
                else []
            ),
            *([RelationPlan(plan=_BASE, relation="pending", amount=2.0)] if subject.dialect.clips else []),
        ],
        share=0.5,
    ),
)
