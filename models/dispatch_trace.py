"""From a history to what a dispatch queue did: submits, operations, attempts, effects, contexts, closes (SPEC 4 and 5, 'Dispatch').

One pass over the events; read once for all the checkers of one history. All times are seconds, all orders are by ``seq``.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast
from weakref import WeakKeyDictionary

from ..harness import events as bench
from ..harness import queue_events as ev
from ..harness.history import Event, History
from ..harness.jsonable import Json, revive
from ..harness.queue_dialect import QueueDialect
from ..harness.queue_protocols import QueueConfig
from . import dispatch_errors as errors
from .dispatch_relevance import rank
from .event_data import mapping, number

NOISE: Final = 1e-6
"""Float noise: two instants that differ by less are the same, whatever the resolution."""

NEVER: Final = 1 << 62
"""The ``seq`` of what has not happened."""

DONE: Final = frozenset({"applied", "noop"})
"""Outcomes that say: the server holds it."""


@dataclass(slots=True, kw_only=True, eq=False)
class Submit:
    """One submit: the call as it was then, and what its submitter was told.

    ``version``, ``only_uid``, ``generation``: its precondition. ``again``: outcomes after the first. ``own`` is what ``merged`` came with.
    """

    op: str
    start: Event
    operation: Operation
    data: Mapping[str, Any]
    uid: str
    type: str
    target: str
    effect: str
    key: str | None
    context: str
    priority: float
    plugin: str
    deadline: float
    prerequisite_of: str | None
    version: int | None
    only_uid: str | None
    generation: tuple[int, int] | None
    rank: int
    accepted: Event | None = None
    outcome: Event | None = None
    kind: str = ""
    own: str = ""
    reason: str = ""
    again: list[Event] = field(default_factory=list)
    cancel: Event | None = None
    mutated: Event | None = None

    @property
    def began(self) -> float:
        """Second of the submit."""
        return self.start.at

    @property
    def told(self) -> float:
        """Second at which its outcome was told; infinite while it is open."""
        return self.outcome.at if self.outcome is not None else math.inf

    @property
    def told_seq(self) -> int:
        """Place of its outcome in the history; :data:`NEVER` while it is open."""
        return self.outcome.seq if self.outcome is not None else NEVER

    @property
    def final(self) -> str:
        """What became of it: its kind, or for ``merged`` the outcome of the call that did the work."""
        return self.own if self.kind == "merged" else self.kind

    @property
    def view(self) -> Mapping[str, Json]:
        """The whole view that it was told."""
        return mapping(self.outcome.data.get("view")) if self.outcome is not None else {}

    @property
    def payload(self) -> Any:
        """The payload as it was at the submit."""
        return self.data.get("payload")

    @property
    def droppable(self) -> bool:
        """It may be dropped for room."""
        return bool(self.data.get("droppable", True))

    @property
    def rebuild_cost(self) -> float:
        """How dear it is to make again."""
        return number(self.data.get("rebuild_cost"), 1.0)

    @property
    def needed_in_cycle(self) -> bool:
        """The cycle can't go on without its answer."""
        return bool(self.data.get("needed_in_cycle"))

    @property
    def guarded(self) -> bool:
        """The server itself keeps it from happening twice."""
        return self.key is not None or self.version is not None

    @property
    def writes(self) -> bool:
        """It is no read."""
        return self.effect != "READ"

    def live_at(self, seq: int) -> bool:
        """Submitted before ``seq`` and not told an outcome by then."""
        return self.start.seq < seq < self.told_seq


