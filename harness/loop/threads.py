"""Cooperative threads: real ``threading.Thread`` objects, run one at a time, in virtual time, in an order that is somebody's choice.

A subject that is made of threads takes its locks, conditions, threads and clock from a :class:`CoopThreads` (the seam
:class:`~waitproof.harness.queue_protocols.Threads`). One baton goes round: a thread keeps it until it comes to a *switch point*, and
there a :class:`~waitproof.harness.loop.choices.Chooser` says who goes on. Switch points are: before a lock is taken and after it is
released, waiting for and notifying a condition, sleeping, starting and joining a thread, and :meth:`CoopThreads.switch` and
:meth:`CoopThreads.io_wait`, which the bench puts into its transports. The orderly choice is to keep the baton where nothing blocks,
and first in, first out where something does. Time jumps to the next timer when nobody can run.

What is not explored: a switch between two bytecodes (``self.n += 1`` without a lock is one step here); code in C; other kinds of
synchronisation, such as a ``threading.Lock`` that the subject makes itself: held across a switch point it may block for ever, which
is reported as a hang. Starting a ``threading.Thread``, sleeping and waiting in real time are refused, as on the event loops.

Why not a package: frontrun (0.7) explores down to the bytecode, but it owns what the bench must own. Its entry point takes a fixed
number of workers and an invariant; clock, order and replay are its own, so that neither our time line nor our choosers nor recorded
deviations could drive it, and it has to be started by its own command, which patches all locks of the process.
"""

from __future__ import annotations

import heapq
import math
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar, cast

from .. import events
from ..clocks import HORIZON, SyncClock, VirtualTime
from ..jsonable import safe_repr
from ..recorder import BudgetExhausted, Recorder
from . import SimulationDeadlock, keep_for_ever, refusal, running_simulation, thread_refusing
from .choices import IO, READY, TIMER_TIE, Chooser, Fifo, traced
from .simloop import DRAIN_STEPS, SAME_INSTANT, SPIN
from .threads_locks import CoopCondition, CoopLock

T = TypeVar("T")

PATIENCE: Final = 10.0
"""Real seconds that a thread may run without coming to a switch point; then it is given up as a hang."""

_OURS: Final = ("threads.py", "threads_locks.py", "clocks.py", "threading.py")
"""Files whose frames are not where a reader would look for the reason of a wait."""


class RunIsOver(BudgetExhausted):
    """Raised at a switch point of a thread that outlives its run. What the thread does about it is no longer judged."""


class CoopThread:
    """One thread of the simulation, as :meth:`CoopThreads.start` hands it out."""

    def __init__(self, owner: CoopThreads, number: int, name: str, target: Callable[[], object]) -> None:
        self.number = number
        self.name = name
        self._owner = owner
        self.target = target
        self.go = threading.Lock()
        """Held by the scheduler while the thread is parked: releasing it hands the baton over."""
        self.go.acquire()
        self.real: threading.Thread | None = None
        self.over = False
        self.given_up = False
        self.blocked: Callable[[], str] | None = None
        """While it waits: for what, in words. ``None``: it runs or could run."""
        self.woken = False
        self.block = 0
        """Counts its waits, so that a timer of an earlier one is known to be stale."""
        self.refusals = 0
        self.joiners: list[CoopThread] = []
        self.result: Any = None
        self.error: BaseException | None = None

    def join(self, timeout: float | None = None) -> None:
        """Wait until the thread is over, ``timeout`` virtual seconds at most. Raises ``RuntimeError`` in the thread itself."""
        owner = self._owner
        me = owner.point()
        if me is self:
            raise RuntimeError("cannot join current thread")
        if me is None or self.over:
            return
        self.joiners.append(me)
        owner.block(me, lambda: f"joins {self}", timeout)
        if me in self.joiners:
            self.joiners.remove(me)

    def is_alive(self) -> bool:
        """Whether it has not ended yet."""
        return not self.over

    def __str__(self) -> str:
        return f"#{self.number} {self.name!r}"


