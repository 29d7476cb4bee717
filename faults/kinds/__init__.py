"""Fault kinds, one a file: its data, its strategy, its simulated effect and its sentence in words.

A file in this folder that defines ``KINDS`` (a tuple, mostly of one) is found by itself; adding one changes no other file.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from ..kind import Kind


@cache
def all_kinds() -> dict[str, Kind]:
    """Every fault kind by name, in the order of their names."""
    found: dict[str, Kind] = {}
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda item: item.name):
        kinds = getattr(importlib.import_module(f"{__name__}.{module.name}"), "KINDS", ())
        for kind in kinds:
            if kind.name in found:
                raise ValueError(f"two fault kinds are called {kind.name!r}; the second is in {module.name}.py")
            found[kind.name] = kind
    return dict(sorted(found.items()))


def kind_named(name: str) -> Kind:
    """The fault kind of this name. Raises ``ValueError`` that lists the names there are."""
    kinds = all_kinds()
    if name not in kinds:
        raise ValueError(f"there is no fault kind {name!r}; there are {', '.join(kinds)}")
    return kinds[name]
