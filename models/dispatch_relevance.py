"""Who supersedes whom, and who is a twin of whom (SPEC 4, 'Two orders' and 'Coalescing'). The models' own tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .dispatch_trace import Submit

RANK: Final = {"delete": 3, "preempt": 3, "bind": 2, "patch": 1}
"""Relevance of the writes to a pod; no other type is in this order."""

KNOWN: Final = frozenset({*RANK, "get", "create"})
"""Every type that the bench tells a queue of."""


def rank(kind: str) -> int:
    """Relevance of a call type; 0 for one that never supersedes and is never superseded."""
    return RANK.get(kind, 0)


def outranks(newer: Submit, older: Submit) -> bool:
    """Whether ``newer`` supersedes ``older``: both write to one pod, and it is more relevant, or the same intent of a later generation.

    A bind never supersedes its own prerequisites.
    """
    if newer.uid != older.uid or not newer.rank or not older.rank:
        return False
    if newer.type == "bind" and older.prerequisite_of == newer.uid:
        return False
    if newer.rank != older.rank:
        return newer.rank > older.rank
    if newer.type != older.type or newer.target != older.target:
        return False
    return newer.generation is not None and older.generation is not None and newer.generation > older.generation


def twins(one: Submit, other: Submit) -> bool:
    """Whether two submits are the same call: object, type, target, key, context and precondition (reads: resourceVersion)."""
    same = (one.uid, one.type, one.target, one.key, one.context) == (
        other.uid,
        other.type,
        other.target,
        other.key,
        other.context,
    )
    if not same:
        return False
    if one.effect == "READ":
        return one.version == other.version
    return (one.only_uid, one.version, one.generation) == (other.only_uid, other.version, other.generation)
