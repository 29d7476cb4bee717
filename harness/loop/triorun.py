"""The same simulation for trio: virtual time, an order that is somebody's choice, one way to tell how a run ended.

trio's own ``MockClock`` keeps a time of its own and jumps through private names; here the clock is a plain :class:`trio.abc.Clock` on
the run's :class:`~waitproof.harness.clocks.VirtualTime`. trio asks its clock how long to wait for I/O exactly when no task can run:
that is where time jumps. What trio keeps to itself (the order of a batch) is reached in one place, :func:`ordered_by`.
"""

# ruff: noqa: SLF001 - see ordered_by

from __future__ import annotations

import random
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Final, NoReturn, TypeVar

import trio
import trio._core._run as _trio_run

from .. import events
from ..clocks import HORIZON, VirtualTime
from ..recorder import BudgetExhausted, Recorder
from . import SimulationDeadlock, budget_in, describe_task, keep_for_ever, refusal, running_simulation
from .choices import READY, Choices, Chooser, Fifo, traced

T = TypeVar("T")

DRAIN_STEPS: Final = 3_000
"""Task steps that a cancelled run is given to end; then it is torn down."""


class _Order(random.Random):
    """Stands in for trio's random generator: a "shuffle" asks the chooser."""

    def __init__(self, choices: Choices, failed: Callable[[BaseException], None]) -> None:
        super().__init__(0)
        self._choices = choices
        self._failed = failed

    def shuffle(self, x: Any) -> None:
        """Order a batch of runnable tasks, which trio hands over in order of creation and runs from its end."""
        left = list(x)
        order = []
        try:
            while left:
                order.append(left.pop(self._choices.choose(READY, len(left))))
        except BaseException as error:  # noqa: BLE001 - inside trio's machinery it would break the run beyond repair
            self._choices = Choices()
            self._failed(error)
            order += left
        x[:] = reversed(order)


@contextmanager
def ordered_by(choices: Choices, failed: Callable[[BaseException], None]) -> Iterator[None]:
    """The one place that touches trio's private names: its generator, and the switch that its Hypothesis plugin sets.

    With the switch on, trio sorts each batch by creation (so no set order or address decides) and shuffles it with its generator.
    """
    private: Any = _trio_run
    if not (hasattr(private, "_r") and hasattr(private, "_ALLOW_DETERMINISTIC_SCHEDULING")):
        raise RuntimeError(
            f"trio {trio.__version__} has no deterministic scheduling where it was expected (trio._core._run)"
        )
    previous = private._r, private._ALLOW_DETERMINISTIC_SCHEDULING
    private._r, private._ALLOW_DETERMINISTIC_SCHEDULING = _Order(choices, failed), True
    try:
        yield
    finally:
        private._r, private._ALLOW_DETERMINISTIC_SCHEDULING = previous


