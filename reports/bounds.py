"""The bounds that subjects print, beside the worst that their runs showed: one line a subject and figure, over all suites."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..harness.results import FigureStats
from .evidence import Evidence
from .text import number


@dataclass(frozen=True, kw_only=True)
class BoundLine:
    """A figure of one subject. ``share``: how much of its bound the closest run used up; None without a finite bound."""

    label: str
    figure: FigureStats

    @property
    def share(self) -> float | None:
        """Seen over printed, in the run that came closest."""
        figure = self.figure
        if not figure.bounded or not math.isfinite(figure.closest_bound):
            return None
        if figure.closest_bound <= 0:
            return math.inf if figure.closest > 0 else 0.0
        return figure.closest / figure.closest_bound

    def amount(self, value: float) -> str:
        """A value with its unit."""
        if not math.isfinite(value):
            return "none"
        return f"{number(round(value, 6))} {self.figure.unit}".strip()

    @property
    def share_words(self) -> str:
        """The share as text; a bound that was broken says so."""
        if self.share is None:
            return "prints no finite bound"
        if self.share > 1:
            return "✕ beyond its bound"
        return "less than 0.1%" if 0 < self.share < 0.001 else f"{100 * self.share:.3g}%"


def bound_lines(evidence: Evidence) -> tuple[BoundLine, ...]:
    """In the order of the run; figures of one name are one line over the suites of a subject."""
    lines = []
    for column in evidence.columns:
        by_name: dict[str, list[FigureStats]] = {}
        for stats in column.suites:
            for figure in stats.figures:
                by_name.setdefault(figure.name, []).append(figure)
        lines += [BoundLine(label=column.label, figure=_joined(figures)) for figures in by_name.values()]
    return tuple(lines)


def _joined(figures: Sequence[FigureStats]) -> FigureStats:
    worst = max(figures, key=lambda one: one.worst)
    closest = max(figures, key=lambda one: (BoundLine(label="", figure=one).share or 0.0, -one.closest_bound))
    return FigureStats(
        name=worst.name,
        unit=worst.unit,
        runs=sum(one.runs for one in figures),
        bounded=sum(one.bounded for one in figures),
        worst=worst.worst,
        worst_bound=worst.worst_bound,
        closest=closest.closest,
        closest_bound=closest.closest_bound,
        why=closest.why,
    )
