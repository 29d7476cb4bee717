"""``azure-core`` (PyPI, MIT), unmodified: its polling of long-running operations, over a real pipeline with its own retry policy.

Its documentation: it analyses the first response, polls, and asks for the final resource; it looks for "a 'retry-after' header to set
timeout, otherwise use configured timeout", the polling interval; a status of ``Failed`` or ``Canceled`` raises ``HttpResponseError``.
``RetryPolicy`` retries a table of statuses of its own, and broken connections, three times each. There is no limit of time but ``LROPoller.result(timeout)``,
which joins a thread: that is not run here and not claimed, and the synchronous subject is the poller's own polling method, ``run()``.
Failures and transport errors are one type, told apart by their cause. Case of the words, unknown words, dates and milliseconds in
``Retry-After`` are documented nowhere, so none is claimed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..dialect import WaiterDialect
from ..protocols import JobView, WaitCall, WaiterBench, WaiterSubject
from ._translate import (
    AsyncTranslated,
    Translated,
    Vocabulary,
    adapter,
    error_of,
    errors_when,
    id_of,
    payload_of,
    subjects,
)

DIALECT = WaiterDialect(
    limit="none",
    words="enum",
    failure="raise",
    transient="client",
    client_retries=3,
    least_hint=0.0,
    early_wake="fetch",
    fetch_limit="phase",
    parameters=frozenset({"poll_interval"}),
    defaults={"first_delay": 30.0, "factor": 1.0, "cap": 30.0, "fetch_timeout": 300.0},
    clock="module",
)

CLAIMS = frozenset("schedule prompt_stop only_reads failure result retry_after retry_after_2xx".split())

WORDS = Vocabulary(
    prefix="/operations/",
    words={
        "completed": "Succeeded",
        "failed": "Failed",
        "cancelled": "Canceled",
        "processing": "Running",
        "pending": "NotStarted",
    },
    envelope=lambda job, word: {
        "id": id_of(job),
        "status": word,
        "result": payload_of(job),
        "error": error_of(job),
    },
)


def view(operation: Mapping[str, Any]) -> JobView:
    """What the deserialised status monitor says."""
    status = WORDS.meaning(operation.get("status"))
    return JobView(job_id=operation.get("id"), status=status, result=operation.get("result"))


def load() -> Sequence[WaiterSubject]:
    """Import the package and build its two subjects."""
    import httpx
    from azure.core import AsyncPipelineClient, PipelineClient, exceptions
    from azure.core.pipeline import PipelineContext, PipelineResponse, policies, transport
    from azure.core.polling import AsyncLROPoller, async_base_polling, base_polling
    from azure.core.rest import HttpRequest, _http_response_impl, _http_response_impl_async

    def answered(kind: Any, request: Any, answer: httpx.Response) -> Any:
        made = kind(
            request=request,
            internal_response=answer,
            status_code=answer.status_code,
            reason=answer.reason_phrase,
            content_type=answer.headers.get("content-type"),
            headers=answer.headers,
            stream_download_generator=None,
        )
        made._content = answer.content  # noqa: SLF001 - as its own transports do after reading
        return made

    def sent(error: httpx.TransportError) -> Exception:
        unsent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
        kind: Any = exceptions.ServiceRequestError if unsent else exceptions.ServiceResponseError
        made: Exception = kind(str(error), error=error)
        return made

    http_transport: Any = transport.HttpTransport
    async_http_transport: Any = transport.AsyncHttpTransport

    class Transport(http_transport):  # type: ignore[misc]
        def __init__(self, client: httpx.Client) -> None:
            self.client = client

        def open(self) -> None:
            pass

        def close(self) -> None:
            pass

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def send(self, request: Any, **_: Any) -> Any:
            try:
                answer = self.client.request(request.method, request.url, headers=dict(request.headers))
            except httpx.TransportError as error:
                raise sent(error) from error
            return answered(_http_response_impl.HttpResponseImpl, request, answer)

    class AsyncTransport(async_http_transport):  # type: ignore[misc]
        def __init__(self, client: httpx.AsyncClient) -> None:
            self.client = client

        async def open(self) -> None:
            pass

        async def close(self) -> None:
            pass

        async def __aenter__(self) -> Any:
            return self

        async def __aexit__(self, *_: object) -> None:
            pass

        async def send(self, request: Any, **_: Any) -> Any:
            try:
                answer = await self.client.request(request.method, request.url, headers=dict(request.headers))
            except httpx.TransportError as error:
                raise sent(error) from error
            return answered(_http_response_impl_async.AsyncHttpResponseImpl, request, answer)

    def begun(kind: Any, over: Any, bench: WaiterBench, call: WaitCall) -> Any:
        """The answer to the request that began the operation, which a client holds before it polls."""
        request = HttpRequest("POST", f"{bench.base_url}/operations", headers={"x-ms-client-request-id": "request-1"})
        job = bench.base_url + WORDS.prefix + quoted(call.job_id)
        answer = httpx.Response(202, headers={"operation-location": job}, content=b"")
        return PipelineResponse(request, answered(kind, request, answer), PipelineContext(over))

    def interval(call: WaitCall) -> dict[str, Any]:
        return {} if call.poll_interval is None else {"timeout": call.poll_interval}

    def result(response: Any) -> Any:
        return response.http_response.json()

    def wait(bench: WaiterBench, call: WaitCall) -> Any:
        over = Transport(httpx.Client(transport=Translated(bench, WORDS, call.resource), timeout=300))
        stack: list[Any] = [policies.RequestIdPolicy(), policies.ContentDecodePolicy(), policies.RetryPolicy()]
        method: Any = base_polling.LROBasePolling(**interval(call))
        first = begun(_http_response_impl.HttpResponseImpl, over, bench, call)
        method.initialize(PipelineClient(bench.base_url, transport=over, policies=stack), first, result)
        method.run()
        return method.resource()

    async def wait_async(bench: WaiterBench, call: WaitCall) -> Any:
        over = AsyncTransport(httpx.AsyncClient(transport=AsyncTranslated(bench, WORDS, call.resource), timeout=300))
        stack: list[Any] = [policies.RequestIdPolicy(), policies.ContentDecodePolicy(), policies.AsyncRetryPolicy()]
        client: Any = AsyncPipelineClient(bench.base_url, transport=over, policies=stack)
        method: Any = async_base_polling.AsyncLROBasePolling(**interval(call))
        first = begun(_http_response_impl_async.AsyncHttpResponseImpl, over, bench, call)
        return await AsyncLROPoller(client, first, result, method).result()

    ended = errors_when(
        exceptions.HttpResponseError, lambda error: isinstance(error.__cause__, base_polling.OperationFailed)
    )

    return subjects(
        "azure-core",
        {"sync": wait, "asyncio": wait_async},
        dialect=DIALECT,
        claims=CLAIMS,
        errors={"failure": (ended,), "transport": (exceptions.AzureError,)},
        view=view,
        patch=("azure.core",),
    )


def quoted(job_id: str) -> str:
    """The id as the server that gave the URL out would have escaped it; dots alone too, which URL libraries take for folders."""
    from urllib.parse import quote

    return job_id.replace(".", "%2E") if set(job_id) == {"."} else quote(job_id, safe="")


ADAPTER = adapter(
    "azure-core", load, "long-running operations: the polling method and AsyncLROPoller", "sync", "asyncio"
)
