"""Seeded bugs that raise where a job was due, or keep quiet where an error was due."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from ....harness.subjects.normaliser.job import Job, JobStatus
from ..bug import wrapping
from ._bug import NormaliserBug


def _id_must_be_there(original: Any, envelope: Any, **options: Any) -> Any:
    if isinstance(envelope, Mapping):
        envelope["job_id"]
    return original(envelope, **options)


def _progress_is_converted(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    number = float(value)  # OverflowError for an integer of 400 digits
    return number if 0 <= number <= 1 else None


def _keys_are_arguments(original: Any, value: Any) -> Any:
    def construct(_fields_set: set[str] | None = None, **values: Any) -> Any:
        chosen = set() if _fields_set is None else _fields_set
        chosen.update(values)
        return {**values} if _fields_set is None else {"_fields_set": _fields_set, **values}

    found = original(value)
    return found if not isinstance(found, dict) else construct(**found)


def _null_is_an_empty_job(original: Any, envelope: Any, **options: Any) -> Any:
    if envelope is None:
        return Job(job_id=None, status=JobStatus.PENDING, raw_status=None, raw={})
    return original(envelope, **options)


def _other_error_for_lists(original: Any, envelope: Any, **options: Any) -> Any:
    if isinstance(envelope, list):
        envelope["status"]  # type: ignore[call-overload]
    return original(envelope, **options)


def _exits(value: Any) -> str | None:
    if not isinstance(value, str | None):
        raise SystemExit(1)
    return value


BUGS = (
    NormaliserBug(
        name="key-error-without-an-id",
        summary="an envelope without a job id raises KeyError",
        invariant="normaliser.missing_fields_survived",
        source="W85 snowflakedb/snowflake-connector-python#199",
        replaced={"builtin_normaliser:normalise_job": wrapping(_id_must_be_there)},
    ),
    NormaliserBug(
        name="progress-beyond-floats",
        summary="progress is converted to a float before it is compared, so that a huge integer raises OverflowError",
        invariant="normaliser.retyped_fields_survived",
        source="W28 anthropics/anthropic-sdk-python!1827",
        replaced={"normaliser.envelope:_progress": _progress_is_converted},
    ),
    NormaliserBug(
        name="payload-keys-are-arguments",
        summary="the payload is spread into a constructor's arguments, one of which is called `_fields_set`",
        invariant="normaliser.total",
        source="own",
        replaced={"normaliser.envelope:_payload": wrapping(_keys_are_arguments)},
    ),
    NormaliserBug(
        name="raw-by-deepcopy",
        summary="the envelope is copied by copy.deepcopy, which recurses",
        invariant="normaliser.deep_nesting",
        source="own",
        replaced={"normaliser.envelope:copy_json": copy.deepcopy},
    ),
    NormaliserBug(
        name="null-is-an-empty-job",
        summary="a body that is null gives a pending job",
        invariant="normaliser.one_error_for_non_objects",
        source="W77 temporalio/sdk-php!591",
        replaced={"builtin_normaliser:normalise_job": wrapping(_null_is_an_empty_job)},
    ),
    NormaliserBug(
        name="type-error-for-a-list",
        summary="a body that is a list raises TypeError, not the documented error",
        invariant="normaliser.one_error_for_non_objects",
        source="W85 snowflakedb/snowflake-connector-python#199",
        replaced={"builtin_normaliser:normalise_job": wrapping(_other_error_for_lists)},
    ),
    NormaliserBug(
        name="a-crash-ends-the-process",
        summary="what it cannot read makes it exit: an id that is no text",
        invariant="normaliser.ends",
        source="own",
        replaced={"normaliser.envelope:text_of_id": _exits},
    ),
)
