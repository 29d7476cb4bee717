"""Histories of dispatch queues for the tests of the report: written by hand in the bench's vocabulary."""

# ruff: noqa: INP001 - a helper of tests, in their folder

from __future__ import annotations

import json
from typing import Any


def call(**values: Any) -> dict[str, Any]:
    """A call as data."""
    return {
        "uid": "uid-1",
        "name": "pod-1",
        "type": "patch",
        "target": "status",
        "effect": "IDEMPOTENT_WRITE",
        "key": None,
        "precondition": {"uid": None, "resource_version": None, "generation": None},
        "priority": 0,
        "plugin": "default",
        "deadline": {"$float": "inf"},
        "context": "context-1",
        "prerequisite_of": None,
        **values,
    }


def lines(*rows: tuple[float, str, str, str, dict[str, Any]]) -> str:
    """JSON Lines of rows (at, kind, lane, op, data), with a header."""
    told = [json.dumps({"schema": "waitproof.history/1", "header": {"suite": "dispatch-plans"}})]
    for seq, (at, kind, lane, op, data) in enumerate(rows):
        told.append(json.dumps({"seq": seq, "at": at, "kind": kind, "lane": lane, "op": op, "data": data}))
    return "\n".join(told) + "\n"


def open_(**config: Any) -> tuple[float, str, str, str, dict[str, Any]]:
    """The queue is there."""
    made = {"workers": 2, "capacity": 10, "qps": 2.0, "burst": 2, "attempts": 4, "attempt_timeout": 5.0, **config}
    bounds = {"wait": 325.0, "overtakes": 212.0, "why": "by hand"}
    return 0.0, "queue.open", "caller", "", {"config": made, "bounds": bounds}


def submit(at: float, op: str, operation: str, **values: Any) -> tuple[float, str, str, str, dict[str, Any]]:
    """A submit."""
    return at, "call.submit", "caller", op, {"call": call(**values), "operation": operation, "submitter": "caller"}


def outcome(at: float, op: str, kind: str, **view: Any) -> tuple[float, str, str, str, dict[str, Any]]:
    """An outcome."""
    return at, "call.outcome", "caller", op, {"view": {"kind": kind, "own": None, "reason": "", **view}}


def start(at: float, op: str, uid: str = "uid-1", **data: Any) -> tuple[float, str, str, str, dict[str, Any]]:
    """An attempt starts."""
    operation = op.partition(".")[0]
    more = {"method": "PATCH", "target": "/api/v1/pods/x/status", "key": None, "precondition": {}, "read": False}
    return at, "attempt.start", "worker", op, {"operation": operation, "uid": uid, "type": "patch", **more, **data}


def answer(at: float, op: str, status: int = 200) -> tuple[float, str, str, str, dict[str, Any]]:
    """An attempt ends with an answer."""
    return at, "attempt.end", "worker", op, {"ending": "answer", "status": status, "retry_after": None, "body": {}}


def lost(at: float, op: str) -> tuple[float, str, str, str, dict[str, Any]]:
    """An attempt ends without an answer."""
    return at, "attempt.end", "worker", op, {"ending": "error", "error": "ReadTimeout"}


def effect(at: float, op: str, by: str = "queue", uid: str = "uid-1") -> tuple[float, str, str, str, dict[str, Any]]:
    """The server changed something."""
    data = {"operation": op.partition(".")[0], "type": "patch", "uid": uid, "target": "status", "by": by}
    return at, "api.effect", "server", op, {**data, "key": None, "from_version": 1, "version": 2}


def queue_history(text: str = "") -> str:
    """A queue with all that a picture marks: a stale answer, a late effect, an unknown outcome, a deadline, a cancellation, a close."""
    return lines(
        open_(),
        submit(0.0, "s0", "o0", deadline=4.0, uid="uid-1" + text),
        start(0.0, "o0.a0", "uid-1" + text),
        (0.0, "api.request", "server", "o0.a0", {"operation": "o0", "type": "patch", "name": "pod-1", "key": None}),
        submit(1.0, "s1", "o1", uid="uid-2", name="pod-2"),
        start(1.0, "o1.a0", "uid-2"),
        submit(1.0, "s2", "o2", uid="uid-2", name="pod-2" + text),
        (2.0, "call.cancel", "caller", "s2", {}),
        outcome(2.0, "s2", "cancelled", reason="cancelled"),
        (2.5, "queue.rate", "caller", "", {"qps": 1.0, "burst": 1}),
        (3.0, "context.end", "caller", "", {"context": "context-7" + text}),
        effect(4.5, "", "external"),
        (4.5, "api.answer", "server", "o0.a0", {"status": 200, "words": "does as asked", "sent": True}),
        answer(4.5, "o0.a0"),
        outcome(4.5, "s0", "stale", reason="deadline"),
        lost(6.0, "o1.a0"),
        outcome(6.0, "s1", "unknown", reason="ambiguous"),
        effect(7.0, "o1.a0", uid="uid-2"),
        (8.0, "queue.close", "caller", "c0", {"by": "caller"}),
        (8.5, "queue.closed", "caller", "c0", {"raised": None, "cancelled": False}),
    )
