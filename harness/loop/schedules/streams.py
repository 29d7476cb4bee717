"""Random streams by name: what is drawn from one never shifts another."""

from __future__ import annotations

import random


def stream(seed: int, name: str) -> random.Random:
    """The stream called ``name`` (``schedule``, ``jitter``, …) of this seed; the same in every run and on every version of Python."""
    return random.Random(f"{name} {seed}")  # noqa: S311 - the point is that it repeats
