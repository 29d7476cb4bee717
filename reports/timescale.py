"""A time scale for pictures: monotone, so that order is never lost, with long idle stretches compressed and tiny gaps widened."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

_FLOOR = 0.012
"""The least share of the width that two different times lie apart: an event 1 ms after a deadline must be seen beside its line."""


@dataclass(frozen=True, kw_only=True)
class Gap:
    """A compressed stretch: between which positions, and how many seconds it stands for."""

    left: float
    right: float
    seconds: float


class TimeScale:
    """Maps the given ``times`` (virtual seconds) to ``left`` … ``right``; other times are placed between their neighbours."""

    def __init__(self, times: Iterable[float], *, left: float, right: float) -> None:
        self._times = sorted({time for time in times if math.isfinite(time)}) or [0.0]
        steps = [after - before for before, after in pairwise(self._times)]
        limit = _limit(steps)
        squeezed = [_squeeze(step, limit) for step in steps]
        total = sum(squeezed) or 1.0
        floor = min(_FLOOR, 0.5 / (len(steps) or 1)) * total
        widths = [max(width, floor) for width in squeezed]
        scale = (right - left) / (sum(widths) or 1.0)
        self._places = [left]
        for width in widths:
            self._places.append(self._places[-1] + width * scale)
        self.gaps = [
            Gap(left=self._places[index], right=self._places[index + 1], seconds=step)
            for index, step in enumerate(steps)
            if squeezed[index] < step / 2
        ]

    @property
    def times(self) -> list[float]:
        """The times that the scale was made for, in order, each once."""
        return self._times

    def __call__(self, time: float) -> float:
        """The place of a time. Times before the first or after the last are placed at that end."""
        times, places = self._times, self._places
        if time <= times[0]:
            return places[0]
        for index, after in enumerate(times[1:], start=1):
            if time <= after:
                share = (time - times[index - 1]) / (after - times[index - 1])
                return places[index - 1] + share * (places[index] - places[index - 1])
        return places[-1]


def _limit(steps: list[float]) -> float:
    """From which length on a step is long idle: twice what four of five steps stay below, or a quarter of all but the longest tenth.

    The second rule keeps the sleeps of an ordinary backoff to scale among a crowd of instant events.
    """
    ordered = sorted(steps)
    usual = ordered[: len(ordered) - max(1, len(ordered) // 10)]
    return max(2 * ordered[len(ordered) * 4 // 5], sum(usual) / 4) if ordered else 0.0


def _squeeze(step: float, limit: float) -> float:
    """Steps up to the limit stay as they are, longer ones grow with their logarithm only."""
    return step if step <= limit or limit <= 0 else limit * (1 + 0.5 * math.log2(step / limit))
