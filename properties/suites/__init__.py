"""The suites, one a file. A file in this folder that defines ``SUITES`` is found by itself."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from functools import cache

from ...harness.naming import near
from ...harness.suite import AnySuite, Subject


class UnknownSuiteError(ValueError):
    """No suite has this name; the message lists those there are."""


@cache
def all_suites() -> dict[str, AnySuite]:
    """Every suite by name, sorted by kind and name: a plain suite comes before those that are named after it."""
    found: dict[str, AnySuite] = {}
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda item: item.name):
        for suite in getattr(importlib.import_module(f"{__name__}.{module.name}"), "SUITES", ()):
            if suite.name in found:
                raise ValueError(f"two suites are called {suite.name!r}")
            found[suite.name] = suite
    return dict(sorted(found.items(), key=lambda item: (item[1].kind, item[0])))


def chosen(names: Sequence[str]) -> list[AnySuite]:
    """The suites of these names, or all when there is none; a name that is no suite's stands for all that begin with it and a hyphen.

    Raises :class:`UnknownSuiteError`.
    """
    suites = all_suites()
    if not names:
        return list(suites.values())
    picked: dict[str, AnySuite] = {}
    for name in names:
        fitting = {key: suite for key, suite in suites.items() if key == name}
        fitting = fitting or {key: suite for key, suite in suites.items() if key.startswith(f"{name}-")}
        if not fitting:
            raise UnknownSuiteError(
                f"there is no suite {name!r}{near(name, suites) or ';'} there are {', '.join(suites)}"
            )
        picked.update(fitting)
    return list(picked.values())


def suites_for(subject: Subject, suites: Sequence[AnySuite]) -> list[AnySuite]:
    """Those that can run this subject."""
    return [suite for suite in suites if suite.kind == subject.kind and not suite.refuses(subject)]
