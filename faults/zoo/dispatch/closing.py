"""Seeded bugs of close: who is told, what still starts, and who may call it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....harness.subjects.dispatch.attempts import start
from ....harness.subjects.dispatch.entry import WITHHELD
from ..bug import wrapping
from ._bug import QueueBug


def _fetched_ahead(original: Any, self: Any, now: float) -> None:
    """Each worker has its next call in its hands already."""
    parts = self._parts
    if not parts.closed and parts.executing >= parts.config.workers:
        kept, parts.executing = parts.executing, 0
        attempt = start(parts, now)
        parts.executing += kept
        if attempt is not None:
            vars(self)["ahead"] = attempt
    original(self, now)


def _ahead_first(original: Any, self: Any, now: float) -> Any:
    ahead = vars(self).get("ahead")
    if ahead is not None and self._parts.closed and not vars(self).get("given"):
        vars(self)["given"] = True
        return ahead
    return original(self, now)


def _ahead_is_over(original: Any, self: Any, attempt: Any, reading: Any, now: float) -> None:
    if attempt is vars(self).get("ahead"):
        vars(self)["ahead"] = None
    original(self, attempt, reading, now)


def _not_while_something_is_ahead(self: Any) -> bool:
    return bool(self._parts.closed and vars(self).get("ahead") is None)


def _wanted_if_ahead(original: Any, self: Any, attempt: Any) -> bool:
    return attempt is vars(self).get("ahead") or bool(original(self, attempt))


def _those_in_the_order(original: Any, self: Any) -> Iterator[Any]:
    return (entry for entry in original(self) if entry.state != WITHHELD)


def _once_only(original: Any, self: Any) -> None:
    if self.core.closed:
        raise RuntimeError("close of a closed queue")
    original(self)


def _joins_its_threads(original: Any, self: Any) -> None:
    original(self)
    for thread in self._running:
        thread.join()


def _open_to_newcomers(original: Any, parts: Any, ticket: Any) -> Any:
    closed, parts.closed = parts.closed, False
    try:
        return original(parts, ticket)
    finally:
        parts.closed = closed


BUGS = (
    QueueBug(
        name="fetched-ahead-of-close", summary="a worker that had fetched its next call before close sends it afterwards", invariant="dispatch.close_starts_nothing",
        source="D87 taskiq-python/taskiq!645",
        replaced={
            "core:DispatchCore.close": wrapping(_fetched_ahead), "core:DispatchCore.next": wrapping(_ahead_first),
            "core:DispatchCore._conclude": wrapping(_ahead_is_over), "core:DispatchCore.closed": property(_not_while_something_is_ahead),
            "core:DispatchCore.wanted": wrapping(_wanted_if_ahead),
        },
        mode="threads",
    ),
    QueueBug(
        name="close-forgets-what-is-withheld", summary="close tells those who are in the order of their object, and not those who are withheld",
        invariant="dispatch.close_tells_all", source="D54 kubernetes/kubernetes!119554", replaced={"parts:Parts.entries": wrapping(_those_in_the_order)},
    ),
    QueueBug(
        name="closed-once-only", summary="a second close raises", invariant="dispatch.close_returns", source="D57 kubernetes/client-go@bdead75b",
        replaced={"aio:DispatchQueue.close": wrapping(_once_only)}, mode="trio",
    ),
    QueueBug(
        name="close-joins-its-own-thread", summary="close waits for the worker threads, also when one of them has called it", invariant="dispatch.close_returns",
        source="D70 openshift/kubernetes!503", replaced={"threads:ThreadDispatchQueue.close": wrapping(_joins_its_threads)}, mode="threads",
    ),
    QueueBug(
        name="close-stops-workers-only", summary="a submit after close is taken in, and nobody will ever run it", invariant="dispatch.closed_to_newcomers",
        source="own", replaced={"core:admit": wrapping(_open_to_newcomers)},
    ),
)  # fmt: skip
