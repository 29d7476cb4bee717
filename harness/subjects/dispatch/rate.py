"""The quota: a token bucket, so that in any window of t seconds at most burst + QPS·t attempts start (SPEC 4, 'Eligible')."""

from __future__ import annotations

import math

from .config import check_rate

__all__ = ["Bucket"]

_WHOLE = 1 - 1e-9
"""A token, but for rounding."""


class Bucket:
    """Tokens; full at the start. Every attempt takes one as it starts: retries and read-backs too."""

    __slots__ = ("at", "burst", "limited", "qps", "slowest", "tokens")

    def __init__(self, qps: float, burst: int, now: float) -> None:
        self.qps, self.burst = qps, burst
        self.slowest = qps
        self.limited = qps != math.inf
        self.tokens = float(burst)
        self.at = now

    def _refill(self, now: float) -> None:
        if now > self.at:
            if self.limited:
                self.tokens = min(float(self.burst), self.tokens + self.qps * (now - self.at))
            self.at = now

    def ready(self, now: float) -> bool:
        """Whether a token is there."""
        if not self.limited:
            return True
        if now > self.at:
            self._refill(now)
        return self.tokens >= _WHOLE

    def take(self, now: float) -> None:
        """Take the token that `ready` saw."""
        if self.limited:
            if now > self.at:
                self._refill(now)
            left = self.tokens - 1
            self.tokens = left if left > 0 else 0.0

    def give_back(self) -> None:
        """An attempt was taken, but never started."""
        if self.limited:
            self.tokens = min(float(self.burst), self.tokens + 1)

    def next_at(self, now: float) -> float:
        """When a token is there (seconds on the queue's clock; infinite for never)."""
        if self.ready(now):
            return now
        return now + (1 - self.tokens) / self.qps if self.qps > 0 else math.inf

    def set_rate(self, qps: float, burst: int, now: float) -> None:
        """Another quota from now on; what a greater burst adds is there at once. Raises `ValueError` for a quota that is none."""
        check_rate(qps, burst)
        self._refill(now)
        tokens = self.tokens + max(0, burst - self.burst) if self.limited else float(burst)
        self.qps, self.burst, self.limited = qps, burst, qps != math.inf
        self.slowest = min(self.slowest, qps)
        self.tokens = min(float(burst), tokens)
        self.at = now
