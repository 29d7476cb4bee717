"""What a caller gets: `Job`, `JobError` and `JobStatus` (SPEC section 3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, TypeVar

from .results import Result

__all__ = ["TERMINAL_STATUSES", "Job", "JobError", "JobStatus", "ResultT"]

ResultT = TypeVar("ResultT", bound=Result, covariant=True)  # noqa: PLC0105  (one short name all over the package)


class JobStatus(StrEnum):
    """Where a job is. The other words that servers use are in `words`."""

    PENDING = "pending"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


TERMINAL_STATUSES = frozenset({JobStatus.COMPLETED, JobStatus.FAILED, JobStatus.CANCELLED})
"""A job in one of these never changes again."""


@dataclass(frozen=True, kw_only=True)
class JobError:
    """Why a job failed, in the server's words."""

    code: str | None
    """The server's code as text (an integer code 500 is '500'), None if it gave none."""

    message: str | None
    """For people; None if the server gave none."""


@dataclass(frozen=True, kw_only=True)
class Job(Generic[ResultT]):
    """One job, the same for every resource and envelope family.

    A field that the server did not send, or sent in a shape that cannot be read without guessing, is None; what
    was really sent is in `raw`. Two jobs are equal if everything but `raw` is.
    """

    job_id: str | None
    status: JobStatus
    raw_status: str | None
    """The status word exactly as it came: where an unknown status stays readable. None if it was no text."""

    progress: float | None = None
    """From 0 to 1."""

    result: ResultT | None = None
    """Only when completed."""

    error: JobError | None = None
    """Kept whatever the status."""

    created_at: datetime | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    """Times are aware, and in UTC."""

    malformed: bool = False
    """True only in a `JobList`, for an item that was no object: nothing but `raw` is known of it."""

    raw: Any = field(default=None, repr=False, compare=False)
    """The envelope as it came: a dictionary (whatever it was if `malformed`), shared with nobody."""

    @property
    def is_terminal(self) -> bool:
        """Whether the job has ended: completed, failed or cancelled."""
        return self.status in TERMINAL_STATUSES
