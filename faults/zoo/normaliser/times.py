"""Seeded bugs about times and numbers: local zones, wrong units, and things that are made into what they are not."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from ..bug import wrapping
from ._bug import NormaliserBug


def _local(original: Any, text: str) -> Any:
    original(text)
    return datetime.fromisoformat(text).astimezone(UTC) if not text.strip().isdigit() else None


def _no_offset(original: Any, text: str) -> Any:
    found = original(text)
    return found if found is None else datetime.fromisoformat(text).replace(tzinfo=UTC)


def _naive(original: Any, value: Any) -> Any:
    found = original(value)
    return (
        found.replace(tzinfo=None) if found is not None and isinstance(value, str) and value[-1:].isdigit() else found
    )


def _digits(original: Any, value: Any) -> Any:
    return original(int(value)) if isinstance(value, str) and value.isdecimal() and value.isascii() else original(value)


def _bools(original: Any, value: Any) -> Any:
    return original(int(value)) if isinstance(value, bool) else original(value)


def _percent(original: Any, value: Any) -> Any:
    found = original(value)
    usable = found is None and isinstance(value, int) and not isinstance(value, bool) and 1 < value <= 100
    return float(value) if usable else found


def _progress_of_bools(original: Any, value: Any) -> Any:
    return original(float(value)) if isinstance(value, bool) else original(value)


def _id_of_anything(original: Any, value: Any) -> Any:
    return str(value) if value is None or isinstance(value, bool | float) else original(value)


BUGS = (
    NormaliserBug(
        name="naive-text-is-local", summary="text without an offset is read in the zone of the process", invariant="normaliser.tz_irrelevant",
        source="W71 huggingface/huggingface_hub#1976", suite="normaliser-relations",
        replaced={"normaliser.times:_from_text": wrapping(_local)},
    ),
    NormaliserBug(
        name="the-offset-is-stripped", summary="the offset of a time is dropped, and its clock reading taken for UTC", invariant="normaliser.times_iso",
        source="W72 DataBiosphere/dsub#96", replaced={"normaliser.times:_from_text": wrapping(_no_offset)},
    ),
    NormaliserBug(
        name="naive-and-aware-mixed", summary="text without an offset gives a naive time", invariant="normaliser.times_aware_utc",
        source="W72 airbytehq/airbyte#25646", replaced={"normaliser.envelope:parse_time": wrapping(_naive)},
    ),
    NormaliserBug(
        name="all-epochs-are-seconds", summary="milliseconds are read as seconds, microseconds as milliseconds", invariant="normaliser.times_epoch_magnitudes",
        source="W62 firecrawl/firecrawl#3373", replaced={"normaliser.times:_UNITS": ((10**14, 10**9), (10**17, 10**6))},
    ),
    NormaliserBug(
        name="milliseconds-from-1e12-on", summary="a number below 1e12 is seconds: milliseconds before 2001 are read as such",
        invariant="normaliser.epoch_equals_iso", suite="normaliser-relations",
        source="W62 firecrawl/firecrawl#3373", replaced={"normaliser.times:_UNITS": ((10**12, 10**9), (10**15, 10**6), (10**18, 10**3))},
    ),
    NormaliserBug(
        name="digits-are-an-epoch", summary="text of digits is read as an epoch number", invariant="normaliser.times_not_coerced",
        source="W70 guardrails-ai/guardrails#1559", replaced={"normaliser.envelope:parse_time": wrapping(_digits)},
    ),
    NormaliserBug(
        name="true-is-an-epoch", summary="true is read as one second after the epoch", invariant="normaliser.times_not_coerced",
        source="W70 lionagi#1300", replaced={"normaliser.envelope:parse_time": wrapping(_bools)},
    ),
    NormaliserBug(
        name="progress-in-percent", summary="a progress of 45 is handed out as 45.0", invariant="normaliser.progress_range",
        source="own", replaced={"normaliser.envelope:_progress": wrapping(_percent)},
    ),
    NormaliserBug(
        name="progress-of-true", summary="a progress of true is 1.0", invariant="normaliser.progress_range",
        source="W70 guardrails-ai/guardrails#1559", replaced={"normaliser.envelope:_progress": wrapping(_progress_of_bools)},
    ),
    NormaliserBug(
        name="none-as-an-id", summary="a job id that is null becomes the text `None`", invariant="normaliser.odd_field_none",
        source="W70 guardrails-ai/guardrails#1559", replaced={"normaliser.envelope:text_of_id": wrapping(_id_of_anything)},
    ),
)  # fmt: skip
