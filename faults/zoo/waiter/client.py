"""Seeded bugs of the client's other two paths: submits that are doubled, and the direct call that times out."""

from __future__ import annotations

import dataclasses
from typing import Any

import httpx

from ....harness.subjects.client.errors import ApiStatusError, SyncTimeoutError
from ....harness.subjects.error_table import ErrorClass
from ....harness.subjects.normaliser.envelope import Resource
from ....harness.subjects.waiter.core import Raise
from ..bug import SeededBug, wrapping

KEY = "idempotency-key"


def _key_is_popped(original: Any, self: Any, request: Any, limit: float) -> Any:
    arguments = original(self, request, limit)
    request.headers.pop(KEY, None)
    return arguments


def _reconnects_with_a_new_key(original: Any, self: Any, request: Any, limit: float) -> Any:
    try:
        return original(self, request, limit)
    except httpx.TransportError:
        if KEY not in request.headers:
            raise
        fresh = {**request.headers, KEY: self.settings.key_factory()}
        return original(self, dataclasses.replace(request, headers=fresh), limit)


def _sent_once_more(original: Any, self: Any, resource: Any, payload: Any) -> Any:
    try:
        return original(self, resource, payload)
    except SyncTimeoutError:
        return original(self, resource, payload)


def _always_names_parse(resource: Resource) -> SyncTimeoutError:  # noqa: ARG001
    return SyncTimeoutError(Resource.PARSE_JOBS)


def _hint_is_lost(original: Any, self: Any, error: Exception, *, hint: float | None, now: float) -> Any:  # noqa: ARG001
    return original(self, error, hint=None, now=now)


def _every_failure_is_final(original: Any, self: Any, error: Exception, *, hint: float | None, now: float) -> Any:  # noqa: ARG001
    return Raise(error=error)


def _hint_is_taken_for_granted(original: Any, self: Any, error: Exception, *, hint: float | None, now: float) -> Any:
    return original(self, error, hint=hint + 0.0, now=now)  # type: ignore[operator]


def _any_answer_may_get_better(original: Any, error: BaseException) -> ErrorClass:
    if isinstance(error, ApiStatusError):
        return ErrorClass.TRANSIENT
    found: ErrorClass = original(error)
    return found


BUGS = (
    SeededBug(
        name="a-submit-forgets-retry-after",
        summary="a submit is tried again on its own schedule, whatever the server asked for",
        invariant="waiter.submit_paced",
        source="D60 kubernetes/kubernetes#26871",
        suite="client",
        replaced={"client.create_retry:CreateCore.failed": wrapping(_hint_is_lost)},
    ),
    SeededBug(
        name="a-submit-is-tried-once",
        summary="a submit is not tried again, though its key would make that safe",
        invariant="waiter.submit_retried",
        source="D34 KAI#504",
        suite="client",
        replaced={"client.create_retry:CreateCore.failed": wrapping(_every_failure_is_final)},
        mode="asyncio",
    ),
    SeededBug(
        name="a-submit-counts-on-a-hint",
        summary="a failed submit adds to a Retry-After that most answers do not have, and dies of a TypeError",
        invariant="waiter.submit_told",
        source="W82 crewAIInc/crewAI!7444",
        suite="client",
        replaced={"client.create_retry:CreateCore.failed": wrapping(_hint_is_taken_for_granted)},
        mode="trio",
    ),
    SeededBug(
        name="a-refused-submit-is-sent-again",
        summary="a submit that was answered 400 or 422 is sent again and again",
        invariant="waiter.submit_permanent_surfaced",
        source="W45 m-lab/telescope#25",
        suite="client",
        replaced={"client.create_retry:classify": wrapping(_any_answer_may_get_better)},
    ),
    SeededBug(
        name="a-reconnect-makes-a-new-key",
        summary="a submit whose connection was lost is sent again under a new idempotency key",
        invariant="waiter.create_not_doubled",
        source="W74 gocardless/gocardless-pro-python#12",
        suite="client",
        replaced={"client.client:Client.send": wrapping(_reconnects_with_a_new_key)},
    ),
    SeededBug(
        name="the-key-is-popped",
        summary="the first attempt takes the idempotency key out of the headers, and the retries have none",
        invariant="waiter.create_key_stable",
        source="W74 ohdearquant/lionagi#2393",
        suite="client",
        replaced={"client.settings:Settings.arguments": wrapping(_key_is_popped)},
        mode="trio",
    ),
    SeededBug(
        name="a-504-is-sent-again",
        summary="the direct call is sent once more after a 504, and paid for twice",
        invariant="waiter.direct_504",
        source="own",
        suite="client",
        replaced={"client.client:Client._direct": wrapping(_sent_once_more)},
    ),
    SeededBug(
        name="a-504-always-names-parse",
        summary="the 504 of any direct call advises to use parse_jobs",
        invariant="waiter.direct_504",
        source="own",
        suite="client",
        replaced={"client.resources:SyncTimeoutError": _always_names_parse},
        mode="asyncio",
    ),
)
