"""A queue under drawn plans: calls, answers, faults, cancellation, deletion, close, each plan under five schedules."""

from __future__ import annotations

from ...faults.queue_strategies import queue_plans, variants
from ...harness.suite import Suite
from ._dispatch import FORMAT, figures, invariants, model, runner
from ._dispatch_corners import corners

SUITES = (
    Suite(
        name="dispatch-plans",
        summary="a queue under any plan of calls, answers, cancellations, deletions and closes, each under five schedules",
        kind="queue",
        invariants=invariants(),
        format=FORMAT,
        model=model,
        figures=figures,
        run=runner("dispatch-plans"),
        strategy=lambda subject: queue_plans(subject.dialect),
        corners=lambda subject: corners(subject.dialect),
        variants=variants,
    ),
    Suite(
        name="dispatch-starved",
        summary="the same with a quota that is always short",
        kind="queue",
        invariants=invariants(),
        format=FORMAT,
        model=model,
        figures=figures,
        run=runner("dispatch-starved"),
        strategy=lambda subject: queue_plans(subject.dialect, starved=True),
        variants=variants,
        refuses=lambda subject: "" if subject.dialect.rate else "it has no quota",
        share=0.3,
    ),
)
