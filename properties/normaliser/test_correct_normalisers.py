"""No false alarm: two small normalisers that are right in their own way, written from a dialect alone, run without a violation.

One knows five status words to the letter and reads the new keys of its endpoint's family alone. The other keeps dicts: a job is its
envelope and a few properties. Each declares what it does, claims what it promises, and nothing more.
"""

import copy
import json
import math
from datetime import UTC, datetime, timedelta

import pytest

from waitproof.harness.campaign import search
from waitproof.harness.normaliser_subject import (
    JOB_FIELDS,
    JobReading,
    ListReading,
    NormaliserDialect,
    NormaliserSubject,
)
from waitproof.harness.profiles import profile_named
from waitproof.properties.suites import all_suites, suites_for

FIVE = ("pending", "processing", "completed", "failed", "cancelled")


class NotAJob(Exception):
    """The body is no object."""


# -- strict: a record of what it knows, nothing of what it does not ----------------------------------------------------


class Record:
    def __init__(self, envelope, resource):
        if type(envelope) is not dict:
            raise NotAJob(type(envelope).__name__)
        word = envelope.get("status")
        self.status = word if isinstance(word, str) and word in FIVE else "pending"
        self.job_id = envelope["job_id"] if isinstance(envelope.get("job_id"), str) else None
        payload = envelope.get("result")
        if payload is None and resource == "parse_jobs":
            payload = envelope.get("data")
        self.result = copied(payload) if isinstance(payload, dict) and self.status == "completed" else None
        failure, reason = envelope.get("error"), envelope.get("failure_reason")
        self.error = None
        if isinstance(failure, dict):
            self.error = {
                name: failure[name] if isinstance(failure.get(name), str) else None for name in ("code", "message")
            }
        elif failure is None and isinstance(reason, str) and reason:
            self.error = {"code": None, "message": reason}
        self.created_at = moment(envelope.get("created_at"))
        self.raw = copied(envelope)


def copied(value):
    """A deep copy, of what is not nested too deeply for one."""
    try:
        return copy.deepcopy(value)
    except RecursionError:
        return {}


def moment(value):
    """The whole seconds of ISO text with an offset; everything else is no time to it."""
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value)
        return found.astimezone(UTC) if found.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


STRICT = NormaliserSubject(
    name="strict",
    normalise=Record,
    view=lambda job: JobReading(
        job_id=job.job_id, status=job.status, result=job.result, error=job.error, created_at=job.created_at, raw=job.raw
    ),
    errors=(NotAJob,),
    dialect=NormaliserDialect(
        words="enum", old_keys="family", fields=frozenset({"job_id", "status", "result", "error", "created_at", "raw"})
    ),
    claims=frozenset(
        """total non_objects raw unaliased idempotent drift words status unknown_status
        result result_completed time_types times_utc odd_fields""".split()
    ),
)


# -- dicts: the envelope itself, with everything as it is asked for -----------------------------------------------------


def as_dict(envelope, resource):
    """A job is a dict that holds the text of its envelope; what is no object is an empty one."""
    return {"kept": dumps(envelope), "seen": envelope if isinstance(envelope, dict) else {}}


def dumps(value):
    """As text, where Python can write it."""
    try:
        return json.dumps(value)
    except (RecursionError, ValueError):
        return "null"


def seconds(value):
    """Whole seconds, of numbers alone."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 10**10:
        return None
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=value)


def dict_view(job):
    """What such a dict says."""
    envelope = job["seen"]
    word = envelope.get("status")
    folded = word.strip().lower() if isinstance(word, str) else ""
    progress = envelope.get("progress")
    usable = (isinstance(progress, int) and not isinstance(progress, bool)) or (
        isinstance(progress, float) and math.isfinite(progress)
    )
    return JobReading(
        status=folded if folded in FIVE else "processing",
        raw_status=word,
        terminal=folded in FIVE[2:],
        progress=min(max(progress, 0), 1) if usable else None,
        result=envelope.get("result") if isinstance(envelope.get("result"), dict) else None,
    )


class Page(list):
    """The jobs of a page."""

    more = None


def page_of(body, resource):
    """A page: anything under jobs is a job; a body that has none is an empty page."""
    envelope = body if isinstance(body, dict) else {}
    jobs = envelope.get("jobs")
    page = Page(as_dict(item, resource) for item in (jobs if isinstance(jobs, list) else []))
    page.more = envelope.get("has_more") is True
    return page


DICTS = NormaliserSubject(
    name="dicts",
    normalise=as_dict,
    normalise_list=page_of,
    view=dict_view,
    list_view=lambda page: ListReading(has_more=page.more),
    dialect=NormaliserDialect(
        words="folded",
        unknown="processing",
        non_object="keep",
        result="any",
        fields=frozenset({"status", "raw_status", "terminal", "progress", "result"}),
        list_fields=dict.fromkeys(("parse_jobs", "extract_jobs", "build_schema_jobs"), frozenset({"has_more"})),
    ),
    claims=frozenset(
        "total deep non_objects drift resources status unknown_status raw_status terminal progress list_total list_items list_flags".split()
    ),
)


@pytest.mark.parametrize("subject", [STRICT, DICTS], ids=lambda subject: subject.name)
def test_a_correct_normaliser_of_another_make_is_not_accused(subject):
    for suite in suites_for(subject, list(all_suites().values())):
        found = search(suite, subject, profile_named("quick", examples=150), seed=11)
        assert [(row.invariant, row.cause) for row in found.rows if row.verdict in ("violated", "non-strict")] == []
        assert [row.invariant for row in found.rows if row.verdict == "unknown"] == []


def test_their_dialects_rule_out_what_they_do_not_do():
    assert JOB_FIELDS - STRICT.dialect.fields
    suite = all_suites()["normaliser"]
    judged = {item.id for item in suite.applicable(DICTS)}
    assert "normaliser.one_error_for_non_objects" not in judged
    assert "normaliser.ends" in judged
