"""An adapter: what an adapter file of :mod:`waitproof.harness.subjects` declares, so that a subject can be listed without being imported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .suite import Subject


@dataclass(frozen=True, kw_only=True)
class Adapter:
    """One implementation on the bench.

    ``name``: what a user types; it names all its subjects. ``provides``: the names of its subjects (its twins). ``group``: ``builtin``
    for our own, ``real`` for other people's packages. ``package``: the distribution that must be installed, or empty. ``load``: imports
    the package and builds the subjects.
    """

    name: str
    provides: tuple[str, ...]
    group: str
    load: Callable[[], Sequence[Subject]]
    package: str = ""
    summary: str = ""
    kind: str = "waiter"
