"""Scheduling strategies, one a file, and the one way from a schedule as data to a chooser.

A schedule is plain JSON, part of a plan or a token: ``{"strategy": "seeded", "seed": 3, "level": "io"}``; what a strategy reads from it
is told in its file. ``None`` is first in, first out. A file in this folder that defines ``STRATEGY`` is found by itself.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

from ...jsonable import Json, safe_repr
from ..choices import ARRIVAL, IO, READY, TIMER_TIE, Choices, Chooser

Level = Literal["strict", "io", "any"]
"""What may be reordered (SPEC 6). ``strict``: timers of one instant, and answers of one. ``io`` (the default): what no loop promises an
order of. ``any``: every callback that is ready, although asyncio runs those in the order in which they were scheduled."""

_TIES: Final = frozenset({TIMER_TIE, IO})
_ALL: Final = frozenset({TIMER_TIE, IO, ARRIVAL, READY})

POINTS: Final[Mapping[tuple[str, str], frozenset[str]]] = MappingProxyType(
    {
        ("asyncio", "strict"): _TIES,
        ("asyncio", "io"): _TIES | {ARRIVAL},
        ("asyncio", "any"): _ALL,
        # trio tells timers of one instant as tasks that are ready, and promises no order of those.
        ("trio", "strict"): _ALL,
        ("trio", "io"): _ALL,
        ("trio", "any"): _ALL,
        ("threads", "strict"): _TIES,
        ("threads", "io"): _ALL,
        ("threads", "any"): _ALL,
    }
)
"""The points at which a strategy may deviate, by the subject's mode and the level."""


@dataclass(frozen=True, kw_only=True)
class Strategy:
    """One strategy: its name in the data, one line about it, and how it is made from the data (without the common keys ``strategy``
    and ``level``) for the points at which it may deviate. ``make`` raises ``ValueError`` for data that it can't read."""

    name: str
    summary: str
    make: Callable[[Mapping[str, Any], frozenset[str]], Chooser]


@cache
def all_strategies() -> Mapping[str, Strategy]:
    """Every strategy by name, in the order of their names."""
    found: dict[str, Strategy] = {}
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda item: item.name):
        strategy = getattr(importlib.import_module(f"{__name__}.{module.name}"), "STRATEGY", None)
        if strategy is None:
            continue
        if strategy.name in found:
            raise ValueError(f"two strategies are called {strategy.name!r}; the second is in {module.name}.py")
        found[strategy.name] = strategy
    return MappingProxyType(dict(sorted(found.items())))


def chooser_for(schedule: Json, mode: str) -> Choices:
    """The chooser that ``schedule`` describes, for a subject of ``mode`` (asyncio, trio, threads); it keeps its trace.

    Raises ``ValueError`` for data that describes no schedule.
    """
    if schedule is None:
        return Choices()
    if not isinstance(schedule, Mapping):
        raise ValueError(f"a schedule is an object with a strategy, or null, not {safe_repr(schedule)}")  # noqa: TRY004 - it is data
    values = dict(schedule)
    name, level = values.pop("strategy", None), values.pop("level", "io")
    strategies = all_strategies()
    if not isinstance(name, str) or name not in strategies:
        raise ValueError(f"there is no strategy {safe_repr(name)}; there are {', '.join(strategies)}")
    points = POINTS.get((mode, str(level)))
    if points is None:
        raise ValueError(
            f"a mode is asyncio, trio or threads, and a level {', '.join(get_args(Level))}, not {mode!r} and {safe_repr(level)}"
        )
    return Choices(strategies[name].make(values, points))


def seeded_schedule(seed: int, *, level: Level = "io") -> dict[str, Json]:
    """The seeded schedule as data. Seed 0 is first in, first out."""
    return {"strategy": "seeded", "seed": seed, "level": level}


def recorded_schedule(choices: Choices) -> dict[str, Json]:
    """The schedule that ``choices`` has kept the trace of, as data: it replays the same run whatever made the choices."""
    told: list[Json] = [[item.position, item.point, item.options, item.choice] for item in choices.deviations]
    return {"strategy": "replayed", "level": "any", "deviations": told}
