"""Random schedules from a seed: a coin says whether to deviate from first in, first out, and then an index says how.

The coin's rate is drawn once a run ("swarm testing": Groce and others, 2012): a race that needs four deviations in a row is hardly ever
found at one in fifty, and one that needs a single deviation drowns at nine in ten. Data: ``{"seed": 3}``. Seed 0 never deviates.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from . import Strategy
from .streams import stream

RATES: Final = (0.02, 0.1, 0.3, 0.6, 0.9)
"""The chance of a deviation at each choice; one of these a run."""


class Seeded:
    """See the module. ``points``: where it may deviate; elsewhere it is orderly and draws nothing."""

    def __init__(self, seed: int, points: frozenset[str]) -> None:
        self._random = stream(seed, "schedule")
        self._points = points
        self.rate: Final = self._random.choice(RATES) if seed else 0.0

    def choose(self, point: str, options: int) -> int:
        """See :class:`~waitproof.harness.loop.choices.Chooser`."""
        if not self.rate or point not in self._points or self._random.random() >= self.rate:
            return 0
        return 1 + self._random.randrange(options - 1)


def _make(data: Mapping[str, Any], points: frozenset[str]) -> Seeded:
    seed = data.get("seed")
    if set(data) != {"seed"} or not isinstance(seed, int) or isinstance(seed, bool):
        raise ValueError(f"a seeded schedule has a seed, a whole number, and nothing else: {dict(data)!r}")
    return Seeded(seed, points)


STRATEGY = Strategy(name="seeded", summary="a coin and an index from a seed, at one of five rates", make=_make)
