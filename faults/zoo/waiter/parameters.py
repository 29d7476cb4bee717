"""Seeded bugs about parameters: bad ones that get through, good ones that are refused."""

from __future__ import annotations

import math
from typing import Any

from ..bug import SeededBug, wrapping


def _a_bool_is_a_number(name: str, value: Any) -> float:  # noqa: ARG001
    return float(value)


def _nan_is_not_negative(original: Any, self: Any) -> None:
    if not math.isnan(self.timeout):
        original(self)


def _zero_is_no_timeout(original: Any, self: Any) -> None:
    original(self)
    if not self.timeout > 0:
        raise ValueError(f"timeout must be positive, got {self.timeout!r}")


def _cap_above_the_delay(original: Any, self: Any) -> None:
    original(self)
    if self.poll_interval is None and not self.first_delay < self.cap:
        raise ValueError(f"cap must be above the first delay, got {self.cap!r}")


BUGS = (
    SeededBug(
        name="a-bool-is-a-number",
        summary="timeout=True is one second",
        invariant="waiter.bad_parameters_refused",
        source="W50 boto/botocore#3221",
        suite="waiter-parameters",
        replaced={"waiter.policy:_number": _a_bool_is_a_number},
        mode="asyncio",
    ),
    SeededBug(
        name="nan-is-not-negative",
        summary="a timeout that is NaN passes the check for negative ones",
        invariant="waiter.bad_parameters_refused",
        source="own",
        suite="waiter-parameters",
        replaced={"waiter.policy:WaitPolicy._check_numbers": wrapping(_nan_is_not_negative)},
    ),
    SeededBug(
        name="zero-is-no-timeout",
        summary="timeout=0, which means to look once, is refused",
        invariant="waiter.good_parameters_accepted",
        source="W80 runwayml 5.24.0",
        suite="waiter-parameters",
        replaced={"waiter.policy:WaitPolicy._check_numbers": wrapping(_zero_is_no_timeout)},
        mode="trio",
    ),
    SeededBug(
        name="the-cap-must-be-above",
        summary="a cap that equals the first delay is refused",
        invariant="waiter.good_parameters_accepted",
        source="own",
        suite="waiter-parameters",
        replaced={"waiter.policy:WaitPolicy._check_numbers": wrapping(_cap_above_the_delay)},
    ),
)
