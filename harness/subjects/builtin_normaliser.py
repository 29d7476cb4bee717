"""The built-in normaliser on the bench."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from ..adapter import Adapter
from ..normaliser_subject import JobReading, ListReading, NormaliserDialect, NormaliserSubject
from .normaliser import EnvelopeError, Job, JobList, ParseResult, normalise_job, normalise_job_list

CLAIMS = frozenset(
    """
    total deep non_objects raw unaliased idempotent families resources drift words status unknown_status raw_status terminal
    new_keys old_keys odd_new_key result result_completed errors error_forms error_kept error_codes iso epochs time_types times_utc
    progress odd_fields list_total list_bad_items list_items list_flags list_slices
    """.split()
)


def normalise(envelope: Any, resource: str) -> Job[Any]:
    """One envelope."""
    return normalise_job(envelope, resource=resource)


def normalise_list(body: Any, resource: str) -> JobList[Any]:
    """One page."""
    return normalise_job_list(body, resource=resource)


def view(job: Job[Any]) -> JobReading:
    """What a job says."""
    return JobReading(
        job_id=job.job_id,
        status=job.status.value,
        raw_status=job.raw_status,
        progress=job.progress,
        result=None if job.result is None else job.result.payload,
        markdown=job.result.markdown if isinstance(job.result, ParseResult) else None,
        error=None if job.error is None else {"code": job.error.code, "message": job.error.message},
        created_at=job.created_at,
        started_at=job.started_at,
        completed_at=job.completed_at,
        raw=job.raw,
        terminal=job.is_terminal,
        malformed=job.malformed,
    )


def list_view(jobs: JobList[Any]) -> ListReading:
    """What a page says."""
    return ListReading(has_more=jobs.has_more, org_id=jobs.org_id, page=jobs.page, page_size=jobs.page_size)


def subject(**changes: Any) -> NormaliserSubject:
    """The built-in normaliser; ``changes`` replace fields (the zoo's bugs are such changes)."""
    made = NormaliserSubject(
        name="builtin-normaliser",
        family="builtin-normaliser",
        summary="the built-in normaliser",
        normalise=normalise,
        normalise_list=normalise_list,
        view=view,
        list_view=list_view,
        dialect=NormaliserDialect(),
        claims=CLAIMS,
        errors=(EnvelopeError,),
    )
    return dataclasses.replace(made, **changes)


def load() -> Sequence[NormaliserSubject]:
    """The one subject."""
    return [subject()]


ADAPTER = Adapter(
    name="builtin-normaliser",
    provides=("builtin-normaliser",),
    group="builtin",
    load=load,
    summary="the built-in normaliser: envelopes and lists of jobs",
    kind="normaliser",
)
