"""What a seeded bug of a dispatch queue is: the built-in one, with names of its modules replaced while a queue is open."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ....harness.jsonable import Json, loads
from ....harness.queue_dialect import QueueMode
from ....harness.queue_protocols import QueueBench, QueueConfig, QueueSubject
from ....harness.subjects.builtin_dispatch import subject as builtin
from ..bug import Patches

ROOM = Path(__file__).parent


def variant(base: QueueSubject, name: str, replaced: Mapping[str, Any]) -> QueueSubject:
    """A subject that is ``base`` with the names in ``replaced`` replaced, from before a queue is opened until it has been left.

    The names are below ``harness.subjects.dispatch``: ``"core:DispatchCore.close"`` (see :class:`~waitproof.faults.zoo.bug.Patches`).
    """
    patches = Patches({f"dispatch.{path}": value for path, value in replaced.items()})
    opens = cast("Any", base.open)

    @asynccontextmanager
    async def for_tasks(bench: QueueBench, config: QueueConfig) -> AsyncIterator[Any]:
        with patches.active():
            async with opens(bench, config) as handle:
                yield handle

    @contextmanager
    def for_threads(bench: QueueBench, config: QueueConfig) -> Iterator[Any]:
        with patches.active(), opens(bench, config) as handle:
            yield handle

    made = for_threads if base.mode == "threads" else for_tasks
    return dataclasses.replace(base, name=name, summary="a seeded bug", open=made)


@dataclass(frozen=True, kw_only=True)
class QueueBug:
    """One seeded bug of a dispatch queue.

    ``invariant``: the one named for it, which must catch it. ``suite``: where its stored plan runs. ``replaced``: what is changed, as in
    :func:`variant`. ``mode``: of the built-in queue that is changed. ``source``: the public fault of whose kind it is (a row of the list
    of fault kinds, with the issue), or ``own``.
    """

    name: str
    summary: str
    invariant: str
    source: str
    replaced: Mapping[str, Any]
    suite: str = "dispatch-plans"
    mode: QueueMode = "asyncio"

    def subject(self) -> QueueSubject:
        """The buggy subject."""
        return variant(builtin(self.mode), f"zoo:{self.name}", self.replaced)

    def clean(self) -> QueueSubject:
        """The healthy subject that it is a variant of."""
        return builtin(self.mode)

    def stored_plan(self) -> Json:
        """The plan that catches it, as stored beside the zoo. Raises ``FileNotFoundError`` if none is stored yet."""
        return loads(self.plan_file.read_text(encoding="utf-8"))

    @property
    def plan_file(self) -> Path:
        """Where its plan is stored."""
        return ROOM / "plans" / f"{self.name}.json"
