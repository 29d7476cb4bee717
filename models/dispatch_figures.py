"""Arithmetic of a queue's quota and priorities, as the checkers need it: tokens that are surely there, and clipped priorities."""

from __future__ import annotations

import math

from ..harness.queue_protocols import QueueConfig
from .dispatch_trace import Attempt, DispatchTrace


def clipped(priority: float, config: QueueConfig) -> float:
    """A priority within the configured span."""
    return min(max(priority, config.priority_low), config.priority_high)


def sure_gap(trace: DispatchTrace) -> float:
    """Seconds after an attempt's start by which any limiter within the quota, however it counts, lets another start; 0 without a quota."""
    if not trace.dialect.rate:
        return 0.0
    slowest = min(qps for _, qps, _ in trace.rates)
    widest = max(burst for _, _, burst in trace.rates)
    if math.isinf(slowest):
        return 0.0
    return (widest + 1) / slowest if slowest > 0 else math.inf


class Bucket:
    """A token bucket, full at first, that only attempts empty: no queue that keeps its quota has a token earlier than this one."""

    def __init__(self, trace: DispatchTrace) -> None:
        _, self.qps, self.burst = trace.rates[0]
        changed = trace.rates[1][0] if len(trace.rates) > 1 else None
        self.until = changed.seq if changed is not None else None
        self.limited = trace.dialect.rate and math.isfinite(self.qps) and self.qps > 0
        self.level = float(self.burst)
        self.at = 0.0
        self.free = -math.inf

    def free_at(self) -> float:
        """The second at which the token of the next start became free; minus infinity if it was always there or is not known."""
        if not self.limited:
            return -math.inf
        if self.level < 1 - 1e-9:
            self.free = max(self.free, self.at + (1 - self.level) / self.qps)
        return self.free

    def take(self, attempt: Attempt) -> None:
        """An attempt starts."""
        if not self.limited:
            return
        if self.until is not None and attempt.start.seq > self.until:
            self.limited, self.free = (
                False,
                -math.inf,
            )  # the quota was changed: how full the bucket is, is the queue's own choice
            return
        self.level = min(self.burst, self.level + self.qps * (attempt.began - self.at)) - 1
        self.at = attempt.began


def whole_pause(config: QueueConfig, failures: int) -> float:
    """The whole backoff step after this many earlier failures, in seconds; safe for any number of them."""
    pause = config.backoff_first
    for _ in range(failures):
        if pause >= config.backoff_cap or config.backoff_factor <= 1:
            break
        pause *= config.backoff_factor
    return min(pause, config.backoff_cap)
