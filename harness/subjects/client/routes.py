"""Which request to send: the routes of the ADE v2 API, without any I/O.

Shared by both clients, so that a path, a header or an escape is written once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode

from ..normaliser.envelope import Resource
from ..normaliser.job import JobStatus

__all__ = [
    "ApiRequest",
    "cancel_request",
    "create_request",
    "direct_request",
    "escape_job_id",
    "get_request",
    "list_request",
    "url_of",
]

_DIRECT_PATHS: Mapping[Resource, str] = {
    Resource.PARSE_JOBS: "/v2/parse",
    Resource.EXTRACT_JOBS: "/v2/extract",
    Resource.BUILD_SCHEMA_JOBS: "/v2/extract/build-schema",
}
_JSON = {"content-type": "application/json"}


@dataclass(frozen=True, kw_only=True)
class ApiRequest:
    """A request, complete but for the server's address and the credentials."""

    method: str
    target: str
    """Path and query, escaped."""

    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None


def url_of(base_url: str, request: ApiRequest) -> str:
    """Return the whole URL of a request."""
    return base_url.rstrip("/") + request.target


def escape_job_id(job_id: str) -> str:
    """Return a job id as one path segment, whatever characters it has.

    Raises ValueError for an id that is no text or empty (it would address the whole collection), or that UTF-8
    cannot express.
    """
    if not isinstance(job_id, str) or not job_id:
        msg = f"a job id is a text of one character or more, got {job_id!r}"
        raise ValueError(msg)
    # Dots are legal in a segment, but '.' and '..' are removed from paths by clients, proxies and servers alike.
    return quote(job_id, safe="") if job_id.strip(".") else job_id.replace(".", "%2E")


def create_request(resource: Resource, payload: Mapping[str, object], idempotency_key: str) -> ApiRequest:
    """Return the request that submits a job. It is built once for all attempts: same body, same key.

    Raises ValueError for a key that is no header value, and what `json.dumps` raises for a payload that is no JSON.
    """
    if not isinstance(idempotency_key, str) or not idempotency_key.isascii() or not idempotency_key.isprintable():
        msg = f"an idempotency key is printable ASCII text, got {idempotency_key!r}"
        raise ValueError(msg)
    if not idempotency_key.strip():
        msg = "an idempotency key must not be blank; leave it out to have one made"
        raise ValueError(msg)
    headers = {**_JSON, "idempotency-key": idempotency_key}
    return ApiRequest(method="POST", target=_jobs(resource), headers=headers, body=_encoded(payload))


def get_request(resource: Resource, job_id: str) -> ApiRequest:
    """Return the request that reads a job. Raises ValueError as `escape_job_id`."""
    return ApiRequest(method="GET", target=f"{_jobs(resource)}/{escape_job_id(job_id)}")


def cancel_request(resource: Resource, job_id: str) -> ApiRequest:
    """Return the request that cancels a job. Raises ValueError as `escape_job_id`."""
    return ApiRequest(method="POST", target=f"{_jobs(resource)}/{escape_job_id(job_id)}/cancel")


def list_request(
    resource: Resource,
    *,
    page: int | None = None,
    page_size: int | None = None,
    status: JobStatus | str | None = None,
) -> ApiRequest:
    """Return the request that lists jobs; what is None is left to the server.

    Raises ValueError for a page that is not an integer of 0 or more, or a page size that is not one of 1 or more.
    """
    query: dict[str, str] = {}
    if page is not None:
        query["page"] = _integer("page", page, 0)
    if page_size is not None:
        query["pageSize"] = _integer("page_size", page_size, 1)
    if status is not None:
        query["status"] = str(status)
    return ApiRequest(method="GET", target=_jobs(resource) + (f"?{urlencode(query)}" if query else ""))


def direct_request(resource: Resource, payload: Mapping[str, object]) -> ApiRequest:
    """Return the request that has a small document handled while the caller waits."""
    return ApiRequest(method="POST", target=_DIRECT_PATHS[resource], headers=_JSON, body=_encoded(payload))


def _jobs(resource: Resource) -> str:
    return f"{_DIRECT_PATHS[resource]}/jobs"


def _encoded(payload: Mapping[str, object]) -> bytes:
    # NaN is no JSON; a caller who has one hears of it here, not from the server's parser.
    return json.dumps(payload, allow_nan=False).encode()


def _integer(name: str, value: object, least: int) -> str:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        msg = f"{name} must be an integer of {least} or more, got {value!r}"
        raise ValueError(msg)
    return str(value)
