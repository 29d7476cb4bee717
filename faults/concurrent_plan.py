"""Plans for several waits that share one client, one server and one clock."""

from __future__ import annotations

from dataclasses import dataclass, field

from .plan import WaitPlan


@dataclass(frozen=True, kw_only=True)
class StartedWait:
    """A wait that begins at ``start`` (virtual seconds)."""

    plan: WaitPlan = field(default_factory=WaitPlan)
    start: float = 0.0


@dataclass(frozen=True, kw_only=True)
class ConcurrentPlan:
    """Several waits in one world. A job id that is used twice gets a number where it is run, so that every wait has a job of its own."""

    waits: tuple[StartedWait, ...] = ()

    def words(self) -> list[str]:
        """The plan as sentences, one an item."""
        lines = []
        for number, wait in enumerate(self.waits):
            begins = f" from {wait.start:g} s on" if wait.start else ""
            first, *rest = wait.plan.words()
            lines += [f"w{number}{begins}: {first}", *(f"w{number}: {line}" for line in rest)]
        return lines or ["no wait at all"]
