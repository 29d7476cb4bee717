"""``pyrate-limiter`` (PyPI, MIT), unmodified: its asynchronous limiter in front of a plain pool, in the role of the quota.

Its documentation: ``TokenBucket`` is "a bucket of ``burst`` tokens refilling at ``limit / interval``", for a ``StateBucket``;
``try_acquire_async`` waits until a permit is there. A quota of the bench is such a rate, its interval rounded up to whole milliseconds,
which is what the package counts in. A bucket's ``rates`` can be set, which is how the quota changes in mid-run. Only the rate is claimed
(it is a safety invariant, so no claim names it): the pool around it is the adapter's, a task a call behind a semaphore. Its synchronous
limiter, which sleeps in threads, its background leaking, which a ``StateBucket`` does not need, and its shared backends are not on the bench.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from ..adapter import Adapter
from ..calls import ApiCall, OutcomeView
from ..queue_dialect import QueueDialect
from ..queue_protocols import QueueBench, QueueConfig, QueueSubject
from ._jobs import DEFAULTS, PLAIN, BareHandle, Job, same

DIALECT = QueueDialect(
    **{**PLAIN, "rate": True},
    parameters=frozenset({"workers", "attempt_timeout", "qps", "burst"}),
    defaults={name: value for name, value in DEFAULTS.items() if name != "qps"},
)


class LimitedHandle(BareHandle):
    """A task a call, so many at once, each of which asks the limiter before it is sent."""

    def __init__(self, bench: QueueBench, config: QueueConfig, package: Any) -> None:
        self._bench = bench
        self._timeout = config.attempt_timeout
        self._package = package
        self._slots = asyncio.Semaphore(config.workers)
        self._tasks: dict[asyncio.Task[None], None] = {}
        self._closed = False
        self._limiter: Any = None
        self._bucket: Any = None
        self._limited = False
        self.set_rate(config.qps, config.burst)

    def submit(self, call: ApiCall, settled: Callable[[Any], None]) -> Job:
        """A task that waits for a slot and a permit."""
        job = Job(self._bench, call, self._timeout, settled)
        if self._closed:
            job.tell(OutcomeView(kind="closed", reason="closed"))
            return job
        job.own = asyncio.get_running_loop().create_task(self._send(job))
        self._tasks[job.own] = None
        job.own.add_done_callback(lambda task: self._done(job, task))
        return job

    async def _send(self, job: Job) -> Any:
        async with self._slots:
            if self._limited:
                await self._limiter.try_acquire_async("api")
            return await job.run()

    def _done(self, job: Job, task: asyncio.Task[Any]) -> None:
        self._tasks.pop(task)
        if task.cancelled():
            job.given_up("cancelled")
        else:
            job.ended(task.exception() or task.result())

    def cancel(self, ticket: Job) -> None:
        """Cancel its task, wherever it waits."""
        ticket.own.cancel()

    async def close(self) -> None:
        """Work off what was submitted."""
        self._closed = True
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def set_rate(self, qps: float, burst: int) -> None:
        """Another quota from now on; an infinite one asks nobody."""
        self._limited = math.isfinite(qps)
        if not self._limited:
            return
        package, limit = self._package, max(1, round(qps))
        rates = [package.Rate(limit, math.ceil(limit / qps * 1000), burst=burst)]
        if self._bucket is None:
            self._bucket = package.StateBucket(rates, algorithm=package.TokenBucket())
            # Leaking is a thread of its own, and has nothing to do for this bucket.
            self._limiter = package.Limiter(package.SingleBucketFactory(self._bucket, schedule_leak=False))
        self._bucket.rates = rates


def load() -> Sequence[QueueSubject]:
    """Import the package and build its subject."""
    import pyrate_limiter

    @asynccontextmanager
    async def opened(bench: QueueBench, config: QueueConfig) -> AsyncIterator[LimitedHandle]:
        yield LimitedHandle(bench, config, pyrate_limiter)

    return (
        QueueSubject(
            name="pyrate-limiter",
            mode="asyncio",
            open=opened,
            view=same,
            dialect=DIALECT,
            patch=("pyrate_limiter",),
            family="pyrate-limiter",
            package="pyrate-limiter",
            summary="TokenBucket in front of a pool",
        ),
    )


ADAPTER = Adapter(
    name="pyrate-limiter",
    provides=("pyrate-limiter",),
    group="real",
    load=load,
    package="pyrate-limiter",
    summary="pyrate-limiter's quota in front of a plain pool",
    kind="queue",
)
