"""What one fetch brought, read the same way for both drivers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic

from ..error_table import status_of
from ..normaliser.job import Job, ResultT
from .pacing import pacing_hint

__all__ = ["PACED_STATUSES", "Answer", "Outcome", "hint_of_error", "read_outcome"]

PACED_STATUSES = frozenset({429, 503})
"""The failures whose pacing headers are honoured."""


@dataclass(frozen=True, kw_only=True)
class Answer(Generic[ResultT]):
    """What a fetch function returns for a 2xx answer: the job, and the headers that it came with."""

    job: Job[ResultT]
    headers: Mapping[str, str] = field(default_factory=dict)
    """Of these the waiter reads `Retry-After`, `retry-after-ms` and `Date`."""


@dataclass(frozen=True, kw_only=True)
class Outcome(Generic[ResultT]):
    """A job or an error, never both; with the server's hint in seconds after the arrival, if it gave one."""

    job: Job[ResultT] | None = None
    error: Exception | None = None
    hint: float | None = None


def read_outcome(
    answer: Answer[ResultT] | Job[ResultT] | None,
    error: Exception | None,
    wall: Callable[[], float],
) -> Outcome[ResultT]:
    """Return the outcome of a fetch that returned `answer` or raised `error`; `wall` is as for `pacing_hint`.

    A fetch function that returns anything but an `Answer` or a `Job` is a mistake, which becomes a TypeError.
    """
    if error is not None:
        return Outcome(error=error, hint=hint_of_error(error, wall))
    if isinstance(answer, Job):
        return Outcome(job=answer)
    if isinstance(answer, Answer) and isinstance(answer.job, Job):
        return Outcome(job=answer.job, hint=pacing_hint(answer.headers, wall))
    msg = f"the fetch function must return a Job or an Answer, got {type(answer).__name__}"
    return Outcome(error=TypeError(msg))


def hint_of_error(error: Exception, wall: Callable[[], float]) -> float | None:
    """Return the hint of a failed call, which only a 429 or a 503 can give, in seconds.

    Headers are looked for where httpx has them (`error.response.headers`) and in an attribute `headers`.
    """
    if status_of(error) not in PACED_STATUSES:
        return None
    response: Any = getattr(error, "response", None)
    headers = getattr(error, "headers", None) if response is None else getattr(response, "headers", None)
    return pacing_hint(headers, wall) if isinstance(headers, Mapping) else None
