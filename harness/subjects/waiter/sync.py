"""The driver of a wait for threads. It contains no rule: those are in `core`, `policy` and `outcome`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeAlias, Unpack

from ..normaliser.job import Job, ResultT
from .clocks import Clock, SystemClock, resolution_of
from .core import Fetch, Raise, Return, Sleep, Step, WaitCore
from .outcome import Answer
from .policy import WaitOptions, WaitPolicy
from .report import conclude_fetch

__all__ = ["SyncFetch", "wait_for_job"]

SyncFetch: TypeAlias = Callable[[float], Answer[ResultT] | Job[ResultT]]


def wait_for_job(
    fetch: SyncFetch[ResultT],
    *,
    clock: Clock | None = None,
    wall: Callable[[], float] | None = None,
    **options: Unpack[WaitOptions],
) -> Job[ResultT]:
    """Fetch a job until it ends, and return it as it then is (SPEC section 2).

    `fetch(limit)` fetches the job once and returns an `Answer` (or a bare `Job`, which has no pacing headers). It
    has `limit` seconds for all it does, and must keep that limit by itself: a thread cannot be interrupted from
    outside. `Client` does so through `DeadlineTransport`; a timeout for each read would not do, because a server
    that sends one byte before each timeout then holds the thread for ever.

    `clock` tells the time and sleeps (the system's by default); `wall` returns seconds since 1970 and is only used
    for a `Retry-After` date without a `Date`. The `options` are the fields of `WaitPolicy`.

    Raises ValueError for a bad parameter, before the first fetch; JobWaitTimeoutError at the deadline;
    JobFailedError if `raise_on_failure` and the job failed or was cancelled; and at once whatever the fetch raised
    that the error table does not call transient.
    """
    policy = WaitPolicy(**options)
    clock = SystemClock() if clock is None else clock
    wall = time.time if wall is None else wall
    core: WaitCore[ResultT] = WaitCore(policy, resolution=resolution_of(clock))
    step: Step[ResultT] = core.start(clock.monotonic())
    while True:
        match step:
            case Fetch():
                answer, error = _attempt(fetch, policy.fetch_timeout)
                step = conclude_fetch(core, policy, answer, error, monotonic=clock.monotonic, wall=wall)
            case Sleep(seconds=seconds):
                clock.sleep(seconds)
                step = core.slept(clock.monotonic())
            case Return(job=job):
                return job
            case Raise(error=reason):
                raise reason


def _attempt(fetch: SyncFetch[ResultT], limit: float) -> tuple[Answer[ResultT] | Job[ResultT] | None, Exception | None]:
    try:
        return fetch(limit), None
    except Exception as error:  # noqa: BLE001  (the error table decides)
        return None, error
