"""What the adapters to SDKs out of Stainless's generator share (``openai``, ``runwayml``): such a client takes an httpx client of the
caller's, asks for the platform in a thread, and builds its models late."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import httpx

from ..dialect import Mode
from ..protocols import WaitCall, WaiterBench
from ._translate import AsyncTranslated, Translated, Vocabulary, Wait


def build_models_now() -> None:
    """To be called before the package is imported: its models are otherwise built at their first use, while the clock is frozen."""
    os.environ.setdefault("DEFER_PYDANTIC_BUILD", "false")


def waits(
    package: Any,
    words: Vocabulary,
    client: Callable[..., Any],
    async_client: Callable[..., Any],
    *,
    ask: Callable[[Any, WaitCall], Any],
    ask_async: Callable[[Any, WaitCall], Awaitable[Any]],
) -> Mapping[Mode, Wait]:
    """The two waits of a package: ``ask`` calls its method on a client that talks to the bench's server in the package's ``words``.

    ``package``: its ``_base_client`` module. ``client``, ``async_client``: its two classes.
    """
    platform = package.get_platform()

    def wait(bench: WaiterBench, call: WaitCall) -> Any:
        http = httpx.Client(transport=Translated(bench, words, call.resource))
        with client(api_key="key", base_url=bench.base_url, http_client=http) as opened:
            return ask(opened, call)

    async def wait_async(bench: WaiterBench, call: WaitCall) -> Any:
        http = httpx.AsyncClient(transport=AsyncTranslated(bench, words, call.resource))
        async with async_client(api_key="key", base_url=bench.base_url, http_client=http) as opened:
            # Asked for in a thread at the first request, for a header; the simulated loop has no threads.
            opened._platform = platform  # noqa: SLF001
            return await ask_async(opened, call)

    return {"sync": wait, "asyncio": wait_async}
