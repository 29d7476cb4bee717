"""Seeded bugs of what comes back and who is woken: slots, workers, objects; many of them only one driver can have."""

from __future__ import annotations

import math
from typing import Any

import httpx

from ....harness.subjects.dispatch.config import BIND
from ....harness.subjects.dispatch.parts import Fate
from ..bug import wrapping
from ._bug import QueueBug


def _dies(original: Any, self: Any, attempt: Any, error: BaseException, now: float) -> None:
    """What was not foreseen is nobody's to handle, and ends the thread."""
    if not isinstance(error, httpx.HTTPError):
        raise error
    original(self, attempt, error, now)


def _never_survives() -> bool:
    return False


def _keeps_its_slot(original: Any, parts: Any, attempt: Any, healthy: Any) -> bool:
    before = attempt.over
    wanted: bool = original(parts, attempt, healthy)
    if not wanted and not before and not parts.closed:
        parts.executing += 1
    return wanted


def _one_at_a_time(original: Any, self: Any) -> None:
    if len(self._idle) == self.core.config.workers or self.core.closed:
        original(self)


def _one_notify_for_all(self: Any) -> None:
    if self._core.closed:
        self._work.notify_all()
        self._time.notify_all()
        return
    wake_at = self._core.wake_at(self._clock.monotonic())
    if wake_at < self._nap_until:
        self._nap_until = wake_at
        self._time.notify()
    elif self._idle == self._core.config.workers:
        self._work.notify()


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


def _set_and_forgotten(self: Any, qps: float, burst: int) -> None:
    self.core.set_rate(qps, burst, self._clock.monotonic())


BUGS = (
    QueueBug(
        name="an-odd-error-ends-the-thread", summary="a worker thread ends with an error that it did not foresee, and its slot is never given back",
        invariant="dispatch.conserved", source="D67 kubernetes/kubernetes@eea0d66f", suite="dispatch-cancel",
        replaced={"core:DispatchCore.failed": wrapping(_dies)}, mode="threads",
    ),
    QueueBug(
        name="a-cancelled-worker-is-gone", summary="a worker task that somebody cancels is not replaced", invariant="dispatch.conserved",
        source="D95 python/cpython#86296", suite="dispatch-cancel", replaced={"aio:_survives": _never_survives},
    ),
    QueueBug(
        name="given-up-and-still-counted", summary="an attempt that nobody waits for any more never gives its slot back", invariant="dispatch.conserved",
        source="D107 PrefectHQ/prefect#21794", replaced={"attempts:_over": wrapping(_keeps_its_slot)}, mode="trio",
    ),
    QueueBug(
        name="idle-workers-sleep-on", summary="a worker is woken only if all of them are idle", invariant="dispatch.no_lost_wakeup",
        source="D97 agronholm/anyio!1075", replaced={"aio:DispatchQueue._wake": wrapping(_one_at_a_time)}, mode="trio",
    ),
    QueueBug(
        name="the-timer-takes-the-notify", summary="one notify is meant for the timer or for a worker, and the other sleeps on", invariant="dispatch.no_lost_wakeup",
        source="D94 tornadoweb/tornado#2826", replaced={"threads:ThreadDispatchQueue._wake": _one_notify_for_all}, mode="threads",
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
        name="a-new-quota-wakes-nobody", summary="a greater quota is noticed when the timer of the old one is over", invariant="dispatch.no_lost_wakeup",
        source="D94 tornadoweb/tornado#2826", replaced={"aio:DispatchQueue.set_rate": _set_and_forgotten},
    ),
)  # fmt: skip
