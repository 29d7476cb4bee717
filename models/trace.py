"""From a history to traces: one :class:`WaitTrace` for each wait of each run in it, with every fetch read by the models' own tables.

Sleeps may be unseen (a subject without a clock seam); then pauses are known by time alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast
from urllib.parse import quote
from weakref import WeakKeyDictionary

from ..harness import events
from ..harness.dialect import WaiterDialect
from ..harness.history import Event, History
from ..harness.jsonable import Json, revive
from ..harness.protocols import WaitCall
from .answers import Says, read
from .event_data import mapping, number
from .parameters import bad_parameters
from .pauses import Pause, find_pauses
from .schedule import Delays

NOISE: Final = 1e-6
"""Float noise: two instants that differ by less are the same, whatever the resolution."""


@dataclass(slots=True, kw_only=True)
class Fetch:
    """One request of a wait: where it starts, where it ends and what the answer says (both ``None`` while it is open).

    ``side``: it asks for something else than the first fetch did (another method or path), so it is no poll.
    """

    start: Event
    end: Event | None = None
    says: Says | None = None
    side: bool = False

    @property
    def began(self) -> float:
        """Second at which the request left."""
        return self.start.at

    @property
    def ended(self) -> float:
        """Second at which it was over; infinite while it is open."""
        return self.end.at if self.end is not None else math.inf

    @property
    def kind(self) -> str:
        """What the answer says, in a word; ``open`` while there is none."""
        return self.says.kind if self.says is not None else "open"

    @property
    def retried_beneath(self) -> bool:
        """A client beneath the waiter may retry it by itself, by a table of its own (409 and every 5xx are often in it)."""
        return self.kind in ("transient", "unclear") or (self.says is not None and self.says.http >= 400)

    @property
    def target(self) -> str:
        """Raw path and query, as sent."""
        return str(self.start.data.get("target", ""))


@dataclass(slots=True, kw_only=True)
class Sleep:
    """One sleep: seconds ``asked`` for, and how late it woke (negative: early; 0 while it is open)."""

    start: Event
    end: Event | None = None

    @property
    def asked(self) -> float:
        """Seconds asked for."""
        return number(self.start.data.get("seconds"))

    def cancelled_by(self, at: float) -> bool:
        """Whether it had been cancelled at this second."""
        return self.end is not None and self.end.at <= at and self.end.data.get("ending") == "cancelled"

    @property
    def late(self) -> float:
        """Seconds by which it woke late; 0 while it is open or if it was cancelled."""
        if self.end is None or self.end.data.get("ending") == "cancelled":
            return 0.0
        late = number(self.end.data.get("late"), 0.0)
        return late if math.isfinite(late) else 0.0


@dataclass(slots=True, kw_only=True)
class WaitTrace:
    """All that was seen of one wait. ``run`` is the prefix of its ops (``sync``, ``base``, empty); ``name`` is ``w0`` or ``w1``.

    ``fetches`` are its polls, ``side`` its other requests, ``items`` polls and sleeps in order. ``stop`` is the end of the run by the
    bench. ``sane``: the arguments are acceptable by SPEC 2.
    """

    run: str
    name: str
    start: Event
    call: WaitCall
    dialect: WaiterDialect
    claims: frozenset[str]
    fetches: list[Fetch] = field(default_factory=list)
    side: list[Fetch] = field(default_factory=list)
    sleeps: list[Sleep] = field(default_factory=list)
    items: list[Fetch | Sleep] = field(default_factory=list)
    callbacks: list[Event] = field(default_factory=list)
    jumps: list[Event] = field(default_factory=list)
    cancel: Event | None = None
    outcome: Event | None = None
    stop: Event | None = None
    last: Event | None = None
    sane: bool = True
    _pauses: list[Pause] | None = None

    @property
    def began(self) -> float:
        """Second at which the caller called."""
        return self.start.at

    @property
    def mode(self) -> str:
        """sync, asyncio or trio."""
        return str(self.start.data.get("mode", ""))

    @property
    def tolerance(self) -> float:
        """Within this many seconds two instants are one: a resolution and float noise."""
        return self.dialect.resolution + NOISE + 1e-12 * abs(self.last.at if self.last is not None else 0.0)

    @property
    def deadline(self) -> float | None:
        """The second at which the time limit is reached, ``None`` if there is no time limit."""
        if self.dialect.limit != "time" or not math.isfinite(self.call.timeout):
            return None
        return self.began + self.call.timeout

    @property
    def soonest_end(self) -> float | None:
        """The first second at which it may give up: the deadline, or one pause before it if the dialect gives up rather than pause."""
        deadline = self.deadline
        if deadline is None or self.dialect.gives_up == "deadline":
            return deadline
        shift = 0 if self.dialect.first == "sleep" else 1
        return deadline - Delays(self.call)[max(0, len(self.polls()) - shift)]

    @property
    def category(self) -> str:
        """``returned``, the category of what was raised (every failed fetch is ``transport``), or ``open``."""
        if self.outcome is None:
            return "open"
        if self.outcome.kind == events.WAIT_RETURN:
            return "returned"
        category = str(self.outcome.data.get("category", "other"))
        return "transport" if category in ("transport", "status", "invalid") else category

    @property
    def view(self) -> Mapping[str, Json]:
        """What the returned value says, empty if nothing was returned."""
        return mapping(self.outcome.data.get("view")) if self.outcome is not None else {}

    @property
    def cancelled(self) -> bool:
        """The caller cancelled before the wait had ended."""
        return self.cancel is not None and (self.outcome is None or self.cancel.seq < self.outcome.seq)

    @property
    def final(self) -> Fetch | None:
        """The last poll, if it is over."""
        return self.fetches[-1] if self.fetches and self.fetches[-1].end is not None else None

    @property
    def odd_id(self) -> bool:
        """The job id holds letters that a URL can't, and the subject does not claim to escape them: it may refuse the id."""
        return (
            "ids_escaped" not in self.claims
            and quote(str(self.call.job_id), safe="", errors="replace") != self.call.job_id
        )

    def polls(self) -> list[list[Fetch]]:
        """The fetches by poll: one each, but for a client that retries beneath, whose retries belong to the poll that caused them."""
        groups: list[list[Fetch]] = []
        for fetch in self.fetches:
            if groups and self.dialect.transient == "client":
                group = groups[-1]
                if len(group) <= self.dialect.client_retries and group[-1].retried_beneath:
                    group.append(fetch)
                    continue
            groups.append([fetch])
        return groups

    def pauses(self) -> list[Pause]:
        """The pauses that ended in a poll, in order; the caller's cancel ends the list."""
        if self._pauses is None:
            self._pauses = find_pauses(self)
        return self._pauses

    def after(self, event: Event) -> list[Fetch | Sleep]:
        """Polls and sleeps that start after ``event``; at most the first two, which is what a witness needs.

        A sleep that is cancelled in the instant of the event is none: another task of the same wait was on its way there already.
        """
        found = []
        for item in reversed(self.items):
            if item.start.seq < event.seq:
                break
            if not (isinstance(item, Sleep) and item.cancelled_by(event.at + NOISE)):
                found.append(item)
        return list(reversed(found[-2:]))


