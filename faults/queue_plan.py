"""The plan of a dispatch queue's run: how it is set up, what its user does and when, what the server answers, in which order things run.

It ends with *heal, then converge*: after the last planned instant the server answers at once and well, everything must settle within a
stated bound, and what is left is probed (see :mod:`waitproof.faults.queue_running`).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from ..harness.calls import ApiCall
from ..harness.queue_protocols import QueueConfig
from .api_script import ApiScript
from .kinds import kind_named
from .plan import Answer, Fault, answer, fault, simpler

CALM = 1.0
"""Seconds between the last planned instant and the healing."""

MARGIN = 30.0
"""Seconds that everything gets beside what can be derived, once the server is healthy."""


@dataclass(frozen=True, kw_only=True)
class Planned:
    """The server's answer to one attempt: the ``attempt``-th of an ``operation`` (from 0, read-backs included)."""

    operation: str = "o0"
    attempt: int = 0
    answer: Answer = field(default_factory=lambda: answer("api_error"))


@dataclass(frozen=True, kw_only=True)
class Kill:
    """One task is cancelled at one of its await points.

    ``who``: the ``waiter`` for the outcome of a submit, whoever runs an ``attempt``, or the ``closer``. ``step``: at its how-manieth
    suspension (from 0; attempts and waiters are counted together). Where a task of the queue's own can't be cancelled from outside (trio,
    threads) an unforeseen error is raised out of the attempt instead; ``how="error"`` does that everywhere. A ``step`` below 0 kills
    nothing, and only counts.
    """

    who: Literal["waiter", "attempt", "closer"] = "waiter"
    step: int = 0
    how: Literal["cancel", "error"] = "cancel"

    def words(self) -> str:
        """The kill as a sentence."""
        task = {
            "waiter": "a task that waits for an outcome",
            "attempt": "the task that runs an attempt",
            "closer": "the task that closes",
        }
        if self.step < 0:
            return f"the await points of {task[self.who]} are counted"
        if self.how == "error" and self.who == "attempt":
            return f"an attempt raises an unforeseen error at await point {self.step}"
        return f"{task[self.who]} is cancelled at await point {self.step}"


@dataclass(frozen=True, kw_only=True)
class QueuePlan:
    """One run of a queue. All times are virtual seconds since its start, deadlines of calls too.

    ``config``: how the queue is opened. ``steps``: what its user and others do (fault kinds of place ``step``). ``answers``: of the server,
    by attempt; every other attempt gets ``ending``, until the server is healed. ``schedule``: seed of the order in which ready tasks run, 0
    for first in, first out. ``kill``: a task that is cancelled. ``origin``: what the monotonic clock reads at the start. ``tick``: the clock
    reads multiples of this only (0: as exact as floats are). ``memory``: count payload snapshots after settling.
    """

    config: QueueConfig = field(default_factory=QueueConfig)
    steps: tuple[Fault, ...] = (fault("queue_submit"),)
    answers: tuple[Planned, ...] = ()
    ending: Answer = field(default_factory=lambda: answer("api_ok"))
    schedule: int = 0
    kill: Kill | None = None
    origin: float = 0.0
    tick: float = 0.0
    memory: bool = False

    def __post_init__(self) -> None:
        for item in self.steps:
            if kind_named(item.kind).place != "step":
                raise ValueError(f"a {kind_named(item.kind).place} fault ({item.kind}) is no step of a queue's plan")
        for given in (self.ending, *(planned.answer for planned in self.answers)):
            if kind_named(given.kind).place != "api":
                raise ValueError(f"a {kind_named(given.kind).place} fault ({given.kind}) is no answer of an API server")

    @cached_property
    def ordered(self) -> tuple[tuple[float, Fault], ...]:
        """The steps with their instants, in order of time, those of one instant in the order of the plan."""
        return tuple(sorted(((max(0.0, _at(item)), item) for item in self.steps), key=lambda pair: pair[0]))

    @cached_property
    def _by_attempt(self) -> dict[tuple[str, int], Answer]:
        return {(item.operation, item.attempt): item.answer for item in reversed(self.answers)}

    def script(self, operation: str, attempt: int) -> tuple[ApiScript, str]:
        """The script of an attempt, and what the server does in words (empty for the plainest)."""
        given = self._by_attempt.get((operation, attempt), self.ending)
        return script_of(given), "" if given == _PLAIN else given.words()

    def heals_at(self) -> float:
        """When the server becomes healthy: all that was planned has had the time to happen by then."""
        last = max((at for at, _ in self.ordered), default=0.0)
        given = [item.answer for item in self.answers] + [self.ending]
        trouble = any(item != _PLAIN for item in given)
        # what is told of late answers to a few attempts must happen; a plan that fails for ever need not be played for ever
        rounds = min(self.config.attempts, 6) if trouble else 1
        each = min(self.config.attempt_timeout, 20.0) + min(self.config.backoff_cap, 20.0) + self.longest()
        return round(last + CALM + (rounds * each if trouble else 0.0) + self._spending(), 6)

    def longest(self) -> float:
        """The longest finite time (seconds) that one planned answer, effect or hint takes."""
        scripts = [script_of(item.answer) for item in self.answers] + [script_of(self.ending)]
        times = [
            time for script in scripts for time in (script.delay, script.lands, _hint(script)) if math.isfinite(time)
        ]
        return min(max(times, default=0.0), 120.0)

    def within(self) -> float:
        """How long (seconds) everything may take to settle once the server is healthy.

        In flight attempts time out, one backoff or hint passes, a breaker half-opens, and every call, a read-back and a re-send of it get
        their tokens.
        """
        config = self.config
        waits = 2 * config.attempt_timeout + config.backoff_cap + self.longest() + 3 * config.breaker_open
        return round(MARGIN + waits + 3 * self._spending(), 6)

    def seconds_for(self, attempts: int) -> float:
        """Seconds that the quota, at its lowest, takes for so many attempts."""
        rates = [self.config.qps, *(float(item.data.qps) for item in self.steps if item.kind == "queue_rate")]
        lowest = max(min(rates), 0.01)
        return attempts / lowest if math.isfinite(lowest) else 0.0

    def _spending(self) -> float:
        """Seconds that the quota takes for all submits."""
        steps = [item.data for item in self.steps if item.kind == "queue_submit"]
        calls = sum(1 + (data.then is not None) for data in steps)
        return self.seconds_for(calls + self.config.workers + 1)

    def words(self) -> list[str]:
        """The plan as sentences, one an item, leaving out whatever is as by default."""
        lines = [f"{name}={value!r}" for name, value in _changed(self.config)]
        lines = [f"a queue with {', '.join(lines)}"] if lines else ["a queue as by default"]
        lines += [f"the monotonic clock reads {self.origin:g} at the start"] if self.origin else []
        lines += [f"the clock shows multiples of {self.tick:g} s"] if self.tick else []
        lines += [item.words() for _, item in self.ordered]
        lines += [
            f"to {item.operation}, attempt {item.attempt}, the server {item.answer.words()}" for item in self.answers
        ]
        if self.ending != _PLAIN:
            lines.append(f"to every other attempt the server {self.ending.words()}")
        lines += [f"the order of ready tasks is drawn with seed {self.schedule}"] if self.schedule else []
        lines += [self.kill.words()] if self.kill is not None else []
        return lines + (["payload snapshots are counted at the end"] if self.memory else [])


