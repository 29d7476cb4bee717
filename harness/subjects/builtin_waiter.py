"""The built-in waiter on the bench: the real client over the real synchronous transport, whose network alone is simulated."""

from __future__ import annotations

import dataclasses
import random
import ssl
from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from ..adapter import Adapter
from ..dialect import Mode, WaiterDialect
from ..protocols import CreateCall, JobView, WaitCall, WaiterBench, WaiterSubject
from .client import ApiError, AsyncClient, Client, SyncTimeoutError
from .client.transport import DeadlineTransport
from .normaliser import Job
from .waiter import FetchTimeoutError, JobFailedError, JobWaitTimeoutError, PollEvent

PARAMETERS = frozenset(item.name for item in dataclasses.fields(WaitCall)) - {"job_id", "resource", "attempts"}

CLAIMS = frozenset(
    """
    fetch_first schedule jitter early_wake deadline final_poll absolute_fetch_timeout prompt_stop only_reads
    failure disjoint timeout_tells result unknown_status unknown_visible retry_after retry_after_ms retry_after_date
    retry_after_2xx transient permanent not_found_grace cancel_prompt cancel_original monotonic overflow_safe bounded_memory
    independent twins resources validates ids_escaped on_poll reference
    create_idempotent submit_told submit_retries submit_surfaces submit_paces direct_504
    """.split()
)


def view(job: Job[Any]) -> JobView:
    """What a job says, in the bench's words."""
    return JobView(
        job_id=job.job_id,
        status=job.status.value,
        raw_status=job.raw_status,
        result=None if job.result is None else dict(job.result.payload),
        error=None if job.error is None else {"code": job.error.code, "message": job.error.message},
        raw=job.raw,
    )


def carries(error: BaseException) -> Mapping[str, object]:
    """What the waiter's own errors hand out."""
    if isinstance(error, JobWaitTimeoutError):
        return {
            "view": None if error.job is None else view(error.job).as_json(),
            "raw_status": error.raw_status,
            "elapsed": error.elapsed,
            "polls": error.polls,
        }
    if isinstance(error, JobFailedError):
        return {"view": view(error.job).as_json()}
    return {}


def options(bench: WaiterBench, call: WaitCall) -> dict[str, Any]:
    """The arguments of ``wait`` for a call."""
    chosen = {name: getattr(call, name) for name in sorted(PARAMETERS - {"jitter_seed"})}

    def on_poll(event: PollEvent) -> None:
        if event.job is not None:
            bench.on_poll(view(event.job), polls=event.polls)

    jitter = None if call.jitter_seed is None else random.Random(call.jitter_seed)  # noqa: S311 - a jitter, not a secret
    return {**chosen, "jitter": jitter, "on_poll": on_poll}


_NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Reading the certificates costs some 30 ms a client, and the bench speaks plain HTTP."""


def client_of(bench: WaiterBench) -> Client:
    """A synchronous client whose own transport runs on the bench's network."""
    own = DeadlineTransport(
        network_backend=bench.network_backend(), monotonic=bench.clock.monotonic, ssl_context=_NO_CERTIFICATES
    )
    return Client(
        api_key="key",
        base_url=bench.base_url,
        transport=bench.recorded(own),
        clock=bench.clock,
        wall=bench.clock.wall,
        key_factory=lambda: f"key-{bench.random.getrandbits(64):016x}",
    )


def async_client_of(bench: WaiterBench) -> AsyncClient:
    """An asynchronous client over the bench's transport."""
    return AsyncClient(
        api_key="key",
        base_url=bench.base_url,
        transport=bench.async_transport(),
        clock=bench.async_clock,
        wall=bench.clock.wall,
        key_factory=lambda: f"key-{bench.random.getrandbits(64):016x}",
    )


def wait(bench: WaiterBench, call: WaitCall) -> object:
    """One synchronous wait."""
    with client_of(bench) as client:
        return getattr(client, call.resource).wait(call.job_id, **options(bench, call))


async def wait_async(bench: WaiterBench, call: WaitCall) -> object:
    """One asynchronous wait."""
    async with async_client_of(bench) as client:
        return await getattr(client, call.resource).wait(call.job_id, **options(bench, call))


def create(bench: WaiterBench, call: CreateCall) -> object:
    """One submit."""
    with client_of(bench) as client:
        return getattr(client, call.resource).create({"operation": call.operation})


async def create_async(bench: WaiterBench, call: CreateCall) -> object:
    """One asynchronous submit."""
    async with async_client_of(bench) as client:
        return await getattr(client, call.resource).create({"operation": call.operation})


_DIRECT = {"parse_jobs": "parse", "extract_jobs": "extract", "build_schema_jobs": "build_schema"}


def direct(bench: WaiterBench, call: CreateCall) -> object:
    """One call of the direct path."""
    with client_of(bench) as client:
        return getattr(client, _DIRECT[call.resource])({"operation": call.operation})


async def direct_async(bench: WaiterBench, call: CreateCall) -> object:
    """One asynchronous call of the direct path."""
    async with async_client_of(bench) as client:
        return await getattr(client, _DIRECT[call.resource])({"operation": call.operation})


def subject(mode: Mode, **changes: Any) -> WaiterSubject:
    """The built-in waiter in one mode; ``changes`` replace fields (the zoo's bugs are such changes)."""
    synchronous = mode == "sync"
    made = WaiterSubject(
        name=f"builtin-{mode}",
        mode=mode,
        family="builtin-waiter",
        summary="the built-in waiter",
        wait=wait if synchronous else wait_async,
        create=create if synchronous else create_async,
        direct=direct if synchronous else direct_async,
        view=view,
        carries=carries,
        dialect=WaiterDialect(parameters=PARAMETERS),
        claims=CLAIMS,
        errors={
            "timeout": (JobWaitTimeoutError, SyncTimeoutError),
            "failure": (JobFailedError,),
            "transport": (ApiError, FetchTimeoutError, httpx.HTTPError, httpx.InvalidURL),
            "value": (ValueError,),
        },
        twins=twins,
    )
    return dataclasses.replace(made, **changes)


def twins() -> Sequence[WaiterSubject]:
    """All three modes."""
    return [subject("sync"), subject("asyncio"), subject("trio")]


ADAPTER = Adapter(
    name="builtin-waiter",
    provides=("builtin-sync", "builtin-asyncio", "builtin-trio"),
    group="builtin",
    load=twins,
    summary="the built-in waiter: synchronous, asyncio, trio",
)
