"""The built-in normaliser: every sentence of SPEC section 3 about envelopes, and totality over all JSON."""

import copy
import math
import time
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waitproof.harness.subjects.normaliser import (
    EnvelopeError,
    JobError,
    JobList,
    JobStatus,
    Resource,
    normalise_job,
    normalise_job_list,
    parse_time,
    status_words,
)

RESOURCES = list(Resource)
HUGE = 10**5000  # more digits than CPython prints; in parameters under an id, because pytest would print it

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**400, -(10**400), 2**63, 1e308, math.nan, math.inf, -math.inf])
    | st.floats()
    | st.text(st.characters())
    | st.sampled_from(["\ud800", "", " ", "2026", "2026-01-01", "completed", "Done", "FAILED", "\x00"])
)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
)
KEYS = [
    "job_id",
    "status",
    "progress",
    "result",
    "data",
    "error",
    "failure_reason",
    "created_at",
    "received_at",
    "started_at",
    "completed_at",
    "jobs",
    "has_more",
    "org_id",
    "page",
    "page_size",
    "pageSize",
]
ENVELOPES = st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), JSON, max_size=8)


def normalise(envelope, resource="parse_jobs", **options):
    return normalise_job(envelope, resource=resource, **options)


def naive(year):
    return datetime(year, 1, 1)  # noqa: DTZ001  (Hypothesis wants naive bounds)


def deep(levels=10_000, leaf="leaf", kind=dict):
    value = leaf
    for _ in range(levels):
        value = {"a": value} if kind is dict else [value]
    return value


@given(ENVELOPES, st.sampled_from(RESOURCES))
def test_no_object_makes_it_raise(envelope, resource):
    """Any JSON object becomes a job whose fields have their types; so do lists of them."""
    job = normalise(envelope, resource)
    assert isinstance(job.status, JobStatus)
    assert job.raw_status is None or job.raw_status == envelope["status"]
    assert job.progress is None or 0 <= job.progress <= 1
    for moment in (job.created_at, job.started_at, job.completed_at):
        assert moment is None or moment.utcoffset() == timedelta(0)
    assert job.result is None or job.status is JobStatus.COMPLETED
    assert repr(job)
    for name in ("markdown", "extraction", "extraction_schema", "metadata", "chunks", "extra"):
        getattr(job.result, name, None)
    jobs = normalise_job_list(envelope, resource=resource)
    assert jobs.has_more in (None, True, False)
    assert repr(jobs)


@given(ENVELOPES, st.sampled_from(RESOURCES))
def test_it_is_idempotent_and_lossless_and_touches_nothing(envelope, resource):
    """A job's raw is its envelope, gives the same job again, and normalising changes nothing."""
    before = copy.deepcopy(envelope)
    job = normalise(envelope, resource)
    assert repr(envelope) == repr(before)
    assert repr(job.raw) == repr(before)
    assert job == normalise(job.raw, resource)
    jobs = normalise_job_list(envelope, resource=resource)
    assert jobs == normalise_job_list(jobs.raw, resource=resource)


@pytest.mark.parametrize("body", [None, [], "{}", 1, 1.5, True, [{}]])
def test_a_body_that_is_no_object_is_the_one_error(body):
    """EnvelopeError, which is a ValueError, for a job and for a list."""
    with pytest.raises(EnvelopeError, match="expected a JSON object"):
        normalise(body)
    with pytest.raises(EnvelopeError):
        normalise_job_list(body, resource="parse_jobs")


def test_an_unknown_resource_is_refused():
    """Only the three resources are known."""
    with pytest.raises(ValueError, match="split_jobs"):
        normalise({}, "split_jobs")


@pytest.mark.parametrize("kind", [dict, list])
def test_no_depth_makes_it_raise(kind):
    """Ten thousand levels are copied, compared and shown without recursion, whichever key holds them."""
    for key in KEYS:
        envelope = {"status": "completed", "result": {"markdown": "m"}, key: deep(kind=kind)}
        job = normalise(envelope)
        assert job == normalise(job.raw)
        assert repr(job)
        assert repr(normalise_job_list(envelope, resource="parse_jobs"))
    job = normalise({"status": "completed", "result": {"x": deep(kind=kind)}})
    assert job.result == normalise(job.raw).result
    assert job.result != normalise({"status": "completed", "result": {"x": deep(leaf="other", kind=kind)}}).result


