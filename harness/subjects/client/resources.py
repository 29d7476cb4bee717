"""What an answer means: from status, headers and body to a job, a page, a result or an error, without any I/O.

Shared by both clients and all three resources, so that they cannot differ.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..normaliser.envelope import Resource, normalise_job, result_type
from ..normaliser.job import JobStatus
from ..normaliser.job_list import JobList, normalise_job_list
from ..normaliser.json_value import text_of_id
from ..normaliser.results import Result
from ..waiter.outcome import Answer
from .errors import ApiStatusError, InvalidResponseError, JobIdMismatchError, SyncTimeoutError
from .json_body import decode_json

__all__ = ["ApiResponse", "read_created", "read_direct", "read_job", "read_jobs"]

_GATEWAY_TIMEOUT = 504


@dataclass(frozen=True, kw_only=True)
class ApiResponse:
    """An answer, read to its end."""

    status_code: int
    headers: Mapping[str, str]
    body: bytes


def read_job(response: ApiResponse, resource: Resource, asked: str, words: Mapping[str, JobStatus]) -> Answer[Any]:
    """Return the job of an answer about the job `asked`. An answer that names no job is taken to be about that one.

    Raises ApiStatusError, InvalidResponseError or JobIdMismatchError.
    """
    envelope = _object(response)
    answered = envelope.get("job_id")
    if answered is not None and text_of_id(answered) != asked:
        raise JobIdMismatchError(asked, answered)
    job = normalise_job(envelope, resource=resource, words=words)
    return Answer(job=dataclasses.replace(job, job_id=asked), headers=response.headers)


def read_created(response: ApiResponse, resource: Resource, words: Mapping[str, JobStatus]) -> Answer[Any]:
    """Return the job that the server says it has created. Raises ApiStatusError or InvalidResponseError."""
    job = normalise_job(_object(response), resource=resource, words=words)
    return Answer(job=job, headers=response.headers)


def read_jobs(response: ApiResponse, resource: Resource, words: Mapping[str, JobStatus]) -> JobList[Any]:
    """Return a page of jobs. Raises ApiStatusError or InvalidResponseError."""
    return normalise_job_list(_object(response), resource=resource, words=words)


def read_direct(response: ApiResponse, resource: Resource) -> Result:
    """Return the result of the direct path. Raises SyncTimeoutError, ApiStatusError or InvalidResponseError."""
    if response.status_code == _GATEWAY_TIMEOUT:
        raise SyncTimeoutError(resource)
    return result_type(resource)(_object(response))


def _object(response: ApiResponse) -> dict[str, Any]:
    if not 200 <= response.status_code <= 299:
        raise ApiStatusError(response.status_code, response.headers, response.body)
    try:
        value = decode_json(response.body)
    except ValueError as error:
        raise InvalidResponseError("it is not JSON", response.body) from error
    if not isinstance(value, dict):
        raise InvalidResponseError(f"it is a JSON {type(value).__name__}", response.body)
    return value