@dataclass(slots=True, kw_only=True, eq=False)
class Attempt:
    """One request. ``back``: it only reads back what an operation that writes has done. ``effects``: what it changed at the server."""

    op: str
    start: Event
    operation: Operation
    back: bool
    index: int
    end: Event | None = None
    status: int | None = None
    verdict: str = errors.OPEN
    request: Event | None = None
    answer: Event | None = None
    effects: list[Event] = field(default_factory=list)

    @property
    def began(self) -> float:
        """Second at which the request left."""
        return self.start.at

    @property
    def ended(self) -> float:
        """Second at which it was over for the queue; infinite while it is open."""
        return self.end.at if self.end is not None else math.inf

    @property
    def end_seq(self) -> int:
        """Place of its end; :data:`NEVER` while it is open."""
        return self.end.seq if self.end is not None else NEVER

    @property
    def transient(self) -> bool:
        """It failed in a way that may pass."""
        return self.verdict in (errors.REFUSED, errors.AMBIGUOUS, errors.UNSENT)

    @property
    def retry_after(self) -> float:
        """Seconds that a 429 or 503 asked for, at most a day; 0 if it asked for none."""
        if self.end is None or self.status not in (429, 503):
            return 0.0
        asked = number(self.end.data.get("retry_after"), 0.0)
        return min(asked, 86_400.0) if asked >= 0 and math.isfinite(asked) else 0.0


@dataclass(slots=True, kw_only=True, eq=False)
class Operation:
    """One logical operation: the submits that share it, the attempts made for it (``tries`` and read-backs), its effects by the queue."""

    name: str
    submits: list[Submit] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    tries: list[Attempt] = field(default_factory=list)
    effects: list[Event] = field(default_factory=list)

    @property
    def first(self) -> Attempt | None:
        """Its first try."""
        return self.tries[0] if self.tries else None

    @property
    def sent_seq(self) -> int:
        """Place of its first try; :data:`NEVER` if it was never sent."""
        return self.tries[0].start.seq if self.tries else NEVER

    @property
    def alone(self) -> Submit | None:
        """Its only submit; ``None`` if it has several."""
        return self.submits[0] if len(self.submits) == 1 else None

    def living(self, seq: int) -> list[Submit]:
        """The submits that were live at ``seq``."""
        return [item for item in self.submits if item.live_at(seq)]

    def last_try(self, seq: int) -> Attempt | None:
        """The last try that started before ``seq``."""
        for item in reversed(self.tries):
            if item.start.seq < seq:
                return item
        return None

    def tries_before(self, seq: int) -> bool:
        """Whether it had been sent by then."""
        return self.sent_seq < seq

    def undecided(self, seq: int) -> Attempt | None:
        """The last try before ``seq`` if it is in flight then or ended without saying what became of it, else ``None``."""
        last = self.last_try(seq)
        if last is None:
            return None
        if last.end_seq > seq or last.verdict == errors.AMBIGUOUS:
            return last
        return last if last.verdict == errors.CANCELLED and last.request is not None else None


@dataclass(slots=True, kw_only=True, eq=False)
class Close:
    """One call of ``close``."""

    start: Event
    end: Event | None = None


