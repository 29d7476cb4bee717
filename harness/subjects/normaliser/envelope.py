"""From an envelope of either family to a `Job` (SPEC section 3).

Both spellings of every field are read whatever the endpoint, so that a server may move an endpoint from the old
family to the new one, one key at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, TypeVar

from .job import Job, JobError, JobStatus
from .json_value import copy_json, text_of_id
from .results import BuildSchemaResult, ExtractResult, ParseResult, Result
from .times import parse_time
from .words import DEFAULT_WORDS, status_of_word

__all__ = ["EnvelopeError", "Resource", "normalise_job", "result_type"]

_T = TypeVar("_T")


class EnvelopeError(ValueError):
    """The body is not a JSON object: the one error that the normaliser raises for a body."""

    def __init__(self, body: object) -> None:
        super().__init__(
            f"expected a JSON object, got {type(body).__name__}; pass the decoded body of the answer, not its text"
        )
        self.body = body


class Resource(StrEnum):
    """A job resource of the API. `build_schema_jobs` speaks the extract family's envelope."""

    PARSE_JOBS = "parse_jobs"
    EXTRACT_JOBS = "extract_jobs"
    BUILD_SCHEMA_JOBS = "build_schema_jobs"


_RESULT_TYPES: Mapping[Resource, type[Result]] = {
    Resource.PARSE_JOBS: ParseResult,
    Resource.EXTRACT_JOBS: ExtractResult,
    Resource.BUILD_SCHEMA_JOBS: BuildSchemaResult,
}


def result_type(resource: Resource | str) -> type[Result]:
    """Return the type of the results of a resource. Raises ValueError for an unknown one."""
    return _RESULT_TYPES[Resource(resource)]


def normalise_job(
    envelope: object,
    *,
    resource: Resource | str,
    words: Mapping[str, JobStatus] = DEFAULT_WORDS,
) -> Job[Any]:
    """Return the job that an envelope describes.

    `envelope` is a decoded JSON body; it is neither changed nor kept. `resource` decides nothing but the type of
    `Job.result`. `words` is a table from `status_words`.

    Raises EnvelopeError if the envelope is not an object, ValueError if the resource is unknown; no JSON object
    whatever makes it raise.
    """
    make_result = result_type(resource)
    if not isinstance(envelope, Mapping):
        raise EnvelopeError(envelope)
    raw_status = envelope.get("status")
    if not isinstance(raw_status, str):
        raw_status = None
    status = status_of_word(raw_status, words)
    payload = _prefer(envelope, "result", "data", _payload) if status is JobStatus.COMPLETED else None
    return Job(
        job_id=text_of_id(envelope.get("job_id")),
        status=status,
        raw_status=raw_status,
        progress=_progress(envelope.get("progress")),
        # A second copy: what a caller does to a result must not show in `raw`.
        result=None if payload is None else make_result(copy_json(payload)),
        error=_prefer(envelope, "error", "failure_reason", _error),
        created_at=_prefer(envelope, "created_at", "received_at", parse_time),
        started_at=parse_time(envelope.get("started_at")),
        completed_at=parse_time(envelope.get("completed_at")),
        raw=copy_json(envelope),
    )


def _prefer(envelope: Mapping[Any, Any], new: str, old: str, read: Callable[[Any], _T | None]) -> _T | None:
    """Return what the new key holds, unless that is nothing (missing, odd, empty) and the old one holds something.

    `read` answers None for what it cannot read; an empty object is something read, but worth less than a full one.
    """
    first, second = read(envelope.get(new)), read(envelope.get(old))
    if first is None or (not first and second):
        return second
    return first


def _payload(value: Any) -> Mapping[str, Any] | None:
    return value if isinstance(value, Mapping) else None


def _progress(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    # Compared before converted: a huge integer has no float, NaN compares as false.
    return float(value) if 0 <= value <= 1 and math.isfinite(value) else None


def _error(value: Any) -> JobError | None:
    """Read a failure: an object with code and message, a text, or a list of those."""
    if isinstance(value, str):
        return JobError(code=None, message=value) if value.strip() else None
    if isinstance(value, Mapping):
        return _error_object(value)
    if isinstance(value, list):
        return _error_list(value)
    return None


def _error_object(value: Mapping[Any, Any]) -> JobError | None:
    code = text_of_id(value.get("code"))
    message = value.get("message")
    if not isinstance(message, str):
        message = None
    if not (code or "").strip() and not (message or "").strip():
        return None
    return JobError(code=code, message=message)


def _error_list(items: list[Any]) -> JobError | None:
    """Join a list of failures: the first code that there is, every message. A list inside a list is not read."""
    errors = [error for item in items if not isinstance(item, list) and (error := _error(item)) is not None]
    if not errors:
        return None
    messages = [error.message for error in errors if (error.message or "").strip()]
    return JobError(
        code=next((error.code for error in errors if error.code), None),
        message="; ".join(filter(None, messages)) or None,
    )
