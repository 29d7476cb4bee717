"""How long to pause before the next attempt: exponential backoff with jitter, never below the server's wish (SPEC 4, 'Retry')."""

from __future__ import annotations

import math
import random

from .config import QueueConfig

__all__ = ["Backoff"]


class Backoff:
    """The pauses of one queue; the jitter's generator is its own."""

    __slots__ = ("cap", "factor", "first", "full_from", "random")

    def __init__(self, config: QueueConfig) -> None:
        self.first, self.factor, self.cap = config.backoff_first, config.backoff_factor, config.backoff_cap
        self.random = random.Random(config.jitter_seed)  # noqa: S311 - a jitter, not a secret
        # From this many doublings on it is the cap: the power is never computed there, where it would overflow.
        grows = self.factor > 1 and 0 < self.first < self.cap
        self.full_from = math.log(self.cap / self.first) / math.log(self.factor) if grows else math.inf

    def whole(self, attempts: int) -> float:
        """The longest pause (seconds) after `attempts` (1, 2, …) attempts, without a hint."""
        exponent = max(0, attempts - 1)
        if self.full_from == math.inf:
            return min(self.first, self.cap)
        if exponent >= self.full_from:
            return self.cap
        return min(self.cap, self.first * self.factor**exponent)

    def pause(self, attempts: int, hint: float | None) -> float:
        """The pause (seconds) after `attempts` attempts: jitter in [half, whole], and at least `hint`."""
        whole = self.whole(attempts)
        drawn = whole * (0.5 + 0.5 * self.random.random())
        return drawn if hint is None else max(drawn, hint)
