"""A long wait whose answers are counted in memory while it goes on.

Each answer carries lists that can be recognised. Now and then the garbage collector is asked how many of them are alive outside the
bench's own history: an answer that is still held, parsed or as a response, shows.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import httpx
from hypothesis import strategies as st

from ..harness import events
from ..harness.dialect import WaiterDialect
from ..harness.history import History
from ..harness.protocols import WaitCall, WaiterSubject
from .kinds.extra import CANARY
from .plan import Answer, WaitPlan, answer, plan_to_json
from .run import header_of, run_many

LISTS: Final = 20
"""Recognisable lists an answer."""


@dataclass(frozen=True, kw_only=True)
class MemoryPlan:
    """A wait of ``fetches`` fetches, counted at every ``every``-th."""

    fetches: int = 60
    every: int = 25

    def words(self) -> list[str]:
        """The plan as sentences, one an item."""
        return [f"wait through {self.fetches} answers", f"count what is still in memory at every {self.every}th"]


@dataclass(frozen=True, kw_only=True)
class _Watched(WaitPlan):
    watch: Callable[[int], None] = field(default=lambda _: None, compare=False)

    def answer_to(self, index: int) -> Answer:
        """Look before each answer."""
        self.watch(index)
        return super().answer_to(index)


def memory_plans(dialect: WaiterDialect) -> st.SearchStrategy[MemoryPlan]:
    """Plans of some length: enough that one answer a fetch shows."""
    most = 60 if dialect.limit == "time" else 50
    return st.builds(MemoryPlan, fetches=st.integers(min_value=50, max_value=most), every=st.sampled_from((25, 50)))


def run_memory(plan: MemoryPlan, subject: WaiterSubject, *, suite: str = "") -> History:
    """Run it; a ``bench.note`` called ``memory`` says ``fetches`` and ``bodies_kept`` at each count."""
    gc.collect()
    gc.freeze()  # what lives already is out of each count, and out of its cost
    try:
        return _run_counted(plan, subject, suite)
    finally:
        gc.unfreeze()


def _run_counted(plan: MemoryPlan, subject: WaiterSubject, suite: str) -> History:
    history = History(header_of(subject, plan_to_json(plan), suite))
    run = [0]
    before = _kept(history)  # what other runs' histories hold is none of this subject's

    def watch(index: int) -> None:
        if index and index % plan.every == 0 and index > run[0]:
            run[0] = index
            at = history[len(history) - 1].at  # type: ignore[union-attr]
            data = {"what": "memory", "fetches": index, "bodies_kept": max(0, _kept(history) - before)}
            history.append(at=at, kind=events.BENCH_NOTE, lane=events.BENCH, data=data)

    long_enough = 11.0 * plan.fetches
    watched = _Watched(
        call=WaitCall(timeout=long_enough, attempts=plan.fetches + 2),
        answers=(answer("extra", lists=LISTS),) * (plan.fetches - 1),
        watch=watch,
    )
    run_many([(watched, 0.0)], subject, history=history, budget=30_000)
    return history


def _kept(history: History) -> int:
    """How many answers are alive that the bench itself does not hold."""
    gc.collect()
    own: set[int] = set()
    for event in history:
        collect_ids(event.data, own)
    lists = responses = 0
    for item in gc.get_objects():
        if type(item) is list and len(item) == 1 and item[0] == CANARY:
            lists += id(item) not in own
        elif isinstance(item, httpx.Response):
            responses += 1
    return max(lists // LISTS, responses)


def collect_ids(value: Any, own: set[int]) -> None:
    """The identities of all containers in a history's data; only counted, never ordered by."""
    if isinstance(value, Mapping):
        for item in value.values():
            collect_ids(item, own)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        own.add(id(value))
        for item in value:
            collect_ids(item, own)