_cache: WeakKeyDictionary[History, tuple[int, list[WaitTrace]]] = WeakKeyDictionary()


def traces(history: History) -> list[WaitTrace]:
    """The waits of a history, in the order in which they were called. Read once for all the checkers of one history."""
    kept = _cache.get(history)
    if kept is not None and kept[0] == len(history):
        return kept[1]
    made = _Reader(history).read()
    _cache[history] = (len(history), made)
    return made


def split(op: str) -> tuple[str, str]:
    """Run and wait of an op: ``sync/w0.f3`` is (``sync``, ``w0``)."""
    run, _, rest = op.rpartition("/")
    return run, rest.partition(".")[0]


def header_of(history: History) -> tuple[WaiterDialect, frozenset[str]]:
    """Dialect and claims, from the header."""
    dialect, claims = history.header.get("dialect"), history.header.get("claims")
    data = cast("Mapping[str, Json]", revive(dialect)) if isinstance(dialect, dict) else {}
    return WaiterDialect.from_json(data), frozenset(str(claim) for claim in claims) if isinstance(
        claims, list
    ) else frozenset()


class _Reader:
    """One pass over a history."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.dialect, self.claims = header_of(history)
        self.waits: dict[tuple[str, str], WaitTrace] = {}
        self.open_fetches: dict[str, Fetch] = {}
        self.open_sleeps: dict[tuple[str, str], Sleep] = {}

    def read(self) -> list[WaitTrace]:
        for event in self.history:
            if event.kind == events.BENCH_STOP:
                self._stop(event)
            elif event.kind == events.WALL_JUMP:
                for wait in self._of_run(event):
                    if wait.outcome is None and wait.stop is None:
                        wait.jumps.append(event)
            else:
                self._one(event)
        for wait in self.waits.values():
            self._say(wait)
        return list(self.waits.values())

    def _of_run(self, event: Event) -> list[WaitTrace]:
        run = split(event.op)[0]
        return [wait for key, wait in self.waits.items() if not run or key[0] == run]

    def _stop(self, event: Event) -> None:
        for wait in self._of_run(event):
            if wait.outcome is None and wait.stop is None:
                wait.stop = event
                wait.last = event

    def _wait_of(self, event: Event) -> WaitTrace | None:
        key = split(event.op)
        if not key[1] and len(self.waits) == 1:  # a bench that could not tell who slept, and only one could
            return next(iter(self.waits.values()))
        return self.waits.get(key)

    def _one(self, event: Event) -> None:
        if event.kind == events.WAIT_START:
            if split(event.op)[1][:1] == "w":  # submits and direct calls (c0, d0) are no waits
                self._start(event)
            return
        wait = self._wait_of(event)
        if wait is None:
            return
        key = (wait.run, wait.name)
        if event.kind == events.FETCH_START:
            fetch = Fetch(start=event)
            self.open_fetches[event.op] = fetch
            self._place(wait, fetch)
        elif event.kind == events.FETCH_END and event.op in self.open_fetches:
            self.open_fetches.pop(event.op).end = event
        elif event.kind == events.SLEEP_START:
            sleep = self.open_sleeps[key] = Sleep(start=event)
            wait.sleeps.append(sleep)
            wait.items.append(sleep)
        elif event.kind == events.SLEEP_END and key in self.open_sleeps:
            self.open_sleeps.pop(key).end = event
        elif event.kind == events.WAIT_CANCEL:
            wait.cancel = wait.cancel or event
        elif event.kind in (events.WAIT_RETURN, events.WAIT_RAISE):
            wait.outcome = wait.outcome or event
        elif event.kind == events.POLL_CALLBACK:
            wait.callbacks.append(event)
        elif event.lane not in ("caller", "client", "clock"):
            return  # the server and the network may go on after the wait has ended
        wait.last = event

    def _start(self, event: Event) -> None:
        run, name = split(event.op)
        data = cast("dict[str, Any]", revive(dict(mapping(event.data.get("call")))))
        call = WaitCall(**data)
        self.waits[run, name] = WaitTrace(
            run=run,
            name=name,
            start=event,
            call=call,
            dialect=self.dialect,
            claims=self.claims,
            last=event,
            sane=not bad_parameters(call),
        )

    def _place(self, wait: WaitTrace, fetch: Fetch) -> None:
        if wait.fetches:
            first = wait.fetches[0].start.data
            mine = fetch.start.data
            fetch.side = _asks(mine) != _asks(first)
        if fetch.side:
            wait.side.append(fetch)
        else:
            wait.fetches.append(fetch)
            wait.items.append(fetch)

    def _say(self, wait: WaitTrace) -> None:
        deadline = wait.deadline
        for fetch in (*wait.fetches, *wait.side):
            if fetch.end is None:
                continue
            lasted = fetch.ended - fetch.began
            fetch.says = read(
                fetch.end,
                job_id=str(wait.call.job_id),
                dialect=wait.dialect,
                aborted=wait.cancel is not None and wait.cancel.seq < fetch.end.seq,
                gave_up=lasted >= number(wait.call.fetch_timeout) - wait.tolerance
                or (deadline is not None and fetch.ended >= deadline - wait.tolerance),
            )


def _asks(data: Mapping[str, Json]) -> tuple[str, str]:
    return str(data.get("method", "GET")).upper(), str(data.get("target", "")).partition("?")[0]
