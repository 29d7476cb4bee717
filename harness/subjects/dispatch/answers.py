"""What the end of an attempt says (SPEC 4, 'Retry' and 'Ambiguity'), by the one error table that the waiter uses, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

import httpx

from ..error_table import ErrorClass, classify, classify_status, status_of
from ..waiter.pacing import pacing_hint

__all__ = ["AMBIGUOUS", "Reading", "Verdict", "read_answer", "read_error"]

AMBIGUOUS = frozenset({408, 500, 502, 504})
"""Statuses that do not say whether the call was done."""

CONFLICTS = frozenset({409, 412})

_NEVER_SENT = (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL)
"""What the client finds wrong with the request itself."""


class Verdict(Enum):
    """What is known after an attempt."""

    DONE = "done"
    AGAIN = "again"  # surely not done; the same call may succeed later
    LOST = "lost"  # nobody knows; it may be tried again where that is safe
    UNCLEAR = "unclear"  # nobody knows, and trying again is no use
    CONFLICT = "conflict"  # surely not done by this attempt; recompute
    PERMANENT = "permanent"  # surely not done by this attempt, and never


def _unchanged(body: Any) -> bool:
    if type(body) is not dict and not isinstance(body, Mapping):  # a dict is told at once, an abstract class late
        return False
    return body.get("changed") is False


class Reading:
    """One attempt's end, read. `noop`: the server held it already. `healthy`: what it says to the breaker. `hint`: seconds."""

    __slots__ = ("body", "healthy", "hint", "noop", "status", "verdict")

    def __init__(
        self,
        verdict: Verdict,
        *,
        healthy: bool | None,
        status: int | None = None,
        hint: float | None = None,
        body: Any = None,
    ) -> None:
        self.verdict = verdict
        self.healthy = healthy
        self.status = status
        self.hint = hint
        self.body = body
        self.noop = verdict is Verdict.DONE and _unchanged(body)


def read_answer(answer: Any, wall: Callable[[], float]) -> Reading:
    """Read an answer, anything with `status`, `headers` and `body`. Nonsense is no answer at all."""
    status = getattr(answer, "status", None)
    if type(status) is not int and (not isinstance(status, int) or isinstance(status, bool)):
        return Reading(Verdict.UNCLEAR, healthy=False)
    body = getattr(answer, "body", None)
    if 200 <= status <= 299:
        return Reading(Verdict.DONE, healthy=True, status=status, body=body)
    headers = getattr(answer, "headers", None)
    hint = pacing_hint(headers, wall) if headers and isinstance(headers, Mapping) else None
    return _by_status(status, hint, body)


def _by_status(status: int, hint: float | None, body: Any) -> Reading:
    if status in AMBIGUOUS:
        return Reading(Verdict.LOST, healthy=False, status=status, hint=hint)
    if classify_status(status) is ErrorClass.TRANSIENT:
        return Reading(Verdict.AGAIN, healthy=False, status=status, hint=hint)
    reused = isinstance(body, Mapping) and body.get("reason") == "KeyReused"
    verdict = Verdict.CONFLICT if status in CONFLICTS or reused else Verdict.PERMANENT
    return Reading(verdict, healthy=True, status=status, body=body)


def read_error(error: BaseException) -> Reading:
    """Read an exception that came out of the attempt instead of an answer."""
    status = status_of(error)
    if status is not None:
        headers = getattr(getattr(error, "response", None), "headers", None)
        hint = pacing_hint(headers, lambda: 0.0) if isinstance(headers, Mapping) else None
        return _by_status(status, hint, None)
    if classify(error) is ErrorClass.TRANSIENT:
        return Reading(Verdict.LOST, healthy=False)
    if isinstance(error, _NEVER_SENT):
        return Reading(Verdict.PERMANENT, healthy=None)
    return Reading(Verdict.UNCLEAR, healthy=None)
