"""The driver for asyncio and trio. It holds no rule: those are in the core.

A fixed number of worker tasks and one timer task, in a task group. All else is synchronous, so that nothing can be cancelled half-way.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, Self

import anyio
import anyio.abc
import sniffio

from ...calls import ApiCall, OutcomeView
from ..waiter.clocks import AnyioClock, AsyncClock
from .bounds import Bounds
from .config import RELEVANCE, QueueConfig, check_config
from .core import DispatchCore
from .deeds import Handler, do, log_error
from .entry import Attempt, Ticket
from .naps import LEAST_NAP, reached

__all__ = ["DispatchQueue", "Send"]

Send = Callable[[ApiCall], Awaitable[Any]]


class DispatchQueue:
    """A dispatch queue for tasks: `async with DispatchQueue(send) as queue: ticket = queue.submit(call)`.

    `await send(call)` makes one attempt and returns the answer (`status`, `headers`, `body`; see `waitproof.harness.calls.ApiAnswer`), or
    raises. `await read(call)` reads the object back after an ambiguous attempt, `holds(call, body)` says whether that shows the call's
    effect; without `read` such a call ends unknown. `failed(call, outcome)` is the plugins' failure handler, `reevaluate(call, outcome)`
    asks for another look at the pod; both, and the callbacks of `submit`, may submit or close in turn. `on_error(error)` is given
    what a callback raises (logged by default). `config`, `relevance`, `gate`, `version_of`, `wall`, `debug`: see `DispatchCore`.

    Leaving the context closes the queue. Raises `ValueError` for a bad configuration.
    """

    def __init__(
        self,
        send: Send,
        *,
        read: Send | None = None,
        holds: Callable[[ApiCall, Any], bool] | None = None,
        failed: Handler | None = None,
        reevaluate: Handler | None = None,
        config: QueueConfig | None = None,
        clock: AsyncClock | None = None,
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
        self._clock: AsyncClock = AnyioClock() if clock is None else clock
        extra: dict[str, Any] = {} if holds is None else {"holds": holds}
        self._make = lambda: core(
            config, now=self._clock.monotonic(), relevance=relevance, gate=gate, version_of=version_of, reads=read is not None,
            wall=wall, handlers=failed is not None or reevaluate is not None, debug=debug, **extra,
        )  # fmt: skip
        if config is not None:
            check_config(config)  # a bad configuration is told where it is given, not where the queue is opened
        self._now: Callable[[], float] = self._clock.monotonic
        self._loop_time: Callable[[], float] = anyio.current_time
        self._scope: type[anyio.CancelScope] = anyio.CancelScope
        self._core: DispatchCore | None = None
        self._idle: list[anyio.Event] = []
        self._nap: anyio.CancelScope | None = None
        self._nap_until = math.inf
        self._thread = 0
        self._from_thread: Callable[[], None] | None = None

    # -- life ----------------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        if self._core is not None:
            raise RuntimeError("a dispatch queue is opened once; make another one")
        self._now, self._loop_time = _reader(self._clock), _reader(AnyioClock())
        self._scope = type(anyio.CancelScope())  # the loop's own; anyio would look it up anew for each attempt
        self._core = self._make()
        self._thread = threading.get_ident()
        self._from_thread = _closer(self._close_here)
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        try:
            for number in range(self._core.config.workers):
                await self._tasks.start(self._worker, name=f"dispatch worker {number}")
            await self._tasks.start(self._timer, name="dispatch timer")
        except BaseException:
            self._close_here()
            await self._tasks.__aexit__(*sys.exc_info())
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        try:
            self._close_here()
        finally:
            # Only a cancellation is the group's business; an error of the body would come back wrapped in a group.
            if isinstance(error, anyio.get_cancelled_exc_class()):
                swallowed = await self._tasks.__aexit__(kind, error, trace)
            else:
                swallowed = await self._tasks.__aexit__(None, None, None)
                swallowed = False
        return swallowed

    @property
    def core(self) -> DispatchCore:
        """The state machine. Raises `RuntimeError` before the queue is open."""
        if self._core is None:
            raise RuntimeError("the dispatch queue is not open: use `async with`")
        return self._core

    # -- the submitter's side ------------------------------------------------------------------------------------------

    def submit(self, call: ApiCall, settled: Callable[[OutcomeView], object] | None = None) -> Ticket:
        """Submit a call; answers at once. `settled(outcome)` is called once, inside `submit` already if it is refused."""
        ticket = self.core.submit(call, self._now(), settled)
        self._after()
        return ticket

    async def outcome(self, ticket: Ticket) -> OutcomeView:
        """Wait for the outcome of a submit. Cancelling the wait does not cancel the submit."""
        if ticket.outcome is None:
            told = anyio.Event()
            if ticket.waiters is None:
                ticket.waiters = []
            ticket.waiters.append(told)
            try:
                await told.wait()
            finally:
                if ticket.waiters is not None:
                    ticket.waiters.remove(told)
        assert ticket.outcome is not None
        return ticket.outcome

    def cancel(self, ticket: Ticket) -> None:
        """Cancel one submit. Nothing happens if it is told already."""
        self.core.cancel(ticket, self._now())
        self._after()

    def end_context(self, context: str) -> None:
        """A scheduling context is over."""
        self.core.end_context(context, self._now())
        self._after()

    def delete_object(self, uid: str) -> None:
        """An object is gone."""
        self.core.delete_object(uid, self._now())
        self._after()

    def own_write(self, uid: str, guarded_at: int, version: int) -> None:
        """An own write was seen in a watch: guarded at one resourceVersion, it made the other."""
        self.core.own_write(uid, guarded_at, version)

    def set_rate(self, qps: float, burst: int) -> None:
        """Another quota from now on. Raises `ValueError` for one that is none."""
        self.core.set_rate(qps, burst, self._now())
        self._after()

    def close(self) -> None:
        """Tell every submitter and start nothing more. Idempotent; from any task, callback or thread (from another thread: soon)."""
        if threading.get_ident() == self._thread or self._core is None or self._core.closed:
            if self._core is not None:
                self._close_here()
        elif self._from_thread is not None:
            with contextlib.suppress(RuntimeError):  # the loop is over, and so is the queue
                self._from_thread()

    def stats(self) -> dict[str, Any]:
        """The queue's own figures; see `DispatchCore.stats`."""
        return self.core.stats(self._now())

    def bounds(self) -> Bounds:
        """The printed bounds W and B, with their derivation."""
        return self.core.bounds()

    # -- the workers' side ---------------------------------------------------------------------------------------------

    def _close_here(self) -> None:
        self.core.close(self._now())
        idle, self._idle = self._idle, []
        for worker in idle:
            worker.set()
        if self._nap is not None:
            self._nap.cancel()
        self._deliver()

    def _after(self) -> None:
        """Something has happened: tell whom it concerns, wake whom it needs."""
        self._wake()
        self._deliver()

    def _wake(self) -> None:
        now = self._now()
        core = self.core
        wake_at = core.wake_at(now)
        if self._idle and core.can_start(now):
            self._idle.pop().set()  # it wakes the next one, once it has taken its attempt
        if wake_at < self._nap_until and self._nap is not None:
            self._nap.cancel()

    def _deliver(self) -> None:
        core = self.core
        while deeds := core.take():
            do(deeds, failed=self._failed, reevaluate=self._reevaluate, wake=_set, on_error=self._on_error)

    async def _worker(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        core = self.core
        task_status.started()
        while not core.closed:
            attempt = core.next(self._now())
            self._after()
            if attempt is not None:
                await self._attempt(attempt)
                continue
            woken = anyio.Event()
            self._idle.append(woken)
            try:
                await woken.wait()
            except anyio.get_cancelled_exc_class():
                if not _survives():
                    raise
            finally:
                if woken in self._idle:
                    self._idle.remove(woken)

    async def _attempt(self, attempt: Attempt) -> None:
        core, now = self.core, self._now
        make = self._read if attempt.read else self._send
        assert make is not None
        if not core.wanted(attempt):  # a callback has cancelled its call since it was taken
            core.unstarted(attempt, now())
            self._after()
            return
        try:
            answer, scope = None, self._scope(deadline=self._loop_time() + attempt.timeout)
            arrived = timed_out = False
            attempt.abort = scope.cancel
            with scope:
                if not attempt.over and not core.closed:
                    answer = await make(attempt.call)
                    arrived = True
            timed_out = not arrived
        except Exception as error:  # noqa: BLE001 - the error table decides
            core.failed(attempt, error, now())
        except anyio.get_cancelled_exc_class():
            core.abandoned(attempt, now())
            self._after()
            if not _survives():
                raise
        except BaseException as error:
            core.failed(attempt, error, now())
            self._after()
            raise
        else:
            if timed_out:
                core.timed_out(attempt, now())
            else:
                core.answered(attempt, answer, now())
        self._deliver()  # the worker itself takes what can start now, and wakes the others after that

    async def _timer(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        core = self.core
        task_status.started()
        slept_to = -math.inf
        while not core.closed:
            now = reached(self._clock, slept_to)
            core.tick(now)
            self._nap_until = core.wake_at(now)
            self._after()
            if core.closed:
                return
            now = reached(self._clock, slept_to)
            target = core.wake_at(now)
            if target <= now and core.can_start(now):
                target = math.inf  # a worker is on its way to what is due, and wakes the timer then
            self._nap_until = target
            try:
                with anyio.CancelScope() as self._nap:
                    if target == math.inf:
                        await anyio.sleep_forever()
                    await self._clock.sleep(max(target - now, LEAST_NAP))
                    slept_to = target
            except anyio.get_cancelled_exc_class():
                if not _survives():
                    raise
            finally:
                self._nap = None


def _reader(clock: AsyncClock) -> Callable[[], float]:
    """How a clock is read in the running event loop. Anyio asks anew each time which loop that is, which costs more than all the rest."""
    if type(clock) is not AnyioClock:
        return clock.monotonic
    if sniffio.current_async_library() == "asyncio":
        return asyncio.get_running_loop().time
    import trio

    return trio.current_time


def _set(event: anyio.Event) -> None:
    event.set()


def _survives() -> bool:
    """Whether a task that was cancelled goes on: if it alone was (asyncio's `task.cancel()`), which is no end of the queue, and not a
    scope around the queue."""
    if anyio.current_effective_deadline() == -math.inf:
        return False
    if sniffio.current_async_library() == "asyncio":
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            task.uncancel()
    return True


def _closer(close: Callable[[], None]) -> Callable[[], None]:
    """How another thread lets the queue's own thread close it."""
    if sniffio.current_async_library() == "asyncio":
        loop = asyncio.get_running_loop()
        return lambda: void(loop.call_soon_threadsafe(close))
    import trio.lowlevel

    token = trio.lowlevel.current_trio_token()
    return lambda: token.run_sync_soon(close)


def void(_: object) -> None:
    """Forget a result."""
