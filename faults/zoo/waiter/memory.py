"""Seeded bugs about what a wait keeps, and what it tells while it goes on."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from ..bug import SeededBug, wrapping


def _keeps_them_all(original: Any, self: Any, outcome: Any, *, arrival: float, now: float) -> Any:
    vars(self).setdefault("seen", []).append(outcome)
    return original(self, outcome, arrival=arrival, now=now)


def _throttled(original: Any, core: Any, policy: Any, answer: Any, error: Any, **clocks: Any) -> Any:
    now, told = clocks["monotonic"](), vars(core).get("told", -math.inf)
    if now - told < 0.5:
        policy = dataclasses.replace(policy, on_poll=None)
    else:
        vars(core)["told"] = now
    return original(core, policy, answer, error, **clocks)


BUGS = (
    SeededBug(
        name="every-answer-is-kept",
        summary="keeps each answer for a better error message",
        invariant="waiter.bounded_memory",
        source="own",
        suite="waiter-memory",
        replaced={"waiter.core:WaitCore.fetched": wrapping(_keeps_them_all)},
    ),
    SeededBug(
        name="progress-is-throttled",
        summary="the progress callback is told at most twice a second, so that answers of a fast poll are not told",
        invariant="waiter.progress_callback",
        source="own",
        replaced={"waiter.sync:conclude_fetch": wrapping(_throttled)},
    ),
)
