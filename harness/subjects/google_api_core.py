"""``google-api-core`` (PyPI, Apache-2.0), unmodified: ``Operation.result`` and ``AsyncOperation.result``.

Its documentation of ``result``: it polls periodically; ``timeout`` is "how long (in seconds) to wait for the operation to complete",
infinite if ``None``; and "if the operation does not complete within this timeout an exception will be thrown"; "does not block for more
than X seconds" is said of the same, RPC time being nobody's affair. An operation that ends by an error raises ``GoogleAPICallError``.
"If a polling RPC throws an error and retrying it fails, the whole future fails": the synchronous one polls on only while the operation
is unfinished. The asynchronous one has an older default, which retries 429, 500 and 502 on its schedule and nothing else.

Pauses are drawn between 0 and a growing delay, which the documentation of neither says, so no schedule is claimed. Both give up as soon
as the next pause would cross the limit. That both failures and transport errors are one type is told apart by the operation that the
former carries.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..protocols import JobView, WaitCall, WaiterBench, WaiterSubject
from ._translate import FETCH_ERRORS, PLAIN, adapter, error_of, errors_when, finite, id_of, payload_of, subjects

SYNC = replace(
    PLAIN,
    gives_up="before_pause",
    final_poll=False,
    failure="raise",
    transient="raise",
    parameters=frozenset({"timeout"}),
    defaults={"factor": 1.5, "cap": 20.0, "timeout": 900.0, "jitter_seed": 0, "fetch_timeout": 60.0},
)
ASYNC = replace(SYNC, defaults={**SYNC.defaults, "factor": 2.0, "cap": 60.0, "timeout": math.inf})

CLAIMS = frozenset("deadline prompt_stop only_reads failure result".split())


def operation_of(job: Any, asked: str) -> Any:
    """A long-running operation, in JSON, as Google's services would send it for this job."""
    if not isinstance(job, Mapping):
        return job
    operation: dict[str, Any] = {"name": str(id_of(job, asked)), "done": False}
    match job.get("status"):
        case "completed":
            value = payload_of(job)
            kind = {"@type": "type.googleapis.com/google.protobuf.Struct"}
            operation |= {"done": True, "response": {**kind, "value": value if isinstance(value, dict) else {}}}
        case "failed" | "cancelled" as word:
            message = (error_of(job) or {}).get("message", "")
            operation |= {"done": True, "error": {"code": 1 if word == "cancelled" else 13, "message": message}}
        case _:
            pass
    return operation


def load() -> Sequence[WaiterSubject]:
    """Import the package and build its two subjects."""
    import httpx
    from google.api_core import exceptions, operation, operation_async
    from google.longrunning import operations_pb2
    from google.protobuf import json_format, struct_pb2

    def failed(error: httpx.HTTPStatusError) -> Exception:
        """What Google's JSON connections raise for an error status."""
        made: Exception = exceptions.from_http_status(error.response.status_code, "HTTP")
        return made

    def wait(bench: WaiterBench, call: WaitCall) -> Any:
        def api_request(**_: Any) -> Any:
            try:
                return operation_of(bench.get_job(call.job_id, resource=call.resource, timeout=60), call.job_id)
            except httpx.HTTPStatusError as error:
                raise failed(error) from error

        return operation.from_http_json({"name": call.job_id}, api_request, struct_pb2.Struct).result(
            finite(call.timeout)
        )

    async def wait_async(bench: WaiterBench, call: WaitCall) -> Any:
        async def refresh(**_: Any) -> Any:
            try:
                job = await bench.get_job_async(call.job_id, resource=call.resource, timeout=60)
            except httpx.HTTPStatusError as error:
                raise failed(error) from error
            return json_format.ParseDict(operation_of(job, call.job_id), operations_pb2.Operation())

        async def cancel() -> None:
            raise AssertionError("a wait does not cancel")

        begun = operations_pb2.Operation(name=call.job_id)
        return await operation_async.AsyncOperation(begun, refresh, cancel, struct_pb2.Struct).result(
            finite(call.timeout)
        )

    ended_by_error = errors_when(
        exceptions.GoogleAPICallError, lambda error: isinstance(error.response, operations_pb2.Operation)
    )

    return subjects(
        "google-api-core",
        {"sync": wait, "asyncio": wait_async},
        dialect={"sync": SYNC, "asyncio": ASYNC},
        claims=CLAIMS,
        errors={
            "timeout": (TimeoutError,),
            "failure": (ended_by_error,),
            "transport": (exceptions.GoogleAPIError, json_format.Error, *FETCH_ERRORS),
        },
        view=lambda value: JobView(status="completed", result=json_format.MessageToDict(value)),
        patch=("google.api_core",),
    )


ADAPTER = adapter("google-api-core", load, "Operation.result and AsyncOperation.result", "sync", "asyncio")
