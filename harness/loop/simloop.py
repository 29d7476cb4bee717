"""SimLoop: a real asyncio event loop whose time is virtual and whose order is somebody's choice.

It runs one callback at a time, picked by a :class:`~waitproof.harness.loop.choices.Chooser`; when nothing is ready, time jumps to the
next timer. Stock asyncio pops timers of equal deadlines in heap order, which is neither the order of arming nor random; here the
orderly choice is (when, order of arming), and every tie is a choice point. There are no threads, sockets, subprocesses or signals:
asking for one raises :class:`~waitproof.harness.loop.SimulationRefused`.
"""

# ruff: noqa: SLF001 - a loop is made of asyncio's single-underscore parts, which its subclasses are meant to know

from __future__ import annotations

import asyncio
import heapq
import inspect
import math
import threading
import weakref
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextvars import Context
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar, TypeVarTuple

from .. import events
from ..clocks import HORIZON, VirtualTime
from ..jsonable import safe_repr
from ..recorder import BudgetExhausted, Recorder
from . import (
    REFUSED_METHODS,
    SimulationDeadlock,
    budget_in,
    describe_task,
    keep_for_ever,
    refusal,
    running_simulation,
)
from .choices import ARRIVAL, READY, TIMER_TIE, Chooser, Fifo, traced

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

SAME_INSTANT: Final = 1e-9
"""Seconds. Timers this close are a tie: two sums of the same delays differ by rounding, and histories show nine digits anyway."""

SPIN: Final = 2_000
"""Steps at one instant after which time passes although something is ready: in reality a busy loop takes time, too."""

DRAIN_STEPS: Final = 1_000
"""Steps a round that cancelled tasks are given to end after a run; there are :data:`DRAIN_ROUNDS` rounds."""

DRAIN_ROUNDS: Final = 3


class SimTask(asyncio.Task[Any]):
    """A task whose hash is its number, so that sets of tasks (asyncio's, anyio's, a subject's) have one order in every run."""

    def __init__(self, coro: Any, number: int, **options: Any) -> None:
        self.number = number  # first: asyncio puts the task into a set while it is made
        super().__init__(coro, **options)

    def __hash__(self) -> int:
        return self.number


