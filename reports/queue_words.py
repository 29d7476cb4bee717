"""How the events of dispatch queues are told in one line each, and how their calls are read."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from .text import number


def real(value: object) -> float:
    """A number out of an event's data, infinities in their tag included; NaN if it is none."""
    if isinstance(value, dict) and "$float" in value:
        try:
            return float(str(value["$float"]))
        except ValueError:
            return math.nan
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan


def part(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """A mapping inside of an event's data; empty if there is none."""
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def told(view: Mapping[str, Any]) -> str:
    """An outcome: its kind, that of the call which did the work, and its reason."""
    own = f" ({view['own']})" if view.get("own") else ""
    return f"{view.get('kind', '?')}{own}"


def _submit(data: Mapping[str, Any]) -> str:
    call = part(data, "call")
    condition = part(call, "precondition")
    aside = [f"key {call['key']!r}"] if call.get("key") else []
    aside += [f"only at version {condition['resource_version']}"] if condition.get("resource_version") else []
    aside += [f"generation {condition['generation']}"] if condition.get("generation") else []
    aside += [f"priority {number(real(call['priority']))}"] if call.get("priority") else []
    deadline = real(call.get("deadline"))
    aside += [f"deadline at {number(deadline)} s"] if math.isfinite(deadline) else []
    aside += [f"a prerequisite of the bind of {call['prerequisite_of']}"] if call.get("prerequisite_of") else []
    by = ", from inside a callback" if data.get("submitter") == "callback" else ""
    what = f"{call['type']} {call['target']} of {call['name']} ({call['uid']})"
    return f"submits {data.get('operation')}: {what}, {call['context']}{''.join(f', {word}' for word in aside)}{by}"


def _raised(data: Mapping[str, Any], well: str) -> str:
    return f"raises {data['raised']}: {data.get('message', '')}".rstrip(": ") if data.get("raised") else well


def _outcome(data: Mapping[str, Any]) -> str:
    view = data["view"]
    if not isinstance(view, dict):
        return f"is told {view}"
    reason = f": {view['reason']}" if view.get("reason") else ""
    status = f", HTTP {view['status']}" if view.get("status") else ""
    hint = real(view.get("retry_after"))
    return f"is told {told(view)}{reason}{status}" + (f", again after {number(hint)} s" if math.isfinite(hint) else "")


def _start(data: Mapping[str, Any]) -> str:
    what = "reads back" if data.get("read") and data.get("type") != "get" else "sends"
    key = f", key {data['key']!r}" if data.get("key") else ""
    version = part(data, "precondition").get("resource_version")
    guard = f", only at version {version}" if version else ""
    return f"{what} {data.get('type')} of {data.get('uid')}: {data.get('method')} {data.get('target')}{key}{guard}"


def _end(data: Mapping[str, Any]) -> str:
    if data.get("ending") != "answer":
        return f"{data.get('ending')}: {data.get('error', '')}".rstrip(": ")
    hint = real(data.get("retry_after"))
    return f"HTTP {data.get('status')}" + (f", Retry-After {number(hint)} s" if math.isfinite(hint) else "")


def _effect(data: Mapping[str, Any]) -> str:
    by = " by somebody else" if data.get("by") == "external" else ""
    versions = f"version {data.get('from_version')} → {data.get('version')}"
    return f"effect{by}: {data.get('type')} {data.get('target')} of {data.get('uid')}, {versions}"


def _answer(data: Mapping[str, Any]) -> str:
    lost = "" if data.get("sent", True) else ", which never arrives"
    again = ", from the record of an earlier attempt" if data.get("repeat") else ""
    return f"{data.get('words') or data.get('status')}{lost}{again}"


def _open(data: Mapping[str, Any]) -> str:
    config = part(data, "config")
    known = ("workers", "capacity", "qps", "burst", "attempts", "attempt_timeout")
    words = ", ".join(f"{key}={number(real(config[key]))}" for key in known if key in config)
    bounds = part(data, "bounds")
    printed = ", ".join(
        f"{letter} = {number(real(bounds[key]))}{unit}"
        for key, letter, unit in (("wait", "W", " s"), ("overtakes", "B", ""))
        if key in bounds
    )
    return f"the queue is open: {words}" + (f"; it prints {printed}" if printed else "; it prints no bounds")


def _stats(data: Mapping[str, Any]) -> str:
    return f"its own figures: {data['live']} live of {data['submitted']} submitted, {data.get('executing')} executing"


TELL: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "queue.open": _open,
    "call.submit": _submit,
    "call.accepted": lambda data: _raised(data, "submit has returned"),
    "call.mutate": lambda _: "the caller changes its payload object",
    "call.outcome": _outcome,
    "call.cancel": lambda _: "the caller cancels it",
    "waiter.cancel": lambda _: "the task that waits for its outcome is cancelled",
    "context.end": lambda data: f"{data['context']} is over",
    "object.deleted": lambda data: f"{data['uid']} is gone",
    "queue.rate": lambda data: (
        f"the quota is {number(real(data['qps']))} a second, burst {number(real(data['burst']))}"
    ),
    "queue.close": lambda data: f"close is called by the {data.get('by', 'caller')}",
    "queue.closed": lambda data: _raised(
        data, "close was cancelled" if data.get("cancelled") else "close has returned"
    ),
    "queue.stats": _stats,
    "plugin.failure": lambda data: (
        f"failure handler of {data.get('plugin')}: {data.get('operation')}, HTTP {data.get('status')}"
    ),
    "plugin.reevaluate": lambda data: f"asks to look at {data['uid']} again, in {data.get('context')}",
    "attempt.start": _start,
    "attempt.end": _end,
    "api.request": lambda data: f"the server has read {data.get('type')} of {data.get('name')}",
    "api.effect": _effect,
    "api.answer": _answer,
    "bench.healed": lambda data: (
        f"from here on the server answers at once; all must settle within {number(real(data['within']))} s"
    ),
    "bench.settled": lambda data: (
        f"the time to settle is over; open: {', '.join(map(str, data.get('open') or ())) or 'none'}"
    ),
    "bench.probe": lambda data: (
        f"the bench submits {data.get('count')} reads at once, to see whether all workers are there"
    ),
}
"""How each kind of event is told."""
