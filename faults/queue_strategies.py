"""Hypothesis strategies for the plans of queues: small ones, with times where bugs live and kinds of faults drawn by swarm.

Everything that a subject's dialect has no word for is left out of its plans. All draws have the plainest value first, so plans shrink
to the default; nothing filters.
"""

from __future__ import annotations

import dataclasses
import math
from functools import cache
from typing import Any, Final

from hypothesis import strategies as st

from ..harness.calls import ApiCall
from ..harness.queue_dialect import QueueDialect
from ..harness.queue_protocols import QueueConfig
from .calls import pick
from .kind import Kind
from .kinds import all_kinds
from .plan import Answer, Fault, answer, fault
from .queue_calls import EPSILON, flavour, one_call, settled
from .queue_plan import Planned, QueuePlan

SEEDS: Final = 5
"""Schedules that each drawn plan is run under: first in, first out, and four seeds of its own."""

_CONFIG: Final[dict[str, tuple[Any, ...]]] = {
    "workers": (2, 1, 3),
    "capacity": (100, 2, 3, 1, 4),
    "qps": (math.inf, 2.0, 0.5, 10.0, 1.0),
    "burst": (10, 1, 2),
    "attempt_timeout": (5.0, 1.0, 2.0),
    "attempts": (4, 2, 1, 3, 8, 60),
    "backoff_first": (0.5, 0.1, 2.0),
    "backoff_factor": (2.0, 1.0, 10.0),
    "backoff_cap": (8.0, 1.0, 3.0),
    "jitter_seed": (0, 1, 2),
    "aging": (1.0, 10.0, 0.1),
    "shares": ({}, {"default": (2, 1)}, {"default": (1, 1), "other": (3, 2)}, {"other": (2, 1)}),
    "breaker_failures": (0, 1, 2, 3),
    "breaker_open": (10.0, 2.0),
    "breaker_probes": (1, 2),
}
"""By field: values, the plainest first."""

STARVED: Final = QueueConfig(qps=0.5, burst=1, workers=1)
"""A quota that is always short."""


def configs(draw: st.DrawFn, dialect: QueueDialect, *, base: QueueConfig | None = None) -> QueueConfig:
    """A configuration in which a few fields are changed, of those that the subject takes."""
    able = [name for name in _CONFIG if name in dialect.parameters]
    changed: dict[str, Any] = {}
    for _ in range(pick(draw, (0, 1, 2, 3, 4)) if able else 0):
        name = pick(draw, able)
        changed[name] = pick(draw, _CONFIG[name])
    config = dataclasses.replace(QueueConfig() if base is None else base, **changed)
    if config.backoff_cap < config.backoff_first:
        config = dataclasses.replace(config, backoff_cap=config.backoff_first)
    return config


@cache
def _kinds(place: str) -> tuple[Kind, ...]:
    found = [
        kind for kind in all_kinds().values() if kind.place == place and kind.name not in ("api_ok", "queue_submit")
    ]
    return tuple(kind for kind in found for _ in range(kind.weight))


def api_kinds() -> tuple[Kind, ...]:
    """Every kind of answer but the plain one, each as often as its weight says."""
    return _kinds("api")


@cache
def _data(kind: Kind) -> st.SearchStrategy[Any]:
    return kind.strategy()


def api_answers(draw: st.DrawFn, kinds: tuple[Kind, ...], config: QueueConfig) -> Answer:
    """One answer of these kinds, sometimes late; or the plain answer, late."""
    late = pick(draw, (0.0, 0.0, 0.5, config.attempt_timeout, 1.0, 3.0))
    late = round(max(0.0, late + pick(draw, EPSILON)), 6) if late else 0.0
    if not kinds or pick(draw, (False, False, False, True)):
        return Answer(kind="api_ok", data=draw(_data(all_kinds()["api_ok"])), delay=late or 1.0)
    kind = pick(draw, kinds)
    return Answer(kind=kind.name, data=draw(_data(kind)), delay=late)


def _instants(plan_times: list[float], config: QueueConfig) -> tuple[float, ...]:
    """Where something may happen: at and around every submit, timeout, deadline and late answer."""
    known = {0.0, 1.0, *(time for time in plan_times if math.isfinite(time))}
    known |= {round(time + config.attempt_timeout, 6) for time in plan_times if math.isfinite(time)}
    known |= {round(time + config.backoff_first, 6) for time in plan_times if math.isfinite(time)}
    return tuple(sorted(known))


