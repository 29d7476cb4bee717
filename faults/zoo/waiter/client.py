"""Seeded bugs of the client's other two paths: submits that are doubled, and the direct call that times out."""

from __future__ import annotations

import dataclasses
from typing import Any

import httpx

from ....harness.subjects.client.errors import SyncTimeoutError
from ....harness.subjects.normaliser.envelope import Resource
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


BUGS = (
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
