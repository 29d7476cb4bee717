"""Fixed entropy: subjects that draw from the global ``random`` or from ``os.urandom`` (jitter, ``uuid4`` keys, multipart boundaries)
draw the same in every run of a plan, so that the same plan gives the same bytes."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def fixed_entropy(seed: int) -> Iterator[None]:
    """While this is open the global ``random`` is seeded with ``seed`` and ``os.urandom`` gives a stream of its own from it; a
    ``random.Random()`` without a seed is seeded from that stream.

    All is as before afterwards. ``random.SystemRandom`` bound ``urandom`` at its import and stays truly random: a subject that
    uses it shows as a failed determinism check.
    """
    state = random.getstate()
    urandom = os.urandom
    stream = random.Random(f"urandom {seed}")  # noqa: S311 - the point is that it repeats
    random.seed(seed)
    own_seed = random.Random.seed

    def seed_of(self: random.Random, a: Any = None, version: int = 2) -> None:
        """``Random()`` without a seed takes one from the same stream; in C it would ask the system behind our back."""
        own_seed(self, stream.getrandbits(64) if a is None else a, version)

    random.Random.seed = seed_of  # type: ignore[method-assign]
    os.urandom = stream.randbytes
    try:
        yield
    finally:
        os.urandom = urandom
        random.Random.seed = own_seed  # type: ignore[method-assign]
        random.setstate(state)
