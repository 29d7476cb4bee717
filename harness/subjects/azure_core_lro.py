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
from dataclasses import replace
from typing import Any

from ..protocols import JobView, WaitCall, WaiterBench, WaiterSubject
from ._azure_transport import answered, over, over_async
from ._translate import (
    PLAIN,
    AsyncTranslated,
    Translated,
    Vocabulary,
    adapter,
    error_of,
    errors_when,
    five,
    id_of,
    payload_of,
    quoted,
    subjects,
)

DIALECT = replace(
    PLAIN,
    limit="none",
    failure="raise",
    transient="client",
    client_retries=3,
    least_hint=0.0,
    parameters=frozenset({"poll_interval"}),
    defaults={"first_delay": 30.0, "factor": 1.0, "cap": 30.0, "fetch_timeout": 300.0},
)

CLAIMS = frozenset("schedule prompt_stop only_reads failure result retry_after retry_after_2xx".split())

WORDS = Vocabulary(
    prefix="/operations/",
    words=five("Succeeded", "Failed", "Canceled", "Running", "NotStarted"),
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
    from azure.core.pipeline import PipelineContext, PipelineResponse, policies
    from azure.core.polling import AsyncLROPoller, async_base_polling, base_polling
    from azure.core.rest import HttpRequest

    def begun(transport: Any, bench: WaiterBench, call: WaitCall, *, asynchronous: bool = False) -> Any:
        """The answer to the request that began the operation, which a client holds before it polls."""
        request = HttpRequest("POST", f"{bench.base_url}/operations", headers={"x-ms-client-request-id": "request-1"})
        job = bench.base_url + WORDS.prefix + quoted(call.job_id)
        answer = httpx.Response(202, headers={"operation-location": job}, content=b"")
        return PipelineResponse(
            request, answered(request, answer, asynchronous=asynchronous), PipelineContext(transport)
        )

    def interval(call: WaitCall) -> dict[str, Any]:
        return {} if call.poll_interval is None else {"timeout": call.poll_interval}

    def result(response: Any) -> Any:
        return response.http_response.json()

    def wait(bench: WaiterBench, call: WaitCall) -> Any:
        transport = over(httpx.Client(transport=Translated(bench, WORDS, call.resource), timeout=300))
        stack: list[Any] = [policies.RequestIdPolicy(), policies.ContentDecodePolicy(), policies.RetryPolicy()]
        client: Any = PipelineClient(bench.base_url, transport=transport, policies=stack)
        method: Any = base_polling.LROBasePolling(**interval(call))
        method.initialize(client, begun(transport, bench, call), result)
        method.run()
        return method.resource()

    async def wait_async(bench: WaiterBench, call: WaitCall) -> Any:
        transport = over_async(httpx.AsyncClient(transport=AsyncTranslated(bench, WORDS, call.resource), timeout=300))
        stack: list[Any] = [policies.RequestIdPolicy(), policies.ContentDecodePolicy(), policies.AsyncRetryPolicy()]
        client: Any = AsyncPipelineClient(bench.base_url, transport=transport, policies=stack)
        method: Any = async_base_polling.AsyncLROBasePolling(**interval(call))
        return await AsyncLROPoller(client, begun(transport, bench, call, asynchronous=True), result, method).result()

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


ADAPTER = adapter(
    "azure-core", load, "long-running operations: the polling method and AsyncLROPoller", "sync", "asyncio"
)
