"""Stepping an asyncio subject: the simulated loop with a horizon, which it reaches and does not cross."""

from __future__ import annotations

import asyncio
import heapq
import math
from typing import Final

from ..harness import events
from ..harness.loop import running_simulation
from ..harness.loop.choices import Fifo
from ..harness.loop.simloop import SimLoop, _drain
from .driving import GRACE, Job, handled
from .server.world import World
from .stepper import SLACK


class HorizonLoop(SimLoop):
    """A :class:`~waitproof.harness.loop.simloop.SimLoop` that stops where nothing is left to do up to ``horizon`` (a reading, seconds)."""

    horizon: float = -math.inf

    def _jump(self, *, must: bool) -> None:
        if self.draining or self._next_timer() <= self.horizon + SLACK:
            super()._jump(must=must)
            return
        self._virtual.reach(self.horizon)
        self._same_instant = self._batch = 0
        self.stop()

    def _next_timer(self) -> float:
        timers = self._timers
        while timers and timers[0][2].cancelled():
            heapq.heappop(timers)
        return timers[0][0] if timers else math.inf


class AsyncioStepper:
    """See :class:`~waitproof.faults.stepper.Stepper`."""

    def __init__(self, world: World, max_steps: int) -> None:
        self._world = world
        self._loop: Final = HorizonLoop(world.time, world.recorder, Fifo(), max_steps)
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(self, job: Job) -> None:
        """Make the task of a call."""
        name = job.handle.op
        self._tasks[name] = self._loop.create_task(handled(job, self._over), name=name)

    def _over(self) -> bool:
        return self._loop.draining or bool(self._world.recorder.history.of_kind(events.BENCH_STOP))

    def cancel(self, job: Job) -> None:
        """Cancel the task of a call."""
        job.handle.cancel()
        self._tasks[job.handle.op].cancel()

    def run_until(self, reading: float) -> None:
        """Run the loop until nothing is left to do up to this reading."""
        self._loop.horizon = reading
        with running_simulation(self._loop.refuse):
            self._loop.run_forever()

    def finish(self) -> None:
        """Run the loop until all tasks of calls are done, and the grace period after that."""
        self._loop.horizon = math.inf

        async def rest() -> None:
            if self._tasks:
                await asyncio.wait(self._tasks.values())
            await asyncio.sleep(GRACE)

        with running_simulation(self._loop.refuse):
            self._loop.run_until_complete(self._loop.create_task(rest(), name="rest"))

    def close(self) -> None:
        """Cancel all tasks and let them end."""
        try:
            with running_simulation(self._loop.refuse):
                _drain(self._loop, self._world.recorder)
        finally:
            self._loop.close()
        if self._loop.late:
            raise self._loop.late[0]
