"""Figures: what a run has to say of a bound that the subject prints, beside what was seen of it."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One figure of one run.

    ``name``, ``unit``: what it measures. ``seen``: the worst that this run showed. ``bound``: what the subject printed for this run; infinite
    if it printed none, or none that is finite. ``why``: the derivation, as the subject prints it; may be empty.
    """

    name: str
    seen: float
    bound: float = math.inf
    unit: str = ""
    why: str = ""

    @property
    def share(self) -> float:
        """How much of its bound was used up; 0 without a finite bound."""
        if not math.isfinite(self.bound):
            return 0.0
        return self.seen / self.bound if self.bound > 0 else (math.inf if self.seen > 0 else 0.0)
