"""The one seam for scheduling choices: whoever decides an order asks a :class:`Chooser` here, and nobody else.

A strategy (random, PCT, drawn from Hypothesis, replayed from a token) is one object with one method. 0 is always the orderly choice
(first in, first out), so "no deviation" means "all zeros", and a schedule is told by its deviations alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

READY: Final = "ready"
"""Which of the callbacks (trio: tasks) that could run now runs next."""
TIMER_TIE: Final = "timer-tie"
"""Which of the timers with equal deadlines fires first."""
ARRIVAL: Final = "arrival"
"""Whether a timer that is due is handed over in this turn of the loop (0) or waits for the next one (1). Asked by SimLoop only, and only
where something else can run meanwhile. A real loop promises no more: no two timers or answers are due at one instant there."""
IO: Final = "io"
"""Which of the answers that have arrived is handed over first. Asked by simulated networks, not by the loop."""


class Chooser(Protocol):
    """A scheduling strategy."""

    def choose(self, point: str, options: int) -> int:
        """Pick one of ``options`` (>= 2) possibilities, as an index; 0 is what an orderly loop would do.

        ``point`` says what is chosen (:data:`READY`, :data:`TIMER_TIE`, :data:`ARRIVAL`, :data:`IO`). It is asked before anything is changed, so an
        exception raised here (Hypothesis's ``StopTest``) loses nothing.
        """
        ...


class Fifo:
    """The default strategy: first in, first out, everywhere."""

    def choose(self, point: str, options: int) -> int:  # noqa: ARG002 - the protocol's
        """Always 0."""
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """One choice that was not 0: the ``position``-th choice of the run (from 0), at ``point``, took ``choice`` of ``options``."""

    position: int
    point: str
    options: int
    choice: int


class Choices:
    """A chooser that asks another one and keeps the trace: every deviation, and how many choices there were.

    It asks only where there is a choice (two options or more), and refuses an answer out of range with a ``ValueError``.
    """

    def __init__(self, chooser: Chooser | None = None) -> None:
        self._chooser: Chooser = Fifo() if chooser is None else chooser
        self.count = 0
        self.deviations: list[Deviation] = []

    def choose(self, point: str, options: int) -> int:
        """Pick one of ``options`` >= 1 possibilities, as an index."""
        if options < 2:
            return 0
        choice = self._chooser.choose(point, options)
        if not 0 <= choice < options:
            name = type(self._chooser).__name__
            raise ValueError(f"{name} chose {choice!r} at {point!r}, where an index below {options} is wanted")
        if choice:
            self.deviations.append(Deviation(position=self.count, point=point, options=options, choice=choice))
        self.count += 1
        return choice


def traced(chooser: Chooser) -> Choices:
    """``chooser`` itself if it already keeps a trace, else a :class:`Choices` around it."""
    return chooser if isinstance(chooser, Choices) else Choices(chooser)
