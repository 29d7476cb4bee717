"""Writing histories of a dispatch queue by hand, in the bench's vocabulary: for tests, and for the paths of the exploration."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..harness import events, queue_events
from ..harness.calls import ApiCall
from ..harness.history import History
from ..harness.queue_dialect import QueueDialect
from ..harness.queue_protocols import QueueConfig
from .dispatch_claims import DISPATCH_CLAIMS


class Tape:
    """A history that grows. ``at`` is virtual seconds; every method adds one event and answers its op."""

    def __init__(
        self,
        config: QueueConfig | None = None,
        dialect: QueueDialect | None = None,
        claims: Iterable[str] = tuple(DISPATCH_CLAIMS),
        mode: str = "asyncio",
    ) -> None:
        self.history = History(
            {
                "subject": "reference model",
                "mode": mode,
                "dialect": (dialect or QueueDialect()).as_json(),
                "claims": sorted(claims),
            }
        )
        self.calls: dict[str, tuple[ApiCall, str]] = {}
        self.sent: dict[str, int] = {}
        self.add(
            0.0, queue_events.QUEUE_OPEN, events.BENCH, "", config=(config or QueueConfig()).as_json(), bounds=None
        )

    def add(self, at: float, kind: str, lane: str, op: str, **data: Any) -> str:
        """Add any event."""
        self.history.append(at=at, kind=kind, lane=lane, op=op, data=data)
        return op

    def submit(self, at: float, call: ApiCall, operation: str | None = None) -> str:
        """The caller submits; ``operation`` is the submit's own unless a twin's is given."""
        op = f"s{len(self.calls)}"
        name = operation or f"o{len(self.calls)}"
        self.calls[op] = (call, name)
        told = call.as_json()
        told["payload"] = {"operation": name, **(call.payload or {})}
        self.add(at, queue_events.CALL_SUBMIT, events.CALLER, op, call=told, operation=name, submitter="caller")
        return self.add(at, queue_events.CALL_ACCEPTED, events.CALLER, op, raised=None, message="")

    def tell(self, at: float, op: str, kind: str, own: str | None = None, reason: str = "") -> str:
        """The submitter is told."""
        view = {"kind": kind, "own": own, "reason": reason, "retry_after": None, "status": None}
        return self.add(at, queue_events.CALL_OUTCOME, events.CALLER, op, view=view)

    def start(self, at: float, op: str, *, read: bool = False, **sent: Any) -> str:
        """An attempt for the call of submit ``op`` leaves; ``sent`` changes what is sent."""
        call, operation = self.calls[op]
        number = self.sent.get(operation, 0)
        self.sent[operation] = number + 1
        reads = read or call.effect == "READ"
        data: dict[str, Any] = {
            "operation": operation,
            "uid": call.uid,
            "name": call.name,
            "type": call.type,
            "read": reads,
            "method": "GET" if reads else "PATCH",
            "target": f"/pods/{call.name}",
            "key": None if read else call.key,
            "precondition": {"uid": call.precondition.uid, "resource_version": call.precondition.resource_version},
            "payload": None if reads else {"operation": operation, **(call.payload or {})},
            **sent,
        }
        return self.add(at, queue_events.ATTEMPT_START, queue_events.WORKER, f"{operation}.a{number}", **data)

    def end(
        self,
        at: float,
        attempt: str,
        status: int | None,
        *,
        retry_after: float | None = None,
        error: str = "ReadTimeout",
    ) -> str:
        """The attempt is over; ``status`` ``None``: without an answer."""
        if status is None:
            return self.add(at, queue_events.ATTEMPT_END, queue_events.WORKER, attempt, ending="error", error=error)
        return self.add(
            at,
            queue_events.ATTEMPT_END,
            queue_events.WORKER,
            attempt,
            ending="answer",
            status=status,
            retry_after=retry_after,
            body=None,
        )

    def effect(self, at: float, attempt: str, *, before: int = 1, by: str = "queue") -> str:
        """The ledger shows an effect of this attempt."""
        operation = attempt.partition(".")[0]
        call = next(call for call, name in self.calls.values() if name == operation)
        return self.add(
            at,
            queue_events.API_EFFECT,
            events.SERVER,
            attempt,
            operation=operation,
            type=call.type,
            uid=call.uid,
            target=call.target,
            key=call.key,
            from_version=before,
            version=before + 1,
            by=by,
        )

    def cancel(self, at: float, op: str) -> str:
        """The caller cancels."""
        return self.add(at, queue_events.CALL_CANCEL, events.CALLER, op)

    def end_context(self, at: float, context: str = "context-1") -> str:
        """A context is over."""
        return self.add(at, queue_events.CONTEXT_END, events.CALLER, "", context=context)

    def delete(self, at: float, uid: str = "uid-1") -> str:
        """An object is gone."""
        return self.add(at, queue_events.OBJECT_DELETED, events.CALLER, "", uid=uid)

    def rate(self, at: float, qps: float, burst: int) -> str:
        """Another quota."""
        return self.add(at, queue_events.RATE_SET, events.CALLER, "", qps=qps, burst=burst)

    def close(self, at: float) -> str:
        """``close`` is called."""
        return self.add(at, queue_events.CLOSE_START, events.CALLER, "", by="caller")

    def closed(self, at: float) -> str:
        """It has returned."""
        return self.add(at, queue_events.CLOSE_END, events.CALLER, "", raised=None)

    def settled(self, at: float) -> str:
        """The time to settle is over."""
        return self.add(at, queue_events.SETTLED, events.BENCH, "", open=[])
