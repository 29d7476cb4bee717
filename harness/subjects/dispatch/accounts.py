"""The conservation law: `submitted == live + sum(outcomes)` at every step, joiners counted (SPEC 4)."""

from __future__ import annotations

from ...calls import OUTCOMES

__all__ = ["Accounts", "ConservationError"]


class ConservationError(AssertionError):
    """The queue has lost or doubled a submit: a bug of the queue."""


class Accounts:
    """What was submitted and what became of it. API retries are counted here; rescheduling a pod is the scheduler's, and is not."""

    __slots__ = ("audited", "live", "outcomes", "retries", "submitted")

    def __init__(self) -> None:
        self.submitted = 0
        self.live = 0
        self.outcomes: dict[str, int] = dict.fromkeys(OUTCOMES, 0)
        self.retries = 0
        self.audited = 0

    def check(self) -> None:
        """Raise `ConservationError` if the law is broken."""
        told = sum(self.outcomes.values())
        if self.submitted != self.live + told or self.live < 0:
            raise ConservationError(f"{self.submitted} submitted, but {self.live} live and {told} told")
