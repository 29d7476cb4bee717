"""The schedule: when the next poll is due, as an interval (SPEC 2, steps 3 and 4, pacing and jitter).

An interval, because jitter and some hints leave freedom. ``None`` where nothing that the subject claims says when the poll is due.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..harness.dialect import WaiterDialect
from ..harness.protocols import WaitCall
from .answers import Says
from .pacing import Hint

PACED_STATUSES = (429, 503)

HINT_CLAIMS = {"seconds": "retry_after", "ms": "retry_after_ms", "date": "retry_after_date"}


@dataclass(slots=True)
class Delays:
    """The delay recurrence: ``delay = min(delay * factor, cap)`` from the first delay on, or the fixed interval.

    Only what was asked for is worked out, once; it never overflows, because it is cut at each step.
    """

    call: WaitCall
    known: list[float] = field(default_factory=list)

    def __getitem__(self, index: int) -> float:
        """The ``index``-th delay in seconds, from 0, without jitter."""
        if self.call.poll_interval is not None:
            return self.call.poll_interval
        if not self.known:
            self.known.append(self.call.first_delay)
        while len(self.known) <= index and self.known[-1] < self.call.cap and self.call.factor > 1:
            self.known.append(min(self.known[-1] * self.call.factor, self.call.cap))
        return self.known[min(index, len(self.known) - 1)]


def obeyed(says: Says, claims: frozenset[str]) -> bool:
    """True if the subject claims to obey the hint of this answer, if it has one, in its form and on its HTTP status."""
    hint = says.hint
    if hint is None:
        # a header whose value is garbage is ignored by those who claim to read it; what the others make of it is theirs
        return not says.paced or "retry_after" in claims
    if HINT_CLAIMS[hint.form] not in claims:
        return False
    return not 200 <= says.http < 300 or "retry_after_2xx" in claims


def due(
    call: WaitCall, dialect: WaiterDialect, claims: frozenset[str], *, delay: float, begin: float, says: Says | None
) -> tuple[float, float] | None:
    """Earliest and latest second at which a poll is due after a pause that began at ``begin``, before the clip to the deadline.

    ``says``: the answer before the pause (``None`` for a waiter that sleeps first).
    """
    low, high = (begin + delay / 2, begin + delay) if call.jitter_seed is not None else (begin + delay, begin + delay)
    if says is None:
        return low, high
    beneath = dialect.transient == "client" and (says.kind == "transient" or says.http >= 400)
    if says.kind in ("unclear", "aborted") or beneath:
        return None
    if not obeyed(says, claims):
        return None
    hint = says.hint
    if hint is None:
        return low, high
    if 200 <= says.http < 300:
        soon = max(begin, says.arrived + max(hint.low, dialect.least_hint))
        late = begin + max(hint.high, dialect.least_hint)
        return (min(soon, low), max(late, high)) if hint.ignorable or late <= begin else (soon, late)
    if says.http in PACED_STATUSES:
        soon = low if hint.ignorable else max(low, says.arrived + hint.low)
        return soon, max(high, begin + hint.high)
    return low, max(high, begin + hint.high)  # SPEC 2 is silent about hints on other statuses: either is right


ROUNDING = 1e-7
"""Seconds: sums of floats that differ by less are the same instant."""


def past_deadline(says: Says | None, begin: float, deadline: float | None, tolerance: float) -> bool | None:
    """Whether a hint on 429 or 503 lies strictly past the deadline. ``None``: it may."""
    if says is None or deadline is None or says.hint is None or says.http not in PACED_STATUSES:
        return False
    hint: Hint = says.hint
    if says.arrived + hint.low > deadline + tolerance and not hint.ignorable:
        return True
    if (
        hint.low == hint.high
        and abs(says.arrived + hint.low - deadline) <= ROUNDING
        and begin <= says.arrived + ROUNDING
    ):
        return False  # exactly at the deadline is not past it
    return None if begin + hint.high > deadline - tolerance else False
