"""What time it is after a sleep, on a clock that may be coarse: within one resolution of its target a sleep is done (SPEC 2, point 6)."""

from __future__ import annotations

from typing import Final, Protocol

from ..waiter.clocks import resolution_of

__all__ = ["LEAST_NAP", "reached"]

LEAST_NAP: Final = 1e-6
"""Seconds; so that a clock which shows less than was slept can't hold a timer in place."""


class _Clock(Protocol):
    def monotonic(self) -> float: ...


def reached(clock: _Clock, target: float) -> float:
    """The time (seconds on `clock`) after a sleep to `target` that was not cut short: the target, if the clock shows a little less."""
    now = clock.monotonic()
    return target if now < target <= now + resolution_of(clock) else now  # type: ignore[arg-type]