class TrioRun(trio.abc.Clock, trio.abc.Instrument):
    """One run: its clock, its step counter, and the reason why it was stopped."""

    def __init__(self, time: VirtualTime, recorder: Recorder | None, max_steps: int) -> None:
        self.scope = trio.CancelScope()
        self.reason: BaseException | None = None
        self.living: dict[trio.lowlevel.Task, str] = {}
        self._numbers: dict[trio.lowlevel.Task, int] = {}
        self._created = 0
        self._time = time
        self._recorder = recorder
        self._steps_left = max_steps
        self._max_steps = max_steps
        self._idle = 0

    # -- clock ---------------------------------------------------------------------------------------------------------

    def start_clock(self) -> None:
        """Nothing to start."""

    def current_time(self) -> float:
        """Virtual monotonic time (seconds), the same reading that the clocks give. Also the last resort against an endless end."""
        if self.reason is not None and self._steps_left < 0:
            raise BudgetExhausted(f"the cancelled run did not end within {DRAIN_STEPS} steps")
        return self._time.monotonic()

    def deadline_to_sleep_time(self, deadline: float) -> float:
        """No task can run before ``deadline``: jump there, or say that it will never come. The real wait for I/O is always 0 s."""
        waiting = trio.lowlevel.current_statistics().io_statistics
        if (
            getattr(waiting, "tasks_waiting_read", 0) + getattr(waiting, "tasks_waiting_write", 0) > 1
        ):  # one is trio's own
            if self.reason is None:
                error = refusal("waiting for a real socket", "give the subject a transport of the harness's network")
                self._stop("refused", error)
        elif deadline <= self._time.monotonic() + HORIZON:
            self._time.reach(deadline)
        elif self.reason is None and self._numbers:
            detail = f"deadlock at {self._time.now:.9g} s: nothing is ready, no timer is set, and these wait: {self._describe()}"
            self._stop("deadlock", SimulationDeadlock(detail))
        else:
            self._idle += 1
            if self._idle > 10:
                raise BudgetExhausted("a task shields itself from the end of the run, and waits for ever")
        return 0.0

    # -- instrument ----------------------------------------------------------------------------------------------------

    def task_spawned(self, task: trio.lowlevel.Task) -> None:
        """Number the subject's tasks by creation. trio's own tasks hang directly under its first one, as the main task does."""
        self.living[task] = task.name
        nursery = task.parent_nursery
        if nursery is None or (nursery.parent_task.parent_nursery is None and self._created):
            return
        self._numbers[task] = self._created
        self._created += 1

    def task_exited(self, task: trio.lowlevel.Task) -> None:
        """Forget a task that is over."""
        self.living.pop(task, None)
        self._numbers.pop(task, None)

    def before_task_step(self, task: trio.lowlevel.Task) -> None:  # noqa: ARG002 - the hook's
        """Count steps; an instrument may not raise (trio would only log it), so the run is cancelled."""
        self._steps_left -= 1
        if self._steps_left < 0 and self.reason is None:
            self._stop("budget", BudgetExhausted(f"more than {self._max_steps} task steps"))

    # -- endings -------------------------------------------------------------------------------------------------------

    def refuse(self, what: str, instead: str) -> NoReturn:
        """Raise ``SimulationRefused``; a subject that swallows it can't go on as if nothing had been."""
        error = refusal(what, instead)
        if self.reason is None:
            self._stop("refused", error)
        raise error

    def _stop(self, reason: str, error: BaseException) -> None:
        if self._recorder is not None:
            self._recorder.stop(reason, str(error))
        self.give_up(error)

    def give_up(self, error: BaseException) -> None:
        """Cancel the whole run, which then ends in ``error`` (the first one wins)."""
        if self.reason is not None:
            return
        self.reason = error
        self._steps_left = DRAIN_STEPS
        self.scope.cancel()

    def _describe(self) -> str:
        names = {task: task.name if number else "main" for task, number in self._numbers.items()}
        return "; ".join(describe_task(number, names[task], task.coro) for task, number in self._numbers.items())


def simulate_trio(
    main: Callable[[], Coroutine[Any, Any, T]],
    *,
    time: VirtualTime,
    recorder: Recorder | None = None,
    chooser: Chooser | None = None,
    max_steps: int = 100_000,
) -> T:
    """Run ``await main()`` on trio and return its result: the same contract as :func:`waitproof.harness.loop.simloop.simulate`.

    The orderly choice at a "ready" point is the task that was created first; timers of one instant wake in one batch, so their tie is
    a "ready" choice, too. ``max_steps`` counts task steps. ``wait_all_tasks_blocked`` is not supported: time jumps instead.
    """
    run = TrioRun(time, recorder, max_steps)

    async def whole() -> list[T]:
        with run.scope:
            return [await main()]
        return []  # cancelled from outside the subject: ``run.reason`` says why

    try:
        with running_simulation(run.refuse), ordered_by(traced(Fifo() if chooser is None else chooser), run.give_up):
            result = trio.run(whole, clock=run, instruments=[run])
    except trio.TrioInternalError as error:
        keep_for_ever(error, run)  # trio's nurseries complain when they are collected before they are over
        if run.reason is None:
            raise
        if recorder is not None:
            recorder.note(
                events.BENCH_NOTE, events.BENCH, what="task-never-ends", task=", ".join(sorted(run.living.values()))
            )
        raise run.reason from None
    except BaseException as error:
        budget = run.reason or budget_in(error)
        if budget is None or budget is error:
            raise
        raise budget from None
    if run.reason is not None:
        raise run.reason
    return result[0]
