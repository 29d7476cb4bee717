"""Small plots beneath a queue's timeline: live submits, attempts in flight, and tokens of the quota or attempts started."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .operations import Bar, Moment
from .queue_reading import Life
from .queue_words import real
from .text import number

HEIGHT, PAD = 40, 6


@dataclass(frozen=True, kw_only=True)
class Plot:
    """A curve: ``points`` in the picture's units. ``peak``: the most that was seen, in words, and the configured most. ``limit``: where that
    lies, if it is near enough to be drawn."""

    name: str
    top: float
    points: tuple[tuple[float, float], ...]
    peak: str
    limit: float | None
    title: str


Steps = list[tuple[float, float]]
"""(second, value from there on), in order of time."""


def live(lives: Sequence[Life]) -> Steps:
    """How many submits were live: submitted, and not told an outcome."""
    changes = [(life.submit.seq, life.submit.at, 1) for life in lives]
    changes += [(life.outcome.seq, life.outcome.at, -1) for life in lives if life.outcome]
    return _summed(changes)


def in_flight(attempts: Sequence[Bar]) -> Steps:
    """How many attempts were under way."""
    changes = [(bar.first.seq, bar.first.at, 1) for bar in attempts]
    changes += [(bar.last.seq, bar.last.at, -1) for bar in attempts if bar.last]
    return _summed(changes)


def started(attempts: Sequence[Bar]) -> Steps:
    """How many attempts had been started."""
    return _summed([(bar.first.seq, bar.first.at, 1) for bar in attempts])


def _summed(changes: list[tuple[int, float, int]]) -> Steps:
    level, steps = 0.0, [(0.0, 0.0)]
    for _, at, change in sorted(changes):
        level += change
        steps.append((at, level))
    return steps


def tokens(
    attempts: Sequence[Bar], changes: Sequence[Moment], config: Mapping[str, Any], end: float = 0.0
) -> Steps | None:
    """A full bucket that only attempts empty, as corners of a broken line up to ``end``; None if there is no quota to speak of.

    Below zero: more was started than any bucket of this quota allows.
    """
    qps, burst = real(config.get("qps")), real(config.get("burst"))
    if not (math.isfinite(qps) and math.isfinite(burst)):
        return None
    events = sorted([(bar.first.seq, bar.first) for bar in attempts] + [(moment.seq, moment) for moment in changes])
    level, at, corners = burst, 0.0, [(0.0, burst)]

    def until(then: float) -> None:
        nonlocal level, at
        if qps > 0 and level < burst and level + qps * (then - at) > burst:
            corners.append((at + (burst - level) / qps, burst))
        level = min(max(burst, level), level + qps * max(0.0, then - at))
        at = then
        corners.append((at, level))

    for _, moment in events:
        until(moment.at)
        if moment.kind == "queue.rate":
            qps, burst = real(moment.data.get("qps")), real(moment.data.get("burst"))
            if not (math.isfinite(qps) and math.isfinite(burst)):
                return corners  # from here on there is no quota
            level = min(level, burst)
        else:
            level -= 1
        corners.append((at, level))
    if end > at:
        until(end)
    return corners


def plot(
    name: str,
    values: Steps,
    *,
    top: float,
    scale: Callable[[float], float],
    end: float,
    limit: float = math.nan,
    limit_name: str = "",
    title: str,
    broken_line: bool = False,
) -> Plot:
    """Lay out a curve from its values; ``end``: the second up to which it goes. Points that fall on one place are one."""
    values = [pair for pair in values if pair[0] <= end] or values[:1]
    seen = [value for _, value in values]
    most, least = max(seen), min(0.0, *seen)
    near = math.isfinite(limit) and limit <= 2 * max(most, 1.0)
    high = max(most, limit if near else 0.0, 1.0)

    def place(value: float) -> float:
        return top + HEIGHT - PAD - (value - least) / (high - least) * (HEIGHT - 2 * PAD)

    points: list[tuple[float, float]] = []
    before = values[0][1]
    for at, value in [*values, *([] if broken_line else [(end, values[-1][1])])]:
        x = scale(at)
        corner = [(x, place(value))] if broken_line else [(x, place(before)), (x, place(value))]
        points += [point for point in corner if not points or point != points[-1]]
        before = value
    return Plot(
        name=name,
        top=top,
        points=_thinned(points),
        peak=f"peak {number(round(most, 3))}"
        + (f" of {number(limit)}" if math.isfinite(limit) and limit < 1e6 else ""),
        limit=place(limit) if near else None,
        title=f"{title}; dashed: {limit_name}" if near else title,
    )


def _thinned(points: list[tuple[float, float]], most: int = 400) -> tuple[tuple[float, float], ...]:
    """No more points than can be seen: of each place the first, the lowest, the highest and the last."""
    if len(points) <= most:
        return tuple(points)
    columns: dict[int, list[tuple[float, float]]] = {}
    for point in points:
        columns.setdefault(int(point[0] / 4), []).append(point)
    kept: list[tuple[float, float]] = []
    for column in columns.values():
        wanted = {0, len(column) - 1}
        wanted |= {column.index(min(column, key=lambda one: one[1])), column.index(max(column, key=lambda one: one[1]))}
        kept += [column[index] for index in sorted(wanted)]
    return tuple(kept)
