"""Seeded bugs about status words as a normaliser reads them."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from ....harness.subjects.normaliser.job import JobStatus
from ..bug import wrapping
from ._bug import NormaliserBug


def _contains(original: Any, word: str | None, words: Any) -> Any:
    return JobStatus.COMPLETED if word is not None and "complete" in word.lower() else original(word, words)


def _no_american(original: Any, word: str | None, words: Any) -> Any:
    return JobStatus.PENDING if word is not None and word.lower() == "canceled" else original(word, words)


def _lower_raw(original: Any, envelope: Any, **options: Any) -> Any:
    job = original(envelope, **options)
    return job if job.raw_status is None else dataclasses.replace(job, raw_status=job.raw_status.strip())


class _Unknown:
    value = "unknown"


def _sixth_status(original: Any, word: str | None, words: Any) -> Any:
    known = original(word, words)
    return _Unknown if known is JobStatus.PENDING and word and word.strip().lower() not in words else known


BUGS = (
    NormaliserBug(
        name="words-that-contain-complete",
        summary="every word that holds `complete` is completed: `incomplete`, `not_completed`",
        invariant="normaliser.unknown_status_pending",
        source="W48 databricks-solutions/ai-dev-kit#393",
        replaced={"normaliser.envelope:status_of_word": wrapping(_contains)},
    ),
    NormaliserBug(
        name="one-l-in-cancelled",
        summary="`canceled` is not in its table",
        invariant="normaliser.status_words",
        source="W14 apify/apify-client-python!69",
        replaced={"normaliser.envelope:status_of_word": wrapping(_no_american)},
    ),
    NormaliserBug(
        name="blanks-are-not-folded",
        summary="`IN PROGRESS` is not the word `in_progress`",
        invariant="normaliser.status_words",
        source="W51 boto/botocore#378",
        replaced={"normaliser.words:_SEPARATORS": re.compile(r"[_-]+")},
    ),
    NormaliserBug(
        name="a-sixth-status",
        summary="an unknown word gives the status `unknown`, which no caller's table has",
        invariant="normaliser.status_closed",
        source="W65 brightdata/sdk-js#26",
        replaced={"normaliser.envelope:status_of_word": wrapping(_sixth_status)},
    ),
    NormaliserBug(
        name="raw-status-is-stripped",
        summary="the blanks around a status word are gone from raw_status",
        invariant="normaliser.raw_status_readable",
        source="W65 brightdata/sdk-js#26",
        replaced={"builtin_normaliser:normalise_job": wrapping(_lower_raw)},
    ),
    NormaliserBug(
        name="a-cancelled-job-goes-on",
        summary="is_terminal is false for cancelled",
        invariant="normaliser.terminal_flag",
        source="W8 pycontribs/jenkinsapi#796",
        replaced={"normaliser.job:TERMINAL_STATUSES": frozenset({JobStatus.COMPLETED, JobStatus.FAILED})},
    ),
)
