"""The clocks that a waiter is told the time by (SPEC section 2, point 6).

Only `monotonic` decides anything, so a step of the wall clock is not even seen.
"""

from __future__ import annotations

import math
import time
from typing import Protocol

import anyio

__all__ = ["DEFAULT_RESOLUTION", "AnyioClock", "AsyncClock", "Clock", "SystemClock", "resolution_of"]

DEFAULT_RESOLUTION = 0.001
"""Seconds; for a clock that has no attribute `resolution`."""

# time.sleep refuses what does not fit its 64-bit nanoseconds (292 years), and some event loops much less.
_LONGEST_SLEEP = 86_400.0


class Clock(Protocol):
    """A clock for a thread. It may have an attribute `resolution` in seconds (1 ms if not)."""

    def monotonic(self) -> float:
        """Return seconds since some fixed moment; never goes back."""
        ...

    def sleep(self, seconds: float) -> None:
        """Block the thread for so many seconds; may wake early."""
        ...


class AsyncClock(Protocol):
    """A clock for a task. It may have an attribute `resolution` in seconds (1 ms if not)."""

    def monotonic(self) -> float:
        """Return seconds since some fixed moment; never goes back."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Suspend the task for so many seconds; may wake early."""
        ...


class SystemClock:
    """The real clock for threads: `time.monotonic` and `time.sleep`, for sleeps of any finite length."""

    resolution = DEFAULT_RESOLUTION

    def monotonic(self) -> float:
        """Return seconds of `time.monotonic`."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Block for so many seconds, however many those are."""
        while seconds > _LONGEST_SLEEP:
            time.sleep(_LONGEST_SLEEP)
            seconds -= _LONGEST_SLEEP
        time.sleep(max(0.0, seconds))


class AnyioClock:
    """The clock of the running event loop, asyncio's or trio's: real, or virtual if the loop's is."""

    resolution = DEFAULT_RESOLUTION

    def monotonic(self) -> float:
        """Return seconds of `anyio.current_time`."""
        return anyio.current_time()

    async def sleep(self, seconds: float) -> None:
        """Suspend the task for so many seconds, however many those are."""
        while seconds > _LONGEST_SLEEP:
            await anyio.sleep(_LONGEST_SLEEP)
            seconds -= _LONGEST_SLEEP
        await anyio.sleep(max(0.0, seconds))


def resolution_of(clock: Clock | AsyncClock) -> float:
    """Return the resolution of a clock in seconds. Raises ValueError if it is not a finite number of 0 or more."""
    resolution = getattr(clock, "resolution", DEFAULT_RESOLUTION)
    if isinstance(resolution, bool) or not isinstance(resolution, (int, float)) or not 0 <= resolution < math.inf:
        msg = f"a clock's resolution is a finite number of seconds, 0 or more, got {resolution!r}"
        raise ValueError(msg)
    return float(resolution)
