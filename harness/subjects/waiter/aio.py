"""The driver of a wait for tasks, on asyncio and trio. It contains no rule, and mirrors `sync` line by line."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import TypeAlias, TypeVar, Unpack

import anyio

from ..normaliser.job import Job, ResultT
from .clocks import AnyioClock, AsyncClock, resolution_of
from .core import Fetch, Raise, Return, Sleep, Step, WaitCore
from .errors import FetchTimeoutError
from .outcome import Answer
from .policy import WaitOptions, WaitPolicy
from .report import conclude_fetch

__all__ = ["AsyncFetch", "async_wait_for_job", "within"]

_T = TypeVar("_T")

AsyncFetch: TypeAlias = Callable[[float], Awaitable[Answer[ResultT] | Job[ResultT]]]


async def async_wait_for_job(
    fetch: AsyncFetch[ResultT],
    *,
    clock: AsyncClock | None = None,
    wall: Callable[[], float] | None = None,
    **options: Unpack[WaitOptions],
) -> Job[ResultT]:
    """Fetch a job until it ends, and return it as it then is: `wait_for_job` for tasks (SPEC section 2, point 7).

    `await fetch(limit)` is cancelled after `limit` seconds of the event loop's own time, which is a transient
    failure. Cancelling the wait ends it at once, with the original cancellation. All else is as in `wait_for_job`.
    """
    policy = WaitPolicy(**options)
    clock = AnyioClock() if clock is None else clock
    wall = time.time if wall is None else wall
    core: WaitCore[ResultT] = WaitCore(policy, resolution=resolution_of(clock))
    step: Step[ResultT] = core.start(clock.monotonic())
    while True:
        match step:
            case Fetch():
                answer, error = await _attempt(fetch, policy.fetch_timeout)
                step = conclude_fetch(core, policy, answer, error, monotonic=clock.monotonic, wall=wall)
            case Sleep(seconds=seconds):
                await clock.sleep(seconds)
                step = core.slept(clock.monotonic())
            case Return(job=job):
                return job
            case Raise(error=reason):
                raise reason


async def _attempt(
    fetch: AsyncFetch[ResultT], limit: float
) -> tuple[Answer[ResultT] | Job[ResultT] | None, Exception | None]:
    try:
        return await within(limit, lambda: fetch(limit)), None
    except Exception as error:  # noqa: BLE001  (the error table decides; a cancellation is no Exception)
        return None, error


async def within(limit: float, call: Callable[[], Awaitable[_T]]) -> _T:
    """Await a call, cancelling it after `limit` seconds. Raises FetchTimeoutError then, and only then.

    A TimeoutError of the call's own passes through as it is, and so does a cancellation from outside: the scope
    catches only the cancellation that it made itself, and of two that come together it lets the outer one through
    (from anyio 4.16; earlier ones swallow an asyncio `task.cancel()` that comes in the same turn of the loop).
    """
    with anyio.move_on_after(limit):
        return await call()
    raise FetchTimeoutError(limit)
