"""Finding subjects: by name, by group, or as ``package.module:attribute``."""

from __future__ import annotations

import importlib
import importlib.metadata
import pkgutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from . import subjects as _subjects
from .adapter import Adapter
from .jsonable import safe_repr, told
from .naming import near
from .suite import Subject

GROUPS = ("builtin", "real")


class UnknownSubjectError(ValueError):
    """No subject, adapter or group has this name; the message lists those there are."""


class UnusableSubjectError(RuntimeError):
    """The subject was found but can't be used: it can't be imported, or what was imported is no subject."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """One subject to run. ``spec`` loads it again (also in another process). ``named``: the user named it, so it must run.

    ``missing``: the distribution that is not installed, or empty.
    """

    spec: str
    named: bool
    missing: str = ""
    summary: str = ""
    package: str = ""


@cache
def adapters() -> dict[str, Adapter]:
    """Every adapter by name, in the order of their names. Importing an adapter file never imports the package that it adapts."""
    found: dict[str, Adapter] = {}
    for module in sorted(pkgutil.iter_modules(_subjects.__path__), key=lambda item: item.name):
        if module.ispkg:
            continue
        adapter = getattr(importlib.import_module(f"{_subjects.__name__}.{module.name}"), "ADAPTER", None)
        if isinstance(adapter, Adapter):
            found[adapter.name] = adapter
    return dict(sorted(found.items()))


def version_of(package: str) -> str:
    """The installed version of a distribution, or an empty text."""
    if not package:
        return ""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def wanted(names: Sequence[str]) -> list[Wanted]:
    """What the given names mean, each subject once, in the order given. Raises :class:`UnknownSubjectError`."""
    found: dict[str, Wanted] = {}
    for name in names:
        for item in _wanted_by(name):
            if item.spec not in found or item.named:
                found[item.spec] = item
    return list(found.values())


def _wanted_by(name: str) -> Iterable[Wanted]:
    if ":" in name:
        return [Wanted(spec=name, named=True)]
    if name in GROUPS:
        members = [adapter for adapter in adapters().values() if adapter.group == name]
        return [item for adapter in members for item in _members(adapter, adapter.provides, named=name == "builtin")]
    # A package may have several adapters, one a kind of subject: its name stands for all of them.
    whole = [adapter for adapter in adapters().values() if name in (adapter.name, adapter.package)]
    if whole:
        return [item for adapter in whole for item in _members(adapter, adapter.provides, named=True)]
    for adapter in adapters().values():
        if name in adapter.provides:
            return _members(adapter, (name,), named=True)
    packages = [adapter.package for adapter in adapters().values() if adapter.package]
    meant = near(name, [*GROUPS, *adapters(), *_provided(), *packages])
    known = ", ".join([*GROUPS, *adapters()])
    raise UnknownSubjectError(
        f"there is no subject {name!r}{meant or '.'} Known: {known}. One of your own is named as package.module:attribute"
    )


def _provided() -> list[str]:
    return [name for adapter in adapters().values() for name in adapter.provides]


def _members(adapter: Adapter, names: Iterable[str], *, named: bool) -> list[Wanted]:
    missing = adapter.package if adapter.package and not version_of(adapter.package) else ""
    return [
        Wanted(spec=name, named=named, missing=missing, summary=adapter.summary, package=adapter.package)
        for name in names
    ]


def load(spec: str) -> list[Subject]:
    """Load the subject or subjects that ``spec`` stands for: a subject's name, ``module:attribute``, or ``module:attribute#name``.

    The attribute is a subject, a sequence of subjects, or a function without arguments that gives either. Raises
    :class:`UnknownSubjectError` or :class:`UnusableSubjectError`; a module that raises at import, even ``SystemExit``, is unusable.
    """
    if ":" not in spec:
        return [subject for subject in _from_adapter(spec) if subject.name == spec]
    path, _, only = spec.partition("#")
    module_name, _, attribute = path.partition(":")
    try:
        value = importlib.import_module(module_name)
        for part in attribute.split("."):
            value = getattr(value, part)
        made = value() if callable(value) and not _is_subject(value) else value
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise UnusableSubjectError(f"{spec}: {told(error)}") from error
    candidates: Sequence[object] = list(made) if isinstance(made, Sequence) else [made]
    for item in candidates:
        if not _is_subject(item):
            raise UnusableSubjectError(
                f"{spec} is {safe_repr(item)}, not a subject: give a waitproof.harness.protocols.WaiterSubject, "
                "a sequence of them, or a function that makes one"
            )
    chosen: list[Subject] = [item for item in candidates if _is_subject(item) and only in ("", _name(item))]  # type: ignore[misc]
    if not chosen:
        raise UnusableSubjectError(f"{path} has no subject called {only!r}")
    return chosen


def _from_adapter(name: str) -> Sequence[Subject]:
    for adapter in adapters().values():
        if name in adapter.provides:
            try:
                return adapter.load()
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                raise UnusableSubjectError(f"{name}: {told(error)}") from error
    known = _provided()
    raise UnknownSubjectError(f"there is no subject {name!r}{near(name, known) or '.'} Known: {', '.join(known)}")


def _is_subject(value: object) -> bool:
    return all(hasattr(value, name) for name in ("name", "kind", "claims")) and not isinstance(value, type)


def _name(value: object) -> str:
    return str(getattr(value, "name", ""))
