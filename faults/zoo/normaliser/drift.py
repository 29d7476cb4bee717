"""Seeded bugs that mind what must not matter: the order of keys, unknown keys, the endpoint, the family."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from ....harness.subjects.normaliser.job import JobStatus
from ..bug import wrapping
from ._bug import NormaliserBug


def _first_key_wins(original: Any, envelope: Any, **options: Any) -> Any:
    job = original(envelope, **options)
    if job.completed_at is None or job.progress is None:
        return job
    keys = list(envelope)
    return job if keys.index("progress") < keys.index("completed_at") else dataclasses.replace(job, progress=None)


def _folded_keys(original: Any, envelope: Any, **options: Any) -> Any:
    job = original(envelope, **options)
    word = next((value for key, value in envelope.items() if key != "status" and key.lower() == "status"), None)
    return job if word is None else dataclasses.replace(job, status=JobStatus.FAILED)


def _payload_says_more(original: Any, envelope: Any, **options: Any) -> Any:
    job = original(envelope, **options)
    payload = envelope.get("result")
    extra = isinstance(payload, Mapping) and payload.get("kind") is not None
    return dataclasses.replace(job, error=None, progress=0.0) if extra else job


def _parse_alone_has_times(original: Any, envelope: Any, *, resource: Any, **options: Any) -> Any:
    job = original(envelope, resource=resource, **options)
    return dataclasses.replace(job, completed_at=None) if resource == "build_schema_jobs" else job


def _old_reason_is_a_code(original: Any, envelope: Any, new: str, old: str, read: Any) -> Any:
    found = original(envelope, new, old, read)
    if new == "error" and envelope.get(new) is None and found is not None and found.code is None:
        return dataclasses.replace(found, code="failure_reason")
    return found


BUGS = (
    NormaliserBug(
        name="order-of-keys", summary="progress is lost where completed_at comes before it", invariant="normaliser.key_order_irrelevant",
        source="own", suite="normaliser-relations", replaced={"builtin_normaliser:normalise_job": wrapping(_first_key_wins)},
    ),
    NormaliserBug(
        name="keys-are-folded", summary="`Status` is taken for a second status", invariant="normaliser.unknown_keys_harmless",
        source="W50 boto/botocore#3221", suite="normaliser-relations", replaced={"builtin_normaliser:normalise_job": wrapping(_folded_keys)},
    ),
    NormaliserBug(
        name="a-payload-key-leaks", summary="a payload that holds the key `kind` resets the job's progress", invariant="normaliser.payload_keys_harmless",
        source="own", suite="normaliser-relations", replaced={"builtin_normaliser:normalise_job": wrapping(_payload_says_more)},
    ),
    NormaliserBug(
        name="schema-jobs-without-times", summary="one of the three resources has lost a time", invariant="normaliser.resources_agree",
        source="W80 PrimeIntellect-ai/prime!337", suite="normaliser-relations",
        replaced={"builtin_normaliser:normalise_job": wrapping(_parse_alone_has_times)},
    ),
    NormaliserBug(
        name="the-old-reason-gets-a-code", summary="a failure in the old spelling has a code that nobody sent", invariant="normaliser.families_agree",
        source="own", suite="normaliser-relations", replaced={"normaliser.envelope:_prefer": wrapping(_old_reason_is_a_code)},
    ),
)  # fmt: skip
