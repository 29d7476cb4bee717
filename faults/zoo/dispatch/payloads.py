"""Seeded bugs of payloads: what is sent is what the caller has by then, or is kept for ever."""

from __future__ import annotations

from typing import Any

from ..bug import wrapping
from ._bug import QueueBug


def _shallow(payload: Any) -> Any:
    return dict(payload) if isinstance(payload, dict) else payload


def _at_the_first_attempt(original: Any, entry: Any, version: Any) -> Any:
    if entry.attempts == 1 and entry.tickets and entry.tickets[0].call is not None:
        entry.payload = entry.tickets[0].call.payload
    return original(entry, version)


def _kept_for_the_audit(original: Any, parts: Any, entry: Any, fate: Any) -> None:
    vars(parts).setdefault("audit", []).append((entry.seq, entry.payload))
    original(parts, entry, fate)


BUGS = (
    QueueBug(
        name="a-shallow-copy", summary="the snapshot copies the top of the payload only", invariant="dispatch.snapshot", source="D25 kubernetes-sigs/kueue!2509",
        replaced={"admission:snapshot": _shallow},
    ),
    QueueBug(
        name="copied-when-sent", summary="the payload is read when the call is sent, not when it is submitted", invariant="dispatch.snapshot",
        source="D25 kubernetes-sigs/kueue!2509", replaced={"attempts:_sent": wrapping(_at_the_first_attempt)}, mode="threads",
    ),
    QueueBug(
        name="kept-for-the-audit", summary="an audit trail without a limit keeps the payload of every call", invariant="dispatch.memory",
        source="D52 kubernetes/kubernetes!104991", replaced={"ending:bury": wrapping(_kept_for_the_audit)},
    ),
)  # fmt: skip
