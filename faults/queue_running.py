"""Run a plan against a queue in virtual time, and get the history of what happened.

Nothing that a queue does ends the harness: what it raises is recorded, what it never ends is stopped. Only a real Ctrl-C, and an
exception of whoever draws the schedule, come through.
"""

from __future__ import annotations

import dataclasses
from contextlib import ExitStack
from typing import Final

import trio

from ..harness.clocks import VirtualTime, WakePlan
from ..harness.entropy import fixed_entropy
from ..harness.history import History
from ..harness.loop.choices import Chooser
from ..harness.loop.schedules import chooser_for, seeded_schedule
from ..harness.loop.simloop import simulate
from ..harness.loop.threads import CoopThreads
from ..harness.loop.triorun import simulate_trio
from ..harness.queue_dialect import QueueDialect
from ..harness.queue_protocols import QueueSubject
from ..harness.recorder import Recorder
from ..harness.timepatch import patch_time
from .driving import recorded_stops
from .plan import plan_to_json
from .queue_async import AsyncioDriver, TrioDriver, play
from .queue_kills import Kills
from .queue_memory import counting
from .queue_plan import QueuePlan
from .queue_program import prepare
from .queue_threads import ThreadDriver
from .queue_threads import play as play_threads
from .queue_world import QueueWorld
from .server.jobs import BenchBrokenError
from .server.world import WALL_ORIGIN

BUDGET: Final = 6_000
"""Events that a run may cause before it is stopped."""

STEPS_AN_EVENT: Final = 25
"""Steps of an event loop, or switches of threads, that one event may cost before the run is stopped."""


def run_queue(
    plan: QueuePlan,
    subject: QueueSubject,
    *,
    chooser: Chooser | None = None,
    budget: int = BUDGET,
    suite: str = "",
    prefix: str = "",
    history: History | None = None,
) -> History:
    """Run one plan and return its history (the one given, if one is given, with the events of this run at its end).

    ``chooser``: the order of things (default: what ``plan.schedule`` says). ``budget``: events before the run is stopped. Raises
    :class:`BenchBrokenError` for a bug of the bench itself.
    """
    if history is None:
        data: dict[str, object] = {
            "subject": subject.name,
            "mode": subject.mode,
            "dialect": dialect_of(plan, subject).as_json(),
            "claims": sorted(subject.claims),
            "plan": plan_to_json(plan),
        }
        history = History({"suite": suite, **data} if suite else data)
    time = VirtualTime(origin=plan.origin, wall_origin=WALL_ORIGIN)
    recorder = Recorder(history, lambda: time.now, budget=budget, prefix=prefix)
    run = _Run(plan, subject, time, recorder, budget)
    order = chooser if chooser is not None else chooser_for(seeded_schedule(plan.schedule), subject.mode)
    with ExitStack() as stack:
        stack.enter_context(fixed_entropy(0))
        stack.enter_context(counting(wanted=plan.memory))
        if subject.patch:
            stack.enter_context(patch_time(subject.patch, time=time, recorder=recorder, wakes=WakePlan()))
        stack.enter_context(recorded_stops(recorder))
        run.drive(order)
    broken = run.world.server.broken if run.world is not None else None
    if broken is not None:
        raise BenchBrokenError(f"a bug of the bench, not of {subject.name}: {broken!r}") from broken
    return history


def dialect_of(plan: QueuePlan, subject: QueueSubject) -> QueueDialect:
    """The subject's dialect as this plan leaves it: on a coarse clock two instants are one within two of its ticks (one until it shows that
    a time has come, one by which a sleep that was reckoned from it is too long)."""
    resolution = max(subject.dialect.resolution, 2 * plan.tick)
    return dataclasses.replace(subject.dialect, resolution=resolution)


class _Run:
    def __init__(
        self, plan: QueuePlan, subject: QueueSubject, time: VirtualTime, recorder: Recorder, budget: int
    ) -> None:
        self.plan, self.subject, self.time, self.recorder = plan, subject, time, recorder
        self.kills = Kills(plan.kill, recorder)
        self.config = subject.effective(plan.config)
        self.world: QueueWorld | None = None
        self._max_steps = STEPS_AN_EVENT * budget

    def drive(self, order: Chooser) -> None:
        """Run in the subject's mode."""
        if self.subject.mode == "threads":
            threads = CoopThreads(self.time, self.recorder, order, self._max_steps)
            threads.run(lambda: self._threads(threads))
        elif self.subject.mode == "asyncio":
            simulate(self._asyncio, time=self.time, recorder=self.recorder, chooser=order, max_steps=self._max_steps)
        else:
            simulate_trio(self._trio, time=self.time, recorder=self.recorder, chooser=order, max_steps=self._max_steps)

    async def _asyncio(self) -> None:
        driver = AsyncioDriver(self.kills)
        self.world = world = QueueWorld(self.plan, self.time, self.recorder, driver, kills=self.kills)
        prepare(self.plan, world, self.config)
        await play(self.plan, self.subject, world, driver, self.config)

    async def _trio(self) -> None:
        async with trio.open_nursery() as nursery:
            driver = TrioDriver(self.kills, nursery)
            self.world = world = QueueWorld(self.plan, self.time, self.recorder, driver, kills=self.kills)
            prepare(self.plan, world, self.config)
            await play(self.plan, self.subject, world, driver, self.config)
            nursery.cancel_scope.cancel()

    def _threads(self, threads: CoopThreads) -> None:
        driver = ThreadDriver(threads)
        self.world = world = QueueWorld(self.plan, self.time, self.recorder, driver, kills=self.kills, threads=threads)
        prepare(self.plan, world, self.config)
        play_threads(self.plan, self.subject, world, driver, self.config)
