"""Seeded bugs about how a wait ends: by the wrong status, as the wrong kind of error, with the wrong things in hand."""

from __future__ import annotations

from typing import Any

from ....harness.subjects.normaliser.job import JobStatus
from ....harness.subjects.waiter.core import Raise, Return
from ....harness.subjects.waiter.errors import JobFailedError
from ..bug import SeededBug, wrapping


def _hollow_result(original: Any, self: Any, now: float) -> Any:
    return original(self, now) if self._last_job is None else Return(job=self._last_job)


def _failed_alone_is_raised(self: Any, job: Any) -> Any:
    raised = self._policy.raise_on_failure and job.status is JobStatus.FAILED
    return Raise(error=JobFailedError(job=job)) if raised else Return(job=job)


def _raised_if_it_says_why(self: Any, job: Any) -> Any:
    raised = job.error is not None or (self._policy.raise_on_failure and job.status is not JobStatus.COMPLETED)
    return Raise(error=JobFailedError(job=job)) if raised else Return(job=job)


def _keyed_on_the_error_object(self: Any, job: Any) -> Any:
    raised = self._policy.raise_on_failure and job.error is not None
    return Raise(error=JobFailedError(job=job)) if raised else Return(job=job)


def _the_last_error_is_raised(original: Any, self: Any, now: float) -> Any:
    return original(self, now) if self._last_error is None else Raise(error=self._last_error)


def _forgets_the_job(original: Any, self: Any, outcome: Any, *, arrival: float, now: float) -> Any:
    self._last_job = outcome.job
    return original(self, outcome, arrival=arrival, now=now)


def _counts_answers_only(original: Any, self: Any, outcome: Any, *, arrival: float, now: float) -> Any:
    if outcome.error is not None:
        self._polls -= 1
    return original(self, outcome, arrival=arrival, now=now)


def _confirms_a_failure(original: Any, self: Any, outcome: Any, *, arrival: float, now: float) -> Any:
    job, before = outcome.job, self._last_job
    if job is not None and job.status is JobStatus.FAILED and (before is None or not before.is_terminal):
        self._polls += 1
        self._last_job, self._last_error = job, None
        return self._sleep(outcome, arrival=arrival, now=now)
    return original(self, outcome, arrival=arrival, now=now)


def _new_key_only(original: Any, envelope: Any, new: str, old: str, read: Any) -> Any:
    return read(envelope.get(new)) if new == "result" else original(envelope, new, old, read)


BUGS = (
    SeededBug(
        name="hollow-result",
        summary="at the deadline it returns the job as it was last seen, as if that were its result",
        invariant="waiter.outcome_by_status",
        source="W34 Azure/azure-sdk-for-python#1003",
        replaced={"waiter.core:WaitCore._timed_out": wrapping(_hollow_result)},
        mode="trio",
    ),
    SeededBug(
        name="a-cancelled-job-is-no-failure",
        summary="only `failed` is raised; a job that was cancelled is returned like a success",
        invariant="waiter.failure_raised",
        source="W5 replicate/replicate-python!460",
        replaced={"waiter.core:WaitCore._ended": _failed_alone_is_raised},
    ),
    SeededBug(
        name="raised-if-it-says-why",
        summary="a failure that carries an error is raised though the caller did not ask for that",
        invariant="waiter.failure_returned",
        source="own",
        replaced={"waiter.core:WaitCore._ended": _raised_if_it_says_why},
    ),
    SeededBug(
        name="no-error-object-no-failure",
        summary="a failed job is raised only if an error object came along",
        invariant="waiter.failure_without_error_object",
        source="W67 apimatic/apimatic-cli!307",
        replaced={"waiter.core:WaitCore._ended": _keyed_on_the_error_object},
        mode="asyncio",
    ),
    SeededBug(
        name="the-last-error-instead-of-a-timeout",
        summary="at the deadline it raises the last fetch's error, so that nobody can tell that the time was up",
        invariant="waiter.outcomes_disjoint",
        source="W82 crewAIInc/crewAI!7444",
        replaced={"waiter.core:WaitCore._timed_out": wrapping(_the_last_error_is_raised)},
    ),
    SeededBug(
        name="a-failed-fetch-forgets-the-job",
        summary="the timeout error carries no job if the last fetch failed, though earlier ones had seen it",
        invariant="waiter.timeout_tells",
        source="own",
        replaced={"waiter.core:WaitCore.fetched": wrapping(_forgets_the_job)},
        mode="trio",
    ),
    SeededBug(
        name="failed-fetches-are-not-counted",
        summary="the timeout error's number of polls leaves out the fetches that failed",
        invariant="waiter.timeout_tells",
        source="own",
        replaced={"waiter.core:WaitCore.fetched": wrapping(_counts_answers_only)},
    ),
    SeededBug(
        name="a-failure-is-looked-at-twice",
        summary="does not believe a failure until a second fetch says so too",
        invariant="waiter.prompt_stop",
        source="own",
        replaced={"waiter.core:WaitCore.fetched": wrapping(_confirms_a_failure)},
        mode="asyncio",
    ),
    SeededBug(
        name="cancelled-is-not-an-end",
        summary="the set of final statuses lacks `cancelled`: the wait goes on to its limit",
        invariant="waiter.prompt_stop",
        source="W12 run-llama/llama_cloud_services!426",
        replaced={"normaliser.job:TERMINAL_STATUSES": frozenset({JobStatus.COMPLETED, JobStatus.FAILED})},
    ),
    SeededBug(
        name="the-old-payload-key-is-not-read",
        summary="a result that comes under the old key `data` is lost",
        invariant="waiter.result_is_the_answer",
        source="W35 Azure/azure-sdk-for-python#22941",
        replaced={"normaliser.envelope:_prefer": wrapping(_new_key_only)},
        mode="asyncio",
    ),
)
