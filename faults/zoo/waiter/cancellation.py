"""Seeded bugs about cancellation: swallowed, delayed or converted."""

from __future__ import annotations

import asyncio
from typing import Any

import anyio

from ....harness.subjects.waiter.errors import JobWaitTimeoutError
from ..bug import SeededBug, wrapping


async def _a_cut_fetch_is_retried(original: Any, fetch: Any, limit: float) -> Any:
    try:
        return await original(fetch, limit)
    except asyncio.CancelledError:
        return None, TimeoutError("the fetch was cut off")


async def _shielded(original: Any, fetch: Any, limit: float) -> Any:
    with anyio.CancelScope(shield=True):
        return await original(fetch, limit)


async def _converted(original: Any, fetch: Any, **options: Any) -> Any:
    try:
        return await original(fetch, **options)
    except asyncio.CancelledError as error:
        raise JobWaitTimeoutError(job=None, elapsed=0.0, polls=0) from error


def _interrupt_is_an_error(original: Any, fetch: Any, limit: float) -> Any:
    try:
        return original(fetch, limit)
    except KeyboardInterrupt:
        return None, TimeoutError("interrupted")


BUGS = (
    SeededBug(
        name="a-cancelled-fetch-is-retried",
        summary="takes the cancellation of a fetch for a fetch that timed out, and polls on",
        invariant="waiter.cancel_stops",
        source="W78 temporalio/sdk-python#529",
        replaced={"waiter.aio:_attempt": wrapping(_a_cut_fetch_is_retried)},
        mode="asyncio",
    ),
    SeededBug(
        name="a-fetch-is-shielded",
        summary="a fetch that is under way is shielded, so that a cancelled wait ends when the server answers",
        invariant="waiter.cancel_prompt",
        source="W78 langflow-ai/langflow!6625",
        replaced={"waiter.aio:_attempt": wrapping(_shielded)},
        mode="trio",
    ),
    SeededBug(
        name="cancelled-is-timed-out",
        summary="a cancelled wait raises its own timeout error in place of the cancellation",
        invariant="waiter.cancel_original",
        source="W78 uilibs/uiprotect!129",
        replaced={"client.aio:async_wait_for_job": wrapping(_converted)},
        mode="asyncio",
    ),
    SeededBug(
        name="an-interrupt-is-a-hiccup",
        summary="Ctrl-C in the middle of a fetch is taken for a fetch that failed, and the wait goes on",
        invariant="waiter.cancel_original",
        source="W78 inclusionAI/Avernet!1203",
        replaced={"waiter.sync:_attempt": wrapping(_interrupt_is_an_error)},
    ),
)