@dataclass(slots=True, kw_only=True, eq=False)
class DispatchTrace:
    """All that was seen of one open queue."""

    opened: Event | None
    dialect: QueueDialect
    claims: frozenset[str]
    config: QueueConfig
    bounds: Mapping[str, float]
    submits: list[Submit] = field(default_factory=list)
    operations: dict[str, Operation] = field(default_factory=dict)
    attempts: list[Attempt] = field(default_factory=list)
    effects: list[Event] = field(default_factory=list)
    contexts: dict[str, list[Event]] = field(default_factory=dict)
    deleted: dict[str, list[Event]] = field(default_factory=dict)
    rates: list[tuple[Event | None, float, float]] = field(default_factory=list)
    closes: list[Close] = field(default_factory=list)
    failures: list[Event] = field(default_factory=list)
    reevaluations: list[Event] = field(default_factory=list)
    stats: list[Event] = field(default_factory=list)
    notes: list[Event] = field(default_factory=list)
    waiters: list[Event] = field(default_factory=list)
    probes: list[Event] = field(default_factory=list)
    healed: Event | None = None
    settled: Event | None = None
    stop: Event | None = None
    last: Event | None = None
    late: float = 0.0
    mode: str = ""
    """What the queue is made of: ``asyncio``, ``trio`` or ``threads``; empty if the history does not say."""
    tick: float = 0.0
    """Seconds between two readings of the clock that the queue was given; 0 for a fine one."""
    by_op: dict[str, Submit] = field(default_factory=dict)
    memo: dict[str, Any] = field(default_factory=dict)
    """What one checker has worked out and another can use again."""
    steps: list[tuple[int, str, Submit | Attempt]] = field(default_factory=list)
    """Submits, tells, tries' starts and ends (``submit``, ``told``, ``start``, ``end``) with their ``seq``, in order."""

    @property
    def near(self) -> float:
        """Within this many seconds two instants are one: a resolution and float noise."""
        return (
            max(self.dialect.resolution, self.tick)
            + NOISE
            + 1e-12 * abs(self.last.at if self.last is not None else 0.0)
        )

    @property
    def slack(self) -> float:
        """As :attr:`near`, and the lateness that the clock itself added."""
        return self.near + self.late

    @property
    def closed_seq(self) -> int:
        """Place of the first ``close``; :data:`NEVER` if there was none."""
        return self.closes[0].start.seq if self.closes else NEVER

    @property
    def closed_at(self) -> float:
        """Second of the first ``close``; infinite if there was none."""
        return self.closes[0].start.at if self.closes else math.inf

    def context_ended(self, submit: Submit) -> Event | None:
        """The first end of its context after its submit. What was over before is for the caller to know: a name may be used again."""
        return _after(self.contexts.get(submit.context), submit.start.seq)

    def object_deleted(self, submit: Submit) -> Event | None:
        """The first word after its submit that its object is gone."""
        return _after(self.deleted.get(submit.uid), submit.start.seq)

    def over(self, submit: Submit) -> Event | None:
        """The first word to the queue that this call is not wanted any more: cancelled, its context ended, its object deleted."""
        return first_of(submit.cancel, self.context_ended(submit), self.object_deleted(submit))

    def objects(self) -> dict[str, list[Operation]]:
        """The operations that write to a pod, by its uid, in the order of their first submits."""
        found: dict[str, list[Operation]] = {}
        for operation in self.operations.values():
            if operation.submits and operation.submits[0].rank:
                found.setdefault(operation.submits[0].uid, []).append(operation)
        return found


def _after(events: list[Event] | None, seq: int) -> Event | None:
    if not events:
        return None
    at = bisect_right(events, seq, key=lambda event: event.seq)
    return events[at] if at < len(events) else None


def first_of(*events: Event | None) -> Event | None:
    """The earliest of these events, if there is one."""
    return min((event for event in events if event is not None), key=lambda event: event.seq, default=None)


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _maybe(value: object) -> str | None:
    return None if value is None else str(value)


_cache: WeakKeyDictionary[History, tuple[int, list[DispatchTrace]]] = WeakKeyDictionary()


def traces(history: History) -> list[DispatchTrace]:
    """The queues of a history, one for each ``queue.open``, in order. Read once for all the checkers of one history."""
    kept = _cache.get(history)
    if kept is not None and kept[0] == len(history):
        return kept[1]
    made = _Reader(history).read()
    _cache[history] = (len(history), made)
    return made


