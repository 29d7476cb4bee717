"""``landingai-ade`` (PyPI, Apache-2.0), unmodified: its own ``wait`` and its real client over the bench's transports.

Dialect and claims are read from its documentation: it polls with backoff 1 s, factor 1.5, cap 10 s (or a fixed ``poll_interval``) until
``timeout``; ``raise_on_failure`` raises ``JobFailedError`` "if the job ends failed/cancelled with an error attached"; its HTTP client
retries connection errors, 408, 409, 429 and 5xx twice by itself. It promises no pacing by ``Retry-After`` of the waits themselves, no
absolute fetch timeout and no synonyms of status words, so none is claimed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from ..adapter import Adapter
from ..dialect import Mode, WaiterDialect
from ..protocols import CreateCall, JobView, WaitCall, WaiterBench, WaiterSubject

PACKAGE = "landingai-ade"

CLAIMS = frozenset(
    """
    fetch_first schedule deadline final_poll prompt_stop only_reads failure disjoint result
    unknown_status cancel_prompt cancel_original monotonic independent twins resources
    """.split()
)

DIALECT = WaiterDialect(
    words="enum",
    transient="client",
    client_retries=2,
    early_wake="fetch",
    fetch_limit="phase",
    parameters=frozenset({"timeout", "poll_interval", "raise_on_failure"}),
    defaults={"fetch_timeout": 480.0},
    clock="module",
)


def view(job: Any) -> JobView:
    """What its ``Job`` says; its documentation sends readers of an unknown status word to ``raw``."""
    raw = dict(job.raw)
    result = job.result
    return JobView(
        job_id=job.job_id,
        status=job.status.value,
        raw_status=raw.get("status") if isinstance(raw.get("status"), str) else None,
        result=None if result is None else result.to_dict(),
        error=None if job.error is None else {"code": job.error.code, "message": job.error.message},
        raw=raw,
    )


def load() -> Sequence[WaiterSubject]:
    """Import the package and build its two subjects."""
    # Its models are otherwise imported and built at their first use, which would be while the clock is frozen.
    os.environ.setdefault("DEFER_PYDANTIC_BUILD", "false")
    import httpx
    import landingai_ade
    from landingai_ade import _base_client
    from landingai_ade.lib import v2_errors
    from landingai_ade.resources.v2 import build_schema, extract, parse  # noqa: F401 - two are imported for their models

    platform = _base_client.get_platform()

    def client(bench: WaiterBench) -> Any:
        return landingai_ade.LandingAIADE(
            apikey="key", v2_base_url=bench.base_url, http_client=httpx.Client(transport=bench.transport())
        )

    def async_client(bench: WaiterBench) -> Any:
        own = landingai_ade.AsyncLandingAIADE(
            apikey="key", v2_base_url=bench.base_url, http_client=httpx.AsyncClient(transport=bench.async_transport())
        )
        # Asked for in a thread at the first request, for a header; the simulated loop has no threads.
        own._platform = platform  # noqa: SLF001
        return own

    def jobs(own: Any, resource: str, kind: Any) -> Any:
        # The class is public and documented, but `client.v2` has no attribute for it in 1.18.1.
        return kind(own) if resource == "build_schema_jobs" else getattr(own.v2, resource)

    def arguments(call: WaitCall) -> dict[str, Any]:
        return {name: getattr(call, name) for name in ("timeout", "poll_interval", "raise_on_failure")}

    def wait(bench: WaiterBench, call: WaitCall) -> Any:
        with client(bench) as own:
            return jobs(own, call.resource, build_schema.BuildSchemaJobsResource).wait(call.job_id, **arguments(call))

    async def wait_async(bench: WaiterBench, call: WaitCall) -> Any:
        async with async_client(bench) as own:
            return await jobs(own, call.resource, build_schema.AsyncBuildSchemaJobsResource).wait(
                call.job_id, **arguments(call)
            )

    def create(bench: WaiterBench, call: CreateCall) -> Any:
        with client(bench) as own:
            return jobs(own, call.resource, build_schema.BuildSchemaJobsResource).create(**_create_arguments(call))

    async def create_async(bench: WaiterBench, call: CreateCall) -> Any:
        async with async_client(bench) as own:
            return await jobs(own, call.resource, build_schema.AsyncBuildSchemaJobsResource).create(
                **_create_arguments(call)
            )

    def direct(bench: WaiterBench, call: CreateCall) -> Any:
        with client(bench) as own:
            if call.resource == "build_schema_jobs":
                return build_schema.BuildSchemaResource(own).run(**_create_arguments(call))
            return getattr(own.v2, _DIRECT[call.resource])(**_create_arguments(call))

    async def direct_async(bench: WaiterBench, call: CreateCall) -> Any:
        async with async_client(bench) as own:
            if call.resource == "build_schema_jobs":
                return await build_schema.AsyncBuildSchemaResource(own).run(**_create_arguments(call))
            return await getattr(own.v2, _DIRECT[call.resource])(**_create_arguments(call))

    def subject(mode: Mode) -> WaiterSubject:
        synchronous = mode == "sync"
        return WaiterSubject(
            name=f"landingai-ade-{mode}",
            mode=mode,
            family=PACKAGE,
            package=PACKAGE,
            summary="LandingAI ADE SDK, v2 job resources",
            wait=wait if synchronous else wait_async,
            create=create if synchronous else create_async,
            direct=direct if synchronous else direct_async,
            view=view,
            dialect=DIALECT,
            claims=CLAIMS,
            errors={
                "timeout": (v2_errors.JobWaitTimeoutError, v2_errors.V2SyncTimeoutError),
                "failure": (v2_errors.JobFailedError,),
                "transport": (landingai_ade.APIError,),
                "value": (ValueError,),
            },
            patch=("landingai_ade",),
            twins=lambda: [subject("sync"), subject("asyncio")],
        )

    return [subject("sync"), subject("asyncio")]


_DIRECT = {"parse_jobs": "parse", "extract_jobs": "extract"}


def _create_arguments(call: CreateCall) -> dict[str, Any]:
    """The operation id travels in whatever text field the resource has."""
    if call.resource == "parse_jobs":
        return {"document_url": f"https://example.invalid/?operation={call.operation}"}
    if call.resource == "extract_jobs":
        return {"schema": json.dumps({"type": "object"}), "markdown": f"operation={call.operation}"}
    return {"prompt": f"operation={call.operation}", "markdowns": ["text"]}


ADAPTER = Adapter(
    name=PACKAGE,
    provides=("landingai-ade-sync", "landingai-ade-asyncio"),
    group="real",
    load=load,
    package=PACKAGE,
    summary="LandingAI ADE SDK (v2 job resources), synchronous and asyncio",
)
