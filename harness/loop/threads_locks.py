"""Locks and conditions of cooperative threads: the methods of ``threading``'s, with every wait in virtual time.

As with the real ones, a lock that is released belongs to nobody: whoever runs first takes it, and a thread that was woken for it may
find it taken again. A condition keeps CPython's fine print, too: a waiter whose time is up counts as a waiter until it has the lock
again, so a ``notify`` may go to it and wake nobody.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from . import SimulationDeadlock
from .choices import READY


class Scheduler(Protocol):
    """What a lock needs of the threads that it belongs to; see :class:`~waitproof.harness.loop.threads.CoopThreads`."""

    draining: bool
    current: Any

    def point(self, *, gently: bool = False) -> Any:
        """A switch point; the present thread, or ``None`` outside of a run."""

    def block(self, me: Any, why: Callable[[], str], timeout: float | None = None) -> bool:
        """Park the present thread."""

    def wake(self, thread: Any) -> None:
        """Let a parked thread go on."""

    def choose(self, point: str, options: int) -> int:
        """Ask the chooser."""

    @property
    def time(self) -> Any:
        """The time line."""


class CoopLock:
    """``threading.Lock``, or ``threading.RLock`` if it is ``reentrant``. Times are virtual seconds."""

    def __init__(self, threads: Scheduler, number: int, *, reentrant: bool) -> None:
        self._threads = threads
        self.number = number
        self._reentrant = reentrant
        self._holder: Any = None
        self._held = 0
        self._waiters: list[Any] = []

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take the lock; false if it could not be had at once (not ``blocking``) or within ``timeout`` seconds (-1: no limit)."""
        if not blocking and timeout != -1:
            raise ValueError("can't specify a timeout for a non-blocking call")
        if timeout < 0 and timeout != -1:
            raise ValueError("timeout value must be a non-negative number")
        me = self._threads.point()
        if self._reentrant and self._held and self._holder is me:
            self._held += 1
            return True
        return self._take(me, blocking=blocking, timeout=None if timeout == -1 else timeout)

    def release(self) -> None:
        """Give the lock back. Raises ``RuntimeError`` if it is not held (a reentrant one: by this thread)."""
        if not self._held:
            if self._threads.draining:  # a thread that was ended while it waited on a condition
                return
            raise RuntimeError("release unlocked lock")
        if self._reentrant and self._holder is not self._threads.current and not self._threads.draining:
            raise RuntimeError("cannot release un-acquired lock")
        self._held -= 1
        if not self._held:
            self._free()
            self._threads.point(gently=True)

    def locked(self) -> bool:
        """Whether anybody holds it."""
        return self._held > 0

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def __repr__(self) -> str:
        return f"<CoopLock {self.number}, {'held by ' + str(self._holder) if self._held else 'free'}>"

    # -- for conditions ------------------------------------------------------------------------------------------------

    def held_by(self, me: Any) -> bool:
        """Whether ``me`` may wait on a condition of this lock. As ``threading`` does, a plain lock only asks that it is held."""
        return self._held > 0 and (self._holder is me or not self._reentrant)

    def let_go(self) -> int:
        """Release it however often it was taken, without a switch point; the answer goes to :meth:`take_back`."""
        held, self._held = self._held, 0
        self._free()
        return held

    def take_back(self, me: Any, held: int) -> None:
        """Take it again as it was before :meth:`let_go`."""
        self._take(me, blocking=True, timeout=None)
        self._held = held

    def _take(self, me: Any, *, blocking: bool, timeout: float | None) -> bool:
        clock = self._threads.time
        until = None if timeout is None else clock.monotonic() + timeout
        while self._held:
            left = None if until is None else until - clock.monotonic()
            if not blocking or (left is not None and left <= 0):
                return False
            if me is None:
                raise SimulationDeadlock(
                    f"lock {self.number} is held by {self._holder}, and nobody runs who could release it"
                )
            self._waiters.append(me)
            self._threads.block(me, lambda: f"waits for lock {self.number}, held by {self._holder}", left)
            if me in self._waiters:
                self._waiters.remove(me)
        self._holder, self._held = me, 1
        return True

    def _free(self) -> None:
        """Nobody holds it now: wake one of those that wait for it, if any still does."""
        self._holder = None
        waiting = [thread for thread in self._waiters if thread.blocked is not None]
        if waiting:
            chosen = waiting[self._threads.choose(READY, len(waiting))]
            self._waiters.remove(chosen)
            self._threads.wake(chosen)


class CoopCondition:
    """``threading.Condition`` on a :class:`CoopLock`. Times are virtual seconds."""

    def __init__(self, threads: Scheduler, lock: CoopLock) -> None:
        self._threads = threads
        self._lock = lock
        self._waiters: list[Any] = []
        self.acquire = lock.acquire
        self.release = lock.release

    def __enter__(self) -> bool:
        return self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def wait(self, timeout: float | None = None) -> bool:
        """Release the lock, wait for a notification, take the lock again. False after ``timeout`` seconds without one.

        Raises ``RuntimeError`` if the lock is not held.
        """
        me = self._threads.point()
        if not self._lock.held_by(me):
            raise RuntimeError("cannot wait on un-acquired lock")
        if me is None:
            raise SimulationDeadlock("nobody runs who could notify a condition")
        self._waiters.append(me)
        held = self._lock.let_go()
        notified = self._threads.block(me, lambda: f"waits on a condition of lock {self._lock.number}", timeout)
        self._lock.take_back(me, held)
        if me in self._waiters:
            self._waiters.remove(me)
        return notified

    def wait_for(self, predicate: Callable[[], Any], timeout: float | None = None) -> Any:
        """Wait until ``predicate()`` is true, for ``timeout`` seconds at most; the last value of the predicate is returned."""
        clock = self._threads.time
        until = None if timeout is None else clock.monotonic() + timeout
        result = predicate()
        while not result:
            left = None if until is None else until - clock.monotonic()
            if left is not None and left <= 0:
                break
            self.wait(left)
            result = predicate()
        return result

    def notify(self, n: int = 1) -> None:
        """Wake ``n`` waiters, if there are so many; which ones is a choice. Raises ``RuntimeError`` if the lock is not held."""
        me = self._threads.point(gently=True)
        if not self._lock.held_by(me):
            if self._threads.draining:
                return
            raise RuntimeError("cannot notify on un-acquired lock")
        for _ in range(min(n, len(self._waiters))):
            self._threads.wake(self._waiters.pop(self._threads.choose(READY, len(self._waiters))))

    def notify_all(self) -> None:
        """Wake all waiters."""
        self.notify(len(self._waiters))