def test_raw_is_untouched_and_unaliased():
    """Changing the envelope, the raw or the result changes none of the others."""
    envelope = {"status": "done", "data": {"metadata": {"pages": 1}}, "x": [1]}
    job = normalise(envelope)
    assert job.raw == envelope
    envelope["data"]["metadata"]["pages"] = 2
    job.result.metadata["pages"] = 3
    job.raw["x"].append(2)
    assert job.raw["data"]["metadata"]["pages"] == 1
    assert envelope["x"] == [1]
    assert job.result.metadata == {"pages": 3}


# Status.


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("completed", "completed complete succeeded success done finished"),
        ("failed", "failed failure error errored expired timed_out"),
        ("cancelled", "cancelled canceled aborted"),
        ("processing", "processing running in_progress started"),
        ("pending", "pending queued waiting created submitted unheard_of ok"),
    ],
)
def test_status_words(status, words):
    """Each word has its meaning, in whatever case and with whatever separators; an unknown word is pending."""
    for word in words.split():
        for form in (word, word.upper(), f"  {word.title()}\t", word.replace("_", "-"), word.replace("_", " - _")):
            job = normalise({"status": form})
            assert (job.status, job.raw_status) == (status, form)
            assert job.is_terminal is (status in {"completed", "failed", "cancelled"})


@pytest.mark.parametrize("status", [None, 1, True, ["completed"], {"completed": True}, 1.5])
def test_a_status_that_is_no_text_is_pending(status):
    """Nothing is coerced to a word."""
    job = normalise({"status": status})
    assert (job.status, job.raw_status) == (JobStatus.PENDING, None)


def test_the_table_of_words_can_be_extended():
    """A caller's words are compared the same way, and win."""
    words = status_words({"All Right": JobStatus.COMPLETED, "expired": JobStatus.CANCELLED})
    assert normalise({"status": "all-right"}, words=words).status is JobStatus.COMPLETED
    assert normalise({"status": "EXPIRED"}, words=words).status is JobStatus.CANCELLED
    assert normalise({"status": "done"}, words=words).status is JobStatus.COMPLETED
    assert normalise({"status": "expired"}).status is JobStatus.FAILED
    with pytest.raises(ValueError, match="JobStatus"):
        status_words({"ready": "completed"})


# Fields.


@pytest.mark.parametrize(
    ("value", "progress"),
    [
        (0, 0.0),
        (1, 1.0),
        (0.25, 0.25),
        (-0.1, None),
        (1.1, None),
        (50, None),
        (True, None),
        ("0.5", None),
        (math.nan, None),
        (math.inf, None),
        pytest.param(HUGE, None, id="huge"),
        (None, None),
        ([0.5], None),
    ],
)
def test_progress_is_a_number_from_0_to_1(value, progress):
    """Anything else is None; no percentage is guessed."""
    assert normalise({"progress": value}).progress == progress


@pytest.mark.parametrize(
    ("value", "job_id"),
    [("j", "j"), (7, "7"), (True, None), (1.5, None), (None, None), (["j"], None), pytest.param(HUGE, None, id="huge")],
)
def test_the_job_id_is_text(value, job_id):
    """An integer id is its decimal text."""
    assert normalise({"job_id": value}).job_id == job_id


@pytest.mark.parametrize(
    ("envelope", "markdown"),
    [
        ({"data": {"markdown": "old"}}, "old"),
        ({"result": {"markdown": "new"}}, "new"),
        ({"result": {"markdown": "new"}, "data": {"markdown": "old"}}, "new"),
        ({"result": None, "data": {"markdown": "old"}}, "old"),
        ({"result": {}, "data": {"markdown": "old"}}, "old"),
        ({"result": [1], "data": {"markdown": "old"}}, "old"),
        ({"result": "text", "data": {"markdown": "old"}}, "old"),
        ({"result": {"markdown": "new"}, "data": {}}, "new"),
        ({"result": {"markdown": 5}, "data": {"markdown": "old"}}, None),
    ],
)
def test_the_new_payload_key_wins_unless_it_holds_nothing(envelope, markdown):
    """`result` wins over `data`, unless it is absent, null, of the wrong type, or empty while `data` is not."""
    assert normalise({"status": "completed", **envelope}).result.markdown == markdown


def test_a_payload_that_is_no_object_is_no_result():
    """No result rather than a guess; the raw has it."""
    for payload in (None, "text", [1], 5, True):
        assert normalise({"status": "completed", "result": payload}).result is None
    assert normalise({"status": "completed", "result": {}}).result is not None
    assert normalise({"status": "completed", "result": {}, "data": "x"}).result is not None


@pytest.mark.parametrize("status", ["pending", "processing", "failed", "cancelled"])
def test_there_is_a_result_only_when_completed(status):
    """A payload that came too early or in spite of a failure is no result."""
    assert normalise({"status": status, "result": {"markdown": "m"}}).result is None


