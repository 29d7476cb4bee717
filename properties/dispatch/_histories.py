"""A small builder of dispatch histories: each method appends what the bench would have recorded, in the order of the calls."""

import dataclasses
import math

from waitproof.harness import events as bench
from waitproof.harness import queue_events as ev
from waitproof.harness.calls import ApiCall, OutcomeView, Precondition
from waitproof.harness.history import History
from waitproof.harness.queue_dialect import QueueDialect
from waitproof.harness.queue_protocols import QueueConfig
from waitproof.models.dispatch_claims import DISPATCH_CLAIMS
from waitproof.models.invariants import catalogue

UNBOUND = object()


class Story:
    """One history in the making. ``config`` are fields of a QueueConfig; ``bounds`` what the queue prints."""

    def __init__(self, dialect=None, bounds=None, mode="", **config):
        dialect = dialect or QueueDialect()
        header = {"dialect": dialect.as_json(), "claims": sorted(DISPATCH_CLAIMS), "mode": mode}
        self.history = History(header)
        self.submits = 0
        self.attempts = {}
        self.calls = {}
        self.version = 10
        self.add(0.0, ev.QUEUE_OPEN, "caller", config=QueueConfig(**config).as_json(), bounds=bounds)

    def add(self, at, kind, lane="caller", op="", /, **data):
        self.history.append(at=at, kind=kind, lane=lane, op=op, data=data)
        return self

    def submit(self, at, operation=None, *, accepted=True, took=0.0, raised=None, outcome=None, reason="", **call):
        """A submit and its return; ``outcome`` is told inside it. Returns its op."""
        op = f"s{self.submits}"
        operation = operation or f"o{self.submits}"
        self.submits += 1
        condition = {name: call.pop(name) for name in ("version", "only_uid", "generation") if name in call}
        call["precondition"] = Precondition(
            uid=condition.get("only_uid"),
            resource_version=condition.get("version"),
            generation=condition.get("generation"),
        )
        made = ApiCall(**{"payload": {"operation": operation}, **call})
        self.calls.setdefault(operation, made)
        self.add(at, ev.CALL_SUBMIT, "caller", op, call=made.as_json(), operation=operation, submitter="caller")
        if outcome is not None:
            self.told(at, op, outcome, reason=reason)
        if accepted:
            self.add(at + took, ev.CALL_ACCEPTED, "caller", op, raised=raised, message="")
        return op

    def call(self, at, operation=None, **more):
        """As ``submit``, in a chain."""
        self.submit(at, operation, **more)
        return self

    def told(self, at, op, kind="applied", **view):
        return self.add(at, ev.CALL_OUTCOME, "caller", op, view=OutcomeView(kind=kind, **view).as_json())

    def start(self, at, operation, *, read=None, key=UNBOUND, version=UNBOUND, payload=UNBOUND, **more):
        made = self.calls.get(operation, ApiCall())
        number = self.attempts.get(operation, 0)
        self.attempts[operation] = number + 1
        read = made.effect == "READ" if read is None else read
        data = {
            "operation": operation, "uid": made.uid, "name": made.name, "type": made.type, "read": read,
            "method": "GET" if read else "PATCH", "target": "/",
            "key": made.key if key is UNBOUND else key,
            "precondition": {
                "uid": made.precondition.uid,
                "resource_version": made.precondition.resource_version if version is UNBOUND else version,
            },
            "payload": made.payload if payload is UNBOUND else payload,
        }  # fmt: skip
        return self.add(at, ev.ATTEMPT_START, "worker", f"{operation}.a{number}", **{**data, **more})

    def _attempt(self, operation, number=None):
        return f"{operation}.a{self.attempts[operation] - 1 if number is None else number}"

    def effect(self, at, operation, *, number=None, by="queue", **more):
        made = self.calls.get(operation, ApiCall())
        op = self._attempt(operation, number) if by == "queue" else ""
        self.add(at, ev.API_REQUEST, "server", op, operation=operation, type=made.type, name=made.name, key=made.key)
        data = {
            "operation": operation, "type": made.type, "uid": made.uid, "target": made.target, "key": made.key,
            "from_version": self.version, "version": self.version + 1, "by": by,
        }  # fmt: skip
        self.version += 1
        return self.add(at, ev.API_EFFECT, "server", op, **{**data, **more})

    def answer(self, at, operation, status=200, *, number=None, retry_after=None, body=None):
        return self.add(
            at, ev.ATTEMPT_END, "worker", self._attempt(operation, number),
            ending="answer", status=status, retry_after=retry_after, body=body,
        )  # fmt: skip

    def error(self, at, operation, error="ReadTimeout", *, number=None):
        return self.add(at, ev.ATTEMPT_END, "worker", self._attempt(operation, number), ending="error", error=error)

    def given_up(self, at, operation, *, number=None):
        return self.add(at, ev.ATTEMPT_END, "worker", self._attempt(operation, number), ending="cancelled")

    def run(self, at, operation, status=200, *, lasts=0.0, effect=None, retry_after=None, error=None, **start):
        """One whole attempt; a 2xx answer of a write comes with its effect."""
        self.start(at, operation, **start)
        made = self.calls.get(operation, ApiCall())
        reads = start.get("read") or made.effect == "READ"
        if effect if effect is not None else (200 <= status < 300 and not error and not reads):
            self.effect(at + lasts, operation)
        if error is not None:
            return self.error(at + lasts, operation, error)
        return self.answer(at + lasts, operation, status, retry_after=retry_after)

    def done(self, at, operation, op=None, *, lasts=0.0, **call):
        """A submit (unless ``op`` is one already) that is run and applied."""
        op = op or self.submit(at, operation, **call)
        self.run(at, operation, lasts=lasts)
        return self.told(at + lasts, op)

    def cancel(self, at, op):
        return self.add(at, ev.CALL_CANCEL, "caller", op)

    def mutate(self, at, op):
        return self.add(at, ev.CALL_MUTATE, "caller", op)

    def context_end(self, at, context="context-1"):
        return self.add(at, ev.CONTEXT_END, context=context)

    def deleted(self, at, uid="uid-1"):
        return self.add(at, ev.OBJECT_DELETED, uid=uid)

    def rate(self, at, qps, burst):
        return self.add(at, ev.RATE_SET, qps=qps, burst=burst)

    def close(self, at, until=None, raised=None, *, ends=True):
        self.add(at, ev.CLOSE_START, by="caller")
        return self.closed(at if until is None else until, raised) if ends else self

    def closed(self, at, raised=None):
        return self.add(at, ev.CLOSE_END, raised=raised)

    def failed(self, at, operation, **more):
        made = self.calls[operation]
        data = {"plugin": made.plugin, "uid": made.uid, "operation": operation, "status": 422}
        return self.add(at, ev.PLUGIN_FAILURE, **{**data, **more})

    def reevaluate(self, at, operation, **more):
        made = self.calls[operation]
        return self.add(at, ev.REEVALUATE, **{"uid": made.uid, "context": made.context, "operation": operation, **more})

    def stats(self, at, *, submitted, live, outcomes, tokens=None, executing=0):
        return self.add(
            at, ev.STATS, submitted=submitted, live=live, outcomes=outcomes, tokens=tokens, executing=executing
        )

    def healed(self, at, within=10.0):
        return self.add(at, ev.HEALED, "bench", within=within)

    def settled(self, at, opened=()):
        return self.add(at, ev.SETTLED, "bench", open=list(opened))

    def probe(self, at, ops, seconds=0.1):
        return self.add(at, ev.PROBE, "bench", count=len(ops), ops=list(ops), seconds=seconds)

    def note(self, at, **data):
        return self.add(at, bench.BENCH_NOTE, "bench", **data)

    def stopped(self, at, reason, detail=""):
        return self.add(at, bench.BENCH_STOP, "bench", reason=reason, detail=detail)


def dialect(**fields):
    """A dialect that differs from the default in these fields."""
    return dataclasses.replace(QueueDialect(), **fields)


def verdict(name, story):
    """``held``, ``violated``, ``vacuous`` or ``undecided`` for one invariant; a crash of the checker fails the test."""
    finding = catalogue()[name].judge(story.history)
    assert "the checker crashed" not in finding.cause, finding.cause
    assert all(0 <= seq < len(story.history) for seq in (*finding.witnesses, *finding.events))
    if finding.violated:
        assert finding.cause, name
        assert finding.events, name
        assert finding.expected, name
        assert finding.observed, name
        return "violated"
    if finding.answer is None:
        return "undecided"
    return "vacuous" if finding.vacuous else "held"


INFINITY = math.inf
