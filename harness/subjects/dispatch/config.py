"""What a queue is set up with: the bench's `QueueConfig`, checked before anything starts, and the table of relevance (SPEC 4)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from types import MappingProxyType
from typing import Final

from ...calls import ApiCall, Effect, Outcome, OutcomeView, Precondition
from ...queue_protocols import QueueConfig

__all__ = [
    "BIND",
    "RELEVANCE",
    "ApiCall",
    "Effect",
    "Outcome",
    "OutcomeView",
    "Precondition",
    "QueueConfig",
    "check_config",
    "check_rate",
]

BIND: Final = "bind"
"""The call type that waits for prerequisites and is refused a second time."""

RELEVANCE: Final[Mapping[str, int]] = MappingProxyType(
    {"delete": 3, "preempt": 3, BIND: 2, "patch": 1, "get": 0, "create": 0}
)
"""Who supersedes whom, by call type. 0 takes no part; a type that is not here is refused."""


def _number(name: str, value: object, low: float, high: float, *, above: bool = False) -> None:
    bad = isinstance(value, bool) or not isinstance(value, Real) or math.isnan(value)
    if bad or not (low < value if above else low <= value) or not value <= high:  # type: ignore[operator]
        bound = f"{'above' if above else 'at least'} {low:g}" + ("" if high == math.inf else f" and at most {high:g}")
        raise ValueError(f"{name} must be a number {bound}, not {value!r}")


def _whole(name: str, value: object, low: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < low:
        raise ValueError(f"{name} must be a whole number of at least {low}, not {value!r}")


def check_rate(qps: object, burst: object) -> None:
    """Raise `ValueError` for a quota that is none: `qps` is 0 or more (infinite: no limit), `burst` a whole number from 1 on."""
    _number("qps", qps, 0, math.inf)
    _whole("burst", burst, 1)


_FINITE: Final = 1.7976931348623157e308


def check_config(config: QueueConfig) -> None:
    """Raise `ValueError` for a configuration that no queue can follow; the message names the field, what was given and what is expected."""
    for name, least in (
        ("workers", 1), ("capacity", 1), ("attempts", 1), ("breaker_failures", 0), ("breaker_probes", 1),
    ):  # fmt: skip
        _whole(name, getattr(config, name), least)
    check_rate(config.qps, config.burst)
    _number("attempt_timeout", config.attempt_timeout, 0, _FINITE, above=True)
    _number("backoff_first", config.backoff_first, 0, _FINITE)
    _number("backoff_factor", config.backoff_factor, 1, _FINITE)
    _number("backoff_cap", config.backoff_cap, 0, _FINITE)
    if config.backoff_cap < config.backoff_first:
        raise ValueError(
            f"backoff_cap ({config.backoff_cap!r}) must not be below backoff_first ({config.backoff_first!r})"
        )
    _number("breaker_open", config.breaker_open, 0, _FINITE, above=True)
    _number("aging", config.aging, 0, _FINITE)
    _number("priority_low", config.priority_low, -_FINITE, _FINITE)
    _number("priority_high", config.priority_high, -_FINITE, _FINITE)
    if config.priority_low > config.priority_high:
        raise ValueError(
            f"priority_low ({config.priority_low!r}) must not be above priority_high ({config.priority_high!r})"
        )
    if isinstance(config.jitter_seed, bool) or not isinstance(config.jitter_seed, int):
        raise ValueError(  # noqa: TRY004 - one type of error for a bad configuration
            f"jitter_seed must be a whole number, not {config.jitter_seed!r}"
        )
    for plugin, share in config.shares.items():
        if not isinstance(share, (tuple, list)) or len(share) != 2:
            raise ValueError(f"the share of plugin {plugin!r} must be (most live, most executing), not {share!r}")
        _whole(f"the live share of plugin {plugin!r}", share[0], 1)
        _whole(f"the executing share of plugin {plugin!r}", share[1], 1)