def test_results_are_typed_by_endpoint_and_keep_unknown_keys():
    """The three result types; what they do not name is in `extra` and in `payload`."""
    payload = {"markdown": "m", "extraction": {"a": 1}, "extraction_schema": "{}", "metadata": {"n": 1}, "new": 2}
    parse, extract, build = (normalise({"status": "done", "result": payload}, r).result for r in RESOURCES)
    assert (parse.markdown, extract.extraction, build.extraction_schema) == ("m", {"a": 1}, "{}")
    assert parse.metadata == extract.metadata == build.metadata == {"n": 1}
    assert "new" in parse.extra
    assert "markdown" not in parse.extra
    assert parse.payload == payload
    assert parse != extract


@pytest.mark.parametrize(
    ("envelope", "error"),
    [
        ({"error": {"code": "c", "message": "m"}}, ("c", "m")),
        ({"error": {"code": 500, "message": "m"}}, ("500", "m")),
        ({"error": {"code": True, "message": "m"}}, (None, "m")),
        ({"error": {"message": "m"}}, (None, "m")),
        ({"error": {"code": "c", "message": {"x": 1}}}, ("c", None)),
        ({"error": "text"}, (None, "text")),
        ({"failure_reason": "text"}, (None, "text")),
        ({"failure_reason": {"code": 1, "message": "m"}}, ("1", "m")),
        ({"error": ["a", {"code": "c", "message": "b"}]}, ("c", "a; b")),
        ({"error": "new", "failure_reason": "old"}, (None, "new")),
        ({"error": None, "failure_reason": "old"}, (None, "old")),
        ({"error": "", "failure_reason": "old"}, (None, "old")),
        ({"error": {}, "failure_reason": "old"}, (None, "old")),
        ({"error": {"foo": 1}, "failure_reason": "old"}, (None, "old")),
        ({"error": [], "failure_reason": "old"}, (None, "old")),
        ({"error": 5, "failure_reason": "old"}, (None, "old")),
        ({"error": [[["x"]]], "failure_reason": "old"}, (None, "old")),
        ({"error": "new", "failure_reason": ""}, (None, "new")),
        ({"error": ""}, None),
        ({"error": {}}, None),
        ({"error": True}, None),
        pytest.param({"error": {"code": HUGE, "message": "m"}}, (None, "m"), id="huge code"),
        ({}, None),
    ],
)
@pytest.mark.parametrize("status", ["failed", "completed", "running"])
@pytest.mark.parametrize("resource", RESOURCES)
def test_errors_of_every_form_whatever_endpoint_and_status(envelope, error, status, resource):
    """Object, text and list are read from both keys; the new key wins unless it holds nothing."""
    expected = None if error is None else JobError(code=error[0], message=error[1])
    assert normalise({"status": status, **envelope}, resource).error == expected


@given(
    status=st.sampled_from(["pending", "running", "completed", "failed", "cancelled", "odd"]),
    payload=st.none() | st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
    reason=st.none() | st.text(),
    moment=st.none() | st.datetimes(naive(1980), naive(2100)),
    resource=st.sampled_from(RESOURCES),
)
def test_the_families_agree(status, payload, reason, moment, resource):
    """The same facts in the parse family's words and the extract family's give the same job."""
    stamp = None if moment is None else moment.isoformat()
    old = {"job_id": "j", "status": status, "data": payload, "failure_reason": reason, "received_at": stamp}
    error = None if reason is None else {"code": None, "message": reason}
    new = {"job_id": "j", "status": status, "result": payload, "error": error, "created_at": stamp}
    assert normalise(old, resource) == normalise(new, resource)


# Times.

MOMENT = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("2023-11-14T22:13:20Z", MOMENT),
        ("2023-11-14T22:13:20", MOMENT),
        ("2023-11-15 07:13:20+09:00", MOMENT),
        ("20231114T221320Z", MOMENT),
        ("2023-11-14T22:13:20.5Z", MOMENT + timedelta(seconds=0.5)),
        ("2023-11-14", MOMENT.replace(hour=0, minute=0, second=0)),
        (1_700_000_000, MOMENT),
        (1_700_000_000.0, MOMENT),
        (1_700_000_000_000, MOMENT),
        (1_700_000_000_000_000, MOMENT),
        (1_700_000_000_000_000_000, MOMENT),
        (1_700_000_000.25, MOMENT + timedelta(seconds=0.25)),
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        (-1, datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)),
        (2026, datetime(1970, 1, 1, 0, 33, 46, tzinfo=UTC)),
        *[(junk, None) for junk in ("", "2026", "20260101", "1700000000", "soon", "2023-11-14T24:00:00", "\ud800")],
        *[(junk, None) for junk in ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2023-13-01")],
        *[(junk, None) for junk in (True, False, None, math.nan, math.inf, -math.inf, 1e300, [], {})],
        pytest.param(HUGE, None, id="huge"),
    ],
)
def test_times(value, moment):
    """ISO 8601 text and epoch numbers by magnitude; anything else is None."""
    assert parse_time(value) == moment
    assert normalise({"created_at": value}).created_at == moment