_PLAIN = answer("api_ok")


def _at(item: Fault) -> float:
    at = kind_named(item.kind).at
    return at(item.data) if at is not None else 0.0


def script_of(given: Answer) -> ApiScript:
    """The script of an answer, its delay included: effects happen when they would, the answer comes that much later."""
    make = kind_named(given.kind).script
    assert make is not None
    script = make(given.data)
    return dataclasses.replace(script, delay=script.delay + given.delay)


def _hint(script: ApiScript) -> float:
    return max((float(value) for name, value in script.headers if name == "retry-after"), default=0.0)


def _changed(value: Any) -> list[tuple[str, Any]]:
    plainest = type(value)()
    names = [item.name for item in dataclasses.fields(value)]
    return [(name, getattr(value, name)) for name in names if getattr(value, name) != getattr(plainest, name)]


def plan_size(plan: QueuePlan) -> int:
    """The non-default items of a plan: each step and each answer counts one, so does each field of the configuration that is changed."""
    others = ("ending", "schedule", "kill", "origin", "tick", "memory")
    changed = sum(getattr(plan, name) != getattr(_DEFAULT, name) for name in others)
    return int(len(plan.steps) + len(plan.answers) + len(_changed(plan.config)) + changed)


def simpler_plans(plan: QueuePlan) -> Iterator[QueuePlan]:
    """Plans that are one step simpler, the boldest first."""
    before = _mixed(plan)
    return (found for found in simpler(plan) if _sound(found) and _mixed(found) <= before)


def _calls(plan: QueuePlan) -> list[tuple[str, ApiCall]]:
    """Every call of a plan with the operation that it belongs to."""
    data = [item.data for item in plan.steps if item.kind == "queue_submit"]
    calls = [(item.operation, item.call) for item in data]
    return calls + [(item.then_operation, item.then) for item in data if item.then is not None]


def _sound(plan: QueuePlan) -> bool:
    """Half a generation is none: what is general about making things simpler takes pairs apart."""
    generations = [call.precondition.generation for _, call in _calls(plan)]
    return all(generation is None or len(generation) == 2 for generation in generations)


def _mixed(plan: QueuePlan) -> set[str]:
    """The operations that calls of several objects, types, targets or keys belong to: no simpler plan may make two calls into one."""
    seen: dict[str, tuple[object, ...]] = {}
    what = [(operation, (call.uid, call.type, call.target, call.key)) for operation, call in _calls(plan)]
    return {operation for operation, one in what if seen.setdefault(operation, one) != one}


_DEFAULT = QueuePlan()
