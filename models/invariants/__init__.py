"""The invariant catalogue: every checker by its id, found by itself. A new family is a new file in a folder here, nothing else."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from ...harness.invariant import Invariant
from ...harness.naming import near


@cache
def _found() -> tuple[tuple[str, Invariant], ...]:
    found: dict[str, Invariant] = {}
    for family in pkgutil.iter_modules(__path__):
        if not family.ispkg:
            continue
        package = importlib.import_module(f"{__name__}.{family.name}")
        for module in pkgutil.iter_modules(package.__path__):
            if module.name.startswith("_"):
                continue  # helpers of a family
            for invariant in importlib.import_module(f"{package.__name__}.{module.name}").INVARIANTS:
                if invariant.id in found:
                    raise ValueError(
                        f"two invariants are called {invariant.id!r}; the second is in {family.name}/{module.name}.py"
                    )
                found[invariant.id] = invariant
    return tuple(sorted(found.items()))


def catalogue() -> dict[str, Invariant]:
    """Every invariant by id, in the order of their ids. Raises ``AttributeError`` for a family file without ``INVARIANTS``."""
    return dict(_found())


def invariant_named(name: str) -> Invariant:
    """The invariant of this id. Raises ``ValueError`` that lists the ids there are."""
    known = catalogue()
    if name not in known:
        raise ValueError(f"there is no invariant {name!r}{near(name, known) or ';'} there are {', '.join(known)}")
    return known[name]
