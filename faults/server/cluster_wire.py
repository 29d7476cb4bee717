"""Calls on the wire: an :class:`~waitproof.harness.calls.ApiCall` as a request, and a request as the server reads it.

Routes: ``/api/v1/pods/NAME`` (GET, DELETE), ``…/binding`` and ``…/eviction`` (POST), ``…/status`` (PATCH), ``/api/v1/claims`` (POST;
GET with ``?operation=``). The operation id travels in the payload; a GET, which has none, says it in a header of the bench.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qs, quote, unquote

from ...harness.calls import ApiCall, Precondition
from ...harness.jsonable import dumps, loads
from .routes import Request

PODS: Final = "/api/v1/pods"
CLAIMS: Final = "/api/v1/claims"
OPERATION: Final = "x-bench-operation"
UID: Final = "x-bench-uid"
KEY: Final = "idempotency-key"

_WRITES: Final = {
    "bind": ("POST", "/binding"),
    "preempt": ("POST", "/eviction"),
    "patch": ("PATCH", "/status"),
    "delete": ("DELETE", ""),
}
_TYPES: Final = {where: name for name, where in _WRITES.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """A request to be sent: method, target (path and query), headers and body."""

    method: str
    target: str
    headers: Mapping[str, str]
    content: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiRequest:
    """A request as the server reads it. ``type`` is empty for a route that there is not; ``uid`` is what the sender believes."""

    operation: str
    type: str
    name: str = ""
    uid: str = ""
    target: str = ""
    key: str | None = None
    precondition: Precondition = field(default_factory=Precondition)
    payload: Any = None
    read: bool = False


def operation_in(payload: Any) -> str:
    """The operation id that a payload carries, or an empty text."""
    return str(payload.get("operation", "")) if isinstance(payload, Mapping) else ""


def wire(call: ApiCall, *, read: bool = False) -> Wire:
    """The request of a call; with ``read`` the one that reads back what it was about. A type nobody knows becomes a route nobody knows."""
    operation = operation_in(call.payload)
    headers = {OPERATION: quote(operation), UID: quote(call.uid)}
    if read or call.type == "get":
        target = (
            f"{CLAIMS}?operation={quote(operation)}" if call.type == "create" else f"{PODS}/{quote(call.name, safe='')}"
        )
        return Wire(method="GET", target=target, headers=headers)
    if call.key is not None:
        headers[KEY] = quote(call.key)
    method, tail = _WRITES.get(call.type, ("POST", f"/{quote(call.type, safe='')}"))
    told = call.precondition
    body = {
        "payload": call.payload,
        "target": call.target,
        "preconditions": {"uid": told.uid, "resourceVersion": told.resource_version, "generation": told.generation},
    }
    target = CLAIMS if call.type == "create" else f"{PODS}/{quote(call.name, safe='')}{tail}"
    return Wire(
        method=method,
        target=target,
        headers={**headers, "content-type": "application/json"},
        content=dumps(body).encode(),
    )


def read_wire(request: Request) -> ApiRequest:
    """Read a request. What can't be read is left out: the server then answers as it answers any bad request."""
    path, _, query = request.target.partition("?")
    uid = unquote(request.headers.get(UID, ""))
    told = unquote(request.headers.get(OPERATION, ""))
    if request.method == "GET":
        asked = parse_qs(query).get("operation", [told])[0]
        if path == CLAIMS:
            return ApiRequest(operation=asked, type="get", target="claims", uid=uid, read=True)
        known = path.startswith(f"{PODS}/") and "/" not in path[len(PODS) + 1 :]
        return ApiRequest(
            operation=told, type="get" if known else "", name=unquote(path[len(PODS) + 1 :]), uid=uid, read=True
        )
    body = _body(request.body)
    payload = body.get("payload")
    name, _, tail = path[len(PODS) + 1 :].partition("/") if path.startswith(f"{PODS}/") else ("", "", "")
    kind = _TYPES.get((request.method, f"/{tail}" if tail else ""), "") if name else ""
    key = request.headers.get(KEY)
    return ApiRequest(
        operation=operation_in(payload) or told,
        type="create" if path == CLAIMS and request.method == "POST" else kind,
        name=unquote(name),
        uid=uid,
        target=str(body.get("target", "")),
        key=None if key is None else unquote(key),
        precondition=_precondition(body.get("preconditions")),
        payload=payload,
    )


def _body(content: bytes) -> Mapping[str, Any]:
    try:
        found = loads(content)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _precondition(data: Any) -> Precondition:
    if not isinstance(data, Mapping):
        return Precondition()
    uid, version, generation = data.get("uid"), data.get("resourceVersion"), data.get("generation")
    return Precondition(
        uid=None if uid is None else str(uid),
        resource_version=version if isinstance(version, int) else None,
        generation=(generation[0], generation[1]) if isinstance(generation, list) and len(generation) == 2 else None,
    )


def holds(call: ApiCall, body: Any) -> bool:
    """Whether a body that was read shows that ``call`` itself had its effect: the server keeps who did what by operation."""
    operation = operation_in(call.payload)
    if not isinstance(body, Mapping) or not operation:
        return False
    if call.type == "create":
        return any(isinstance(claim, Mapping) and claim.get("by") == operation for claim in body.get("claims", ()))
    if call.type in ("delete", "preempt"):
        return bool(body.get("gone", {}).get(call.uid) == operation)
    if body.get("uid") != call.uid:
        return False
    if call.type == "bind":
        return bool(body.get("node") == call.target and body.get("nodeBy") == operation)
    held = body.get("conditions", {}).get(call.target)
    return isinstance(held, Mapping) and held.get("by") == operation
