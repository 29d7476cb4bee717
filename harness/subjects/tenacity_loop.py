"""``tenacity`` (PyPI, Apache-2.0), unmodified: ``retry`` around a fetch, as a reader of its documentation would wait for a job.

Its documentation: ``stop_after_delay`` stops "when the time from the first attempt >= limit", and "max_delay will be exceeded …
by some of the final sleep period"; ``wait_fixed`` waits a fixed time and ``wait_exponential`` "multiplier * exp_base ** n up to max"
between attempts; ``retry_if_result`` and ``retry_if_exception`` say when to go on; when it stops it raises ``RetryError``. What is a
failed job, a transient error or the right answer is the reader's own function's affair, so nothing of that is claimed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..protocols import WaitCall, WaiterBench, WaiterSubject
from ._translate import FETCH_ERRORS, PLAIN, adapter, fetch, fetch_async, subjects, unfinished, view

DIALECT = replace(
    PLAIN,
    clips=False,
    final_poll=False,
    failure="return",
    transient="retry",
    parameters=frozenset({"timeout", "poll_interval", "first_delay", "factor", "cap", "fetch_timeout"}),
)

CLAIMS = frozenset("schedule deadline prompt_stop transient".split())


def transient(error: BaseException) -> bool:
    """Which errors a reader would retry: no answer, and the statuses that ask for patience."""
    import httpx

    if isinstance(error, httpx.HTTPStatusError):
        status = error.response.status_code
        return status in (408, 425, 429) or (status >= 500 and status not in (501, 505))
    lasting = (httpx.UnsupportedProtocol, httpx.LocalProtocolError)
    return isinstance(error, httpx.TransportError) and not isinstance(error, lasting)


def load() -> Sequence[WaiterSubject]:
    """Import the package and build its two subjects."""
    import tenacity
    import tenacity.asyncio

    def options(call: WaitCall) -> dict[str, Any]:
        exponential = tenacity.wait_exponential(multiplier=call.first_delay, exp_base=call.factor, max=call.cap)
        return {
            "stop": tenacity.stop_after_delay(call.timeout) if math.isfinite(call.timeout) else tenacity.stop_never,
            "wait": exponential if call.poll_interval is None else tenacity.wait_fixed(call.poll_interval),
            "retry": tenacity.retry_if_result(unfinished) | tenacity.retry_if_exception(transient),
        }

    def wait(bench: WaiterBench, call: WaitCall) -> Any:
        return tenacity.retry(**options(call))(fetch)(bench, call)

    async def wait_async(bench: WaiterBench, call: WaitCall) -> Any:
        return await tenacity.retry(**options(call))(fetch_async)(bench, call)

    return subjects(
        "tenacity",
        {"sync": wait, "asyncio": wait_async},
        dialect=DIALECT,
        claims=CLAIMS,
        errors={"timeout": (tenacity.RetryError,), "transport": FETCH_ERRORS},
        view=view,
        patch=("tenacity",),
    )


ADAPTER = adapter("tenacity", load, "tenacity as a loop that waits for a job", "sync", "asyncio")
