"""Seeded bugs about the envelope that a job keeps: cleaned, shared, or changed on the way."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from ..bug import wrapping
from ._bug import NormaliserBug


def _without_nulls(original: Any, envelope: Any, **options: Any) -> Any:
    job = original(envelope, **options)
    return dataclasses.replace(job, raw={key: value for key, value in job.raw.items() if value is not None})


def _numbers_are_floats(original: Any, envelope: Any, **options: Any) -> Any:
    job = original(envelope, **options)
    if isinstance(job.raw.get("progress"), int) and job.raw["progress"] in (0, 1):
        return dataclasses.replace(job, raw={**job.raw, "progress": float(job.raw["progress"])})
    return job


def _shallow(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value


def _pops_the_old_key(original: Any, envelope: Any, **options: Any) -> Any:
    job = original(envelope, **options)
    envelope.pop("data", None)
    return job


def _raw_is_what_was_made(original: Any, envelope: Any, **options: Any) -> Any:
    """A raw in words of its own: lossless by its looks for the fields that it knows, but a status that it has mapped is gone."""
    job = original(envelope, **options)
    if job.raw_status in (None, job.status.value):
        return job
    return dataclasses.replace(job, raw={**job.raw, "status": "unrecognised"})


BUGS = (
    NormaliserBug(
        name="raw-without-nulls",
        summary="keys that are null are dropped from raw",
        invariant="normaliser.lossless_raw",
        source="W35 Azure/azure-sdk-for-python#22941",
        replaced={"builtin_normaliser:normalise_job": wrapping(_without_nulls)},
    ),
    NormaliserBug(
        name="raw-numbers-are-floats",
        summary="a progress of 1 stands in raw as 1.0",
        invariant="normaliser.lossless_raw",
        source="own",
        replaced={"builtin_normaliser:normalise_job": wrapping(_numbers_are_floats)},
    ),
    NormaliserBug(
        name="raw-by-shallow-copy",
        summary="raw is a shallow copy, so that nested parts are shared with the envelope and the result",
        invariant="normaliser.raw_unaliased",
        source="own",
        replaced={"normaliser.envelope:copy_json": _shallow},
    ),
    NormaliserBug(
        name="the-old-key-is-popped",
        summary="`data` is taken out of the caller's own envelope",
        invariant="normaliser.input_untouched",
        source="own",
        replaced={"builtin_normaliser:normalise_job": wrapping(_pops_the_old_key)},
    ),
    NormaliserBug(
        name="raw-keeps-no-odd-status",
        summary="a status word that was mapped is replaced in raw, so that the raw gives another job",
        invariant="normaliser.idempotent_on_raw",
        source="W65 brightdata/sdk-js#26",
        replaced={"builtin_normaliser:normalise_job": wrapping(_raw_is_what_was_made)},
    ),
)
