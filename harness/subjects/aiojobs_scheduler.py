"""``aiojobs`` (PyPI, Apache-2.0), unmodified: a ``Scheduler`` whose jobs are API calls.

Its documentation: a job "might be started immediately or pushed into pending list if concurrency limit exceeded"; ``limit`` is a
"concurrency limit"; with a finite ``pending_limit`` ``spawn`` waits for a free slot (here it is 0, "infinite pending queue size");
``Job.wait`` waits for its result; ``Job.close`` closes the job, and ``Scheduler.close`` "all its jobs". It has no priorities and does not
promise an order of the pending ones, so none is claimed. ``spawn`` is a coroutine: ``submit`` begins it in a task.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from ..adapter import Adapter
from ..calls import ApiCall, OutcomeView
from ..queue_dialect import QueueDialect
from ..queue_protocols import QueueBench, QueueConfig, QueueSubject
from ._jobs import DEFAULTS, PLAIN, BareHandle, Job, same

DIALECT = QueueDialect(
    **{**PLAIN, "close": "abandon"}, parameters=frozenset({"workers", "attempt_timeout"}), defaults=DEFAULTS
)

CLAIMS = frozenset("capacity progress isolation cancel close".split())


class SchedulerHandle(BareHandle):
    """One scheduler on the bench; ``own`` of a job is the task that spawns it and waits for it."""

    def __init__(self, bench: QueueBench, config: QueueConfig, scheduler: Any) -> None:
        self._bench = bench
        self._timeout = config.attempt_timeout
        self._scheduler = scheduler
        self._spawned: dict[Job, Any] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def submit(self, call: ApiCall, settled: Callable[[Any], None]) -> Job:
        """Spawn it, and wait for it beside the caller."""
        job = Job(self._bench, call, self._timeout, settled)
        self._aside(self._follow(job))
        return job

    async def _follow(self, job: Job) -> None:
        if job.unwanted:
            job.given_up("cancelled")
            return
        coroutine = job.run()
        try:
            spawned = self._spawned[job] = await self._scheduler.spawn(coroutine)
        except RuntimeError:  # "Scheduling a new job after closing"
            coroutine.close()
            job.tell(OutcomeView(kind="closed", reason="closed"))
            return
        try:
            answer = await spawned.wait()
        except asyncio.CancelledError:
            job.given_up("closed" if self._scheduler.closed else "cancelled")
        except Exception as error:  # noqa: BLE001 - whatever the attempt ended with
            job.ended(error)
        else:
            job.ended(answer)
        finally:
            self._spawned.pop(job, None)

    def cancel(self, ticket: Job) -> None:
        """Close the job, or do not spawn it at all."""
        ticket.unwanted = True
        if ticket in self._spawned:
            self._aside(self._spawned[ticket].close())

    def close(self) -> Any:
        """Close the scheduler."""
        return self._scheduler.close()

    def _aside(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def load() -> Sequence[QueueSubject]:
    """Import the package and build its subject."""
    import aiojobs

    @asynccontextmanager
    async def opened(bench: QueueBench, config: QueueConfig) -> AsyncIterator[SchedulerHandle]:
        yield SchedulerHandle(bench, config, aiojobs.Scheduler(limit=config.workers, pending_limit=0))

    return (
        QueueSubject(
            name="aiojobs",
            mode="asyncio",
            open=opened,
            view=same,
            dialect=DIALECT,
            claims=CLAIMS,
            patch=("aiojobs",),
            family="aiojobs",
            package="aiojobs",
            summary="Scheduler with a concurrency limit",
        ),
    )


ADAPTER = Adapter(
    name="aiojobs",
    provides=("aiojobs",),
    group="real",
    load=load,
    package="aiojobs",
    summary="aiojobs.Scheduler as a queue of calls",
    kind="queue",
)
