"""``botocore`` (PyPI, Apache-2.0), unmodified: its ``Waiter``, driven by a waiter model as AWS services ship them.

Its documentation of every ``wait``: "Polls … every 5 seconds until a successful state is reached. An error is raised after 40 failed
checks", ``Delay`` being "the amount of time in seconds to wait between attempts" and ``MaxAttempts`` "the maximum number of attempts".
So it counts, and has no clock. One error type, ``WaiterError``, stands for failure, exhausted attempts and error answers, told apart
by its reason. It returns nothing, so no result is claimed; errors that no acceptor names end the wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..protocols import JobView, WaitCall, WaiterBench, WaiterSubject
from ._translate import PLAIN, adapter, errors_when, fetch, subjects

DIALECT = replace(
    PLAIN,
    limit="attempts",
    failure="raise",
    transient="raise",
    parameters=frozenset({"attempts"}),
    defaults={"first_delay": 5.0, "factor": 1.0, "cap": 5.0, "attempts": 40, "fetch_timeout": 60.0},
)

CLAIMS = frozenset("schedule deadline prompt_stop only_reads failure unknown_status permanent".split())


def _model() -> dict[str, Any]:
    states = {"completed": "success", "failed": "failure", "cancelled": "failure"}
    acceptors = [
        {"matcher": "path", "argument": "status", "expected": word, "state": state} for word, state in states.items()
    ]
    waiter = {"operation": "GetJob", "delay": 5, "maxAttempts": 40, "acceptors": acceptors}
    return {"version": 2, "waiters": {"JobCompleted": waiter}}


def load() -> Sequence[WaiterSubject]:
    """Import the package and build its subject."""
    import httpx
    from botocore import exceptions, parsers, waiter

    def operation(bench: WaiterBench, call: WaitCall) -> Any:
        """The operation of a service client, which raises what botocore's clients raise."""
        try:
            return fetch(bench, call)
        except httpx.HTTPStatusError as error:
            status = error.response.status_code
            details = {
                "Error": {"Code": str(status), "Message": "HTTP"},
                "ResponseMetadata": {"HTTPStatusCode": status},
            }
            raise exceptions.ClientError(details, "GetJob") from error
        except httpx.HTTPError as error:
            raise exceptions.HTTPClientError(error=error) from error
        except ValueError as error:
            raise parsers.ResponseParserError(str(error)) from error

    def wait(bench: WaiterBench, call: WaitCall) -> Any:
        method = waiter.NormalizedOperationMethod(lambda: operation(bench, call))
        config = waiter.WaiterModel(_model()).get_waiter("JobCompleted")
        return waiter.Waiter("JobCompleted", config, method).wait(WaiterConfig={"MaxAttempts": call.attempts})

    def because(reason: str) -> type[BaseException]:
        return errors_when(exceptions.WaiterError, lambda error: error.kwargs["reason"].startswith(reason))

    return subjects(
        "botocore",
        {"sync": wait},
        dialect=DIALECT,
        claims=CLAIMS,
        errors={
            "timeout": (because("Max attempts exceeded"),),
            "failure": (because("Waiter encountered a terminal failure state"),),
            "transport": (exceptions.WaiterError, exceptions.HTTPClientError, parsers.ResponseParserError),
        },
        view=lambda _: JobView(),
        patch=("botocore",),
    )


ADAPTER = adapter("botocore", load, "botocore's Waiter (attempts, no clock)", "sync")
