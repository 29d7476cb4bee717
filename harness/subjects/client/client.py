"""The synchronous client. What to send and what an answer means is in `routes` and `resources`."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Generic, Self, Unpack, cast

import httpx

from ..normaliser.envelope import Resource
from ..normaliser.job import Job, JobStatus, ResultT
from ..normaliser.job_list import JobList
from ..normaliser.results import BuildSchemaResult, ExtractResult, ParseResult
from ..waiter.clocks import Clock, SystemClock, resolution_of
from ..waiter.core import Fetch, Raise, Sleep
from ..waiter.outcome import Answer, hint_of_error
from ..waiter.policy import WaitOptions
from ..waiter.sync import wait_for_job
from . import routes
from .create_retry import CreateCore
from .resources import ApiResponse, read_created, read_direct, read_job, read_jobs
from .settings import ClientOptions, Settings
from .transport import DeadlineTransport

__all__ = ["Client", "JobResource"]


class Client:
    """A client for threads; close it, or use it in a `with` statement.

    Small documents go the direct path (`parse`, `extract`, `build_schema`), large ones through the job resources
    (`parse_jobs`, `extract_jobs`, `build_schema_jobs`), which all behave the same.

    `transport` is an httpx transport. The default, `DeadlineTransport`, keeps the limit of each request as a whole;
    another one is told that limit in the request extension `total_timeout` and has to keep it by itself. `clock`
    (the system's) is a parameter so that tests can decide. The `options` are the fields of `Settings`.

    Every method raises an `httpx.TransportError` if there was no answer, ApiStatusError if its status is not 2xx,
    and InvalidResponseError if its body is not a JSON object.
    """

    parse_jobs: JobResource[ParseResult]
    extract_jobs: JobResource[ExtractResult]
    build_schema_jobs: JobResource[BuildSchemaResult]

    def __init__(
        self,
        *,
        transport: httpx.BaseTransport | None = None,
        clock: Clock | None = None,
        **options: Unpack[ClientOptions],
    ) -> None:
        self.settings = Settings(**options)
        self.clock: Clock = SystemClock() if clock is None else clock
        self._http = httpx.Client(transport=DeadlineTransport() if transport is None else transport)
        self.parse_jobs = JobResource(self, Resource.PARSE_JOBS)
        self.extract_jobs = JobResource(self, Resource.EXTRACT_JOBS)
        self.build_schema_jobs = JobResource(self, Resource.BUILD_SCHEMA_JOBS)

    def parse(self, payload: Mapping[str, object]) -> ParseResult:
        """Parse a small document at once. Raises SyncTimeoutError if it is too large for that. Never retried."""
        return cast(ParseResult, self._direct(Resource.PARSE_JOBS, payload))

    def extract(self, payload: Mapping[str, object]) -> ExtractResult:
        """Extract from a small document at once. Raises SyncTimeoutError if it is too large. Never retried."""
        return cast(ExtractResult, self._direct(Resource.EXTRACT_JOBS, payload))

    def build_schema(self, payload: Mapping[str, object]) -> BuildSchemaResult:
        """Build a schema at once. Raises SyncTimeoutError if the documents are too large. Never retried."""
        return cast(BuildSchemaResult, self._direct(Resource.BUILD_SCHEMA_JOBS, payload))

    def send(self, request: routes.ApiRequest, limit: float) -> ApiResponse:
        """Send one request, which has `limit` seconds in all, and return its answer, read to the end."""
        response = self._http.send(self._http.build_request(**self.settings.arguments(request, limit)))
        return ApiResponse(status_code=response.status_code, headers=response.headers, body=response.content)

    def close(self) -> None:
        """Close the transport."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _direct(self, resource: Resource, payload: Mapping[str, object]) -> object:
        request = routes.direct_request(resource, payload)
        return read_direct(self.send(request, self.settings.direct_timeout), resource)


class JobResource(Generic[ResultT]):
    """The jobs of one kind."""

    def __init__(self, client: Client, resource: Resource) -> None:
        self._client = client
        self._settings = client.settings
        self._resource = resource

    def create(self, payload: Mapping[str, object], *, idempotency_key: str | None = None) -> Job[ResultT]:
        """Submit a job and return it as the server first describes it.

        A transient failure is tried again as the client's `create_policy` says: the same bytes with the same
        `Idempotency-Key`, so that the job is not created twice. The key is made by the client's `key_factory`
        unless one is given (give one to repeat a submit after a crash). The last failure is raised.
        """
        client, settings = self._client, self._settings
        key = settings.key_factory() if idempotency_key is None else idempotency_key
        request = routes.create_request(self._resource, payload, key)
        core = CreateCore(settings.create_policy, resolution=resolution_of(client.clock))
        step: Fetch | Sleep | Raise = Fetch()
        while True:
            match step:
                case Fetch():
                    try:
                        response = client.send(request, settings.request_timeout)
                        return cast("Job[ResultT]", read_created(response, self._resource, settings.words).job)
                    except Exception as error:  # noqa: BLE001  (the error table decides)
                        hint = hint_of_error(error, settings.wall)
                        step = core.failed(error, hint=hint, now=client.clock.monotonic())
                case Sleep(seconds=seconds):
                    client.clock.sleep(seconds)
                    step = core.slept(client.clock.monotonic())
                case Raise(error=reason):
                    raise reason

    def get(self, job_id: str, *, timeout: float | None = None) -> Job[ResultT]:
        """Return a job as it is now; one request, which has `timeout` seconds in all.

        Raises JobIdMismatchError if the answer is about another job, ValueError if `job_id` cannot be one.
        """
        return self._fetch(job_id, self._settings.limit(timeout)).job

    def wait(self, job_id: str, **options: Unpack[WaitOptions]) -> Job[ResultT]:
        """Wait until a job has ended, and return it. `options` and errors are those of `wait_for_job`."""
        routes.escape_job_id(job_id)
        return wait_for_job(
            lambda limit: self._fetch(job_id, limit),
            clock=self._client.clock,
            wall=self._settings.wall,
            **options,
        )

    def list(
        self,
        *,
        page: int | None = None,
        page_size: int | None = None,
        status: JobStatus | str | None = None,
    ) -> JobList[ResultT]:
        """Return one page of jobs; pages count from 0."""
        request = routes.list_request(self._resource, page=page, page_size=page_size, status=status)
        response = self._client.send(request, self._settings.request_timeout)
        return read_jobs(response, self._resource, self._settings.words)

    def cancel(self, job_id: str) -> Job[ResultT]:
        """Ask the server to cancel a job, and return it as it is then. Raises as `get`."""
        request = routes.cancel_request(self._resource, job_id)
        response = self._client.send(request, self._settings.request_timeout)
        return cast("Job[ResultT]", read_job(response, self._resource, job_id, self._settings.words).job)

    def _fetch(self, job_id: str, limit: float) -> Answer[Any]:
        response = self._client.send(routes.get_request(self._resource, job_id), limit)
        return read_job(response, self._resource, job_id, self._settings.words)
