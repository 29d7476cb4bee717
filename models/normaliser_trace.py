"""A history of a normaliser, read once: each call with what was sent, what came of it, and what the bench tried afterwards."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from ..harness import normaliser_events as events
from ..harness.history import Event, History
from ..harness.json_text import depth_of, read_json
from ..harness.jsonable import Json
from ..harness.normaliser_subject import LIST_FIELDS, NormaliserDialect

DEEP = 100
"""A body that is nested deeper than this is judged by ``normaliser.deep_nesting`` alone."""


class Reading(dict[str, Any]):
    """A reading as data: texts of JSON, and objects for times."""

    def value(self, name: str) -> Any:
        """A part as a value; ``None`` if the part is not JSON."""
        try:
            return read_json(str(self.get(name, "null")))
        except ValueError:
            return None


@dataclass(kw_only=True)
class Call:
    """One envelope and all that was done with it. ``run``: ``base``, ``changed`` or empty. ``envelope``: the decoded body."""

    op: str
    start: Event
    resource: str
    dialect: NormaliserDialect
    claims: frozenset[str]
    envelope: Any
    outcome: Event | None = None
    reading: Reading | None = None
    after: list[Event] = field(default_factory=list)

    @property
    def run(self) -> str:
        """``base``, ``changed``, or empty."""
        return self.op.rpartition("/")[0]

    @property
    def is_object(self) -> bool:
        """True if the body is a JSON object."""
        return isinstance(self.envelope, dict)

    @property
    def deep(self) -> bool:
        """True if the body is nested beyond :data:`DEEP`."""
        return depth_of(self.envelope, most=DEEP + 1) > DEEP

    @property
    def shown(self) -> tuple[int, ...]:
        """The events that show the call and its outcome."""
        return tuple(event.seq for event in (self.start, self.outcome) if event is not None)

    def has(self, *names: str) -> bool:
        """True if the subject's jobs have these parts."""
        return self.dialect.fields.issuperset(names)

    def later(self, kind: str, after: str = "") -> Event | None:
        """The later event of this kind (and about this), if it was recorded."""
        return next(
            (item for item in self.after if item.kind == kind and (not after or item.data.get("after") == after)), None
        )


@dataclass(kw_only=True)
class ListCall:
    """One body of a list, its items alone, and the slices that were taken."""

    op: str
    start: Event
    resource: str
    dialect: NormaliserDialect
    body: Any
    outcome: Event | None = None
    slices: list[Event] = field(default_factory=list)
    alone: dict[int, Call] = field(default_factory=dict)

    @property
    def jobs(self) -> Any:
        """What stands under ``jobs``."""
        return self.body.get("jobs") if isinstance(self.body, dict) else None

    @property
    def items(self) -> list[Reading] | None:
        """The readings of the items; ``None`` if it did not return."""
        if self.outcome is None or self.outcome.kind != events.LIST_RETURN:
            return None
        return [Reading(cast("Mapping[str, Json]", item)) for item in cast("list[Json]", self.outcome.data["items"])]

    @property
    def fields(self) -> frozenset[str]:
        """The parts of the envelope that the subject's lists of this resource have."""
        return self.dialect.list_fields.get(self.resource, LIST_FIELDS)

    @property
    def shown(self) -> tuple[int, ...]:
        """The events that show the call and its outcome."""
        return tuple(event.seq for event in (self.start, self.outcome) if event is not None)


@dataclass(kw_only=True)
class Trace:
    """All the calls of a history."""

    calls: list[Call] = field(default_factory=list)
    lists: list[ListCall] = field(default_factory=list)


_read: weakref.WeakKeyDictionary[History, tuple[int, Trace]] = weakref.WeakKeyDictionary()


def trace_of(history: History) -> Trace:
    """Read a history. Reading the same one again costs nothing: every checker asks."""
    known = _read.get(history)
    if known is None or known[0] != len(history):
        known = (len(history), _trace(history))
        _read[history] = known
    return known[1]


def _trace(history: History) -> Trace:
    dialect = NormaliserDialect.from_json(cast("Mapping[str, Json]", history.header.get("dialect") or {}))
    claims = frozenset(cast("list[str]", history.header.get("claims") or []))
    trace, calls, lists = Trace(), dict[str, Call](), dict[str, ListCall]()
    for event in history:
        if event.kind == events.CALL:
            calls[event.op] = call = Call(
                op=event.op, start=event, resource=str(event.data["resource"]), dialect=dialect, claims=claims,
                envelope=read_json(str(event.data["text"])),
            )  # fmt: skip
            head, _, index = event.op.partition(".i")
            if index and head in lists:
                lists[head].alone[int(index)] = call
            else:
                trace.calls.append(call)
        elif event.kind == events.LIST_CALL:
            lists[event.op] = page = ListCall(
                op=event.op, start=event, resource=str(event.data["resource"]), dialect=dialect, body=read_json(str(event.data["text"]))
            )  # fmt: skip
            trace.lists.append(page)
        elif event.op in calls:
            _add(calls[event.op], event)
        elif event.op in lists and event.kind == events.LIST_SLICE:
            lists[event.op].slices.append(event)
        elif event.op in lists:
            lists[event.op].outcome = event
    return trace


def _add(call: Call, event: Event) -> None:
    if event.kind in (events.RETURN, events.RAISE):
        call.outcome = event
        if event.kind == events.RETURN:
            call.reading = Reading(cast("Mapping[str, Json]", event.data["reading"]))
    else:
        call.after.append(event)
