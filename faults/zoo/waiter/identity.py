"""Seeded bugs about which job is meant: ids in URLs, answers for another job, and a wait that does more than read."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any
from urllib.parse import quote, quote_plus

from ....harness.subjects.client.errors import ApiError
from ....harness.subjects.client.resources import read_created
from ....harness.subjects.waiter.errors import JobWaitTimeoutError
from ..bug import SeededBug, wrapping


def _any_answer_will_do(response: Any, resource: Any, asked: str, words: Any) -> Any:  # noqa: ARG001
    return read_created(response, resource, words)


def _begins_with(original: Any, response: Any, resource: Any, asked: str, words: Any) -> Any:
    with suppress(ValueError, AttributeError):
        named = json.loads(response.body).get("job_id")
        if isinstance(named, str) and named.startswith(asked):
            return read_created(response, resource, words)
    return original(response, resource, asked, words)


def _slashes_stay(job_id: str) -> str:
    return quote(job_id)


def _blanks_become_plus(job_id: str) -> str:
    return quote_plus(job_id)


def _tidies_up(original: Any, self: Any, job_id: str, **options: Any) -> Any:
    try:
        return original(self, job_id, **options)
    except JobWaitTimeoutError:
        with suppress(ApiError):
            self.cancel(job_id)
        raise


BUGS = (
    SeededBug(
        name="any-answer-will-do",
        summary="never compares the id in the answer with the one that was asked for",
        invariant="waiter.identity_of_answer",
        source="W11 pycontribs/jenkinsapi#160",
        replaced={"client.client:read_job": _any_answer_will_do},
    ),
    SeededBug(
        name="an-id-that-begins-alike",
        summary="takes the answer for job-10 when it asked for job-1",
        invariant="waiter.identity_of_answer",
        source="W11 pycontribs/jenkinsapi#160",
        replaced={"client.aio:read_job": wrapping(_begins_with)},
        mode="trio",
    ),
    SeededBug(
        name="slashes-stay",
        summary="quotes a job id as a path, so that a slash in it makes two segments",
        invariant="waiter.ids_escaped",
        source="own",
        replaced={"client.routes:escape_job_id": _slashes_stay},
    ),
    SeededBug(
        name="blanks-become-plus",
        summary="quotes a job id as a form value, so that a blank becomes a plus",
        invariant="waiter.ids_escaped",
        source="own",
        replaced={"client.routes:escape_job_id": _blanks_become_plus},
        mode="trio",
    ),
    SeededBug(
        name="a-timeout-cancels-the-job",
        summary="cancels the remote job when its own time is up",
        invariant="waiter.only_reads",
        source="W75 apache/airflow#64048",
        replaced={"client.client:JobResource.wait": wrapping(_tidies_up)},
    ),
)
