"""What a seeded bug of a normaliser is: the built-in one, with names of its modules replaced while it runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ....harness.jsonable import Json, loads
from ....harness.normaliser_subject import NormaliserSubject
from ....harness.subjects.builtin_normaliser import subject as builtin
from ..bug import Patches

ROOM = Path(__file__).parent


def variant(base: NormaliserSubject, name: str, replaced: Mapping[str, Any]) -> NormaliserSubject:
    """A subject that is ``base`` with the names in ``replaced`` (see :class:`~waitproof.faults.zoo.bug.Patches`) replaced while it runs."""
    patches = Patches(replaced)

    def patched(call: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any) -> Any:
            with patches.active():
                return call(*args)

        return run

    normalise_list = None if base.normalise_list is None else patched(base.normalise_list)
    return dataclasses.replace(
        base,
        name=name,
        summary="a seeded bug",
        normalise=patched(base.normalise),
        normalise_list=normalise_list,
        view=patched(base.view),
        list_view=patched(base.list_view),
    )


@dataclass(frozen=True, kw_only=True)
class NormaliserBug:
    """One seeded bug of a normaliser.

    ``invariant``: the one named for it, which must catch it. ``suite``: where its stored plan runs. ``replaced``: what is changed, as in
    :class:`~waitproof.faults.zoo.bug.Patches`. ``source``: the public fault of whose kind it is, or ``own``.
    """

    name: str
    summary: str
    invariant: str
    source: str
    replaced: Mapping[str, Any]
    suite: str = "normaliser"
    mode: str = ""

    def subject(self) -> NormaliserSubject:
        """The buggy subject."""
        return variant(builtin(), f"zoo:{self.name}", self.replaced)

    def clean(self) -> NormaliserSubject:
        """The healthy subject that it is a variant of."""
        return builtin()

    def stored_plan(self) -> Json:
        """The plan that catches it, as stored beside the zoo. Raises ``FileNotFoundError`` if none is stored yet."""
        return loads(self.plan_file.read_text(encoding="utf-8"))

    @property
    def plan_file(self) -> Path:
        """Where its plan is stored."""
        return ROOM / "plans" / f"{self.name}.json"
