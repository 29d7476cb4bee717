"""The two bounds that the queue prints: W (longest wait) and B (most overtakes), with their derivation (SPEC 4, 'No starvation')."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .config import QueueConfig

__all__ = ["Bounds", "bounds_of"]


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """`wait`: seconds of eligible time; `overtakes`: later submits that go first. Infinite: there is no bound. `why`: the derivation."""

    wait: float
    overtakes: float
    why: str


def bounds_of(config: QueueConfig, qps: float, burst: int | None = None) -> Bounds:
    """Compute both for a configuration and the slowest quota that it has had (attempts a second)."""
    burst = config.burst if burst is None else burst
    span = config.priority_high - config.priority_low
    catch_up = 0.0 if span == 0 else (math.inf if config.aging == 0 else span / config.aging)
    # Each live call has `attempts` attempts, and at most as many read-backs.
    attempts = 2 * config.attempts * config.capacity
    token = math.inf if qps == 0 else 1 / qps
    turn = config.attempt_timeout / config.workers + token
    wait = catch_up + attempts * turn + config.attempt_timeout
    overtakes = math.inf
    if catch_up == 0:
        overtakes = float(config.capacity)
    elif math.inf not in {qps, catch_up}:
        overtakes = float(math.ceil(burst + qps * catch_up) + config.capacity)
    why = (
        f"After T = span / aging = {span:g} / {config.aging:g} = {catch_up:g} s no newcomer can come before a call that waits. "
        f"By then at most {config.capacity} calls are live, with {config.attempts} attempts and as many read-backs each: "
        f"{attempts} turns, each of {config.attempt_timeout:g} s on one of {config.workers} workers and of one token at {qps:g}/s; "
        f"one attempt was running already. W = T + {attempts} × ({config.attempt_timeout:g}/{config.workers} + {token:g}) + "
        f"{config.attempt_timeout:g} = {wait:g} s of eligible time. Later submits that go first start within T, or are live at its end: "
        f"B = burst + QPS × T + capacity = {overtakes:g}."
    )
    if wait == math.inf:
        why += " There is no bound: without aging, or without a quota, a call may wait for ever."
    return Bounds(wait=wait, overtakes=overtakes, why=why)
