"""Stepping a trio subject: a guest run on a host that is a queue of ticks, worked off until trio would cross the horizon.

Guest mode is trio's own way of letting somebody else turn the crank. Between two ticks nothing of trio runs, and host code may start
tasks and cancel scopes. As the virtual clock never lets trio wait for I/O, guest mode needs no thread.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Any, Final

import trio

from ..harness import events
from ..harness.loop import budget_in, keep_for_ever, running_simulation
from ..harness.loop.choices import Fifo, traced
from ..harness.loop.triorun import TrioRun, ordered_by
from .driving import GRACE, Job, handled
from .server.world import World
from .stepper import SLACK


class _HorizonRun(TrioRun):
    """A run whose clock says "parked" instead of jumping beyond ``horizon`` (a reading, seconds)."""

    horizon: float = -math.inf
    parked: bool = False

    def deadline_to_sleep_time(self, deadline: float) -> float:
        """No task can run before ``deadline``: jump there if that is within the horizon."""
        if self.reason is None and deadline > self.horizon + SLACK:
            self.parked = True
            return 0.0
        return super().deadline_to_sleep_time(deadline)


class TrioStepper:
    """See :class:`~waitproof.faults.stepper.Stepper`."""

    def __init__(self, world: World, max_steps: int) -> None:
        self._world = world
        self._run: Final = _HorizonRun(world.time, world.recorder, max_steps)
        self._choices: Final = traced(Fifo())
        self._ticks: deque[Callable[[], object]] = deque()
        self._outcome: Any = None
        self._scopes: dict[str, trio.CancelScope] = {}
        self._nursery: trio.Nursery | None = None
        self._no_more: trio.Event | None = None
        with running_simulation(self._run.refuse), ordered_by(self._choices, self._run.give_up):
            trio.lowlevel.start_guest_run(
                self._main,
                run_sync_soon_threadsafe=self._ticks.append,
                run_sync_soon_not_threadsafe=self._ticks.append,
                done_callback=self._done,
                host_uses_signal_set_wakeup_fd=True,  # nobody ever sleeps in a selector, so no signal needs to wake anybody
                clock=self._run,
                instruments=[self._run],
            )
        self.run_until(world.time.monotonic())

    async def _main(self) -> None:
        with self._run.scope:
            self._no_more = trio.Event()
            async with trio.open_nursery() as self._nursery:
                await self._no_more.wait()
            await trio.sleep(GRACE)

    def _done(self, outcome: object) -> None:
        self._outcome = outcome

    def start(self, job: Job) -> None:
        """Make the task of a call."""
        assert self._nursery is not None
        scope = self._scopes[job.handle.op] = trio.CancelScope()
        self._nursery.start_soon(self._one, job, scope, name=job.handle.op)

    async def _one(self, job: Job, scope: trio.CancelScope) -> None:
        def over() -> bool:
            # a stop of the bench, or a cancellation that is not this call's own: the run is taken down around it
            stopped = bool(self._world.recorder.history.of_kind(events.BENCH_STOP))
            return stopped or (trio.current_effective_deadline() == -math.inf and not scope.cancel_called)

        with scope:
            await handled(job, over)

    def cancel(self, job: Job) -> None:
        """Cancel the scope of a call."""
        job.handle.cancel()
        self._scopes[job.handle.op].cancel()

    def run_until(self, reading: float) -> None:
        """Work off ticks until no task can run before the clock is past this reading."""
        self._turn(reading)
        if self._outcome is not None:
            self._raise_end()
        self._world.time.reach(reading)

    def _turn(self, horizon: float) -> None:
        self._run.horizon, self._run.parked = horizon, False
        with running_simulation(self._run.refuse), ordered_by(self._choices, self._run.give_up):
            while self._ticks and not self._run.parked and self._outcome is None:
                self._ticks.popleft()()

    def finish(self) -> None:
        """Let the main task go on once all calls are over, and run to the end."""
        assert self._no_more is not None
        self._no_more.set()
        self._turn(math.inf)
        self._raise_end()

    def _raise_end(self) -> None:
        run = self._run
        try:
            self._outcome.unwrap()
        except trio.TrioInternalError as error:
            keep_for_ever(error, run)  # trio's nurseries complain when they are collected before they are over
            names = ", ".join(sorted(run.living.values()))
            self._world.recorder.note(events.BENCH_NOTE, events.BENCH, what="task-never-ends", task=names)
            raise run.reason or error from None
        except BaseException as error:
            ending = run.reason or budget_in(error)
            if ending is None or ending is error:
                raise
            raise ending from None
        if run.reason is not None:
            raise run.reason

    def close(self) -> None:
        """Cancel the run, if it is not over, and let it end."""
        if self._outcome is None:
            self._run.scope.cancel()
            self._turn(math.inf)
            self._raise_end()
