"""A schedule that was recorded: its deviations by position, and first in, first out everywhere else.

Data: ``{"deviations": [[position, point, options, choice], …]}``, as :func:`~waitproof.harness.loop.schedules.recorded_schedule` writes
them. A run that goes another way than the recorded one (the plan was shrunk, the subject changed) is not an error: a choice that is
not there any more is the orderly one, and ``missed`` counts those.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..choices import Deviation
from . import Strategy


class Replayed:
    """See the module. ``missed``: deviations whose place was found with another point or with fewer options."""

    def __init__(self, deviations: Iterable[Deviation]) -> None:
        self._left = {item.position: item for item in deviations}
        self._position = 0
        self.missed = 0

    @property
    def unused(self) -> int:
        """Deviations whose place was never reached."""
        return len(self._left)

    def choose(self, point: str, options: int) -> int:
        """See :class:`~waitproof.harness.loop.choices.Chooser`."""
        wanted = self._left.pop(self._position, None)
        self._position += 1
        if wanted is None:
            return 0
        if wanted.point != point or wanted.choice >= options:
            self.missed += 1
            return 0
        return wanted.choice


def _make(data: Mapping[str, Any], points: frozenset[str]) -> Replayed:  # noqa: ARG001 - the recorded run knew its points
    told = data.get("deviations")
    if set(data) != {"deviations"} or not isinstance(told, list | tuple):
        raise ValueError(f"a replayed schedule has deviations, a list, and nothing else: {dict(data)!r}")
    return Replayed(_read(item) for item in told)


def _read(item: Any) -> Deviation:
    match item:
        case [int(position), str(point), int(options), int(choice)] if position >= 0 and 0 < choice < options:
            return Deviation(position=position, point=point, options=options, choice=choice)
    raise ValueError(f"a deviation is [position, point, options, choice] with 0 < choice < options, not {item!r}")


STRATEGY = Strategy(name="replayed", summary="recorded deviations by position, else first in, first out", make=_make)
