"""Seeded bugs that only show when two things are compared: twins, waits together and alone, a wait and the model."""

from __future__ import annotations

import math
from typing import Any
from weakref import WeakKeyDictionary

import anyio

from ....harness.subjects.waiter.core import Return
from ....harness.subjects.waiter.outcome import hint_of_error
from ..bug import SeededBug, wrapping


async def _zero_is_unlimited(original: Any, fetch: Any, **options: Any) -> Any:
    return await original(fetch, **{**options, "timeout": options.get("timeout") or math.inf})


_quiet_until: WeakKeyDictionary[Any, float] = WeakKeyDictionary()
"""By clock, which all the waits of one client share: when any of them may ask again."""


async def _all_are_quiet(original: Any, fetch: Any, *, clock: Any, wall: Any, **options: Any) -> Any:
    async def polite(limit: float) -> Any:
        pause = _quiet_until.get(clock, 0.0) - clock.monotonic()
        if pause > 0:
            await clock.sleep(pause)
        try:
            return await fetch(limit)
        except Exception as error:
            hint = hint_of_error(error, wall)
            if hint is not None:
                _quiet_until[clock] = clock.monotonic() + hint
            raise

    return await original(polite, clock=clock, wall=wall, **options)


async def _lock_is_not_released(original: Any, self: Any, job_id: str, limit: float) -> Any:
    lock = vars(self).setdefault("lock", anyio.Semaphore(1))
    await lock.acquire()
    answer = await original(self, job_id, limit)
    lock.release()
    return answer


def _stuck_is_done(original: Any, self: Any, outcome: Any, *, arrival: float, now: float) -> Any:
    last, job = self._last_job, outcome.job
    same = job is not None and last is not None and job.raw_status == last.raw_status
    vars(self)["same"] = vars(self).get("same", 0) + 1 if same else 0
    if vars(self)["same"] >= 5:
        return Return(job=job)
    return original(self, outcome, arrival=arrival, now=now)


BUGS = (
    SeededBug(
        name="zero-is-unlimited",
        summary="the asynchronous twin takes timeout=0 for no timeout",
        invariant="waiter.twins_agree",
        source="W80 PrimeIntellect-ai/prime!337",
        suite="waiter-twins",
        replaced={"client.aio:async_wait_for_job": wrapping(_zero_is_unlimited)},
        mode="asyncio",
    ),
    SeededBug(
        name="one-hint-quiets-all",
        summary="a Retry-After that one wait was told makes all the waits of the client pause",
        invariant="waiter.waits_independent",
        source="D102 tenacity#93",
        suite="waiter-concurrent",
        replaced={"client.aio:async_wait_for_job": wrapping(_all_are_quiet)},
        mode="asyncio",
    ),
    SeededBug(
        name="a-lock-is-not-released",
        summary="a failed fetch keeps the lock that the next fetch needs, so that no request leaves any more",
        invariant="waiter.follows_model",
        source="own",
        replaced={"client.aio:AsyncJobResource._fetch": wrapping(_lock_is_not_released)},
        mode="trio",
    ),
    SeededBug(
        name="stuck-is-done",
        summary="a job that says the same six times in a row is taken to be stuck, and returned",
        invariant="waiter.pending_inserted_monotone",
        source="W34 Azure/autorest#1410",
        suite="waiter-relations",
        replaced={"waiter.core:WaitCore.fetched": wrapping(_stuck_is_done)},
    ),
)
