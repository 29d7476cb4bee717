"""A page of jobs: a list that keeps its envelope (SPEC section 3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, SupportsIndex, overload

from .envelope import EnvelopeError, Resource, normalise_job, result_type
from .job import Job, JobStatus, ResultT
from .json_value import copy_json, text_of_id
from .words import DEFAULT_WORDS

__all__ = ["JobList", "normalise_job_list"]


class JobList(list[Job[ResultT]]):
    """The jobs of one page, with what the server said about the page.

    A slice (or a copy) is a JobList with the same envelope. An item that was no object is kept in its place as a job
    with `malformed` set: pending, without an id, its value in `raw`.
    """

    has_more: bool | None
    """None if the server did not say so as a boolean: 'false' is not one."""

    org_id: str | None
    page: int | None
    page_size: int | None
    raw: Any
    """The envelope as it came, shared with nobody."""

    def __init__(
        self,
        jobs: Iterable[Job[ResultT]] = (),
        *,
        has_more: bool | None = None,
        org_id: str | None = None,
        page: int | None = None,
        page_size: int | None = None,
        raw: Any = None,
    ) -> None:
        super().__init__(jobs)
        self.has_more = has_more
        self.org_id = org_id
        self.page = page
        self.page_size = page_size
        self.raw = raw

    @property
    def malformed(self) -> list[int]:
        """The positions of the items that were no objects."""
        return [position for position, job in enumerate(self) if job.malformed]

    @overload
    def __getitem__(self, index: SupportsIndex) -> Job[ResultT]: ...

    @overload
    def __getitem__(self, index: slice) -> JobList[ResultT]: ...

    def __getitem__(self, index: SupportsIndex | slice) -> Job[ResultT] | JobList[ResultT]:
        if isinstance(index, slice):
            return self._with(super().__getitem__(index))
        return super().__getitem__(index)

    def copy(self) -> JobList[ResultT]:
        """Return a shallow copy with the same envelope."""
        return self._with(self)

    def _with(self, jobs: Iterable[Job[ResultT]]) -> JobList[ResultT]:
        return JobList(
            jobs,
            has_more=self.has_more,
            org_id=self.org_id,
            page=self.page,
            page_size=self.page_size,
            raw=self.raw,
        )


def normalise_job_list(
    body: object,
    *,
    resource: Resource | str,
    words: Mapping[str, JobStatus] = DEFAULT_WORDS,
) -> JobList[Any]:
    """Return the page of jobs that a decoded JSON body describes; `jobs` that is no list is an empty page.

    Raises EnvelopeError if the body is not an object, ValueError if the resource is unknown, and nothing else.
    """
    result_type(resource)
    if not isinstance(body, Mapping):
        raise EnvelopeError(body)
    items = body.get("jobs")
    page_size = _integer(body.get("page_size"))
    return JobList(
        [_item(item, resource, words) for item in (items if isinstance(items, list) else [])],
        has_more=value if isinstance(value := body.get("has_more"), bool) else None,
        org_id=text_of_id(body.get("org_id")),
        page=_integer(body.get("page")),
        page_size=_integer(body.get("pageSize")) if page_size is None else page_size,
        raw=copy_json(body),
    )


def _item(item: Any, resource: Resource | str, words: Mapping[str, JobStatus]) -> Job[Any]:
    try:
        return normalise_job(item, resource=resource, words=words)
    except EnvelopeError:
        return Job(job_id=None, status=JobStatus.PENDING, raw_status=None, malformed=True, raw=copy_json(item))


def _integer(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
