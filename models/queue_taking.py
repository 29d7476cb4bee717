"""How the model takes each kind of event of a recorded history: one event, one state, the states that may follow."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from ..harness import queue_events
from ..harness.calls import ApiCall
from ..harness.history import Event
from ..harness.jsonable import Json, dumps, revive
from . import queue_rules as rules
from .queue import Arrival, NotAllowed, QueueModel, State
from .queue_state import Entry
from .queue_versions import Versions


@dataclass(frozen=True, slots=True)
class Here:
    """One state that the queue may be in, and which entry each open attempt is for."""

    state: State
    flights: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Eyes:
    """What an event is read with: the model, and the chain of own writes so far."""

    model: QueueModel
    versions: Versions = field(default_factory=Versions)


class Stop(Exception):  # noqa: N818 - not an error
    """The model can't follow any further; the message says why."""


def _submit(eyes: Eyes, one: Here, event: Event) -> list[Here]:
    told = cast("Mapping[str, Any]", revive(event.data["call"]))
    arrival = Arrival(
        op=event.op,
        call=ApiCall.from_json(told),
        operation=str(event.data.get("operation", "")),
        payload=dumps(cast("Json", told.get("payload"))),
    )
    return [dataclasses.replace(one, state=state) for state in eyes.model.submit(one.state, arrival)]


def _accepted(_: Eyes, one: Here, event: Event) -> list[Here]:
    if event.data.get("raised") is not None:
        raise Stop(f"submit of {event.op} raised")
    return [one]


def _outcome(eyes: Eyes, one: Here, event: Event) -> list[Here]:
    view = cast("Mapping[str, Any]", event.data["view"])
    own = view.get("own")
    state = eyes.model.tell(
        one.state,
        event.op,
        str(view.get("kind")),
        str(own) if own is not None else None,
        str(view.get("reason") or ""),
    )
    return [dataclasses.replace(one, state=state)]


def _cancel(eyes: Eyes, one: Here, event: Event) -> list[Here]:
    return [dataclasses.replace(one, state=eyes.model.cancel(one.state, event.op))]


def _context(eyes: Eyes, one: Here, event: Event) -> list[Here]:
    return [dataclasses.replace(one, state=eyes.model.end_context(one.state, str(event.data["context"])))]


def _deleted(eyes: Eyes, one: Here, event: Event) -> list[Here]:
    return [dataclasses.replace(one, state=eyes.model.delete_object(one.state, str(event.data["uid"])))]


def _rate(eyes: Eyes, one: Here, event: Event) -> list[Here]:
    qps, burst = (float(cast("float", revive(event.data[name]))) for name in ("qps", "burst"))
    return [dataclasses.replace(one, state=eyes.model.set_rate(one.state, qps, burst))]


def _close(eyes: Eyes, one: Here, _: Event) -> list[Here]:
    return [dataclasses.replace(one, state=eyes.model.close(one.state))]


def _closed(eyes: Eyes, one: Here, event: Event) -> list[Here]:
    if event.data.get("raised") is not None:
        raise Stop("close raised")
    return [dataclasses.replace(one, state=eyes.model.closed(one.state))]


def _start(eyes: Eyes, one: Here, event: Event) -> list[Here]:
    operation = event.data.get("operation")
    fitting = [each for each in one.state.entries if each.operation == operation]
    reads = bool(event.data.get("read"))
    if not fitting and reads:
        return [one]  # a look at something that is over
    if not fitting:
        raise NotAllowed(f"no live call has operation {operation}")
    found: list[Here] = []
    why = ""
    for entry in fitting:
        try:
            if reads and rules.is_write(entry.call):
                state = eyes.model.read_back(one.state, entry.index)
            else:
                _as_submitted(eyes, entry, event)
                state = eyes.model.attempt(one.state, entry.index)
        except NotAllowed as reason:
            why = why or str(reason)
            continue
        found.append(Here(state, (*one.flights, (event.op, entry.index))))
    if not found:
        raise NotAllowed(why)
    return found


def _as_submitted(eyes: Eyes, entry: Entry, event: Event) -> None:
    """What is sent is what was submitted; only a guard may have been moved along the queue's own writes."""
    data, call = event.data, entry.call
    copies = eyes.model.setup.dialect.snapshots and "snapshot" in eyes.model.setup.claims
    if rules.is_write(call) and copies and "payload" in data and dumps(data["payload"]) != entry.payload:
        raise NotAllowed(f"s{entry.index} is sent with the payload that it had at its submit")
    for name, given in (("uid", call.uid), ("type", call.type)):
        if data.get(name) not in (None, given):
            raise NotAllowed(f"s{entry.index} has {name} {given}")
    if rules.is_write(call) and "key" in data and data["key"] != call.key:
        raise NotAllowed(f"s{entry.index} has the idempotency key {call.key}")
    sent = data.get("precondition")
    version = sent.get("resource_version") if isinstance(sent, Mapping) else None
    mine = call.precondition.resource_version
    if rules.is_write(call) and isinstance(sent, Mapping) and not eyes.versions.leads(call.uid, mine, version):
        raise NotAllowed(
            f"s{entry.index} is guarded by resourceVersion {mine}, from which no unbroken chain of own writes leads to {version}"
        )


def _end(eyes: Eyes, one: Here, event: Event) -> list[Here]:
    index = dict(one.flights).get(event.op)
    if index is None:
        return [one]
    flights = tuple(pair for pair in one.flights if pair[0] != event.op)
    status = event.data.get("status") if event.data.get("ending") == "answer" else None
    code = int(status) if isinstance(status, int | float) else None
    entry = one.state.entry(index)
    if entry.reading:
        return [Here(eyes.model.read_answered(one.state, index, code), flights)]
    hint = event.data.get("retry_after")
    state = eyes.model.answered(
        one.state,
        index,
        status=code,
        error=str(event.data.get("error") or "") if event.data.get("ending") == "error" else "",
        retry_after=float(hint) if isinstance(hint, int | float) else None,
    )
    return [Here(state, flights)]


def _effect(eyes: Eyes, one: Here, event: Event) -> list[Here]:
    if event.data.get("by") == "external":
        return [one]
    return [dataclasses.replace(one, state=eyes.model.effect(one.state, str(event.data.get("operation"))))]


def _time(_: Eyes, one: Here, __: Event) -> list[Here]:
    return [one]


TAKERS: Final[Mapping[str, Callable[[Eyes, Here, Event], list[Here]]]] = {
    queue_events.CALL_SUBMIT: _submit,
    queue_events.CALL_ACCEPTED: _accepted,
    queue_events.CALL_OUTCOME: _outcome,
    queue_events.CALL_CANCEL: _cancel,
    queue_events.CONTEXT_END: _context,
    queue_events.OBJECT_DELETED: _deleted,
    queue_events.RATE_SET: _rate,
    queue_events.CLOSE_START: _close,
    queue_events.CLOSE_END: _closed,
    queue_events.ATTEMPT_START: _start,
    queue_events.ATTEMPT_END: _end,
    queue_events.API_EFFECT: _effect,
    queue_events.SETTLED: _time,
}