@given(st.datetimes(naive(1975), naive(4999)))
def test_epoch_units_agree(moment):
    """Seconds, milliseconds, microseconds and nanoseconds of one moment are that moment, for years 1974 to 5000."""
    moment = moment.replace(tzinfo=UTC, microsecond=0)
    seconds = int(moment.timestamp())
    assert {parse_time(seconds * unit) for unit in (1, 10**3, 10**6, 10**9)} == {moment}


def test_times_do_not_depend_on_the_local_zone(monkeypatch):
    """The same text is the same moment in Tokyo and in New York."""
    try:
        for zone in ("Asia/Tokyo", "America/New_York", "UTC"):
            monkeypatch.setenv("TZ", zone)
            time.tzset()
            assert parse_time("2023-11-14T22:13:20") == MOMENT
            assert parse_time(1_700_000_000) == MOMENT
    finally:
        monkeypatch.undo()
        time.tzset()


def test_created_at_wins_over_received_at_unless_it_is_unreadable():
    """The new key of a time wins too."""
    new, old = "2023-11-14T22:13:20Z", "2020-01-01T00:00:00Z"
    assert normalise({"created_at": new, "received_at": old}).created_at == MOMENT
    for nothing in (None, "", "soon", True, {}):
        assert normalise({"created_at": nothing, "received_at": new}).created_at == MOMENT
    job = normalise({"started_at": new, "completed_at": new})
    assert (job.created_at, job.started_at, job.completed_at) == (None, MOMENT, MOMENT)


# Lists.


def page(**more):
    body = {"jobs": [{"job_id": "a"}, {"job_id": "b"}, {"job_id": "c"}], "has_more": True, "org_id": "o"}
    return normalise_job_list({**body, "page": 2, "page_size": 3, **more}, resource="parse_jobs")


def test_a_list_keeps_its_envelope_when_sliced():
    """A slice and a copy are JobLists with the same envelope; an item is a job."""
    jobs = page()
    for part, ids in ((jobs[1:], "bc"), (jobs[:0], ""), (jobs[::-1], "cba"), (jobs.copy(), "abc")):
        assert type(part) is JobList
        assert [job.job_id for job in part] == list(ids)
        assert (part.has_more, part.org_id, part.page, part.page_size) == (True, "o", 2, 3)
        assert part.raw == jobs.raw
    assert jobs[0].job_id == "a"


@pytest.mark.parametrize("value", ["false", "true", 0, 1, None, "0", [], 1.0])
def test_a_list_refuses_to_coerce_has_more(value):
    """Only a boolean is one."""
    assert page(has_more=value).has_more is None


@pytest.mark.parametrize("value", [True, False, "2", 2.0, None, [2]])
def test_a_list_refuses_to_coerce_page_numbers(value):
    """Only an integer is a page number."""
    jobs = page(page=value, page_size=value)
    assert (jobs.page, jobs.page_size) == (None, None)


def test_the_page_size_is_read_in_both_spellings():
    """`page_size` wins over `pageSize`."""
    assert page(page_size=None, pageSize=9).page_size == 9
    assert page(pageSize=9).page_size == 3


@pytest.mark.parametrize("bad", [None, 5, "x", [], True, [{"job_id": "z"}]])
def test_a_list_survives_a_bad_item(bad):
    """It is kept in its place, flagged, with its value in raw; the others are as ever."""
    jobs = page(jobs=[{"job_id": "a"}, bad, {"job_id": "c"}])
    assert [job.job_id for job in jobs] == ["a", None, "c"]
    assert [job.malformed for job in jobs] == [False, True, False]
    assert jobs.malformed == [1]
    assert jobs[1].raw == bad
    assert jobs[1].is_terminal is False


@pytest.mark.parametrize("jobs", [None, {}, "x", 5, True])
def test_jobs_that_are_no_list_are_an_empty_page(jobs):
    """No exception, and the envelope is kept."""
    result = page(jobs=jobs)
    assert (list(result), result.org_id) == ([], "o")