class CoopThreads:
    """The threads of one run, on ``time``. Implements :class:`~waitproof.harness.queue_protocols.Threads`.

    ``chooser``: the order (default: the orderly one). ``max_steps``: switch points before
    :class:`~waitproof.harness.recorder.BudgetExhausted`. ``patience``: see :data:`PATIENCE`.

    ``clock``: a clock for the threads, whose sleeps are recorded. While :meth:`run` lasts, ``time.advance`` in one of the threads is a
    sleep of that thread, so every other clock and blocking transport on the same time line works in threads, too (its ``interrupt_at``
    does not). One object serves one run.
    """

    def __init__(
        self,
        time: VirtualTime,
        recorder: Recorder,
        chooser: Chooser | None = None,
        max_steps: int = 100_000,
        *,
        patience: float = PATIENCE,
    ) -> None:
        self.time = time
        self.clock = SyncClock(time, recorder)
        self.choices = traced(Fifo() if chooser is None else chooser)
        self.steps = 0
        self.draining = False
        self.reason: BaseException | None = None
        self._recorder = recorder
        self._max_steps = max_steps
        self._patience = patience
        self._threads: list[CoopThread] = []
        self._ready: list[CoopThread] = []
        self._timers: list[tuple[float, int, CoopThread, int, bool]] = []
        self._armed = 0
        self._locks = 0
        self._same_instant = 0
        self.current: CoopThread | None = None
        """Who has the baton; ``None`` outside of :meth:`run`."""
        self._back = threading.Lock()
        self._back.acquire()

    # -- the seam ------------------------------------------------------------------------------------------------------

    def lock(self) -> CoopLock:
        """Make a lock, as ``threading.Lock()``."""
        return self._make_lock(reentrant=False)

    def rlock(self) -> CoopLock:
        """Make a lock that its holder may take again, as ``threading.RLock()``."""
        return self._make_lock(reentrant=True)

    def condition(self, lock: Any = None) -> CoopCondition:
        """Make a condition, as ``threading.Condition(lock)``. Raises ``TypeError`` for a lock that is not from here."""
        if lock is not None and not isinstance(lock, CoopLock):
            raise TypeError(f"a condition needs a lock made by the same threads object, not {safe_repr(lock)}")
        return CoopCondition(self, self.rlock() if lock is None else lock)

    def start(self, target: Callable[[], object], *, name: str) -> CoopThread:
        """Start a thread that calls ``target``. What it raises is recorded; anything but an ``Exception`` ends the run."""
        if self.current is None:
            raise RuntimeError("a cooperative thread can only be started while run() lasts")
        self._enter()
        made = self._add(target, name)
        self._ready.append(made)
        self.point()
        return made

    def switch(self) -> None:
        """Let the others go first: every one that could run now, if the order is the orderly one."""
        self.sleep(0.0)

    def sleep(self, seconds: float) -> None:
        """Let ``seconds`` pass for the present thread. Beyond :data:`~waitproof.harness.clocks.HORIZON` it never wakes."""
        self._pause(seconds, io=False)

    def io_wait(self, seconds: float) -> None:
        """Wait for a simulated answer for ``seconds``: as :meth:`sleep`, but answers of one instant are a choice at ``io``."""
        self._pause(seconds, io=True)

    def run(self, main: Callable[[], T]) -> T:
        """Run ``main`` as the first thread and return its result; call it once.

        Raises what ``main`` raises; :class:`SimulationDeadlock`, ``SimulationRefused`` and ``BudgetExhausted`` (each also recorded as a
        stop); or what is no ``Exception`` and escaped from another thread. Whatever happens, every other thread is ended first: at
        its next switch point it gets :class:`RunIsOver`. One that can't be ended is recorded as a note and given up.
        """
        if self._threads:
            raise RuntimeError("one CoopThreads serves one run")
        first = self._add(main, "main")
        vars(self.time)["advance"] = self._advance
        try:
            with running_simulation(self.refuse):
                self._resume(first)
                self._wait_for_baton()
                self._drain()
        finally:
            self.current = None
            del vars(self.time)["advance"]
        if self.reason is not None:
            raise self.reason
        if first.error is not None:
            raise first.error
        return cast("T", first.result)

    def refuse(self, what: str, instead: str) -> NoReturn:
        """Raise ``SimulationRefused``; a subject that swallows it can't go on as if nothing had been."""
        error = refusal(what, instead)
        self._stop("refused", error)
        raise error

    # -- switch points (for locks and conditions, too) -----------------------------------------------------------------

    def point(self, *, gently: bool = False) -> CoopThread | None:
        """A switch point at which the present thread could go on. ``gently``: nothing is raised when the run is over.

        Returns the present thread, or ``None`` outside of a run, where nobody could be switched to.
        """
        if self.current is None:
            self._turn_away_zombies()
            return None
        if gently and self.draining:
            return self.current
        me = self._enter()
        if self._same_instant >= SPIN:
            self._ready.append(me)
        elif self._ready:
            self._ready.insert(0, me)
        else:
            return me
        self._pass_on(me)
        return me

    def block(self, me: CoopThread, why: Callable[[], str], timeout: float | None = None, *, io: bool = False) -> bool:
        """Park the present thread until somebody calls :meth:`wake` (true) or ``timeout`` seconds have passed (false)."""
        me.blocked, me.woken = why, False
        me.block += 1
        if timeout is not None and timeout <= HORIZON:
            when = self.time.monotonic() + max(0.0, timeout)
            heapq.heappush(self._timers, (when, self._armed, me, me.block, io))
            self._armed += 1
        self._pass_on(me)
        return me.woken

    def wake(self, thread: CoopThread) -> None:
        """Let a parked thread go on."""
        if thread.blocked is not None:
            thread.blocked, thread.woken = None, True
            self._ready.append(thread)

    def choose(self, point: str, options: int) -> int:
        """Ask the chooser; an exception of its own ends the run, not the subject's thread that happened to be there."""
        if self.draining or self.reason is not None:
            return 0
        try:
            return self.choices.choose(point, options)
        except BaseException as error:  # noqa: BLE001 - raised by run()
            self.reason = error
            return 0

    def _pause(self, seconds: float, *, io: bool) -> None:
        if math.isnan(seconds):
            raise ValueError("Invalid value NaN (not a number)")
        if self.current is None:
            raise RuntimeError("outside of run() there is no thread that could sleep")
        me = self._enter()
        if seconds > 0:
            self.block(me, lambda: f"sleeps {seconds:g} s", seconds, io=io)
        else:
            self._ready.append(me)
            self._pass_on(me)

    def _advance(self, seconds: float) -> None:
        """Stands in for :meth:`~waitproof.harness.clocks.VirtualTime.advance` while the run lasts."""
        if not 0 <= seconds <= HORIZON:
            raise ValueError(f"time can be advanced by 0 to {HORIZON:g} seconds, not {seconds!r}")
        self.sleep(seconds)

    def _enter(self) -> CoopThread:
        """The present thread comes to a switch point: count it, and see whether the run is over for it."""
        me = self.current
        if me is None or me.real is not threading.current_thread():
            self._turn_away_zombies()
            self.refuse("a thread that the bench has not started", "start it by the bench's threads")
        if self.draining or self.reason is not None:
            self._end(me)
        self.steps += 1
        self._same_instant += 1
        if self.steps > self._max_steps:
            self._stop("budget", BudgetExhausted(f"more than {self._max_steps} switch points of threads"))
            self._end(me)
        return me

    def _turn_away_zombies(self) -> None:
        """End a thread that was given up as a hang, and has come back."""
        here = threading.current_thread()
        for thread in self._threads:
            if thread.real is here:
                thread.refusals += 1
                if thread.refusals > DRAIN_STEPS:
                    thread.go.acquire()  # for ever
                raise RunIsOver("the run is over")

    # -- handing the baton over ----------------------------------------------------------------------------------------

    def _pass_on(self, me: CoopThread) -> None:
        """Let whoever is next run, and return when the present thread has the baton again."""
        following = self._next()
        if following is me:
            return
        self._hand_to(following)
        me.go.acquire()
        if self.draining:
            self._end(me)

    def _hand_to(self, thread: CoopThread | None) -> None:
        """``None``: the one who called :meth:`run`."""
        if thread is None:
            self._back.release()
        else:
            self._resume(thread)

    def _resume(self, thread: CoopThread) -> None:
        self.current = thread
        if thread.real is not None:
            thread.go.release()
            return
        thread.real = threading.Thread(target=self._work, args=(thread,), name=thread.name, daemon=True)
        with thread_refusing(None):
            thread.real.start()

    def _next(self) -> CoopThread | None:
        """Who has the baton next. ``None``: nobody, the run is over; :attr:`reason` says why."""
        ready = self._ready
        if not ready or self._same_instant >= SPIN:
            self._jump()
        if self._timers and self._timers[0][0] <= self.time.monotonic():
            self._fire_due()
        if not ready and self.reason is None:
            told = "; ".join(self._describe(thread) for thread in self._threads if not thread.over)
            detail = f"deadlock at {self.time.now:.9g} s: no thread can run, no timer is set, and these wait: {told}"
            self._stop("deadlock", SimulationDeadlock(detail))
        if self.reason is not None:
            return None
        index = self.choose(READY, len(ready)) if len(ready) > 1 else 0
        return None if self.reason is not None else ready.pop(index)

    def _jump(self) -> None:
        """Move time to the next timer, if there is one."""
        timers = self._timers
        while timers and _stale(timers[0]):
            heapq.heappop(timers)
        if timers and timers[0][0] <= self.time.monotonic() + HORIZON:
            first = timers[0][0]
            self.time.reach(max(entry[0] for entry in timers if entry[0] <= first + SAME_INSTANT))
            self._same_instant = 0

    def _fire_due(self) -> None:
        """Make the threads ready whose timers are due; the order among equals is a choice."""
        timers, now = self._timers, self.time.monotonic()
        while timers and timers[0][0] <= now:
            first = timers[0][0]
            tie = []
            while timers and timers[0][0] <= min(first + SAME_INSTANT, now):
                entry = heapq.heappop(timers)
                if not _stale(entry):
                    tie.append(entry)
            tie.sort(key=lambda entry: entry[1])
            while tie:
                point = IO if all(entry[4] for entry in tie) else TIMER_TIE
                thread = tie.pop(self.choose(point, len(tie)))[2]
                thread.blocked = None
                self._ready.append(thread)

    # -- a thread's life -----------------------------------------------------------------------------------------------

    def _make_lock(self, *, reentrant: bool) -> CoopLock:
        self._locks += 1
        return CoopLock(self, self._locks, reentrant=reentrant)

    def _add(self, target: Callable[[], object], name: str) -> CoopThread:
        made = CoopThread(self, len(self._threads), name, target)
        self._threads.append(made)
        return made

    def _work(self, me: CoopThread) -> None:
        with thread_refusing(self.refuse):
            try:
                me.result = me.target()
            except BaseException as error:  # noqa: BLE001 - an exception of a thread is recorded, not printed
                self._failed(me, error)
            me.over = True
            me.target = _nothing
            if me.given_up:
                return
            for joiner in me.joiners:
                self.wake(joiner)
            ended = self.draining or self.reason is not None or me.number == 0
            self._hand_to(None if ended else self._next())

    def _failed(self, me: CoopThread, error: BaseException) -> None:
        me.error = error
        if self.draining or me.given_up or me.number == 0 or isinstance(error, SystemExit):
            return  # the run's caller is told of main's; a thread that exits is silent, as Python's own are
        if not isinstance(error, Exception):
            self.reason = self.reason or error
            return
        words = {"task": me.name, "type": type(error).__name__, "message": safe_repr(error)}
        self._recorder.note(events.BENCH_NOTE, events.BENCH, what="task-exception", **words)

    # -- the end -------------------------------------------------------------------------------------------------------

    def _stop(self, reason: str, error: BaseException) -> None:
        if self.reason is None and not self.draining:
            self._recorder.stop(reason, str(error))
            self.reason = error

    def _end(self, me: CoopThread) -> NoReturn:
        """The run is over and ``me`` is not: give the baton back until it is told so, then raise."""
        if not self.draining:
            self._back.release()
            me.go.acquire()
        me.refusals += 1
        if me.refusals > DRAIN_STEPS and not me.given_up:  # it swallows what it is told: it never gets the baton again
            me.given_up = True
            self._back.release()
            me.go.acquire()
        raise RunIsOver("the run is over")

    def _wait_for_baton(self) -> None:
        """Wait until the run is over, or a thread has kept the baton for longer than the patience."""
        seen = -1
        while not self._acquired_back():
            if self.steps == seen:
                told = self._describe(self.current) if self.current is not None else "nobody"
                self._stop("hang", BudgetExhausted(f"no switch point within {self._patience:g} real seconds: {told}"))
                if self.current is not None:
                    self._give_up(self.current)
                return
            seen = self.steps

    def _acquired_back(self) -> bool:
        try:
            return self._back.acquire(timeout=self._patience)
        except BaseException as error:  # noqa: BLE001 - an interrupt: the thread that runs is stopped at its next switch point
            self.reason = self.reason or error
            return False

    def _drain(self) -> None:
        """End every thread, in order of creation, one at a time."""
        self.draining = True
        for thread in self._threads:  # none can be added any more
            if thread.over or thread.given_up:
                continue
            if thread.real is None:
                thread.over = True
                continue
            self.current = thread
            thread.go.release()
            if not self._acquired_back() or thread.given_up:
                self._give_up(thread)
        with thread_refusing(None):
            for thread in self._threads:
                if thread.real is not None and not thread.given_up:
                    thread.real.join(self._patience)

    def _give_up(self, thread: CoopThread) -> None:
        thread.given_up = True
        keep_for_ever(thread)
        self._recorder.note(events.BENCH_NOTE, events.BENCH, what="task-never-ends", task=thread.name)

    # -- in words ------------------------------------------------------------------------------------------------------

    def _describe(self, thread: CoopThread) -> str:
        """``#1 'worker' at pool.py:31 take, waits for lock 2, held by #0 'main'``."""
        if thread.real is None:
            return f"{thread}, which has not begun"
        frame = sys._current_frames().get(thread.real.ident or 0)  # noqa: SLF001 - public in all but name
        while frame is not None and Path(frame.f_code.co_filename).name in _OURS:
            frame = frame.f_back
        place = "" if frame is None else _place(frame)
        return f"{thread}{place}" + ("" if thread.blocked is None else f", {thread.blocked()}")


def _place(frame: Any) -> str:
    name = frame.f_code.co_qualname.rpartition("<locals>.")[2]
    return f" at {Path(frame.f_code.co_filename).name}:{frame.f_lineno} {name}"


def _stale(entry: tuple[float, int, CoopThread, int, bool]) -> bool:
    thread, block = entry[2], entry[3]
    return thread.blocked is None or thread.block != block


def _nothing() -> None:
    """Stands where a thread's work was, so that what it held is let go."""
