"""``runwayml`` (PyPI, Apache-2.0), unmodified: ``wait_for_task_output`` of its two clients' tasks.

Its documentation: the call blocks "until the task is complete"; "if the task fails or is cancelled, a ``TaskFailedError`` will be
raised"; ``timeout`` is "the maximum amount of time to wait for the task to complete in seconds", after which it raises
``TaskTimeoutError``; the value is that of ``tasks.retrieve``. The client retries connection errors, 408, 409, 429 and 5xx twice, a
table of its own, and the two clients are "otherwise identical". It sleeps first, 4.5 to 7.5 s at random; the length of its pauses is documented nowhere, and
neither are unknown words or a fetch at the deadline, so none is claimed. It does not clip: the limit is looked at after a poll.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..protocols import JobView, WaitCall, WaiterSubject
from ._stainless import build_models_now, waits
from ._translate import PLAIN, Vocabulary, adapter, error_of, finite, five, id_of, payload_of, subjects

DIALECT = replace(
    PLAIN,
    first="sleep",
    clips=False,
    final_poll=False,
    failure="raise",
    transient="client",
    client_retries=2,
    parameters=frozenset({"timeout"}),
    defaults={"first_delay": 7.5, "factor": 1.0, "cap": 7.5, "jitter_seed": 0, "fetch_timeout": 60.0},
)

CLAIMS = frozenset("deadline prompt_stop only_reads failure disjoint result twins".split())


def _envelope(job: Mapping[str, Any], word: Any) -> Mapping[str, Any]:
    error = error_of(job) or {}
    fields = {"id": id_of(job), "status": word, "createdAt": "2023-11-14T22:13:20Z", "result": payload_of(job)}
    return {**fields, "output": [], "progress": 0.5, "failure": error.get("message"), "failureCode": error.get("code")}


WORDS = Vocabulary(
    prefix="/v1/tasks/",
    words=five("SUCCEEDED", "FAILED", "CANCELLED", "RUNNING", "PENDING"),
    envelope=_envelope,
)


def view(task: Any) -> JobView:
    """What its task details say. The model keeps fields that it does not know, so the payload is still there."""
    error = getattr(task, "failure", None)
    return JobView(
        job_id=task.id,
        status=WORDS.meaning(task.status),
        result=getattr(task, "result", None),
        error=None if error is None else {"code": getattr(task, "failure_code", None), "message": error},
    )


def load() -> Sequence[WaiterSubject]:
    """Import the package and build its two subjects."""
    build_models_now()
    import runwayml
    from runwayml import _base_client
    from runwayml.lib import polling
    from runwayml.resources import tasks

    assert tasks.__name__  # imported for its models

    def ask(client: Any, call: WaitCall) -> Any:
        task = polling.create_waitable_resource(polling.NewTaskCreatedResponse, client)(id=call.job_id)
        return task.wait_for_task_output(timeout=finite(call.timeout))

    async def ask_async(client: Any, call: WaitCall) -> Any:
        task = polling.create_async_waitable_resource(polling.AsyncNewTaskCreatedResponse, client)(id=call.job_id)
        return await task.wait_for_task_output(timeout=finite(call.timeout))

    return subjects(
        "runwayml",
        waits(_base_client, WORDS, runwayml.RunwayML, runwayml.AsyncRunwayML, ask=ask, ask_async=ask_async),
        dialect=DIALECT,
        claims=CLAIMS,
        errors={
            "timeout": (polling.TaskTimeoutError,),
            "failure": (polling.TaskFailedError,),
            "transport": (runwayml.APIError,),
            "value": (ValueError,),
        },
        view=view,
        carries=lambda error: {"view": view(error.task_details)} if hasattr(error, "task_details") else {},
        patch=("runwayml._base_client", "runwayml.lib.polling"),  # the modules that use time
    )


ADAPTER = adapter("runwayml", load, "Runway SDK's wait_for_task_output (sleeps first)", "sync", "asyncio")
