"""The asynchronous client, on asyncio and trio. It mirrors `client` line by line, and contains no rule either."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Generic, Self, Unpack, cast

import httpx

from ..normaliser.envelope import Resource
from ..normaliser.job import Job, JobStatus, ResultT
from ..normaliser.job_list import JobList
from ..normaliser.results import BuildSchemaResult, ExtractResult, ParseResult
from ..waiter.aio import async_wait_for_job, within
from ..waiter.clocks import AnyioClock, AsyncClock, resolution_of
from ..waiter.core import Fetch, Raise, Sleep
from ..waiter.outcome import Answer, hint_of_error
from ..waiter.policy import WaitOptions
from . import routes
from .create_retry import CreateCore
from .resources import ApiResponse, read_created, read_direct, read_job, read_jobs
from .settings import ClientOptions, Settings

__all__ = ["AsyncClient", "AsyncJobResource"]


class AsyncClient:
    """A client for tasks: `Client` with `await`. Close it with `aclose`, or use it in an `async with` statement.

    A request that takes longer than its limit is cancelled, and raises FetchTimeoutError (or httpx's own timeout,
    whose phases have the same limit). The limit counts on the event loop's clock, whatever `clock` is. All else,
    the parameters included, is as in `Client`.
    """

    parse_jobs: AsyncJobResource[ParseResult]
    extract_jobs: AsyncJobResource[ExtractResult]
    build_schema_jobs: AsyncJobResource[BuildSchemaResult]

    def __init__(
        self,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        clock: AsyncClock | None = None,
        **options: Unpack[ClientOptions],
    ) -> None:
        self.settings = Settings(**options)
        self.clock: AsyncClock = AnyioClock() if clock is None else clock
        self._http = httpx.AsyncClient(transport=httpx.AsyncHTTPTransport() if transport is None else transport)
        self.parse_jobs = AsyncJobResource(self, Resource.PARSE_JOBS)
        self.extract_jobs = AsyncJobResource(self, Resource.EXTRACT_JOBS)
        self.build_schema_jobs = AsyncJobResource(self, Resource.BUILD_SCHEMA_JOBS)

    async def parse(self, payload: Mapping[str, object]) -> ParseResult:
        """Parse a small document at once. Raises SyncTimeoutError if it is too large for that. Never retried."""
        return cast(ParseResult, await self._direct(Resource.PARSE_JOBS, payload))

    async def extract(self, payload: Mapping[str, object]) -> ExtractResult:
        """Extract from a small document at once. Raises SyncTimeoutError if it is too large. Never retried."""
        return cast(ExtractResult, await self._direct(Resource.EXTRACT_JOBS, payload))

    async def build_schema(self, payload: Mapping[str, object]) -> BuildSchemaResult:
        """Build a schema at once. Raises SyncTimeoutError if the documents are too large. Never retried."""
        return cast(BuildSchemaResult, await self._direct(Resource.BUILD_SCHEMA_JOBS, payload))

    async def send(self, request: routes.ApiRequest, limit: float) -> ApiResponse:
        """Send one request and return its answer, read to the end; the caller bounds it as a whole (`send_within`)."""
        response = await self._http.send(self._http.build_request(**self.settings.arguments(request, limit)))
        return ApiResponse(status_code=response.status_code, headers=response.headers, body=response.content)

    async def send_within(self, request: routes.ApiRequest, limit: float) -> ApiResponse:
        """Send one request, which has `limit` seconds in all. Raises FetchTimeoutError after that."""
        return await within(limit, lambda: self.send(request, limit))

    async def aclose(self) -> None:
        """Close the transport."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def _direct(self, resource: Resource, payload: Mapping[str, object]) -> object:
        request = routes.direct_request(resource, payload)
        return read_direct(await self.send_within(request, self.settings.direct_timeout), resource)


class AsyncJobResource(Generic[ResultT]):
    """The jobs of one kind."""

    def __init__(self, client: AsyncClient, resource: Resource) -> None:
        self._client = client
        self._settings = client.settings
        self._resource = resource

    async def create(self, payload: Mapping[str, object], *, idempotency_key: str | None = None) -> Job[ResultT]:
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
                        response = await client.send_within(request, settings.request_timeout)
                        return cast("Job[ResultT]", read_created(response, self._resource, settings.words).job)
                    except Exception as error:  # noqa: BLE001  (the error table decides)
                        hint = hint_of_error(error, settings.wall)
                        step = core.failed(error, hint=hint, now=client.clock.monotonic())
                case Sleep(seconds=seconds):
                    await client.clock.sleep(seconds)
                    step = core.slept(client.clock.monotonic())
                case Raise(error=reason):
                    raise reason

    async def get(self, job_id: str, *, timeout: float | None = None) -> Job[ResultT]:
        """Return a job as it is now; one request, which has `timeout` seconds in all.

        Raises JobIdMismatchError if the answer is about another job, ValueError if `job_id` cannot be one.
        """
        limit = self._settings.limit(timeout)
        answer = await within(limit, lambda: self._fetch(job_id, limit))
        return cast("Job[ResultT]", answer.job)

    async def wait(self, job_id: str, **options: Unpack[WaitOptions]) -> Job[ResultT]:
        """Wait until a job has ended, and return it. `options` and errors are those of `async_wait_for_job`."""
        routes.escape_job_id(job_id)
        return await async_wait_for_job(
            lambda limit: self._fetch(job_id, limit),
            clock=self._client.clock,
            wall=self._settings.wall,
            **options,
        )

    async def list(
        self,
        *,
        page: int | None = None,
        page_size: int | None = None,
        status: JobStatus | str | None = None,
    ) -> JobList[ResultT]:
        """Return one page of jobs; pages count from 0."""
        request = routes.list_request(self._resource, page=page, page_size=page_size, status=status)
        response = await self._client.send_within(request, self._settings.request_timeout)
        return read_jobs(response, self._resource, self._settings.words)

    async def cancel(self, job_id: str) -> Job[ResultT]:
        """Ask the server to cancel a job, and return it as it is then. Raises as `get`."""
        request = routes.cancel_request(self._resource, job_id)
        response = await self._client.send_within(request, self._settings.request_timeout)
        return cast("Job[ResultT]", read_job(response, self._resource, job_id, self._settings.words).job)

    async def _fetch(self, job_id: str, limit: float) -> Answer[Any]:
        response = await self._client.send(routes.get_request(self._resource, job_id), limit)
        return read_job(response, self._resource, job_id, self._settings.words)
