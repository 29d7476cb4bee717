"""A worker pool around ``asyncio.PriorityQueue``, as people write it: a few workers, a future for each result, nothing else.

It promises what its readers take for granted: higher priorities first and equal ones in order, no more than so many at once, nobody
is forgotten, and ``close`` finishes the work first. Retries, deadlines, bounds and the rest it has not.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from ..adapter import Adapter
from ..calls import ApiCall, OutcomeView
from ..queue_dialect import QueueDialect
from ..queue_protocols import QueueBench, QueueConfig, QueueSubject
from ._jobs import DEFAULTS, PLAIN, BareHandle, Job, same


class Pool:
    """The pool itself."""

    def __init__(self, workers: int) -> None:
        self._queue: asyncio.PriorityQueue[Any] = asyncio.PriorityQueue()
        self._numbers = itertools.count()
        self._closed = False
        self._workers = [asyncio.create_task(self._work()) for _ in range(workers)]

    def submit(self, priority: int, work: Callable[[], Awaitable[Any]]) -> asyncio.Future[Any]:
        """Run ``work()`` when its turn has come. Raises ``RuntimeError`` after close."""
        if self._closed:
            raise RuntimeError("the pool is closed")
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._queue.put_nowait((-priority, next(self._numbers), work, future))
        return future

    async def _work(self) -> None:
        while True:
            _, _, work, future = await self._queue.get()
            try:
                if not future.cancelled():
                    result = await work()
                    future.set_result(result)
            except Exception as error:  # noqa: BLE001 - as people write it
                if not future.done():
                    future.set_exception(error)
            finally:
                self._queue.task_done()

    async def close(self) -> None:
        """Finish what was submitted, then stop."""
        self._closed = True
        await self._queue.join()
        for worker in self._workers:
            worker.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)


class PoolHandle(BareHandle):
    """The pool on the bench."""

    def __init__(self, bench: QueueBench, config: QueueConfig) -> None:
        self._bench = bench
        self._timeout = config.attempt_timeout
        self._pool = Pool(config.workers)

    def submit(self, call: ApiCall, settled: Callable[[Any], None]) -> Job:
        """A job of its priority; its future tells how it ended."""
        job = Job(self._bench, call, self._timeout, settled)

        def done(future: asyncio.Future[Any]) -> None:
            if future.cancelled():
                job.given_up("cancelled")
            else:
                job.ended(future.exception() or future.result())

        try:
            job.own = self._pool.submit(call.priority, job.run)
        except RuntimeError:
            job.tell(OutcomeView(kind="closed", reason="closed"))
        else:
            job.own.add_done_callback(done)
        return job

    def cancel(self, ticket: Job) -> None:
        """Nobody wants the result any more."""
        ticket.own.cancel()

    def close(self) -> Any:
        """Drain."""
        return self._pool.close()


DIALECT = QueueDialect(
    **{**PLAIN, "order": "priority"}, parameters=frozenset({"workers", "attempt_timeout"}), defaults=DEFAULTS
)

CLAIMS = frozenset("answers_at_once capacity order progress isolation cancel close".split())


@asynccontextmanager
async def _open(bench: QueueBench, config: QueueConfig) -> AsyncIterator[PoolHandle]:
    yield PoolHandle(bench, config)


def load() -> Sequence[QueueSubject]:
    """The pool as a subject."""
    return (
        QueueSubject(
            name="plain-pool",
            mode="asyncio",
            open=_open,
            view=same,
            dialect=DIALECT,
            claims=CLAIMS,
            family="plain-pool",
            summary="asyncio.PriorityQueue and workers",
        ),
    )


ADAPTER = Adapter(
    name="plain-pool",
    provides=("plain-pool",),
    group="real",
    load=load,
    summary="an asyncio.PriorityQueue worker pool as people write it",
    kind="queue",
)
