"""The published table of call configurations over which the reference queue is explored: three calls, two objects, two workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ..harness.calls import ApiCall, Precondition
from ..harness.queue_protocols import QueueConfig

ANSWERS: Final = ("ok", "conflict", "invalid", "busy", "lost", "lost, landed", "lost, lands late")
"""How an attempt can end: 200; 409; 422; 503; no answer and no effect; no answer but the effect is there, or comes later."""

DISRUPTIONS: Final = ("cancel", "context ends", "object deleted", "close", "rate")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One configuration.

    ``calls``: what is submitted, in this order, with the logical operation (twins share one). ``answers``: which of :data:`ANSWERS` the
    server may give, ``few`` those of a quick walk. ``scope``: most disruptions of a path for which the walk is made
    to its end. ``more``: disruptions beyond those of the walk's scope. ``disruptions``: which of :data:`DISRUPTIONS` may come, each at any state.
    """

    name: str
    about: str
    calls: tuple[tuple[ApiCall, str], ...]
    config: QueueConfig
    answers: tuple[str, ...] = ("ok", "invalid", "busy", "lost", "lost, landed")
    few: tuple[str, ...] = ("ok", "busy", "lost")
    more: int = 0
    scope: int = 1
    disruptions: tuple[str, ...] = ("cancel", "context ends", "object deleted", "close")


def _call(number: int = 1, **fields: Any) -> ApiCall:
    return ApiCall(uid=f"uid-{number}", name=f"pod-{number}", **fields)


def _row(name: str, about: str, *calls: ApiCall | tuple[ApiCall, str], **more: Any) -> Row:
    named = tuple(one if isinstance(one, tuple) else (one, f"o{place}") for place, one in enumerate(calls))
    config = {"attempts": 1, "aging": 0.0, **more.pop("config", {})}
    return Row(name=name, about=about, calls=named, config=QueueConfig(**config), **more)


_TWIN: Final = _call(key="k")
_BIND: Final = _call(type="bind", target="node-1")
_DELETE: Final = _call(type="delete", target="pod")


def _patch(ordinal: int, **fields: Any) -> ApiCall:
    return _call(precondition=Precondition(generation=(1, ordinal)), **fields)


def _at(version: int, **fields: Any) -> ApiCall:
    return _call(precondition=Precondition(resource_version=version), **fields)


TABLE: Final[tuple[Row, ...]] = (
    _row(
        "order",
        "two patches of one object and one of another",
        _call(),
        _call(target="spec"),
        _call(2),
        answers=ANSWERS[:6],
        config={"attempts": 2},
        few=("ok", "busy"),
    ),
    _row(
        "twins with a key",
        "the server guards them",
        _TWIN,
        (_TWIN, "o0"),
        answers=ANSWERS,
        few=("ok", "invalid", "lost, lands late"),
        config={"attempts": 2},
    ),
    _row(
        "twins without a key",
        "nobody guards them",
        _call(),
        (_call(), "o0"),
        (_call(), "o0"),
        answers=ANSWERS,
        few=("ok", "lost"),
    ),
    _row("relevance", "patch, bind and delete of one object", _call(), _BIND, _DELETE),
    _row("relevance, upside down", "delete, bind and patch of one object", _DELETE, _BIND, _call()),
    _row("generations", "an older one, a newer one, a bind", _patch(0), _patch(1), _BIND, few=("ok", "lost")),
    _row("generations, late", "the newer one first", _patch(1), _patch(0), _call(2), scope=0),
    _row("prerequisite", "of another object, and a deletion", _call(2, prerequisite_of="uid-1"), _BIND, _DELETE),
    _row("prerequisite, same object", "and a later patch", _call(prerequisite_of="uid-1"), _BIND, _call(target="spec")),
    _row(
        "deadlines",
        "within a pause, within an attempt, none",
        _call(deadline=0.3),
        _call(target="spec", deadline=0.4, key="k"),
        _call(2),
        answers=ANSWERS[:6],
        scope=0,
    ),
    _row(
        "joiners' deadlines",
        "each its own",
        _call(deadline=0.3),
        (_call(deadline=0.6), "o0"),
        _call(2, deadline=0.6),
        scope=0,
    ),
    _row(
        "full",
        "room for two, by priority",
        _call(priority=1),
        _call(2, priority=2),
        _call(2, target="spec", priority=3),
        config={"capacity": 2, "workers": 1},
    ),
    _row(
        "full of what is not dropped",
        "a prerequisite and a call that is not droppable",
        _call(2, prerequisite_of="uid-1"),
        _call(droppable=False),
        _call(target="spec", priority=3),
        config={"capacity": 2, "workers": 1},
    ),
    _row(
        "tokens",
        "one a second, two at once",
        _call(),
        _call(2),
        _call(target="spec"),
        config={"qps": 1.0, "burst": 2},
        answers=("ok", "busy", "lost"),
        disruptions=("cancel", "rate", "close"),
        scope=0,
    ),
    _row(
        "breaker",
        "open after one failure",
        _call(),
        _call(2),
        _call(target="spec"),
        config={"breaker_failures": 1, "breaker_open": 2.0},
        answers=("ok", "busy", "lost"),
        disruptions=("cancel", "close"),
        scope=0,
    ),
    _row(
        "shares",
        "two live and one executing of a plugin",
        _call(),
        _call(2),
        _call(2, target="spec", priority=5),
        config={"shares": {"default": (2, 1)}},
        scope=0,
    ),
    _row(
        "guards",
        "two writes based on one version",
        _at(1),
        _at(1, target="spec"),
        answers=ANSWERS,
        few=("ok", "conflict", "lost, lands late"),
    ),
    _row(
        "create and read",
        "neither supersedes nor is superseded",
        _call(type="create", target="claim", effect="CREATE", key="k"),
        _call(type="get", target="pod", effect="READ"),
        _DELETE,
        scope=0,
    ),
    _row("second bind", "to another node in one context", _BIND, _call(type="bind", target="node-2"), _call(2)),
    _row(
        "refusals",
        "an unknown type, one that the cycle needs, one that is too late",
        _call(type="frobnicate"),
        _call(needed_in_cycle=True),
        _call(2, deadline=-1.0),
    ),
    _row(
        "one key",
        "with two payloads",
        _call(key="k", payload={"x": 1}),
        _call(key="k", payload={"x": 2}),
        _call(2, type="bind", target="node-1"),
        scope=0,
    ),
    _row(
        "disrupted twice",
        "twins of which some or all are withdrawn, and then something else comes",
        _call(),
        (_call(), "o0"),
        more=1,
        few=("lost",),
        config={"qps": 100.0, "attempts": 2},
        disruptions=DISRUPTIONS,
    ),
    _row(
        "disrupted while held up",
        "a prerequisite, its bind, and what the bind withholds",
        _call(2, prerequisite_of="uid-1"),
        _BIND,
        _call(),
        few=("ok", "busy"),
        answers=("ok", "busy", "lost"),
        config={"qps": 100.0, "attempts": 2},
        disruptions=DISRUPTIONS,
    ),
    _row(
        "two contexts",
        "one of them ends",
        _call(),
        (_call(), "o0"),
        _call(context="context-2", target="spec"),
        answers=("ok", "busy", "lost, landed"),
        config={"attempts": 2},
        scope=0,
    ),
)


QUICK: Final = ("order", "disrupted twice", "disrupted while held up")
"""The rows of a quick walk."""
