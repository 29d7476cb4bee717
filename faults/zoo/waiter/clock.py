"""Seeded bugs about time: the wall clock decides, the origin of the monotonic clock matters, an early wake is believed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..bug import SeededBug, wrapping


class _WallClock:
    """A clock whose time is the wall clock's, and whose sleeps are as they should be."""

    def __init__(self, clock: Any, wall: Callable[[], float]) -> None:
        self.monotonic = wall
        self.sleep = clock.sleep
        self.resolution = clock.resolution


class _AlarmClock:
    """A clock for tasks that sleeps until the wall clock shows the time at which to wake."""

    def __init__(self, clock: Any, wall: Callable[[], float]) -> None:
        self.monotonic = clock.monotonic
        self.resolution = clock.resolution
        self._sleep = clock.sleep
        self._wall = wall

    async def sleep(self, seconds: float) -> None:
        until = self._wall() + seconds
        while (left := until - self._wall()) > self.resolution:
            await self._sleep(left)


def _by_the_wall_clock(original: Any, fetch: Any, *, clock: Any, wall: Any, **options: Any) -> Any:
    return original(fetch, clock=_WallClock(clock, wall), wall=wall, **options)


async def _by_an_alarm_clock(original: Any, fetch: Any, *, clock: Any, wall: Any, **options: Any) -> Any:
    return await original(fetch, clock=_AlarmClock(clock, wall), wall=wall, **options)


def _zero_is_not_started(original: Any, self: Any, outcome: Any, *, arrival: float, now: float) -> Any:
    if not self._start:
        self._start = now
        self._deadline = now + self._policy.timeout
    return original(self, outcome, arrival=arrival, now=now)


def _awake_is_done(self: Any, now: float) -> None:  # noqa: ARG001
    return None


BUGS = (
    SeededBug(
        name="deadline-by-the-wall-clock",
        summary="takes its time from the wall clock, which may jump",
        invariant="waiter.wall_clock_ignored",
        source="W61 tox-dev/filelock!136",
        suite="waiter-relations",
        replaced={"client.client:wait_for_job": wrapping(_by_the_wall_clock)},
    ),
    SeededBug(
        name="sleeps-until-a-time-of-day",
        summary="sleeps until the wall clock shows the time to wake: when that is set back an hour, it sleeps an hour",
        invariant="waiter.wall_jump_harmless",
        source="W61 dronekit/dronekit-python#592",
        replaced={"client.aio:async_wait_for_job": wrapping(_by_an_alarm_clock)},
        mode="asyncio",
    ),
    SeededBug(
        name="zero-is-not-started",
        summary="a start at 0 on the monotonic clock is taken for no start at all, and set again at the first answer",
        invariant="waiter.clock_origin_irrelevant",
        source="own",
        suite="waiter-relations",
        replaced={"waiter.core:WaitCore.fetched": wrapping(_zero_is_not_started)},
        mode="trio",
    ),
    SeededBug(
        name="awake-is-done",
        summary="believes that a sleep that returns is over, so that an early wake is a fetch before its time",
        invariant="waiter.early_wake_no_fetch",
        source="own",
        replaced={"waiter.nap:Nap.remainder": _awake_is_done},
        mode="trio",
    ),
)
