"""How a wait can end badly. Timeout, failure and transport error are three disjoint types (SPEC section 2)."""

from __future__ import annotations

from typing import Any

from ..normaliser.job import Job, JobError

__all__ = ["FetchTimeoutError", "JobFailedError", "JobWaitTimeoutError"]


class JobWaitTimeoutError(TimeoutError):
    """The deadline came before the end of the job, which may still run: wait again, or cancel it.

    If the last fetch failed, its error is the `__cause__`.
    """

    job: Job[Any] | None
    """As last seen, None if no fetch ever succeeded."""

    raw_status: str | None
    """The status word of that job, exactly as the server wrote it."""

    elapsed: float
    """Seconds since the wait began."""

    polls: int
    """Fetches made, failed ones included."""

    def __init__(self, *, job: Job[Any] | None, elapsed: float, polls: int) -> None:
        self.job = job
        self.raw_status = None if job is None else job.raw_status
        self.elapsed = elapsed
        self.polls = polls
        seen = "was never seen" if job is None else f"{job.job_id!r} was last seen as {self.raw_status!r}"
        super().__init__(
            f"job {seen}: not ended after {elapsed:.3f} s and {polls} polls; "
            "it may still run: wait for it again with a longer timeout, or cancel it"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), {"job": self.job, "elapsed": self.elapsed, "polls": self.polls})


class JobFailedError(Exception):
    """The job ended as failed or cancelled, and the caller had asked for an exception (`raise_on_failure`)."""

    job: Job[Any]
    error: JobError | None
    """The server's reason, None if it gave none: that the job failed is told by its status alone."""

    def __init__(self, *, job: Job[Any]) -> None:
        self.job = job
        self.error = job.error
        reason = "no reason given" if job.error is None else f"{job.error.message or ''} (code {job.error.code})"
        super().__init__(f"job {job.job_id!r} ended as {job.status.value}: {reason.strip()}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), {"job": self.job})


class FetchTimeoutError(TimeoutError):
    """One fetch took longer than `fetch_timeout`; transient, by the error table."""

    def __init__(self, limit: float) -> None:
        super().__init__(f"a fetch took longer than its limit of {limit} s")
        self.limit = limit

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.limit,)


def _rebuild(kind: type[BaseException], arguments: dict[str, Any]) -> BaseException:
    """Unpickle an exception whose arguments are keyword-only."""
    return kind(**arguments)
