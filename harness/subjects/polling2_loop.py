"""``polling2`` (PyPI, MIT), unmodified: ``poll`` around a fetch, as a reader of its documentation would wait for a job.

Its documentation: ``poll`` calls a function until ``check_success`` holds for its value, waiting ``step`` seconds in between;
"the target function will be called until the time elapsed is greater than the maximum timeout", which the execution time may exceed, and
"timeout == 0 … is equivalent to setting poll_forever=True", so that one look at once is ``max_tries=1``; it raises ``TimeoutException``
or ``MaxCallException``. It keeps every value in a queue, and says so. What is a failed job or the right answer is the reader's own
function's affair; errors come through unless ``ignore_exceptions`` names them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..protocols import WaitCall, WaiterBench, WaiterSubject
from ._translate import FETCH_ERRORS, PLAIN, adapter, fetch, subjects, unfinished, view

DIALECT = replace(
    PLAIN,
    clips=False,
    final_poll=False,
    failure="return",
    transient="raise",
    parameters=frozenset({"timeout", "poll_interval", "fetch_timeout"}),
    defaults={"factor": 1.0},
)

CLAIMS = frozenset("schedule deadline prompt_stop permanent".split())


def _limits(call: WaitCall) -> dict[str, Any]:
    if call.timeout == 0:
        return {"max_tries": 1}
    return {"timeout": call.timeout} if math.isfinite(call.timeout) else {"poll_forever": True}


def load() -> Sequence[WaiterSubject]:
    """Import the package and build its subject."""
    import polling2

    def wait(bench: WaiterBench, call: WaitCall) -> Any:
        return polling2.poll(
            fetch,
            args=(bench, call),
            step=call.first_delay if call.poll_interval is None else call.poll_interval,
            check_success=lambda job: not unfinished(job),
            **_limits(call),
        )

    return subjects(
        "polling2",
        {"sync": wait},
        dialect=DIALECT,
        claims=CLAIMS,
        errors={"timeout": (polling2.PollingException,), "transport": FETCH_ERRORS},
        view=view,
        patch=("polling2",),
    )


ADAPTER = adapter("polling2", load, "polling2 as a loop that waits for a job", "sync")
