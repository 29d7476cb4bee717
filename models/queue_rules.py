"""What SPEC 4 says of calls as such: who are twins, who withholds whom, what an answer means, how long a pause is. The model's own tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from ..harness.calls import ApiCall, Precondition
from ..harness.queue_protocols import QueueConfig
from . import errors

Meaning: TypeAlias = Literal["ok", "again", "lost", "maybe_lost", "conflict", "not_found", "permanent", "unclear"]
"""What the end of an attempt says: done; surely not, try again; nothing sure; perhaps not even sent; recompute; not there; never."""

_RANKS: Final[Mapping[str, int]] = MappingProxyType(
    {"delete": 30, "preempt": 30, "bind": 20, "patch": 10, "get": 0, "create": 0}
)
"""Relevance, as the model has it: who supersedes whom. 0: takes no part."""

_AMBIGUOUS: Final = (408, 500, 502, 504)
_NEVER_SENT: Final = ("ConnectError", "ConnectTimeout", "PoolTimeout", "ConnectionRefusedError")
_PAUSES: Final = (429, 503)
LONGEST_HINT: Final = 86_400.0


def known(call: ApiCall) -> bool:
    """Whether the type has a relevance at all: an unknown one is refused, not ranked lowest."""
    return call.type in _RANKS


def is_write(call: ApiCall) -> bool:
    """Whether it changes something."""
    return call.effect != "READ"


def on_object(call: ApiCall) -> bool:
    """Whether it is a write to the pod object, which has an order there and may supersede or be superseded."""
    return call.effect == "IDEMPOTENT_WRITE" and _RANKS.get(call.type, 0) > 0


def is_prerequisite(call: ApiCall, of: ApiCall) -> bool:
    """Whether ``call`` must be confirmed before the bind ``of`` starts."""
    return of.type == "bind" and call.prerequisite_of is not None and call.prerequisite_of == of.uid


def twins(one: ApiCall, other: ApiCall) -> bool:
    """Same object UID, type, target, idempotency key, context and precondition (reads: the same resourceVersion)."""
    if (one.uid, one.type, one.target, one.key, one.context) != (
        other.uid,
        other.type,
        other.target,
        other.key,
        other.context,
    ):
        return False
    if one.effect == "READ" and other.effect == "READ":
        return one.precondition.resource_version == other.precondition.resource_version
    return one.precondition == other.precondition and one.effect == other.effect


def dominates(one: ApiCall, other: ApiCall) -> bool:
    """Whether ``one`` withholds ``other``: more relevant, or a newer generation of the same type and target, of the same object."""
    if one.uid != other.uid or not (on_object(one) and on_object(other)) or is_prerequisite(other, one):
        return False
    if _RANKS[one.type] != _RANKS[other.type]:
        return _RANKS[one.type] > _RANKS[other.type]
    return newer(one, other)


def newer(one: ApiCall, other: ApiCall) -> bool:
    """Whether ``one`` is a later decision about the same thing."""
    mine, theirs = one.precondition.generation, other.precondition.generation
    if (one.type, one.target) != (other.type, other.target) or mine is None or theirs is None:
        return False
    return mine > theirs


def guarded(call: ApiCall) -> bool:
    """Whether the *server* sees to it that a second sending does nothing twice."""
    return call.key is not None or call.precondition.resource_version is not None


def broken_by_successor(precondition: Precondition) -> bool:
    """Whether the effect of a later write makes this guard fail, so that a late landing is impossible."""
    return precondition.resource_version is not None


def meaning(status: int) -> Meaning:
    """What an HTTP status says of the attempt that it answers."""
    if status in _AMBIGUOUS:
        return "lost"
    if status in (409, 412):
        return "conflict"
    if status == 404:
        return "not_found"
    found = errors.of_status(status)
    if found == errors.OK:
        return "ok"
    return "again" if found == errors.TRANSIENT else "permanent"


def meaning_of_error(name: str) -> Meaning:
    """What an attempt without an answer says, by the type of its error."""
    short = name.rpartition(".")[2]
    if short in _NEVER_SENT:
        return "maybe_lost"
    found = errors.of_error(name)
    if found == errors.PERMANENT:
        return "permanent"
    return "lost" if found == errors.TRANSIENT else "unclear"


def pause(config: QueueConfig, attempts: int, status: int | None, retry_after: float | None) -> tuple[float, float]:
    """The shortest and the longest pause (seconds) after the ``attempts``-th attempt: [half, whole], and never below a hint."""
    whole = config.backoff_cap
    exponent = attempts - 1
    if config.backoff_factor <= 1 or exponent * math.log(config.backoff_factor) < 700:
        whole = min(config.backoff_first * config.backoff_factor**exponent, config.backoff_cap)
    hint = 0.0
    if retry_after is not None and math.isfinite(retry_after) and retry_after >= 0:
        hint = min(retry_after, LONGEST_HINT)
    sure = hint if status in _PAUSES else 0.0
    return max(whole / 2, sure), max(whole, hint)


def priority(config: QueueConfig, call: ApiCall) -> float:
    """The priority within the configured span."""
    return min(max(call.priority, config.priority_low), config.priority_high)


def aged(config: QueueConfig, joined: Iterable[tuple[ApiCall, float]], aging: bool = True) -> float:
    """A priority that compares calls at any one instant: the highest of the joiners, and the age (seconds) of the oldest counted in."""
    pairs = list(joined)
    if not pairs:
        return float("-inf")
    top = max(priority(config, call) for call, _ in pairs)
    return top - config.aging * min(at for _, at in pairs) if aging else top


def deadline(joined: Iterable[ApiCall]) -> float:
    """The latest deadline of the joiners."""
    return max((call.deadline for call in joined), default=float("inf"))


REFUSALS: Final = frozenset({"type", "in_cycle", "gate", "key_payload", "second_bind", "obsolete", "share", "capacity"})
"""The reasons that a refusal may have."""
