"""Seeded bugs about status words: words that are taken for others, words that end a wait, words that nobody can read any more."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from ....harness.subjects.normaliser.job import JobStatus
from ..bug import SeededBug, wrapping


def _holds_a_known_word(original: Any, word: str | None, words: Any) -> Any:
    return JobStatus.COMPLETED if word is not None and "complete" in word.lower() else original(word, words)


def _unknown_is_failed(original: Any, word: str | None, words: Any) -> Any:
    known = original(word, words)
    return JobStatus.FAILED if known is JobStatus.PENDING and word and word.strip().lower() not in words else known


def _one_spelling(original: Any, word: str | None, words: Any) -> Any:
    return JobStatus.PENDING if word is not None and word.strip().lower() == "canceled" else original(word, words)


def _raw_is_cleaned(original: Any, envelope: Any, **options: Any) -> Any:
    job = original(envelope, **options)
    return job if job.raw_status is None else dataclasses.replace(job, raw_status=job.raw_status.strip().lower())


def _status_must_be_there(original: Any, envelope: Any, **options: Any) -> Any:
    return original({**envelope, "status": envelope["status"]}, **options)


def _schema_jobs_know_five_words(original: Any, envelope: Any, *, resource: Any, words: Any) -> Any:
    if resource == "build_schema_jobs":
        words = {status.value: status for status in JobStatus}
    return original(envelope, resource=resource, words=words)


BUGS = (
    SeededBug(
        name="incomplete-is-complete",
        summary="a word that holds `complete` is taken for it: `incomplete`, `not_completed`",
        invariant="waiter.unknown_status_continues",
        source="W48 databricks-solutions/ai-dev-kit#393",
        replaced={"normaliser.envelope:status_of_word": wrapping(_holds_a_known_word)},
    ),
    SeededBug(
        name="an-unknown-word-is-a-failure",
        summary="a status word that it does not know ends the wait as failed",
        invariant="waiter.unknown_status_continues",
        source="W64 firecrawl/firecrawl#217",
        replaced={"normaliser.envelope:status_of_word": wrapping(_unknown_is_failed)},
        mode="trio",
    ),
    SeededBug(
        name="one-l-is-another-word",
        summary="`canceled` in American spelling is not in its table",
        invariant="waiter.prompt_stop",
        source="W14 apify/apify-client-python!69",
        replaced={"normaliser.envelope:status_of_word": wrapping(_one_spelling)},
    ),
    SeededBug(
        name="hyphens-are-letters",
        summary="`Timed-Out` is not the word `timed_out`, so that the wait does not end",
        invariant="waiter.prompt_stop",
        source="W51 boto/botocore#378",
        replaced={"normaliser.words:_SEPARATORS": re.compile(r"[\s_]+")},
        mode="trio",
    ),
    SeededBug(
        name="the-raw-status-is-cleaned",
        summary="the raw status that it hands out is stripped and in lower case, not what the server wrote",
        invariant="waiter.unknown_status_visible",
        source="W65 brightdata/sdk-js#26",
        replaced={"client.resources:normalise_job": wrapping(_raw_is_cleaned)},
        mode="asyncio",
    ),
    SeededBug(
        name="key-error-without-a-status",
        summary="an answer without a status ends the wait with a KeyError",
        invariant="subject.ends",
        source="W85 snowflakedb/snowflake-connector-python#199",
        replaced={"client.resources:normalise_job": wrapping(_status_must_be_there)},
    ),
    SeededBug(
        name="schema-jobs-know-five-words",
        summary="one of the three resources has a word table of its own, without the synonyms",
        invariant="waiter.resources_agree",
        source="W14 apify/apify-client-python!69",
        suite="waiter-relations",
        replaced={"client.resources:normalise_job": wrapping(_schema_jobs_know_five_words)},
        mode="asyncio",
    ),
)
