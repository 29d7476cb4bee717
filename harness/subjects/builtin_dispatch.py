"""The built-in dispatch queue on the bench: asyncio, trio and threads, over the bench's transports, clocks and threads."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from ..adapter import Adapter
from ..calls import ApiAnswer, ApiCall, OutcomeView
from ..queue_dialect import QueueDialect, QueueMode
from ..queue_protocols import RELEVANCE, QueueBench, QueueConfig, QueueHandle, QueueSubject
from .dispatch import DispatchQueue, ThreadDispatchQueue
from .dispatch.core import DispatchCore

PARAMETERS = frozenset(item.name for item in dataclasses.fields(QueueConfig))

CLAIMS = frozenset(
    """
    answers_at_once validates capacity shares drops coalescing snapshot superseding prerequisites order no_starvation progress
    deadline cancel stale reevaluation error_class attempts backoff ambiguity breaker close conservation accounts failure_handler
    isolation bounded_memory reference
    """.split()
)


class Handle:
    """An open queue, as the bench uses it."""

    def __init__(self, queue: Any) -> None:
        self.queue = queue
        self.submit = queue.submit
        self.cancel = queue.cancel
        self.end_context = queue.end_context
        self.delete_object = queue.delete_object
        self.set_rate = queue.set_rate
        self.close = queue.close
        self.outcome = self.outcome_async = queue.outcome

    def stats(self) -> Mapping[str, Any]:
        """The queue's own figures."""
        return dict(self.queue.stats())

    def bounds(self) -> Mapping[str, float | str]:
        """W and B, with their derivation."""
        bounds = self.queue.bounds()
        return {"wait": bounds.wait, "overtakes": bounds.overtakes, "why": bounds.why}


def view(outcome: OutcomeView) -> OutcomeView:
    """The queue speaks the bench's words."""
    return outcome


def _shared(bench: QueueBench, config: QueueConfig, core: type[DispatchCore]) -> dict[str, Any]:
    return {
        "config": config,
        "holds": bench.holds,
        "failed": bench.failed,
        "reevaluate": bench.reevaluate,
        "relevance": RELEVANCE,
        "wall": bench.clock.wall,
        "debug": True,
        "core": core,
    }


@asynccontextmanager
async def open_async(
    bench: QueueBench, config: QueueConfig, *, core: type[DispatchCore] = DispatchCore, queue: Any = DispatchQueue
) -> AsyncIterator[QueueHandle]:
    """Open it for tasks. `core`, `queue`: variants (the zoo's bugs are such)."""

    async def send(call: ApiCall) -> ApiAnswer:
        return await bench.send_async(call, timeout=config.attempt_timeout)

    async def read(call: ApiCall) -> ApiAnswer:
        return await bench.read_async(call, timeout=config.attempt_timeout)

    async with queue(send, read=read, clock=bench.async_clock, **_shared(bench, config, core)) as opened:
        yield Handle(opened)


@contextmanager
def open_threads(
    bench: QueueBench, config: QueueConfig, *, core: type[DispatchCore] = DispatchCore, queue: Any = ThreadDispatchQueue
) -> Iterator[QueueHandle]:
    """Open it for threads. `core`, `queue`: variants."""

    def send(call: ApiCall) -> ApiAnswer:
        return bench.send(call, timeout=config.attempt_timeout)

    def read(call: ApiCall) -> ApiAnswer:
        return bench.read(call, timeout=config.attempt_timeout)

    with queue(send, read=read, clock=bench.clock, threads=bench.threads, **_shared(bench, config, core)) as opened:
        yield Handle(opened)


def subject(mode: QueueMode, **changes: Any) -> QueueSubject:
    """The built-in queue in one mode; ``changes`` replace fields (the zoo's bugs are such changes)."""
    made = QueueSubject(
        name=f"builtin-queue-{mode}",
        mode=mode,
        family="builtin-dispatch",
        summary="the built-in dispatch queue",
        open=open_threads if mode == "threads" else open_async,
        view=view,
        dialect=QueueDialect(parameters=PARAMETERS, waiters=mode != "threads"),
        # On threads a submit takes effect anywhere between its call and its return, and the following of the model does not know that yet.
        claims=CLAIMS - {"reference"} if mode == "threads" else CLAIMS,
    )
    return dataclasses.replace(made, **changes)


def twins() -> Sequence[QueueSubject]:
    """All three modes."""
    return [subject("asyncio"), subject("trio"), subject("threads")]


ADAPTER = Adapter(
    name="builtin-dispatch",
    provides=("builtin-queue-asyncio", "builtin-queue-trio", "builtin-queue-threads"),
    group="builtin",
    load=twins,
    kind="queue",
    summary="the built-in dispatch queue: asyncio, trio, threads",
)
