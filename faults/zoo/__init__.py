"""The zoo: seeded bugs, each a small variant of a built-in subject and each caught by the invariant *named* for it.

A file below this folder that defines ``BUGS`` (a tuple of :class:`~.bug.Bug`) is found by itself; adding one changes no other file.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from .bug import Bug


@cache
def all_bugs() -> dict[str, Bug]:
    """Every seeded bug by name, in the order of their names."""
    found: dict[str, Bug] = {}
    for room in sorted(pkgutil.iter_modules(__path__), key=lambda item: item.name):
        if not room.ispkg:
            continue
        package = importlib.import_module(f"{__name__}.{room.name}")
        for module in sorted(pkgutil.iter_modules(package.__path__), key=lambda item: item.name):
            for bug in getattr(importlib.import_module(f"{package.__name__}.{module.name}"), "BUGS", ()):
                if bug.name in found:
                    raise ValueError(f"two seeded bugs are called {bug.name!r}")
                found[bug.name] = bug
    return dict(sorted(found.items()))
