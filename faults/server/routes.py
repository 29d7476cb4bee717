"""The routes of the job API, and what a raw target asks for. The id is percent-decoded exactly once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import unquote

JOBS_ROUTE: Final[Mapping[str, str]] = {
    "parse_jobs": "/v2/parse/jobs",
    "extract_jobs": "/v2/extract/jobs",
    "build_schema_jobs": "/v2/extract/build-schema/jobs",
}
"""Where each resource's jobs are."""

DIRECT_ROUTE: Final[Mapping[str, str]] = {
    "parse_jobs": "/v2/parse",
    "extract_jobs": "/v2/extract",
    "build_schema_jobs": "/v2/extract/build-schema",
}
"""The synchronous path of each resource."""

Action = Literal["fetch", "cancel", "create", "list", "direct", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request: method, raw target (path and query as sent), headers (lower case), body."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """What a request asks for. ``job``: the decoded id, for a fetch or a cancellation."""

    action: Action
    resource: str = ""
    job: str | None = None


def route(method: str, target: str) -> Route:
    """Find the route of a raw target."""
    path = target.partition("?")[0]
    for resource, base in DIRECT_ROUTE.items():
        if path == base:
            return Route(action="direct" if method == "POST" else "none", resource=resource)
    for resource, base in JOBS_ROUTE.items():
        if path == base:
            return Route(action={"GET": "list", "POST": "create"}.get(method, "none"), resource=resource)  # type: ignore[arg-type]
        if not path.startswith(base + "/"):
            continue
        rest = path[len(base) + 1 :]
        action: Action = "fetch" if method == "GET" else "none"
        if method == "POST" and rest.endswith("/cancel"):
            action, rest = "cancel", rest[: -len("/cancel")]
        if rest and "/" not in rest and action != "none":
            return Route(action=action, resource=resource, job=unquote(rest))
    return Route(action="none")
