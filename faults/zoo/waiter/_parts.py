"""Pieces that several seeded bugs are made of."""

from __future__ import annotations

from typing import Any

from ....harness.subjects.waiter.core import Sleep
from ....harness.subjects.waiter.nap import Nap


def full_sleep(core: Any, wait: float, now: float) -> Sleep:
    """The step of a core that sleeps for ``wait`` seconds from ``now``, whatever its deadline is."""
    core._nap = Nap(target=now + wait, tolerance=core._resolution)  # noqa: SLF001 - a variant of the core's own method
    return Sleep(seconds=wait)
