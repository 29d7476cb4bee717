"""When to send a submit again: the decisions of `create`, without any I/O.

Every attempt is the same request with the same idempotency key, so that an attempt whose answer was lost does not
become a second job.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..error_table import ErrorClass, classify
from ..waiter.core import Fetch, Raise, Sleep
from ..waiter.nap import Nap

__all__ = ["CreateCore", "CreatePolicy"]


@dataclass(frozen=True, kw_only=True)
class CreatePolicy:
    """How often a submit is sent again. Times are seconds. Raises ValueError for what makes no sense."""

    attempts: int = 4
    """In all; 1 never retries."""

    first_delay: float = 0.5
    factor: float = 2.0
    cap: float = 8.0

    longest_hint: float = 60.0
    """A server that asks for a longer pause than this is obeyed by giving up: nobody submits for a day."""

    def __post_init__(self) -> None:
        if isinstance(self.attempts, bool) or not isinstance(self.attempts, int) or self.attempts < 1:
            msg = f"attempts must be an integer of 1 or more, got {self.attempts!r}"
            raise ValueError(msg)
        for name, least in (("first_delay", 0.01), ("factor", 1.0), ("cap", self.first_delay), ("longest_hint", 0.0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value < math.inf:
                msg = f"{name} must be a finite number of {least} or more, got {value!r}"
                raise ValueError(msg)


class CreateCore:
    """The state of one submit. `Fetch` is the answer for 'send it again'."""

    def __init__(self, policy: CreatePolicy, *, resolution: float) -> None:
        self._policy = policy
        self._resolution = resolution
        self._delay = policy.first_delay
        self._attempts = 0
        self._nap = Nap(target=0.0, tolerance=0.0)

    def failed(self, error: Exception, *, hint: float | None, now: float) -> Sleep | Raise:
        """Decide what follows a failed attempt; `hint` is the server's wish in seconds from `now`."""
        self._attempts += 1
        too_long = hint is not None and hint > self._policy.longest_hint
        if self._attempts >= self._policy.attempts or too_long or classify(error) is not ErrorClass.TRANSIENT:
            return Raise(error=error)
        wait = self._delay if hint is None else max(self._delay, hint)
        self._delay = min(self._delay * self._policy.factor, self._policy.cap)
        self._nap = Nap(target=now + wait, tolerance=self._resolution)
        return Sleep(seconds=wait)

    def slept(self, now: float) -> Sleep | Fetch:
        """Decide what follows a sleep: its remainder if it was cut short, else the next attempt."""
        remainder = self._nap.remainder(now)
        return Fetch() if remainder is None else Sleep(seconds=remainder)
