"""Seeded bugs about which key counts, and about results and failures."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from ....harness.subjects.normaliser.job import JobError, JobStatus
from ....harness.subjects.normaliser.results import ParseResult
from ..bug import wrapping
from ._bug import NormaliserBug


def _old_first(original: Any, envelope: Any, new: str, old: str, read: Any) -> Any:
    return original(envelope, old, new, read) if new == "result" else original(envelope, new, old, read)


def _old_time_first(original: Any, envelope: Any, new: str, old: str, read: Any) -> Any:
    return original(envelope, old, new, read) if new == "created_at" else original(envelope, new, old, read)


def _only_new(key: str) -> Any:
    def prefer(original: Any, envelope: Any, new: str, old: str, read: Any) -> Any:
        return read(envelope.get(new)) if new == key else original(envelope, new, old, read)

    return wrapping(prefer)


def _old_if_absent(key: str) -> Any:
    """The old key is read only if the new one is absent or null: an empty or unreadable new one hides it."""

    def prefer(original: Any, envelope: Any, new: str, old: str, read: Any) -> Any:
        if new != key:
            return original(envelope, new, old, read)
        return read(envelope.get(old)) if envelope.get(new) is None else read(envelope.get(new))

    return wrapping(prefer)


def _result_always(original: Any, envelope: Any, **options: Any) -> Any:
    job = original(envelope, **options)
    if job.status is JobStatus.COMPLETED or job.is_terminal or not isinstance(envelope.get("result"), Mapping):
        return job
    return dataclasses.replace(job, result=ParseResult(dict(envelope["result"])))


def _only_objects(original: Any, value: Any) -> Any:
    return original(value) if isinstance(value, Mapping | str) else None


def _error_by_status(original: Any, envelope: Any, **options: Any) -> Any:
    job = original(envelope, **options)
    return job if job.status is JobStatus.FAILED else dataclasses.replace(job, error=None)


def _codes_are_text(original: Any, value: Mapping[str, Any]) -> Any:
    found = original(value)
    return JobError(code=None, message=found.message) if found and isinstance(value.get("code"), int) else found


def _code_only(original: Any, value: Mapping[str, Any]) -> Any:
    found = original(value)
    return JobError(code=found.code, message=None) if found and found.code else found


def _failed_has_an_error(original: Any, envelope: Any, **options: Any) -> Any:
    job = original(envelope, **options)
    if job.status is JobStatus.FAILED and job.error is None:
        return dataclasses.replace(job, error=JobError(code=None, message="unknown error"))
    return job


BUGS = (
    NormaliserBug(
        name="the-old-payload-wins", summary="`data` wins over `result`", invariant="normaliser.new_key_wins",
        source="W10 pycontribs/jenkinsapi#345", replaced={"normaliser.envelope:_prefer": wrapping(_old_first)},
    ),
    NormaliserBug(
        name="the-old-time-wins", summary="`received_at` wins over `created_at`", invariant="normaliser.created_at_wins",
        source="own", replaced={"normaliser.envelope:_prefer": wrapping(_old_time_first)},
    ),
    NormaliserBug(
        name="data-is-not-read", summary="a payload under the old key `data` is lost", invariant="normaliser.old_key_falls_back",
        source="W35 Azure/azure-sdk-for-python#22941", replaced={"normaliser.envelope:_prefer": _only_new("result")},
    ),
    NormaliserBug(
        name="received-at-is-not-read", summary="a time under the old key `received_at` is lost", invariant="normaliser.received_at_falls_back",
        source="own", replaced={"normaliser.envelope:_prefer": _only_new("created_at")},
    ),
    NormaliserBug(
        name="an-empty-result-hides-data", summary="an empty or odd `result` hides the payload under `data`", invariant="normaliser.odd_new_key_yields",
        source="W35 Azure/azure-sdk-for-python#22941", replaced={"normaliser.envelope:_prefer": _old_if_absent("result")},
    ),
    NormaliserBug(
        name="an-empty-error-hides-the-reason", summary="an empty `error` hides the `failure_reason`", invariant="normaliser.unreadable_error_yields",
        source="W67 apimatic/apimatic-cli!307", replaced={"normaliser.envelope:_prefer": _old_if_absent("error")},
    ),
    NormaliserBug(
        name="an-odd-time-hides-the-old-one", summary="a `created_at` that can't be read hides `received_at`",
        invariant="normaliser.unreadable_created_at_yields", source="own", replaced={"normaliser.envelope:_prefer": _old_if_absent("created_at")},
    ),
    NormaliserBug(
        name="a-partial-result-is-a-result", summary="a job that is not over yet shows the payload that came so far",
        invariant="normaliser.result_only_when_completed", source="W48 databricks-solutions/ai-dev-kit#393",
        replaced={"builtin_normaliser:normalise_job": wrapping(_result_always)},
    ),
    NormaliserBug(
        name="markdown-of-another-name", summary="the typed result reads the key `md`", invariant="normaliser.result_typed",
        source="W35 Azure/azure-sdk-for-python#22941",
        replaced={"normaliser.results:ParseResult.markdown": property(lambda self: self.payload.get("md"))},
    ),
    NormaliserBug(
        name="a-list-of-errors-is-lost", summary="failures that come as a list are not read", invariant="normaliser.error_forms",
        source="W67 apimatic/apimatic-cli!307", replaced={"normaliser.envelope:_error": wrapping(_only_objects)},
    ),
    NormaliserBug(
        name="errors-of-failed-jobs-only", summary="a failure is dropped unless the status is failed", invariant="normaliser.error_kept_whatever_status",
        source="W5 replicate/replicate-python!460", replaced={"builtin_normaliser:normalise_job": wrapping(_error_by_status)},
    ),
    NormaliserBug(
        name="integer-codes-are-lost", summary="a code that is an integer becomes None", invariant="normaliser.error_code_text",
        source="W50 boto/botocore#3221", replaced={"normaliser.envelope:_error_object": wrapping(_codes_are_text)},
    ),
    NormaliserBug(
        name="a-code-hides-the-message", summary="an error with a code has lost its message", invariant="normaliser.error_read",
        source="W67 apimatic/apimatic-cli!307", replaced={"normaliser.envelope:_error_object": wrapping(_code_only)},
    ),
    NormaliserBug(
        name="an-error-is-made-up", summary="a failed job without any failure gets the error `unknown error`", invariant="normaliser.no_error_made_up",
        source="own", replaced={"builtin_normaliser:normalise_job": wrapping(_failed_has_an_error)},
    ),
)  # fmt: skip
