"""Relevance: who supersedes whom, and what is withheld meanwhile (SPEC 4, 'Two orders', 'Superseding')."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from .config import BIND
from .entry import BACKOFF, BLOCKED, READY, Entry
from .order import Objects

__all__ = ["dominates", "dominator", "subjects", "tree", "withholdable"]


def dominates(one: Entry, other: Entry) -> bool:
    """Whether `one` supersedes `other`, both writes to one object: more relevant, or a newer generation of the same type and target.

    A bind never supersedes its own prerequisites.
    """
    if one.call.type == BIND and one.call.uid in other.prerequisite_of:
        return False
    if one.level != other.level:
        return one.level > other.level
    if one.call.type != other.call.type or one.call.target != other.call.target:
        return False
    mine, theirs = one.call.precondition.generation, other.call.precondition.generation
    return mine is not None and theirs is not None and mine > theirs


def withholdable(entry: Entry) -> bool:
    """Whether a call can give way: it does not execute, and what it may have sent is decided or can't land after another write."""
    if entry.state not in (BLOCKED, READY, BACKOFF) or entry.read_next:
        return False
    return not entry.undecided or entry.pinned is not None


def dominator(objects: Objects, entry: Entry) -> Entry | None:
    """The placed write that supersedes `entry`: the most relevant, then the earliest one."""
    for one in objects.above(entry):
        if dominates(one, entry):
            return one
    if entry.call.precondition.generation is not None:
        for one in objects.of_intent(entry):
            if one is not entry and dominates(one, entry):
                return one
    return None


def subjects(objects: Objects, entry: Entry) -> list[Entry]:
    """The placed writes that `entry` supersedes and that can give way now."""
    found = objects.below(entry)
    if entry.call.precondition.generation is not None:
        found += objects.of_intent(entry)
    return [one for one in found if one is not entry and dominates(entry, one) and withholdable(one)]


def tree(entry: Entry) -> Iterator[Entry]:
    """All that is withheld by a call, directly or through another, in no recursion (the chain may be long)."""
    waiting = deque(entry.withheld or ())
    while waiting:
        one = waiting.popleft()
        yield one
        waiting.extend(one.withheld or ())
