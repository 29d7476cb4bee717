"""Seeded bugs about lists of jobs."""

from __future__ import annotations

import dataclasses
from typing import Any

from ....harness.subjects.normaliser.job_list import JobList
from ..bug import wrapping
from ._bug import NormaliserBug

SUITE = "normaliser-list"


def _jobs_must_be_a_list(original: Any, body: Any, **options: Any) -> Any:
    if isinstance(body, dict) and not isinstance(body.get("jobs", []), list):
        list(body["jobs"])
    return original(body, **options)


def _bad_items_are_dropped(original: Any, body: Any, **options: Any) -> Any:
    found = original(body, **options)
    for position in reversed(found.malformed):
        del found[position]
    return found


def _no_flag(original: Any, item: Any, *options: Any) -> Any:
    return dataclasses.replace(original(item, *options), malformed=False)


def _id_of_its_place(original: Any, body: Any, **options: Any) -> Any:
    found = original(body, **options)
    for position, job in enumerate(found):
        if job.job_id is None and not job.malformed:
            found[position] = dataclasses.replace(job, job_id=str(position))
    return found


def _truthy(original: Any, body: Any, **options: Any) -> Any:
    found = original(body, **options)
    found.has_more = bool(body.get("has_more"))
    return found


class _PlainSlices(JobList[Any]):
    """A list that inherits some slices of ``list``: those that do not begin at its first item."""

    def __getitem__(self, index: Any) -> Any:
        late = isinstance(index, slice) and bool(index.start)
        if late:
            return list.__getitem__(self, index)
        found = super().__getitem__(index)
        return _inheriting(found) if isinstance(index, slice) else found


def _inheriting(found: JobList[Any]) -> JobList[Any]:
    return _PlainSlices(
        found, has_more=found.has_more, org_id=found.org_id, page=found.page, page_size=found.page_size, raw=found.raw
    )


def _inherited_slices(original: Any, body: Any, **options: Any) -> Any:
    return _inheriting(original(body, **options))


def _true_is_a_page(value: Any) -> int | None:
    return value if isinstance(value, int) else None


BUGS = (
    NormaliserBug(
        name="jobs-that-are-null", summary="`jobs` that is null or a number raises TypeError", invariant="normaliser.list_total",
        source="W85 snowflakedb/snowflake-connector-python#199", suite=SUITE,
        replaced={"builtin_normaliser:normalise_job_list": wrapping(_jobs_must_be_a_list)},
    ),
    NormaliserBug(
        name="bad-items-are-dropped", summary="an item that is no object is left out", invariant="normaliser.list_survives_bad_item",
        source="W65 brightdata/sdk-js#26", suite=SUITE, replaced={"builtin_normaliser:normalise_job_list": wrapping(_bad_items_are_dropped)},
    ),
    NormaliserBug(
        name="bad-items-without-a-flag", summary="an item that is no object looks like a pending job", invariant="normaliser.list_survives_bad_item",
        source="own", suite=SUITE, replaced={"normaliser.job_list:_item": wrapping(_no_flag)},
    ),
    NormaliserBug(
        name="items-get-an-id", summary="an item without an id gets its place as one", invariant="normaliser.list_items_as_alone",
        source="own", suite=SUITE, replaced={"builtin_normaliser:normalise_job_list": wrapping(_id_of_its_place)},
    ),
    NormaliserBug(
        name="false-as-text-is-true", summary='has_more is bool() of what came, so that "false" is true', invariant="normaliser.list_no_coercion",
        source="W70 guardrails-ai/guardrails#1559", suite=SUITE, replaced={"builtin_normaliser:normalise_job_list": wrapping(_truthy)},
    ),
    NormaliserBug(
        name="page-true", summary="true is a page number", invariant="normaliser.list_no_coercion",
        source="W70 lionagi#1300", suite=SUITE, replaced={"normaliser.job_list:_integer": _true_is_a_page},
    ),
    NormaliserBug(
        name="slices-are-plain-lists", summary="a slice that does not begin at the first item has lost the envelope", invariant="normaliser.list_keeps_envelope_when_sliced",
        source="own", suite=SUITE, replaced={"builtin_normaliser:normalise_job_list": wrapping(_inherited_slices)},
    ),
)  # fmt: skip
