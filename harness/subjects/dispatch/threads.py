"""The driver for threads. It holds no rule: those are in the core.

Worker threads and one timer thread around one lock; callbacks run outside of it. Lock, condition, threads and clock come through a
seam, so that a bench can put its own there.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

from ...calls import ApiCall, OutcomeView
from ...queue_protocols import Threads
from ..waiter.clocks import Clock, SystemClock
from .bounds import Bounds
from .config import RELEVANCE, QueueConfig
from .core import DispatchCore
from .deeds import Handler, do, log_error
from .entry import Attempt, Ticket
from .naps import LEAST_NAP, reached

__all__ = ["BlockingSend", "RealThreads", "ThreadDispatchQueue"]

BlockingSend = Callable[[ApiCall], Any]

_LONGEST_NAP = 86_400.0


class RealThreads:
    """Locks and threads of the standard library. Threads are daemons: a `send` that never returns does not hold up the program's end."""

    def lock(self) -> Any:
        """Make a `threading.Lock`."""
        return threading.Lock()

    def condition(self, lock: Any = None) -> Any:
        """Make a `threading.Condition`."""
        return threading.Condition(lock)

    def start(self, target: Callable[[], object], *, name: str) -> Any:
        """Start a thread."""
        thread = threading.Thread(target=target, name=name, daemon=True)
        thread.start()
        return thread


