"""Seeded bugs of what comes back and who is woken: slots, workers, objects; many of them only one driver can have."""

from __future__ import annotations

import math
from typing import Any

import httpx

from ....harness.subjects.dispatch.config import BIND
from ....harness.subjects.dispatch.parts import Fate
from ..bug import wrapping
from ._bug import QueueBug


def _keeps_the_slot(original: Any, self: Any, attempt: Any, error: BaseException, now: float) -> None:
    """The slot is given back where the errors that are known are handled."""
    original(self, attempt, error, now)
    if not isinstance(error, httpx.HTTPError):
        self._parts.executing += 1


async def _gives_up_with_its_waiter(original: Any, self: Any, ticket: Any) -> Any:
    try:
        return await original(self, ticket)
    except BaseException:
        self.cancel(ticket)
        raise


def _none_while_one_pauses(original: Any, parts: Any, now: float) -> Any:
    return None if parts.pauses.top() is not None else original(parts, now)


def _never_while_one_pauses(original: Any, parts: Any, now: float) -> float:
    return math.inf if parts.pauses.top() is not None else float(original(parts, now))


def _still_binding(original: Any, parts: Any, entry: Any, fate: Fate) -> None:
    if entry.call.type == BIND and fate is Fate.NOT and entry.attempts:
        entry.placed = False
    original(parts, entry, fate)


def _nobody_is_next(parts: Any, uid: str) -> None:  # noqa: ARG001 - the seam's
    return None


BUGS = (
    QueueBug(
        name="an-odd-error-keeps-its-slot", summary="the slot of an attempt that raised what was not foreseen is never given back",
        invariant="dispatch.conserved", source="D67 kubernetes/kubernetes@eea0d66f", suite="dispatch-cancel",
        replaced={"core:DispatchCore.failed": wrapping(_keeps_the_slot)}, mode="threads",
    ),
    QueueBug(
        name="cancelled-with-its-waiter", summary="cancelling the task that waits for an outcome cancels the submit", invariant="dispatch.waiter_cancel_harmless",
        source="D95 python/cpython#86296", replaced={"aio:DispatchQueue.outcome": wrapping(_gives_up_with_its_waiter)},
    ),
    QueueBug(
        name="one-pause-stops-all", summary="while one call waits to be tried again nothing else is sent", invariant="dispatch.isolation",
        source="D30 volcano-sh/volcano#2843", replaced={"core:start": wrapping(_none_while_one_pauses), "core:next_start": wrapping(_never_while_one_pauses)},
    ),
    QueueBug(
        name="a-failed-bind-is-still-binding", summary="a bind that has failed goes on holding its pod, whose later writes wait for ever",
        invariant="dispatch.one_outcome", source="D31 kubernetes-sigs/kube-batch!909", replaced={"ending:bury": wrapping(_still_binding)}, mode="threads",
    ),
    QueueBug(
        name="the-next-in-line-is-not-called", summary="the end of a write does not make the next write of its object ready, and no other event comes",
        invariant="dispatch.no_lost_wakeup", source="D7 kubernetes/kubernetes#140082", replaced={"ending:promote": _nobody_is_next}, mode="trio",
    ),
)  # fmt: skip
