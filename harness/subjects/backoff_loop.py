"""``backoff`` (PyPI, MIT), unmodified: ``on_predicate`` around a fetch, as a reader of its documentation would wait for a job.

Its documentation: ``on_predicate`` retries while a condition holds for the value, and "may also be of use for dynamically polling
resources"; ``max_time`` is "the maximum amount of total time in seconds that can elapse before giving up"; ``constant`` with
``jitter=None`` keeps "the polling frequency fixed", ``expo`` grows by ``factor * base ** n`` up to ``max_value``. When it gives up it
hands out the last value, which is what the reader then looks at. What is a failed job or the right answer is the reader's own function's
affair, so nothing of that is claimed; errors come through, as ``on_exception`` is not used.
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
    failure="return",
    transient="raise",
    parameters=frozenset({"timeout", "poll_interval", "first_delay", "factor", "cap", "fetch_timeout"}),
)

CLAIMS = frozenset("schedule deadline prompt_stop permanent".split())


class StillRunningError(Exception):
    """The job had not ended when ``backoff`` gave up."""


def ended(job: Any) -> Any:
    """The job, if it has ended: ``on_predicate`` does not tell a last value from a good one."""
    if unfinished(job):
        raise StillRunningError(job.get("job_id"))
    return job


def load() -> Sequence[WaiterSubject]:
    """Import the package and build its two subjects."""
    import backoff

    def polling(call: WaitCall) -> Any:
        limits: dict[str, Any] = {"max_time": call.timeout} if math.isfinite(call.timeout) else {}
        if call.poll_interval is not None:
            return backoff.on_predicate(
                backoff.constant, unfinished, interval=call.poll_interval, jitter=None, **limits
            )
        delays: dict[str, Any] = {"base": call.factor, "factor": call.first_delay, "max_value": call.cap}
        return backoff.on_predicate(backoff.expo, unfinished, jitter=None, **delays, **limits)

    def wait(bench: WaiterBench, call: WaitCall) -> Any:
        return ended(polling(call)(fetch)(bench, call))

    async def wait_async(bench: WaiterBench, call: WaitCall) -> Any:
        return ended(await polling(call)(fetch_async)(bench, call))

    return subjects(
        "backoff",
        {"sync": wait, "asyncio": wait_async},
        dialect=DIALECT,
        claims=CLAIMS,
        errors={"timeout": (StillRunningError,), "transport": FETCH_ERRORS},
        view=view,
        patch=("backoff",),
    )


ADAPTER = adapter("backoff", load, "backoff as a loop that waits for a job", "sync", "asyncio")