class ThreadDispatchQueue:
    """A dispatch queue for threads: `with ThreadDispatchQueue(send) as queue: ticket = queue.submit(call)`.

    The blocking twin of `DispatchQueue`; every method may be called from any thread, callbacks included. A thread can't be interrupted:
    `send` and `read` must keep `config.attempt_timeout` themselves. `threads`: the seam for locks and threads.
    """

    def __init__(
        self,
        send: BlockingSend,
        *,
        read: BlockingSend | None = None,
        holds: Callable[[ApiCall, Any], bool] | None = None,
        failed: Handler | None = None,
        reevaluate: Handler | None = None,
        config: QueueConfig | None = None,
        clock: Clock | None = None,
        threads: Threads | None = None,
        relevance: Mapping[str, int] = RELEVANCE,
        gate: Callable[[ApiCall], str | None] | None = None,
        version_of: Callable[[Any], int | None] | None = None,
        wall: Callable[[], float] = time.time,
        on_error: Callable[[BaseException], object] = log_error,
        debug: bool = False,
        core: Callable[..., DispatchCore] = DispatchCore,
    ) -> None:
        self._send, self._read = send, read
        self._failed, self._reevaluate, self._on_error = failed, reevaluate, on_error
        self._clock: Clock = SystemClock() if clock is None else clock
        self._threads: Threads = RealThreads() if threads is None else threads
        extra: dict[str, Any] = {} if holds is None else {"holds": holds}
        self._core = core(
            config, now=self._clock.monotonic(), relevance=relevance, gate=gate, version_of=version_of, reads=read is not None,
            wall=wall, handlers=failed is not None or reevaluate is not None, debug=debug, **extra,
        )  # fmt: skip
        self._lock = self._threads.lock()
        self._work = self._threads.condition(self._lock)
        self._time = self._threads.condition(self._lock)
        self._nap_until = math.inf
        self._idle = 0
        self._running: list[Any] = []
        self._own: set[int] = set()

    # -- life ----------------------------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        if self._running:
            raise RuntimeError("a dispatch queue is opened once; make another one")
        for number in range(self._core.config.workers):
            self._running.append(self._threads.start(self._worker, name=f"dispatch worker {number}"))
        self._running.append(self._threads.start(self._timer, name="dispatch timer"))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        if threading.get_ident() not in self._own:
            for thread in self._running:
                thread.join()

    @property
    def core(self) -> DispatchCore:
        """The state machine; not to be touched without the queue's lock."""
        return self._core

    # -- the submitter's side ------------------------------------------------------------------------------------------

    def submit(self, call: ApiCall, settled: Callable[[OutcomeView], object] | None = None) -> Ticket:
        """Submit a call; answers at once. `settled(outcome)` is called once, from whichever thread decides it, inside `submit` too."""
        with self._lock:
            ticket = self._core.submit(call, self._clock.monotonic(), settled)
            self._wake()
        self._deliver()
        return ticket

    def outcome(self, ticket: Ticket, timeout: float | None = None) -> OutcomeView:
        """Wait for the outcome of a submit. Raises `TimeoutError` after `timeout` seconds; the submit goes on."""
        end = math.inf if timeout is None else self._clock.monotonic() + timeout
        with self._lock:
            if ticket.outcome is None:
                told = self._threads.condition(self._lock)
                if ticket.waiters is None:
                    ticket.waiters = []
                ticket.waiters.append(told)
                try:
                    while ticket.outcome is None:
                        left = end - self._clock.monotonic()
                        if left <= 0:
                            raise TimeoutError(f"{ticket!r} has no outcome after {timeout} s; it goes on")
                        told.wait(None if left == math.inf else min(left, _LONGEST_NAP))
                finally:
                    if ticket.waiters is not None:
                        ticket.waiters.remove(told)
            return ticket.outcome

    def cancel(self, ticket: Ticket) -> None:
        """Cancel one submit. Nothing happens if it is told already."""
        self._change(lambda now: self._core.cancel(ticket, now))

    def end_context(self, context: str) -> None:
        """A scheduling context is over."""
        self._change(lambda now: self._core.end_context(context, now))

    def delete_object(self, uid: str) -> None:
        """An object is gone."""
        self._change(lambda now: self._core.delete_object(uid, now))

    def own_write(self, uid: str, guarded_at: int, version: int) -> None:
        """An own write was seen in a watch: guarded at one resourceVersion, it made the other."""
        self._change(lambda _: self._core.own_write(uid, guarded_at, version))

    def set_rate(self, qps: float, burst: int) -> None:
        """Another quota from now on. Raises `ValueError` for one that is none."""
        self._change(lambda now: self._core.set_rate(qps, burst, now))

    def close(self) -> None:
        """Tell every submitter and start nothing more. Idempotent, from any thread or callback. Does not wait for attempts that are out."""
        self._change(self._core.close)

    def stats(self) -> dict[str, Any]:
        """The queue's own figures; see `DispatchCore.stats`."""
        with self._lock:
            return self._core.stats(self._clock.monotonic())

    def bounds(self) -> Bounds:
        """The printed bounds W and B, with their derivation."""
        with self._lock:
            return self._core.bounds()

    # -- the workers' side ---------------------------------------------------------------------------------------------

    def _change(self, what: Callable[[float], object]) -> None:
        with self._lock:
            what(self._clock.monotonic())
            self._wake()
        self._deliver()

    def _wake(self) -> None:
        """With the lock held: wake a worker if an attempt can start (it wakes the next one), and the timer if it sleeps too long."""
        if self._core.closed:
            self._work.notify_all()
            self._time.notify_all()
            return
        now = self._clock.monotonic()
        wake_at = self._core.wake_at(now)
        if self._idle and self._core.can_start(now):
            self._work.notify()
        if wake_at < self._nap_until:
            self._nap_until = wake_at
            self._time.notify()

    def _deliver(self) -> None:
        while True:
            with self._lock:
                deeds = self._core.take()
            if not deeds:
                return
            do(deeds, failed=self._failed, reevaluate=self._reevaluate, wake=self._tell, on_error=self._on_error)

    def _tell(self, waiter: Any) -> None:
        with self._lock:
            waiter.notify_all()

    def _worker(self) -> None:
        self._own.add(threading.get_ident())
        while True:
            with self._lock:
                attempt = self._core.next(self._clock.monotonic())
                if attempt is None and self._core.closed:
                    break
                self._wake()
            self._deliver()
            if attempt is not None:
                self._attempt(attempt)
                continue
            with self._lock:
                if not self._core.closed and not self._core.can_start(self._clock.monotonic()):
                    self._idle += 1
                    try:
                        self._work.wait()
                    finally:
                        self._idle -= 1
        self._deliver()

    def _attempt(self, attempt: Attempt) -> None:
        core, clock = self._core, self._clock
        make = self._read if attempt.read else self._send
        assert make is not None
        with self._lock:
            wanted = core.wanted(attempt)
            if not wanted:  # its call was cancelled since it was taken
                core.unstarted(attempt, clock.monotonic())
                self._wake()
        if not wanted:
            self._deliver()
            return
        try:
            answer = make(attempt.call)
        except BaseException as error:  # noqa: BLE001 - the error table decides; a worker outlives whatever it is
            with self._lock:
                core.failed(attempt, error, clock.monotonic())
                self._wake()
            if not isinstance(error, Exception):
                self._on_error(error)
        else:
            with self._lock:
                core.answered(attempt, answer, clock.monotonic())
                self._wake()
        self._deliver()

    def _timer(self) -> None:
        self._own.add(threading.get_ident())
        slept_to = -math.inf
        while True:
            with self._lock:
                now = reached(self._clock, slept_to)
                self._core.tick(now)
                self._nap_until = math.inf
                self._wake_worker(now)
                if self._core.closed:
                    break
            self._deliver()
            with self._lock:
                if self._core.closed:
                    break
                now = reached(self._clock, slept_to)
                wake_at = self._core.wake_at(now)
                if wake_at <= now and self._core.can_start(now):
                    wake_at = math.inf  # a worker is on its way to what is due, and wakes the timer then
                self._nap_until = wake_at
                if wake_at == math.inf:
                    self._time.wait()
                elif not self._time.wait(min(max(wake_at - now, LEAST_NAP), _LONGEST_NAP)):
                    slept_to = min(wake_at, now + _LONGEST_NAP)
        self._deliver()

    def _wake_worker(self, now: float) -> None:
        if self._idle and self._core.can_start(now):
            self._work.notify()
