"""What a caller may ask of a wait, and what is refused before the first fetch (SPEC section 2)."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypedDict

from ..normaliser.job import Job

__all__ = ["MIN_INTERVAL", "PollEvent", "WaitOptions", "WaitPolicy"]

MIN_INTERVAL = 0.01
"""Seconds; the shortest interval, first delay and cap that are accepted."""


@dataclass(frozen=True, kw_only=True)
class PollEvent:
    """What `on_poll` is told after each fetch: enough for a progress bar."""

    polls: int
    """Fetches so far, this one included."""

    elapsed: float
    """Seconds since the wait began, at the arrival of the answer."""

    job: Job[Any] | None
    """As last seen: if this fetch failed, by an earlier one."""

    error: Exception | None
    """Why this fetch failed, None if it did not."""


class WaitOptions(TypedDict, total=False):
    """The keyword arguments of every waiting function; `WaitPolicy` has their defaults and their meaning."""

    timeout: float
    poll_interval: float | None
    first_delay: float
    factor: float
    cap: float
    fetch_timeout: float
    not_found_grace: float
    raise_on_failure: bool
    jitter: random.Random | None
    on_poll: Callable[[PollEvent], object] | None


@dataclass(frozen=True, kw_only=True)
class WaitPolicy:
    """The parameters of a wait. All times are seconds.

    Raises ValueError for a timeout that is negative or NaN (infinite is allowed); an interval, first delay or cap
    that is not finite or below 0.01; a factor that is not finite or below 1; a cap below the first delay (unless
    `poll_interval` is given); a fetch timeout that is not finite or not above 0; a grace that is negative or not
    finite; a boolean or any other thing that is no number in place of a number.
    """

    timeout: float = 600.0
    """For the whole wait; may be infinite. 0 fetches once."""

    poll_interval: float | None = None
    """A fixed interval between fetches; it turns the backoff off and ignores the cap."""

    first_delay: float = 1.0
    factor: float = 1.5
    cap: float = 10.0

    fetch_timeout: float = 10.0
    """For one fetch, in all."""

    not_found_grace: float = 0.0
    """A 404 to a request that started less than this after the wait is tolerated. 0: never."""

    raise_on_failure: bool = False
    """Raise JobFailedError if the job ends as failed or cancelled, instead of returning it."""

    jitter: random.Random | None = None
    """A seeded generator: each wait is then drawn from the upper half of its delay."""

    on_poll: Callable[[PollEvent], object] | None = None
    """Called after each fetch. What it raises ends the wait."""

    def __post_init__(self) -> None:
        for name in ("timeout", "first_delay", "factor", "cap", "fetch_timeout", "not_found_grace"):
            object.__setattr__(self, name, _number(name, getattr(self, name)))
        if self.poll_interval is not None:
            object.__setattr__(self, "poll_interval", _number("poll_interval", self.poll_interval))
        self._check_numbers()
        _require(isinstance(self.raise_on_failure, bool), "raise_on_failure", self.raise_on_failure, "True or False")
        if self.jitter is not None:
            _require(isinstance(self.jitter, random.Random), "jitter", self.jitter, "a seeded random.Random, or None")
        if self.on_poll is not None:
            _require(callable(self.on_poll), "on_poll", self.on_poll, "a function of one PollEvent, or None")

    def _check_numbers(self) -> None:
        _require(self.timeout >= 0, "timeout", self.timeout, "0 or more seconds, or math.inf")
        delays = ["first_delay", "cap"] if self.poll_interval is None else ["poll_interval", "first_delay", "cap"]
        for name in delays:
            value = getattr(self, name)
            _require(MIN_INTERVAL <= value < math.inf, name, value, f"a finite number of {MIN_INTERVAL} s or more")
        _require(1 <= self.factor < math.inf, "factor", self.factor, "a finite number of 1 or more")
        if self.poll_interval is None:
            _require(self.cap >= self.first_delay, "cap", self.cap, f"at least the first delay, {self.first_delay} s")
        _require(0 < self.fetch_timeout < math.inf, "fetch_timeout", self.fetch_timeout, "a finite number above 0 s")
        _require(
            0 <= self.not_found_grace < math.inf,
            "not_found_grace",
            self.not_found_grace,
            "a finite number of 0 s or more",
        )

    @property
    def initial_delay(self) -> float:
        """The first delay between two fetches."""
        return self.first_delay if self.poll_interval is None else self.poll_interval

    def delay_after(self, delay: float) -> float:
        """Return the delay that follows a delay. It multiplies step by step, so no power can overflow."""
        return min(delay * self.factor, self.cap) if self.poll_interval is None else self.poll_interval


def _number(name: str, value: object) -> float:
    expected = "a number (for no limit, math.inf)" if name == "timeout" else "a number"
    _require(isinstance(value, Real) and not isinstance(value, bool), name, value, expected)
    try:
        return float(value)  # type: ignore[arg-type]  # a Real, as was just checked
    except OverflowError:
        msg = f"{name} must be {expected} that a float can hold, got a larger one"
        raise ValueError(msg) from None


def _require(condition: bool, name: str, value: object, expected: str) -> None:
    if not condition:
        msg = f"{name} must be {expected}, got {value!r}"
        raise ValueError(msg)
