"""Following a recorded history of any dispatch queue with the reference model: how far it is allowed, and where it parted.

Within one instant the order of independent things is not the queue's to tell: it may have taken a call for a worker before it was given
the next submit, though the attempt is seen after it; and it may be given a submit before it has looked at an answer that is there, or
find a deadline past before it looks at either. So the model follows with a set of states, all that a correct queue may be in: an attempt
is also tried before the submits of the same instant, what the caller does also before the answers of the same instant, and an outcome
at its deadline before both. On threads an event of the caller is seen before its call has taken effect. A queue parts from the model when no state is left.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast
from weakref import WeakKeyDictionary

from ..harness import events, queue_events
from ..harness.history import Event, History
from ..harness.jsonable import revive
from ..harness.queue_dialect import QueueDialect
from ..harness.queue_protocols import QueueConfig
from .dispatch_claims import DISPATCH_CLAIMS
from .queue import NotAllowed, QueueModel, Setup, State
from .queue_taking import TAKERS, Eyes, Here, Stop
from .queue_telling import named

MOST_STATES: Final = 128
"""With more states than this the model does not follow any further: that is told, and is no breach."""

_CALLER: Final = frozenset(
    {
        queue_events.CALL_SUBMIT,
        queue_events.CALL_CANCEL,
        queue_events.CONTEXT_END,
        queue_events.OBJECT_DELETED,
        queue_events.CLOSE_START,
    }
)
_ENDS: Final = _CALLER - {queue_events.CALL_SUBMIT}
_BACK: Final = 6
"""So many submits, or answers, of one instant are looked at for another order."""


@dataclass(frozen=True, kw_only=True)
class Breach:
    """Where a queue parted from the model.

    ``seq``, ``at``: the event (its second). ``observed``: what was seen, in words. ``allowed``: what the model allowed there, in words.
    ``expected``: the first reason why what was seen is not among it. ``state``: where the model stands, a line a call.
    """

    seq: int
    at: float
    observed: str
    allowed: tuple[str, ...]
    expected: str
    state: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"at {self.at:.6g} s: {self.observed}; {self.expected}"


@dataclass(frozen=True, kw_only=True)
class Following:
    """How far the model followed.

    ``steps``: events that it followed, ``last``: the number of the last of them (-1: none). ``breach``: where the queue parted, if it did. ``stopped``: why the model went no further
    although nothing was wrong. ``states``: what a correct queue may be in after the last event followed. ``model``: with which to ask
    :meth:`~waitproof.models.queue.QueueModel.allowed`.
    """

    steps: int
    last: int = -1
    breach: Breach | None = None
    stopped: str = ""
    states: tuple[State, ...] = ()
    model: QueueModel = field(default_factory=lambda: QueueModel(setup=Setup()))


def follow(history: History) -> Following:
    """Follow a history to its end, or to where the queue parts from the model. A pure function of the history."""
    follower = Follower(setup_of(history))
    for event in history:
        try:
            breach = follower.take(event)
        except Stop as stop:
            return follower.result(stopped=str(stop))
        if breach is not None:
            return follower.result(breach=breach)
    return follower.result()


_known: WeakKeyDictionary[History, tuple[int, Following]] = WeakKeyDictionary()


def followed(history: History) -> Following:
    """As :func:`follow`, worked out once for a history as long as nothing is added to it."""
    kept = _known.get(history)
    if kept is not None and kept[0] == len(history):
        return kept[1]
    found = follow(history)
    _known[history] = (len(history), found)
    return found


def setup_of(history: History) -> Setup:
    """Configuration, dialect and claims as the history has them."""
    dialect = history.header.get("dialect")
    claims = history.header.get("claims")
    opened = next(iter(history.of_kind(queue_events.QUEUE_OPEN)), None)
    config = revive(opened.data.get("config")) if opened is not None else None
    return Setup(
        config=QueueConfig.from_json(config) if isinstance(config, Mapping) else QueueConfig(),
        dialect=QueueDialect.from_json(dialect) if isinstance(dialect, Mapping) else QueueDialect(),
        claims=frozenset(str(one) for one in claims) if isinstance(claims, list) else frozenset(DISPATCH_CLAIMS),
        threads=history.header.get("mode") == "threads",
    )


class Follower:
    """The set of states, and what happened in the present instant. For a run that goes on: give it each new event once."""

    def __init__(self, setup: Setup) -> None:
        self.setup, self.model = setup, QueueModel(setup=setup)
        self.eyes = Eyes(self.model)
        self.here: tuple[Here, ...] = (Here(self.model.start()),)
        self.instant: list[tuple[Event, tuple[Here, ...]]] = []
        self.steps, self.last = 0, -1
        self.opened = False
        self.why = ""

    def result(self, *, breach: Breach | None = None, stopped: str = "") -> Following:
        """How far it came."""
        return Following(
            steps=self.steps,
            last=self.last,
            breach=breach,
            stopped=stopped,
            states=tuple(one.state for one in self.here),
            model=self.model,
        )

    def take(self, event: Event) -> Breach | None:
        """Follow one event."""
        if event.kind == events.BENCH_STOP:
            raise Stop("the bench ended the run")
        if event.kind == queue_events.QUEUE_OPEN:
            if self.opened:
                raise Stop("another queue was opened")
            self.opened = True
        self.eyes.versions.note(event)
        if event.kind not in TAKERS:
            return None
        self.why = ""
        if self.instant and event.at - self.instant[0][0].at > self.setup.near:
            self.instant = []
        plain = self._apply(self.here, event)
        found = self._merged([*plain, *self._otherwise(event, failed=not plain)])
        if not found:
            return self._breach(event)
        if len(found) > MOST_STATES:
            raise Stop(f"more than {MOST_STATES} states are possible")
        self.instant.append((event, self.here))
        self.here = found
        self.steps, self.last = self.steps + 1, event.seq
        return None

    def _apply(self, here: Iterable[Here], event: Event) -> list[Here]:
        taker = TAKERS[event.kind]
        found: list[Here] = []
        for one in here:
            try:
                state = self.model.advance(one.state, event.at)
                found.extend(taker(self.eyes, dataclasses.replace(one, state=state), event))
            except NotAllowed as reason:
                self.why = self.why or str(reason)
        return found

    def _otherwise(self, event: Event, *, failed: bool) -> list[Here]:
        """The same with this event earlier in the present instant."""
        if event.kind == queue_events.ATTEMPT_START:
            barriers = frozenset() if self.setup.threads else _ENDS
            places = self._places(lambda past: self._concerns(past, event, failed=failed), barriers)
        elif event.kind in _CALLER:
            places = self._places(lambda past: past.kind == queue_events.ATTEMPT_END or self._races(past, event))
        elif event.kind == queue_events.ATTEMPT_END and self.setup.threads:
            places = self._places(lambda past: past.kind in _CALLER)
        elif event.kind == queue_events.CALL_OUTCOME and self._at_its_deadline(event):
            places = self._places(lambda past: failed or past.kind == queue_events.CALL_SUBMIT)
        else:
            return []
        found: list[Here] = []
        why = self.why
        for place in places:
            here: Sequence[Here] = self._apply(self.instant[place][1], event)
            for past, _ in self.instant[place:]:
                here = self._apply(here, past)
            found.extend(here)
        self.why = why or self.why
        return found

    def _at_its_deadline(self, event: Event) -> bool:
        """Whether the deadline of this submit is in the present instant: what else happens then may be seen before it, or after."""
        found = (one.state.submit(event.op) for one in self.here)
        return any(one is not None and abs(one.call.deadline - event.at) <= 2 * self.setup.near for one in found)

    def _places(self, fits: Callable[[Event], bool], barriers: frozenset[str] = frozenset()) -> list[int]:
        found: list[int] = []
        for place in range(len(self.instant) - 1, -1, -1):
            past = self.instant[place][0]
            if past.kind in barriers or len(found) >= _BACK:
                break
            if fits(past):
                found.append(place)
        return found

    def _races(self, past: Event, event: Event) -> bool:
        """Whether two threads call, one of which closes: who is first is settled in the queue, after both were seen to call."""
        return self.setup.threads and queue_events.CLOSE_START in (past.kind, event.kind) and past.kind in _CALLER

    def _concerns(self, past: Event, event: Event, *, failed: bool) -> bool:
        """Whether it matters if this came before or after that attempt was decided."""
        if past.kind == queue_events.RATE_SET or (past.kind in _ENDS and failed):
            return True
        if past.kind != queue_events.CALL_SUBMIT:
            return False
        call = past.data.get("call")
        same = isinstance(call, Mapping) and call.get("uid") == event.data.get("uid")
        full = any(one.state.live >= self.setup.config.capacity for one in self.here)
        return failed or same or full or past.data.get("operation") == event.data.get("operation")

    def _merged(self, here: list[Here]) -> tuple[Here, ...]:
        """Without twins. Two that differ only in since when are one, with the reading that demands less."""
        if len(here) < 2:
            return tuple(here)
        found: dict[Here, Here] = {}
        for one in here:
            mark = Here(_timeless(one.state), one.flights)
            found[mark] = _milder(found[mark], one) if mark in found else one
        return tuple(found.values())

    def _breach(self, event: Event) -> Breach:
        words: dict[str, None] = {}
        lines: tuple[str, ...] = ()
        for one in self.here:
            words.update(dict.fromkeys(self.model.allowed(one.state)))
            lines = lines or tuple(describe(self.model, one.state))
        return Breach(
            seq=event.seq,
            at=event.at,
            observed=_words(event),
            allowed=tuple(words),
            expected=self.why or "the model allows nothing like it here",
            state=lines,
        )


def _timeless(state: State) -> State:
    entries = tuple(dataclasses.replace(one, since=None) for one in state.entries)
    return dataclasses.replace(state, step=0, worker_free=None, entries=entries)


def _milder(one: Here, other: Here) -> Here:
    mine, theirs = one.state, other.state
    entries = tuple(
        left if left.since == right.since else dataclasses.replace(left, since=_later(left.since, right.since))
        for left, right in zip(mine.entries, theirs.entries, strict=True)
    )
    pair = [each for each in (mine.worker_free, theirs.worker_free) if each is not None]
    free = min(pair) if len(pair) == 2 else None
    return dataclasses.replace(one, state=dataclasses.replace(mine, entries=entries, worker_free=free))


def _later(one: tuple[float, float] | None, other: tuple[float, float] | None) -> tuple[float, float] | None:
    return None if one is None or other is None else max(one, other)


def describe(model: QueueModel, state: State) -> list[str]:
    """The state of the model, a line a submit: for reports."""
    lines = [
        f"{one.op}: {named(model.setup, state, one)}" + (f", due {sorted(one.due)}" if one.due else "")
        for one in state.submits
    ]
    busy = sum(one.in_flight for one in state.entries)
    return [*lines, f"workers: {busy} of {model.setup.config.workers} busy", *model.why_not(state)]


def _words(event: Event) -> str:
    data = event.data
    match event.kind:
        case queue_events.CALL_OUTCOME:
            view = cast("Mapping[str, Any]", data["view"])
            own = f" ({view['own']})" if view.get("own") else ""
            why = f", {view['reason']}" if view.get("reason") else ""
            return f"{event.op} was told {view.get('kind')}{own}{why}"
        case queue_events.ATTEMPT_START:
            what = "a read-back" if data.get("read") else "an attempt"
            return f"{what} {event.op} started ({data.get('type')} {data.get('uid')})"
        case queue_events.CALL_SUBMIT:
            return f"{event.op} was submitted"
        case _:
            return f"{event.kind} {event.op}".strip()
