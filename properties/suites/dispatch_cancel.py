"""Cancellation everywhere: in small scenarios the task that waits, the one that runs an attempt and the one that closes are cancelled at
every await point in turn."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from hypothesis import strategies as st

from ...faults.plan import answer, fault
from ...faults.queue_plan import Kill, QueuePlan
from ...faults.queue_running import run_queue
from ...faults.queue_strategies import queue_plans, variants
from ...harness import events
from ...harness.jsonable import Json
from ...harness.queue_protocols import QueueConfig, QueueSubject
from ...harness.suite import Suite
from ._dispatch import FORMAT, figures, invariants, model, runner
from ._dispatch_corners import ONE, SLOW, call, plan, planned, submit, suited

MOST = 12
"""Await points of one task that are walked; the scenarios are small enough for that to be all."""

KILLS = (Kill(who="waiter"), Kill(who="attempt"), Kill(who="attempt", how="error"), Kill(who="closer"))


def scenarios() -> list[QueuePlan]:
    """Small scenarios, in which every kind of task has something to wait for."""
    two = (submit(0, call(key="key-o0")), submit(1, call(pod=2)))
    busy = answer("api_error", status=503)
    return [
        plan(*two, submit(2, call("bind"), at=0.5), answers=planned(0, SLOW), config=ONE),
        plan(*two, answers=planned(0, busy, answer("api_lost")), config=QueueConfig(qps=1.0, burst=1)),
        plan(*two, fault("queue_close", at=1.0), answers=[*planned(0, SLOW), *planned(1, answer("api_hang"))]),
        plan(*two, submit(0, call(key="key-o0"), at=0.2), submit(2, call(pod=3), at=4.0), answers=planned(0, SLOW)),
        plan(*two, answers=[*planned(0, busy), *planned(1, busy)], config=QueueConfig(breaker_failures=1, breaker_open=2.0, attempts=3)),
    ]  # fmt: skip


def _points(item: QueuePlan, kill: Kill, subject: QueueSubject) -> int:
    """How many await points the tasks of a kind have in a scenario, as it runs on this subject."""
    counted = dataclasses.replace(item, kill=dataclasses.replace(kill, step=-1))
    found: Json = 0
    for event in run_queue(counted, subject):
        counts = event.data.get("counts")
        if event.kind == events.BENCH_NOTE and isinstance(counts, dict):
            found = counts.get(kill.who, 0)
    return found if isinstance(found, int) else 0


def corner_plans(subject: QueueSubject) -> Sequence[QueuePlan]:
    """Every scenario, with every await point of each kind of task struck in turn."""
    found = []
    for item in scenarios():
        if suited(item, subject.dialect) is None:
            continue
        for kill in KILLS:
            for step in range(min(MOST, _points(item, kill, subject))):
                found.append(dataclasses.replace(item, kill=dataclasses.replace(kill, step=step)))  # noqa: PERF401 - three loops
    return found


@st.composite
def plans(draw: st.DrawFn, subject: QueueSubject) -> QueuePlan:
    """A drawn plan with a kill."""
    kill = dataclasses.replace(draw(st.sampled_from(KILLS)), step=draw(st.integers(0, MOST)))
    return dataclasses.replace(draw(queue_plans(subject.dialect)), kill=kill)


SUITES = (
    Suite(
        name="dispatch-cancel",
        summary="waiting, sending and closing tasks are cancelled at every await point in turn",
        kind="queue",
        invariants=invariants(),
        format=FORMAT,
        model=model,
        figures=figures,
        run=runner("dispatch-cancel"),
        strategy=plans,
        corners=corner_plans,
        variants=lambda item: variants(item)[:2],
        share=0.5,
    ),
)
