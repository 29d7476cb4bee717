"""What a seeded bug is, and the one way in which a variant of a subject is made: names replaced while the subject runs."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from ...harness.jsonable import Json, loads
from ...harness.protocols import WaiterSubject
from ...harness.subjects.builtin_waiter import subject as builtin
from ...harness.suite import Subject

BASE = "waitproof.harness.subjects."


class Bug(Protocol):
    """What every seeded bug has, whatever kind of subject it is a variant of."""

    @property
    def name(self) -> str:
        """Its name in the zoo."""

    @property
    def summary(self) -> str:
        """What was done wrong, in one sentence."""

    @property
    def invariant(self) -> str:
        """The id of the invariant named for it, which must catch it."""

    @property
    def source(self) -> str:
        """The public fault of whose kind it is, or ``own``."""

    @property
    def suite(self) -> str:
        """Where its stored plan runs."""

    @property
    def mode(self) -> str:
        """Which form of the built-in subject is changed; empty if there is one only."""

    def subject(self) -> Subject:
        """The buggy subject."""

    def clean(self) -> Subject:
        """The healthy subject that it is a variant of."""

    def stored_plan(self) -> Json:
        """The plan that catches it, as stored beside the zoo."""

    @property
    def plan_file(self) -> Path:
        """Where its plan is stored."""


@dataclass
class Patches:
    """Attributes of the built-in subject's modules and classes, replaced while at least one call of the variant is running.

    ``replaced``: ``"waiter.core:WaitCore._clip"`` (below ``harness.subjects``) to the value that stands in for it. A value made by
    :func:`wrapping` is called with the original first. Calls are counted, since concurrent waits of one subject overlap.
    """

    replaced: Mapping[str, Any]
    _running: int = 0
    _originals: list[tuple[Any, str, Any]] = field(default_factory=list)

    @contextmanager
    def active(self) -> Iterator[None]:
        """While this is open the variant's names are in place."""
        if not self._running:
            self._enter()
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
            if not self._running:
                self._leave()

    def _enter(self) -> None:
        for path, value in self.replaced.items():
            module_name, _, dotted = path.partition(":")
            owner: Any = importlib.import_module(BASE + module_name)
            *outer, name = dotted.split(".")
            for part in outer:
                owner = getattr(owner, part)
            original = inspect.getattr_static(owner, name)
            self._originals.append((owner, name, original))
            setattr(owner, name, value.around(original) if isinstance(value, wrapping) else value)

    def _leave(self) -> None:
        for owner, name, original in reversed(self._originals):
            setattr(owner, name, original)
        self._originals.clear()


@dataclass(frozen=True)
class wrapping:  # noqa: N801 - reads as a word where it is used
    """``wrapping(f)`` stands in for a function ``g`` as ``lambda *args: f(g, *args)``."""

    function: Callable[..., Any]

    def around(self, original: Any) -> Any:
        """The function that stands in for ``original``."""
        function = self.function

        @functools.wraps(original)
        def stand_in(*args: Any, **kwargs: Any) -> Any:
            return function(original, *args, **kwargs)

        return stand_in


def variant(base: WaiterSubject, name: str, replaced: Mapping[str, Any]) -> WaiterSubject:
    """A subject that is ``base`` with the names in ``replaced`` (see :class:`Patches`) replaced while it runs."""
    patches = Patches(replaced)

    def patched(call: Callable[..., Any] | None) -> Callable[..., Any] | None:
        if call is None:
            return None
        if base.mode == "sync":

            def run(*args: Any) -> Any:
                with patches.active():
                    return call(*args)

            return run

        async def run_async(*args: Any) -> Any:
            with patches.active():
                return await call(*args)

        return run_async

    wait = patched(base.wait)
    assert wait is not None
    made = dataclasses.replace(
        base, name=name, wait=wait, create=patched(base.create), direct=patched(base.direct), summary="a seeded bug"
    )
    # Its twins are the healthy ones of the other modes: a bug in one driver alone is a difference between twins.
    others = [twin for twin in base.twins() if twin.mode != base.mode]
    return dataclasses.replace(made, twins=lambda: [made, *others])


@dataclass(frozen=True, kw_only=True)
class SeededBug:
    """One seeded bug.

    ``invariant``: the one named for it, which must catch it. ``suite``: where its stored plan runs. ``replaced``: what is changed (see
    :class:`Patches`). ``mode``: of the built-in waiter that is changed. ``source``: the public fault of whose kind it is (a row of
    the list of fault kinds, with the issue), or ``own``.
    """

    name: str
    summary: str
    invariant: str
    source: str
    replaced: Mapping[str, Any]
    suite: str = "waiter"
    mode: str = "sync"

    def subject(self) -> WaiterSubject:
        """The buggy subject."""
        return variant(builtin(self.mode), f"zoo:{self.name}", self.replaced)  # type: ignore[arg-type]

    def clean(self) -> WaiterSubject:
        """The healthy subject that it is a variant of."""
        return builtin(self.mode)  # type: ignore[arg-type]

    def stored_plan(self) -> Json:
        """The plan that catches it, as stored beside the zoo. Raises ``FileNotFoundError`` if none is stored yet."""
        return loads(self.plan_file.read_text(encoding="utf-8"))

    @property
    def plan_file(self) -> Path:
        """Where its plan is stored."""
        return Path(__file__).parent / "waiter" / "plans" / f"{self.name}.json"
