"""The client's other two paths: a submit is not doubled when its answer is lost; a direct call that times out says what to use instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ...faults.client_plan import Attempt, ClientPlan
from ...faults.plan import answer
from ...faults.run import run_client
from ...faults.strategies import client_plans
from ...harness.history import History
from ...harness.protocols import WaiterSubject
from ...harness.suite import Suite
from ._formats import format_of
from ._judged import special


def run(plan: ClientPlan, subject: WaiterSubject) -> History:
    """Run one call."""
    return run_client(plan, subject, suite="client")


def _paths(subject: WaiterSubject) -> Sequence[Literal["create", "direct"]]:
    found: list[Literal["create", "direct"]] = []
    if subject.create is not None:
        found.append("create")
    if subject.direct is not None:
        found.append("direct")
    return found


CORNERS = (
    ClientPlan(),
    ClientPlan(attempts=(Attempt(answer=answer("disconnect", when="after_effect")),)),
    ClientPlan(
        attempts=(
            Attempt(answer=answer("disconnect", when="after_effect")),
            Attempt(answer=answer("http_error", status=503)),
        )
    ),
    ClientPlan(attempts=(Attempt(answer=answer("http_error", status=500), effect="yes"),)),
    ClientPlan(resource="extract_jobs", attempts=(Attempt(answer=answer("http_error", status=502), effect="yes"),)),
    ClientPlan(attempts=(Attempt(answer=answer("http_error", status=422)),)),
    ClientPlan(attempts=(Attempt(answer=answer("http_error", status=404)),)),
    ClientPlan(attempts=(Attempt(answer=answer("rate_limit", status=429, form="seconds", seconds=3.0)),)),
    ClientPlan(attempts=(Attempt(answer=answer("rate_limit", status=503, form="seconds", seconds=7.0)),)),
    ClientPlan(op="direct"),
    ClientPlan(op="direct", attempts=(Attempt(answer=answer("http_error", status=504)),)),
    ClientPlan(op="direct", resource="extract_jobs", attempts=(Attempt(answer=answer("http_error", status=504)),)),
)

SUITES = (
    Suite(
        name="client",
        summary="submits and direct calls whose answers are late, lost or bad",
        kind="waiter",
        invariants=special("client"),
        format=format_of(
            ClientPlan,
            words=lambda plan: plan.words(),
            parts=lambda plan: [item.answer for item in (*plan.attempts, plan.ending)],
        ),
        run=run,
        strategy=lambda subject: client_plans(ops=_paths(subject)),
        corners=lambda subject: [plan for plan in CORNERS if plan.op in _paths(subject)],
        refuses=lambda subject: "" if _paths(subject) else "its adapter has neither create nor direct",
        share=0.5,
    ),
)
