"""``openai`` (PyPI, Apache-2.0), unmodified: ``vector_stores.files.poll`` of its two clients.

Its documentation of ``poll``: it waits "for the vector store file to finish processing" and returns "even if the file failed";
``max_wait_seconds`` limits polling and raises ``TimeoutError``, "zero prevents any polling requests", in-flight requests and their
retries "may finish after the polling deadline", and timing out does not cancel anything. The pause is ``poll_interval_ms``. The client
retries connection errors, 408, 409, 429 and 5xx twice, a table of its own, and the two clients are "otherwise identical". Nothing is
said of the first poll, of unknown words, or of a fetch at the deadline, so none is claimed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..protocols import JobView, WaitCall, WaiterSubject
from ._stainless import build_models_now, waits
from ._translate import PLAIN, Vocabulary, adapter, error_of, five, id_of, payload_of, subjects

DIALECT = replace(
    PLAIN,
    final_poll=False,
    unknown_status="end",
    failure="return",
    transient="client",
    client_retries=2,
    parameters=frozenset({"timeout", "poll_interval"}),
    defaults={"factor": 1.0, "fetch_timeout": 600.0},
)

CLAIMS = frozenset("schedule deadline prompt_stop only_reads failure disjoint result twins ids_escaped".split())


def _envelope(job: Mapping[str, Any], word: Any) -> Mapping[str, Any]:
    error = error_of(job)
    return {
        "id": id_of(job),
        "object": "vector_store.file",
        "created_at": 1_700_000_000,
        "vector_store_id": "vs-1",
        "usage_bytes": 1,
        "status": word,
        "last_error": error and {**error, "code": "server_error"},
        "result": payload_of(job),
    }


WORDS = Vocabulary(
    prefix="/vector_stores/vs-1/files/",
    words=five("completed", "failed", "cancelled", "in_progress", "in_progress"),
    envelope=_envelope,
)


def view(file: Any) -> JobView:
    """What its ``VectorStoreFile`` says. The model keeps fields that it does not know, so the payload is still there."""
    error = file.last_error
    return JobView(
        job_id=file.id,
        status=WORDS.meaning(file.status),
        result=getattr(file, "result", None),
        error=None if error is None else {"code": error.code, "message": error.message},
    )


def _arguments(call: WaitCall) -> dict[str, Any]:
    given: dict[str, Any] = {"vector_store_id": "vs-1"}
    if math.isfinite(call.timeout):
        given["max_wait_seconds"] = call.timeout
    if call.poll_interval is not None:
        milliseconds = call.poll_interval * 1000
        given["poll_interval_ms"] = round(milliseconds) if math.isfinite(milliseconds) else milliseconds
    return given


def load() -> Sequence[WaiterSubject]:
    """Import the package and build its two subjects."""
    build_models_now()
    import openai
    from openai import _base_client
    from openai.resources.vector_stores import files

    assert files.__name__  # imported for its models

    def poll(client: Any, call: WaitCall) -> Any:
        return client.vector_stores.files.poll(call.job_id, **_arguments(call))

    return subjects(
        "openai",
        waits(_base_client, WORDS, openai.OpenAI, openai.AsyncOpenAI, ask=poll, ask_async=poll),
        dialect=DIALECT,
        claims=CLAIMS,
        errors={"timeout": (TimeoutError,), "transport": (openai.APIError,), "value": (ValueError,)},
        view=view,
        # The modules that use time; the package has some 2,000.
        patch=("openai._base_client", "openai._resource", "openai.lib._vector_stores"),
    )


ADAPTER = adapter("openai", load, "OpenAI SDK's vector_stores.files.poll", "sync", "asyncio")
