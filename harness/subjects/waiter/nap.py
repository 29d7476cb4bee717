"""Sleeping until a moment on a clock that may wake early (SPEC section 2, point 6)."""

from __future__ import annotations

__all__ = ["MAX_REMAINDERS", "Nap"]

MAX_REMAINDERS = 1_000
"""Sleeps after the first one; a clock that wakes early more often than this is not waited for any longer."""


class Nap:
    """One sleep towards a target. It is over when the target is `tolerance` seconds away or nearer."""

    def __init__(self, *, target: float, tolerance: float) -> None:
        self._target = target
        self._tolerance = tolerance
        self._remainders = 0

    def remainder(self, now: float) -> float | None:
        """Return how many seconds are still to be slept after a wake at `now`, or None if the nap is over."""
        remaining = self._target - now
        if remaining > self._tolerance and self._remainders < MAX_REMAINDERS:
            self._remainders += 1
            return remaining
        return None
