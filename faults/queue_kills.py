"""Await points: counting the suspensions of a task, and striking at a chosen one."""

from __future__ import annotations

import types
from collections.abc import Callable, Coroutine, Generator
from typing import Any, Literal, TypeVar

from ..harness import events
from ..harness.recorder import Recorder
from .queue_plan import Kill

T = TypeVar("T")
Who = Literal["waiter", "attempt", "closer"]


class UnforeseenError(Exception):
    """What is raised out of an attempt where its task can't be cancelled. No table of errors knows it."""


class Kills:
    """Counts the suspensions of each kind of task and says when the planned one is there. One a run."""

    def __init__(self, plan: Kill | None, recorder: Recorder) -> None:
        self._plan = plan
        self._recorder = recorder
        self.counts: dict[str, int] = {}

    def due(self, who: Who) -> bool:
        """Count one suspension; whether it is the one to strike at."""
        number = self.counts.get(who, 0)
        self.counts[who] = number + 1
        plan = self._plan
        if plan is None or plan.who != who or plan.step != number:
            return False
        self._recorder.note(events.BENCH_NOTE, events.BENCH, what="kill", who=who, step=number, how=plan.how)
        return True

    @property
    def raises(self) -> bool:
        """Whether an error is raised rather than a task cancelled."""
        return self._plan is not None and self._plan.how == "error"

    def tell(self) -> None:
        """Write down how many suspensions there were, if the plan has a kill."""
        if self._plan is not None:
            told = dict(sorted(self.counts.items()))
            self._recorder.note(events.BENCH_NOTE, events.BENCH, what="suspensions", counts=told)


@types.coroutine
def suspending(inner: Coroutine[Any, Any, T], on_suspend: Callable[[], BaseException | None]) -> Generator[Any, Any, T]:
    """Await ``inner``; at each of its suspensions call ``on_suspend``. An error that it answers is raised in ``inner`` when that
    suspension is over. Works on asyncio and trio: what is yielded to the loop is passed on as it is."""
    value: Any = None
    error: BaseException | None = None
    try:
        while True:
            try:
                yielded = inner.throw(error) if error is not None else inner.send(value)
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]
            planned = on_suspend()
            value, error = None, None
            try:
                value = yield yielded
            except BaseException as raised:  # noqa: BLE001 - thrown into the inner one, which decides about it
                error = raised
            else:
                error = planned
    finally:
        inner.close()