@st.composite
def queue_plans(draw: st.DrawFn, /, dialect: QueueDialect, *, starved: bool = False) -> QueuePlan:
    """Plans of one run. ``starved``: the quota is always short."""
    config = configs(draw, dialect, base=STARVED if starved else None)
    if starved:
        config = dataclasses.replace(config, qps=pick(draw, (0.5, 1.0, 0.25)), burst=pick(draw, (1, 2)))
    like = flavour(draw, dialect)
    calls: list[ApiCall] = []
    times: list[float] = []
    thens: list[str] = []
    at = 0.0
    for _ in range(pick(draw, (2, 1, 3, 4, 5, 6))):
        at = round(at + pick(draw, (0.0, 0.0, 0.0, 0.5, 0.001, 1.0, 3.0, config.attempt_timeout)), 6)
        calls.append(one_call(draw, like, config, at=at, earlier=calls))
        times.append(at)
        thens.append(pick(draw, ("",) * 9 + ("submit", "close")))
    then_calls = [one_call(draw, like, config, at=at, earlier=calls) for then in thens if then == "submit"]
    operations = settled([*calls, *then_calls], dialect, reuse=pick(draw, (False,) * 7 + (True,)))
    steps = _submits(operations, times, thens)
    given = _answers(draw, [name for name, _ in operations], config)
    moments = [
        *times,
        *(call.deadline for call in calls),
        *(round(time + item.answer.delay, 6) for time in times for item in given),
    ]
    steps += _others(draw, dialect, _instants(moments, config), len(calls))
    return QueuePlan(
        config=config,
        steps=tuple(steps),
        answers=tuple(given),
        ending=pick(draw, (answer("api_ok"),) * 8 + (answer("api_ok", delay=0.5), answer("api_error", status=503))),
        schedule=draw(_BASES),
        origin=pick(draw, (0.0,) * 8 + (2.0**31, 1e6)),
        tick=pick(draw, (0.0,) * 8 + (0.25,)),
    )


_BASES: Final = st.integers(0, 9_999)


def _submits(operations: list[tuple[str, Any]], times: list[float], thens: list[str]) -> list[Fault]:
    extra = iter(operations[len(times) :])
    steps = []
    for (operation, call), at, then in zip(operations, times, thens, strict=False):
        more: dict[str, Any] = {"then_close": then == "close"}
        if then == "submit":
            more["then_operation"], more["then"] = next(extra)
        steps.append(fault("queue_submit", at=at, operation=operation, call=call, **more))
    return steps


def _answers(draw: st.DrawFn, operations: list[str], config: QueueConfig) -> list[Planned]:
    kinds = _kinds("api")
    # swarm: a few kinds only, so that some runs are all 503 and others all lost answers
    few = tuple(pick(draw, kinds) for _ in range(pick(draw, (0, 1, 2, 3))))
    found = []
    for operation in dict.fromkeys(operations):
        for attempt in range(pick(draw, (0, 1, 2, 3)) if few else pick(draw, (0, 1))):
            given = api_answers(draw, few, config)
            found.append(Planned(operation=operation, attempt=attempt, answer=given))
    return found


def _others(draw: st.DrawFn, dialect: QueueDialect, instants: tuple[float, ...], submits: int) -> list[Fault]:
    """What else is done: steps that the dialect has, at instants that matter."""
    able = [kind for kind in _kinds("step") if kind.suits(dialect)]
    steps = []
    for _ in range(pick(draw, (0, 1, 1, 2, 3))):
        kind = pick(draw, able)
        at = round(max(0.0, pick(draw, instants) + pick(draw, EPSILON)), 6)
        data = dataclasses.replace(draw(_data(kind)), at=at)
        if hasattr(data, "submit"):
            data = dataclasses.replace(data, submit=data.submit % submits)
        steps.append(Fault(kind=kind.name, data=data))
    return steps


def variants(plan: QueuePlan) -> tuple[QueuePlan, ...]:
    """The plan under five schedules: first in, first out, and four seeds that follow from the one it was drawn with."""
    seeds = (0, *(plan.schedule * (SEEDS - 1) + number for number in range(1, SEEDS)))
    return tuple(dataclasses.replace(plan, schedule=seed) for seed in seeds)
