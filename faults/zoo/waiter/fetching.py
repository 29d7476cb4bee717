"""Seeded bugs about the time of one fetch: reads that each have their own limit, and fetches that are given up too soon."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import Any

from ..bug import SeededBug, wrapping


def _each_read_its_own(self: float, now: float) -> float:  # noqa: ARG001 - a method of Budget, which is a float
    return float(self)


async def _by_the_phases_alone(limit: float, call: Callable[[], Awaitable[Any]]) -> Any:  # noqa: ARG001
    return await call()


async def _five_seconds_at_most(original: Any, limit: float, call: Callable[[], Awaitable[Any]]) -> Any:
    return await original(min(limit, 5.0), call)


def _default_of_the_library(original: Any, self: Any, request: Any, limit: float) -> dict[str, Any]:
    return {**original(self, request, limit), "timeout": min(limit, 5.0)}


def _no_timeout(original: Any, self: Any, request: Any, limit: float) -> dict[str, Any]:
    return {**original(self, request, limit), "timeout": None, "extensions": {"total_timeout": math.inf}}


BUGS = (
    SeededBug(
        name="each-read-has-its-own-timeout",
        summary="a server that drips holds the fetch for ever, because every read gets the whole fetch timeout again",
        invariant="waiter.fetch_bounded",
        source="W7 replicate/replicate-python#424",
        replaced={"client.deadline_backend:Budget.left": _each_read_its_own},
    ),
    SeededBug(
        name="only-the-phases-are-limited",
        summary="the asynchronous fetch as a whole has no limit, only its connect and its reads",
        invariant="waiter.fetch_bounded",
        source="W42 googleapis/python-bigquery#1922",
        replaced={"waiter.aio:within": _by_the_phases_alone},
        mode="trio",
    ),
    SeededBug(
        name="no-timeout-reaches-the-transport",
        summary="the fetch timeout is checked and then never handed to the transport, so a server that hangs hangs the wait",
        invariant="waiter.fetch_bounded",
        source="W7 replicate/replicate-python#424",
        replaced={"client.settings:Settings.arguments": wrapping(_no_timeout)},
    ),
    SeededBug(
        name="five-seconds-a-fetch",
        summary="gives every fetch up after 5 s, whatever fetch timeout it was given",
        invariant="waiter.fetch_patient",
        source="W47 databricks/databricks-sdk-py#518",
        replaced={"waiter.aio:within": wrapping(_five_seconds_at_most)},
        mode="asyncio",
    ),
    SeededBug(
        name="the-librarys-default-timeout",
        summary="the HTTP library's own 5 s for each read stay in force beside the fetch timeout",
        invariant="waiter.fetch_patient",
        source="own",
        replaced={"client.settings:Settings.arguments": wrapping(_default_of_the_library)},
    ),
)
