"""Drawing calls for a queue: few, over few objects, often sharing objects, keys and types; and which of them are one operation.

Calls are drawn as rough values first. What makes two of them twins is settled afterwards (:func:`settled`), so that twins share an
operation and a payload, and calls that only look alike have operations of their own.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from hypothesis import strategies as st

from ..harness.calls import ApiCall, Effect, Precondition
from ..harness.queue_dialect import QueueDialect
from ..harness.queue_protocols import QueueConfig
from .calls import pick

EPSILON: Final = (0.0, -0.001, 0.001, -0.01, 0.01)
"""Seconds beside an instant that matters."""

TARGETS: Final = {
    "patch": ("status", "other"),
    "bind": ("node-1", "node-2"),
    "delete": ("pod",),
    "preempt": ("pod",),
    "get": ("pod",),
    "create": ("claim", "volume"),
    "evaporate": ("pod",),
}
"""What calls of each type aim at; ``evaporate`` is a type that no queue knows."""

PAYLOADS: Final[tuple[Any, ...]] = (
    None,
    {"value": 1},
    {"value": 2},
    {"items": [3, {"a": [None, "b"]}], "value": {"b": 1, "a": 2}},
    {"value": None},
    {"value": float(2**53), "n": 2**63, "text": "é\u2028\U0001f4c4"},
)
"""Payloads: none of them can be ordered or hashed, two differ in one number only."""


@dataclass(frozen=True, kw_only=True)
class Flavour:
    """What the calls of one plan have in common. ``types``: a few only. ``keyed``, ``versioned``: how often they are guarded. ``objects``:
    how many pods. ``generations``: decisions are numbered."""

    types: tuple[str, ...]
    objects: int
    keyed: tuple[bool, ...]
    versioned: tuple[bool, ...]
    generations: bool
    contexts: tuple[str, ...]
    deadlines: tuple[bool, ...]
    plugins: tuple[str, ...]


_MIXES: Final = (
    ("patch",),
    ("patch", "bind"),
    ("bind", "create"),
    ("patch", "bind", "delete", "preempt"),
    ("get", "patch"),
    ("create",),
    ("patch", "bind", "create", "get", "delete", "preempt"),
    ("patch", "patch", "patch", "evaporate"),
)


def flavour(draw: st.DrawFn, dialect: QueueDialect) -> Flavour:
    """Draw what the calls of a plan have in common."""
    return Flavour(
        types=pick(draw, _MIXES),
        objects=pick(draw, (1, 2, 1, 3)),
        keyed=pick(draw, ((False,), (True,), (False, True))),
        versioned=pick(draw, ((False,), (False, False, True), (True,))),
        generations=pick(draw, (True, False)),
        contexts=pick(draw, (("context-1",), ("context-1", "context-2"))),
        deadlines=pick(draw, ((False,), (False, True), (True,))) if dialect.deadlines else (False,),
        plugins=pick(draw, (("default",), ("default", "other"))),
    )


def effect_of(kind: str) -> Effect:
    """The effect class of a type."""
    return "READ" if kind == "get" else "CREATE" if kind == "create" else "IDEMPOTENT_WRITE"


def one_call(draw: st.DrawFn, like: Flavour, config: QueueConfig, *, at: float, earlier: Sequence[ApiCall]) -> ApiCall:
    """Draw one call; often a variation of an earlier one."""
    again: bool = pick(draw, (False, False, True))
    if earlier and again:
        return _again(draw, pick(draw, earlier), config)
    kind = pick(draw, like.types)
    number = pick(draw, tuple(range(1, like.objects + 1)))
    write = kind in ("patch", "bind", "delete", "preempt")
    odd = pick(draw, (False,) * 7 + (True,))
    return ApiCall(
        uid=f"uid-{number}",
        name=f"pod-{number}",
        type=kind,
        target=pick(draw, TARGETS[kind]),
        effect=effect_of(kind),
        key="k" if kind != "get" and pick(draw, like.keyed) else None,
        precondition=Precondition(
            resource_version=pick(draw, (1, 1, 2)) if write and pick(draw, like.versioned) else None,
            generation=(1, pick(draw, (0, 1, 2))) if write and like.generations else None,
        ),
        payload=pick(draw, PAYLOADS),
        priority=pick(draw, _priorities(config)),
        plugin=pick(draw, like.plugins),
        deadline=deadline(draw, config, at) if pick(draw, like.deadlines) else math.inf,
        context=pick(draw, like.contexts),
        prerequisite_of=f"uid-{number}"
        if kind in ("create", "patch") and "bind" in like.types and pick(draw, (False, True))
        else None,
        droppable=pick(draw, (True, True, True, False)),
        rebuild_cost=pick(draw, (1.0, 1.0, 0.5, 5.0)),
        needed_in_cycle=odd and pick(draw, (False, True)),
    )


def _priorities(config: QueueConfig) -> tuple[int, ...]:
    low, high = config.priority_low, config.priority_high
    return (low, high, (low + high) // 2, low + 1, high + 5, low - 5)


def deadline(draw: st.DrawFn, config: QueueConfig, at: float) -> float:
    """A deadline near something that matters, or already over."""
    spans = (2.0, config.attempt_timeout, config.backoff_first, 0.0, 8.0, 2 * config.attempt_timeout, 1.0)
    return round(max(0.0, at + pick(draw, spans) + pick(draw, EPSILON)), 6)


def _again(draw: st.DrawFn, call: ApiCall, config: QueueConfig) -> ApiCall:
    """A twin of an earlier call, or one that differs from it in something that matters."""
    told = call.precondition
    newer = None if told.generation is None else (told.generation[0], told.generation[1] + 1)
    match pick(draw, ("twin", "priority", "newer", "payload", "target", "context", "version")):
        case "priority":
            return dataclasses.replace(call, priority=pick(draw, _priorities(config)), droppable=not call.droppable)
        case "newer" if newer is not None:
            return dataclasses.replace(
                call, precondition=dataclasses.replace(told, generation=newer), payload=pick(draw, PAYLOADS)
            )
        case "payload":
            return dataclasses.replace(call, payload=pick(draw, PAYLOADS))
        case "target":
            return dataclasses.replace(call, target=pick(draw, TARGETS.get(call.type, ("pod",))))
        case "context":
            return dataclasses.replace(call, context="context-2")
        case "version" if told.resource_version is not None:
            return dataclasses.replace(
                call, precondition=dataclasses.replace(told, resource_version=told.resource_version + 1)
            )
        case _:
            return call


def settled(calls: Sequence[ApiCall], dialect: QueueDialect, *, reuse: bool = False) -> list[tuple[str, ApiCall]]:
    """Give each call its operation (``o0``, ``o1``, …) and each guarded operation its key.

    Twins (same uid, type, target, guard, context and precondition) share operation and payload where the queue joins twins or the server
    dedups them by key; elsewhere each submit is an operation of its own. Two intents on one target that differ in content are two
    generations, if generations are told. ``reuse``: the second keyed operation uses the first one's key, which is a mistake that must be
    refused.
    """
    found: list[tuple[str, ApiCall]] = []
    known: dict[str, tuple[str, ApiCall]] = {}
    keys: list[str] = []
    for call in calls:
        shared = dialect.coalescing == "twins" or call.key is not None
        identity = repr((call.uid, call.type, call.target, call.key is not None, call.context, call.precondition))
        if shared and identity in known:
            operation, first = known[identity]
            found.append((operation, dataclasses.replace(call, key=first.key, payload=first.payload)))
            continue
        operation = f"o{len({name for name, _ in found})}"
        key = None
        if call.key is not None:
            key = keys[0] if reuse and len(keys) == 1 else f"key-{operation}"
            keys.append(key)
        made = dataclasses.replace(call, key=key)
        known.setdefault(identity, (operation, made))
        found.append((operation, made))
    return found