class SimLoop(asyncio.BaseEventLoop):
    """An asyncio event loop on ``time``. Use :func:`simulate`, which also tidies up.

    ``max_steps``: how many callbacks may run before :class:`~waitproof.harness.recorder.BudgetExhausted` is raised.
    """

    def __init__(self, time: VirtualTime, recorder: Recorder | None, chooser: Chooser, max_steps: int) -> None:
        super().__init__()
        self.choices = traced(chooser)
        self.steps = 0
        self.draining = False
        self.drain_until = 0
        self.failed: list[asyncio.Task[Any]] = []
        self.late: list[BaseException] = []
        self._virtual = time
        self._recorder = recorder
        self._max_steps = max_steps
        self._timers: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._armed = 0
        self._created = 0
        self._alive: dict[
            asyncio.Task[Any], int
        ] = {}  # strong references: a forgotten task must not end when the collector runs
        self._generators: weakref.WeakValueDictionary[int, AsyncGenerator[Any, Any]] = weakref.WeakValueDictionary()
        self._begun = 0
        self._escaped: BaseException | None = None
        self._batch = 0
        self._same_instant = 0

    # -- time and order ------------------------------------------------------------------------------------------------

    def time(self) -> float:
        """Virtual monotonic time (seconds), the same reading that the clocks give."""
        return self._virtual.monotonic()

    def call_at(
        self, when: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Call ``callback`` at the virtual reading ``when`` (seconds). Raises ``ValueError`` for NaN, which has no place in any order."""
        self._check_closed()  # type: ignore[attr-defined]
        if math.isnan(when):
            raise ValueError(f"a timer can't be set to {when!r}")
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        heapq.heappush(self._timers, (when, self._armed, handle))
        self._armed += 1
        return handle

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Cancelled timers are dropped when their turn comes."""

    def _run_once(self) -> None:
        ready = self._ready  # type: ignore[attr-defined]
        if self.draining and (self.steps >= self.drain_until or not (ready or self.pending())):
            self.stop()
            return
        while ready and ready[0].cancelled():
            ready.popleft()
            self._batch -= 1
        if not ready or self._same_instant >= SPIN:
            self._jump(must=not ready)
        if self._batch <= 0:  # timers are looked at between batches, as stock asyncio does
            self._fire_due()
            self._batch = len(ready)
        if not ready:
            return
        index = 0
        if len(ready) > 1:
            able = [position for position, handle in enumerate(ready) if not handle.cancelled()]
            index = able[self.choices.choose(READY, len(able))]
        self._count_step()
        handle = ready[index]
        del ready[index]
        self._batch -= 1
        before = len(ready)
        handle._run()
        if len(ready) > before + 1:
            self._order_cancellations(before)
        self._look_after(handle)
        if self._escaped is not None and not self.draining:
            escaped, self._escaped = self._escaped, None
            raise escaped

    def _jump(self, *, must: bool) -> None:
        """Move time to the next timer (with ``must``: say that there is none)."""
        timers = self._timers
        while timers and timers[0][2].cancelled():
            heapq.heappop(timers)
        if timers and timers[0][0] <= self.time() + HORIZON:
            # The latest of the tie, so that nobody is woken before its time: anyio would arm the timer again, for ever.
            first = timers[0][0]
            self._virtual.reach(max(entry[0] for entry in timers if entry[0] <= first + SAME_INSTANT))
            self._same_instant = 0
            self._batch = 0
        elif must and self.draining:
            self.stop()
        elif must:
            detail = f"deadlock at {self._virtual.now:.9g} s: nothing is ready, no timer is set, and these wait: {self.describe_tasks()}"
            self._stop_record("deadlock", detail)
            raise SimulationDeadlock(detail)

    def _fire_due(self) -> None:
        """Move the timers that are due into the ready queue; the order among equals, and whether one comes a turn later, are choices."""
        timers = self._timers
        tie: list[tuple[float, int, asyncio.TimerHandle]] = []
        later: list[tuple[float, int, asyncio.TimerHandle]] = []
        try:
            while timers and timers[0][0] <= self.time():
                first = timers[0][0]
                while timers and timers[0][0] <= min(first + SAME_INSTANT, self.time()):
                    entry = heapq.heappop(timers)
                    if not entry[2].cancelled():
                        tie.append(entry)
                tie.sort(key=lambda entry: entry[1])
                while tie:
                    index = self.choices.choose(TIMER_TIE, len(tie))
                    waits = self.choices.choose(ARRIVAL, 2 if self._ready else 1)  # type: ignore[attr-defined]
                    entry = tie.pop(index)
                    if waits:
                        later.append(entry)
                    else:
                        self._ready.append(entry[2])  # type: ignore[attr-defined]
        finally:
            for entry in tie + later:  # a chooser that raised loses nothing
                heapq.heappush(timers, entry)

    def _order_cancellations(self, before: int) -> None:
        """Put the tasks that one step has cancelled in order of creation: anyio and asyncio walk over sets of scopes and tasks."""
        ready = self._ready  # type: ignore[attr-defined]
        found = [
            (self._alive[task], position, ready[position])
            for position in range(before, len(ready))
            if _was_cancelled(ready[position]) and (task := task_of(ready[position])) in self._alive
        ]
        positions = [position for _, position, _ in found]
        for position, (_, _, handle) in zip(positions, sorted(found, key=lambda item: item[:2]), strict=True):
            ready[position] = handle

    def _count_step(self) -> None:
        self.steps += 1
        self._same_instant += 1
        if self.steps > self._max_steps and not self.draining:
            detail = f"more than {self._max_steps} steps of the event loop"
            self._stop_record("budget", detail)
            raise BudgetExhausted(detail)

    # -- tasks and exceptions ------------------------------------------------------------------------------------------

    def create_task(self, coro: Any, **options: Any) -> asyncio.Task[Any]:
        """As asyncio's, but unnamed tasks are named by their order of creation in this loop (``task-0`` is the first)."""
        if options.get("name") is None:
            options["name"] = f"task-{self._created}"
        self._check_closed()  # type: ignore[attr-defined]
        task: asyncio.Task[Any]
        if self.get_task_factory() is None:
            task = SimTask(coro, self._created, loop=self, **options)
        else:
            task = super().create_task(coro, **options)
        self._alive[task] = self._created
        self._created += 1
        if task.done():  # an eager task that never waited
            self._settle(task)
        return task

    def _look_after(self, handle: asyncio.Handle) -> None:
        task = task_of(handle)
        if task is not None and task.done():
            self._settle(task)

    def _settle(self, task: asyncio.Task[Any]) -> None:
        """A task is over: an exception that is no ``Exception`` ends the run; others are kept until somebody has retrieved them."""
        if self._alive.pop(task, None) is None:
            return
        error = None if task.cancelled() else getattr(task, "_exception", None)
        self.failed = [other for other in self.failed if getattr(other, "_log_traceback", False)]
        if error is None:
            return
        self.failed.append(task)
        if not isinstance(error, Exception):
            self.escape(error)

    def escape(self, error: BaseException) -> None:
        """Remember ``error``; it is raised from the run after the present step (the first one wins)."""
        if self.draining:
            self.late.append(error)
        elif self._escaped is None:
            self._escaped = error

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """An exception in a callback ends the run, unless the subject has set a handler of its own and it is an ``Exception``."""
        error = context.get("exception")
        own = self.get_exception_handler()
        if own is not None:
            super().call_exception_handler(context)
        if (
            isinstance(error, BaseException)
            and "handle" in context
            and (own is None or not isinstance(error, Exception))
        ):
            self.escape(error)

    def _asyncgen_firstiter_hook(self, agen: AsyncGenerator[Any, Any]) -> None:
        super()._asyncgen_firstiter_hook(agen)  # type: ignore[misc]
        self._begun += 1
        self._generators[self._begun] = agen

    def pending(self) -> list[asyncio.Task[Any]]:
        """The tasks that are not done, in order of creation."""
        return [task for task in self._alive if not task.done()]

    def open_generators(self) -> list[AsyncGenerator[Any, Any]]:
        """The asynchronous generators that were begun and are not finished, in order."""
        return [agen for _, agen in sorted(self._generators.items())]

    def describe_tasks(self) -> str:
        """Each pending task in words: number, name, where it is suspended and on what."""
        told = [describe_task(self._alive[task], task.get_name(), task.get_coro()) for task in self.pending()]
        return "; ".join(told) or "no task at all"

    # -- what can't be simulated ---------------------------------------------------------------------------------------

    def refuse(self, what: str, instead: str) -> NoReturn:
        """Raise :class:`SimulationRefused`; a subject that swallows it can't go on as if nothing had been."""
        error = refusal(what, instead)
        self._stop_record("refused", str(error))
        self.escape(error)
        raise error

    def call_soon_threadsafe(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """As ``call_soon``, from the loop's own thread only."""
        runner = self._thread_id  # type: ignore[attr-defined]
        if runner is not None and runner != threading.get_ident():
            raise refusal("call_soon_threadsafe from another thread", "keep the work on the loop's own thread")
        return self.call_soon(callback, *args, context=context)

    def _write_to_self(self) -> None:
        """Nobody sleeps in a selector, so nobody needs waking."""

    def _process_events(self, event_list: list[Any]) -> None:
        """There is no I/O."""

    def _stop_record(self, reason: str, detail: str) -> None:
        if self._recorder is not None:
            self._recorder.stop(reason, detail)


def task_of(handle: asyncio.Handle) -> asyncio.Task[Any] | None:
    """The task whose step this callback is, if it is one."""
    owner = getattr(getattr(handle, "_callback", None), "__self__", None)
    return owner if isinstance(owner, asyncio.Task) else None


def _was_cancelled(handle: asyncio.Handle) -> bool:
    args: tuple[Any, ...] = getattr(handle, "_args", None) or ()
    return bool(args) and isinstance(args[0], asyncio.Future) and args[0].cancelled()


def _refuser(name: str, instead: str) -> Callable[..., NoReturn]:
    def method(self: SimLoop, *args: object, **options: object) -> NoReturn:  # noqa: ARG001 - whatever the real one takes
        self.refuse(f"loop.{name}({', '.join(safe_repr(arg, 60) for arg in args)})", instead)

    method.__name__ = name
    method.__doc__ = f"Refused: {instead}."
    return method


for _names, _instead in REFUSED_METHODS.items():
    for _name in _names.split():
        setattr(SimLoop, _name, _refuser(_name, _instead))


def simulate(
    main: Callable[[], Coroutine[Any, Any, T]],
    *,
    time: VirtualTime,
    recorder: Recorder | None = None,
    chooser: Chooser | None = None,
    max_steps: int = 100_000,
) -> T:
    """Run ``await main()`` on a fresh :class:`SimLoop` and return its result; pass a ``Choices`` as ``chooser`` to get the trace.

    Raises what ``main`` raises, and :class:`SimulationDeadlock`, :class:`SimulationRefused`,
    :class:`~waitproof.harness.recorder.BudgetExhausted` (each also recorded as a stop), or the exception that escaped from a callback.
    Whatever happens, every task is cancelled and run to its end first, within a bounded number of steps; a task that can't be ended,
    and an exception that nobody retrieved, are recorded as notes. The current event loop and its policy are not touched.
    """
    loop = SimLoop(time, recorder, Fifo() if chooser is None else chooser, max_steps)
    try:
        with running_simulation(loop.refuse):
            try:
                result: T = loop.run_until_complete(loop.create_task(main(), name="main"))
            except BaseExceptionGroup as group:
                budget = budget_in(group)
                if budget is None:
                    raise
                raise budget from None
            finally:
                _drain(loop, recorder)
    finally:
        loop.close()
    if loop.late:
        raise loop.late[0]
    return result


def _drain(loop: SimLoop, recorder: Recorder | None) -> None:
    """Cancel all tasks and let them end, first in, first out, whatever the strategy was; then close asynchronous generators."""
    loop.draining = True
    loop.choices = traced(Fifo())
    for _ in range(DRAIN_ROUNDS):
        tasks = loop.pending()
        if not tasks:
            break
        for task in tasks:
            if not _would_leak(task):
                task.cancel("the run is over")
        _run_for(loop, DRAIN_STEPS)
    for agen in loop.open_generators():
        loop.create_task(_close_generator(agen), name="close-generator")
        _run_for(loop, DRAIN_STEPS)
    for task in loop.pending():
        if recorder is not None:
            recorder.note(events.BENCH_NOTE, events.BENCH, what="task-never-ends", task=task.get_name())
        task._log_destroy_pending = False  # type: ignore[attr-defined]
        keep_for_ever(task)
    for task in loop.failed:
        error = getattr(task, "_exception", None)
        if recorder is not None and getattr(task, "_log_traceback", False) and task.get_name() != "main":
            words = {"task": task.get_name(), "type": type(error).__name__, "message": safe_repr(error)}
            recorder.note(events.BENCH_NOTE, events.BENCH, what="task-exception", **words)
        task._log_traceback = False


def _would_leak(task: asyncio.Task[Any]) -> bool:
    """Whether cancelling would warn: anyio's task wrapper, cancelled before its first step, drops the user's coroutine ("never awaited"): it must begin first."""
    coro: Any = task.get_coro()
    if not inspect.iscoroutine(coro) or inspect.getcoroutinestate(coro) != inspect.CORO_CREATED:
        return False
    return "anyio" in Path(coro.cr_code.co_filename).parts


def _run_for(loop: SimLoop, steps: int) -> None:
    loop.drain_until = loop.steps + steps
    for _ in range(steps):  # an exception that flies through the loop ends it; the others must still be run
        try:
            loop.run_forever()
        except BaseException as error:  # noqa: BLE001 - last words, raised by simulate() when all is closed
            loop.late.append(error)
        else:
            return


async def _close_generator(agen: AsyncGenerator[Any, Any]) -> None:
    await agen.aclose()