class _Reader:
    """One pass over a history."""

    def __init__(self, history: History) -> None:
        self.history = history
        dialect, claims = history.header.get("dialect"), history.header.get("claims")
        self.dialect = QueueDialect.from_json(cast("Mapping[str, Json]", revive(dialect)) if dialect else {})
        self.claims = frozenset(str(claim) for claim in claims) if isinstance(claims, list) else frozenset()
        plan = history.header.get("plan")
        inner = mapping(mapping(plan).get("plan"))
        self.tick = number(inner.get("tick"), 0.0)
        self.mode = _text(history.header.get("mode"))
        self.made: list[DispatchTrace] = []
        self.trace: DispatchTrace | None = None
        self.tries: dict[str, Attempt] = {}
        self.steps = {
            ev.CALL_SUBMIT: self._submit,
            ev.CALL_ACCEPTED: self._accepted,
            ev.CALL_OUTCOME: self._outcome,
            ev.CALL_CANCEL: self._cancel,
            ev.CALL_MUTATE: self._mutate,
            ev.ATTEMPT_START: self._attempt,
            ev.ATTEMPT_END: self._ended,
            ev.API_REQUEST: self._request,
            ev.API_EFFECT: self._effect,
            ev.API_ANSWER: self._answer,
            ev.RATE_SET: self._rate,
            ev.CLOSE_START: lambda trace, event: trace.closes.append(Close(start=event)),
            ev.CLOSE_END: self._close_end,
            ev.CONTEXT_END: lambda trace, event: trace.contexts.setdefault(_text(event.data.get("context")), []).append(
                event
            ),
            ev.OBJECT_DELETED: lambda trace, event: trace.deleted.setdefault(_text(event.data.get("uid")), []).append(
                event
            ),
            ev.PLUGIN_FAILURE: lambda trace, event: trace.failures.append(event),
            ev.REEVALUATE: lambda trace, event: trace.reevaluations.append(event),
            ev.STATS: lambda trace, event: trace.stats.append(event),
            ev.WAITER_CANCEL: lambda trace, event: trace.waiters.append(event),
            ev.PROBE: lambda trace, event: trace.probes.append(event),
            ev.HEALED: lambda trace, event: setattr(trace, "healed", trace.healed or event),
            ev.SETTLED: lambda trace, event: setattr(trace, "settled", trace.settled or event),
            bench.BENCH_NOTE: lambda trace, event: trace.notes.append(event),
            bench.BENCH_STOP: lambda trace, event: setattr(trace, "stop", trace.stop or event),
            bench.SLEEP_END: self._slept,
        }

    def read(self) -> list[DispatchTrace]:
        steps = self.steps
        for event in self.history:
            if event.kind == ev.QUEUE_OPEN or self.trace is None:
                self._open(event)
            step = steps.get(event.kind)
            trace = self.trace
            if trace is None:
                continue
            if step is not None:
                step(trace, event)
            trace.last = event
        return self.made

    def _open(self, event: Event) -> None:
        if event.kind != ev.QUEUE_OPEN and event.kind not in self.steps:
            return
        data = event.data if event.kind == ev.QUEUE_OPEN else {}
        config = QueueConfig.from_json(mapping(data.get("config")))
        bounds = {name: number(value, math.inf) for name, value in mapping(data.get("bounds")).items()}
        self.trace = DispatchTrace(
            opened=event, dialect=self.dialect, claims=self.claims, config=config, bounds=bounds,
            rates=[(None, config.qps, config.burst)], tick=self.tick, mode=self.mode,
        )  # fmt: skip
        self.tries = {}
        self.made.append(self.trace)

    def _operation(self, trace: DispatchTrace, event: Event) -> Operation:
        name = _text(event.data.get("operation")) or event.op.rpartition(".")[0] or event.op
        known = trace.operations.get(name)
        if known is None:
            known = trace.operations[name] = Operation(name=name)
        return known

    def _submit(self, trace: DispatchTrace, event: Event) -> None:
        call = mapping(event.data.get("call"))
        condition = mapping(call.get("precondition"))
        generation = condition.get("generation")
        version = condition.get("resource_version")
        kind = _text(call.get("type"))
        operation = self._operation(trace, event)
        submit = Submit(
            op=event.op, start=event, operation=operation, data=cast("Mapping[str, Any]", call),
            uid=_text(call.get("uid")), type=kind, target=_text(call.get("target")),
            effect=_text(call.get("effect")) or "IDEMPOTENT_WRITE", key=_maybe(call.get("key")),
            context=_text(call.get("context")), priority=number(call.get("priority"), 0.0),
            plugin=_text(call.get("plugin")), deadline=number(call.get("deadline"), math.inf),
            prerequisite_of=_maybe(call.get("prerequisite_of")),
            version=version if isinstance(version, int) else None, only_uid=_maybe(condition.get("uid")),
            generation=cast("tuple[int, int]", tuple(generation)) if isinstance(generation, list) else None,
            rank=rank(kind) if call.get("effect") not in ("READ", "CREATE") else 0,
        )  # fmt: skip
        operation.submits.append(submit)
        trace.submits.append(submit)
        trace.by_op[event.op] = submit
        trace.steps.append((event.seq, "submit", submit))

    @staticmethod
    def _accepted(trace: DispatchTrace, event: Event) -> None:
        submit = trace.by_op.get(event.op)
        if submit is not None and submit.accepted is None:
            submit.accepted = event

    @staticmethod
    def _outcome(trace: DispatchTrace, event: Event) -> None:
        submit = trace.by_op.get(event.op)
        if submit is None:
            return
        if submit.outcome is not None:
            submit.again.append(event)
            return
        submit.outcome = event
        view = mapping(event.data.get("view"))
        submit.kind, submit.own = _text(view.get("kind")), _text(view.get("own"))
        submit.reason = _text(view.get("reason"))
        trace.steps.append((event.seq, "told", submit))

    @staticmethod
    def _cancel(trace: DispatchTrace, event: Event) -> None:
        submit = trace.by_op.get(event.op)
        if submit is not None and submit.cancel is None:
            submit.cancel = event

    @staticmethod
    def _mutate(trace: DispatchTrace, event: Event) -> None:
        submit = trace.by_op.get(event.op)
        if submit is not None and submit.mutated is None:
            submit.mutated = event

    def _attempt(self, trace: DispatchTrace, event: Event) -> None:
        operation = self._operation(trace, event)
        writes = not operation.submits or operation.submits[0].effect != "READ"
        attempt = Attempt(
            op=event.op, start=event, operation=operation, back=bool(event.data.get("read")) and writes,
            index=len(operation.tries),
        )  # fmt: skip
        operation.attempts.append(attempt)
        if not attempt.back:
            operation.tries.append(attempt)
        trace.attempts.append(attempt)
        self.tries[event.op] = attempt
        trace.steps.append((event.seq, "start", attempt))

    def _ended(self, trace: DispatchTrace, event: Event) -> None:
        attempt = self.tries.get(event.op)
        if attempt is None or attempt.end is not None:
            return
        attempt.end = event
        ending = event.data.get("ending")
        if ending == "answer":
            status = event.data.get("status")
            attempt.status = status if isinstance(status, int) else None
            attempt.verdict = errors.of_answer(attempt.status) if attempt.status is not None else errors.ODD
        elif ending == "error":
            attempt.verdict = errors.of_failure(_text(event.data.get("error")))
        else:
            attempt.verdict = errors.CANCELLED
        trace.steps.append((event.seq, "end", attempt))

    def _request(self, _: DispatchTrace, event: Event) -> None:
        attempt = self.tries.get(event.op)
        if attempt is not None:
            attempt.request = attempt.request or event

    def _effect(self, trace: DispatchTrace, event: Event) -> None:
        trace.effects.append(event)
        if event.data.get("by") == "external":
            return
        self._operation(trace, event).effects.append(event)
        attempt = self.tries.get(event.op)
        if attempt is not None:
            attempt.effects.append(event)

    def _answer(self, _: DispatchTrace, event: Event) -> None:
        attempt = self.tries.get(event.op)
        if attempt is not None:
            attempt.answer = event

    @staticmethod
    def _rate(trace: DispatchTrace, event: Event) -> None:
        _, qps, burst = trace.rates[-1]
        trace.rates.append((event, number(event.data.get("qps"), qps), number(event.data.get("burst"), burst)))

    @staticmethod
    def _close_end(trace: DispatchTrace, event: Event) -> None:
        """A nested close ends before the one that it is nested in."""
        for close in reversed(trace.closes):
            if close.end is None and (not event.op or close.start.op == event.op):
                close.end = event
                return

    @staticmethod
    def _slept(trace: DispatchTrace, event: Event) -> None:
        late = number(event.data.get("late"), 0.0)
        if math.isfinite(late):
            trace.late = max(trace.late, late)
