"""The recorder: the one hand that writes a history, and the step budget that ends a storm."""

from __future__ import annotations

from collections.abc import Callable

from . import events
from .history import Event, History


class BudgetExhausted(BaseException):
    """The run used up its step budget. A BaseException, so that a subject which retries on any ``Exception`` can't swallow it."""


PULSE_EVERY = 256
"""Events between two signs of life of a long run."""

_pulse: list[Callable[[], None]] = []


def on_pulse(tell: Callable[[], None]) -> None:
    """Have ``tell`` called every :data:`PULSE_EVERY` events of any run in this process, so that a long run is not taken for a hang."""
    _pulse[:] = [tell]


class Recorder:
    """Stamps events with the virtual time and appends them to one history.

    ``now`` gives virtual seconds since the start. ``budget`` is the number of events that a run may cause before
    :class:`BudgetExhausted` is raised at each further step; the stop itself is recorded once.
    """

    def __init__(self, history: History, now: Callable[[], float], *, budget: int = 4_000, prefix: str = "") -> None:
        if budget < 1:
            raise ValueError(f"budget must be at least 1 event, not {budget}")
        self.history = history
        self._now = now
        self._left = budget
        self._budget = budget
        self._stopped = False
        self._prefix = prefix

    @property
    def exhausted(self) -> bool:
        """True once the step budget is used up."""
        return self._left <= 0

    def record(self, kind: str, lane: str, op: str = "", /, **data: object) -> Event:
        """Append one event at the present virtual time; raise :class:`BudgetExhausted` once the budget is used up."""
        self._left -= 1
        if self._left < 0:
            self.stop("budget", f"more than {self._budget} events")
            raise BudgetExhausted(f"the run caused more than {self._budget} events")
        if not self._left % PULSE_EVERY:
            for tell in _pulse:
                tell()
        return self.history.append(at=self._now(), kind=kind, lane=lane, op=self._named(op), data=data)

    def note(self, kind: str, lane: str, op: str = "", /, **data: object) -> Event:
        """Append one event that is never refused: ends and results, which must be told even after the budget."""
        return self.history.append(at=self._now(), kind=kind, lane=lane, op=self._named(op), data=data)

    def stop(self, reason: str, detail: str) -> None:
        """Record that the bench ended the run (once; later calls change nothing)."""
        if not self._stopped:
            self._stopped = True
            self.note(events.BENCH_STOP, events.BENCH, reason=reason, detail=detail)

    def _named(self, op: str) -> str:
        return f"{self._prefix}{op}" if op else op
