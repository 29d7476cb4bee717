"""The reference model of the normaliser, sentence by sentence of SPEC 3: what it expects, and what it leaves open."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waitproof.harness.json_text import write_json
from waitproof.harness.normaliser_subject import NormaliserDialect
from waitproof.models import normaliser as model
from waitproof.models.normaliser import (
    failure,
    failure_key,
    progress,
    raw_status,
    result_key,
    status,
    time_value,
    wanted,
)
from waitproof.models.normaliser_times import FIRST, LAST, NO_TIME, OPEN, is_plain_iso, moment_of

SPEC = NormaliserDialect()
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def us(text):
    return (datetime.fromisoformat(text) - EPOCH) // timedelta(microseconds=1)


# -- times -------------------------------------------------------------------------------------------------------------


@given(st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1)), st.integers(-1439, 1439), st.booleans())  # noqa: DTZ001
def test_iso_text_is_the_moment_that_python_reads(moment, offset, with_offset):
    """The model counts days itself; on what both read they agree."""
    zone = f"{'-' if offset < 0 else '+'}{abs(offset) // 60:02}:{abs(offset) % 60:02}"
    text = moment.isoformat() + (zone if with_offset else "")
    read = datetime.fromisoformat(text)
    aware = read.replace(tzinfo=UTC) if read.tzinfo is None else read
    assert moment_of(text) == (aware - EPOCH) // timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-01-02T03:04:05Z", us("2026-01-02T03:04:05+00:00")),
        ("2026-01-02T03:04:05", us("2026-01-02T03:04:05+00:00")),
        ("2026-01-02", us("2026-01-02T00:00:00+00:00")),
        ("2026-01-02T03:04:05.1234567+09:00", us("2026-01-02T03:04:05.123456+09:00")),
        (0, 0),
        (99_999_999_999, 99_999_999_999 * 10**6),
        (100_000_000_000, 100_000_000_000 * 10**3),
        (100_000_000_000_000, 100_000_000_000_000),
        (100_000_000_000_000_000, 100_000_000_000_000),
        (1_700_000_000.5, 1_700_000_000_500_000),
        (-1, -(10**6)),
    ],
)
def test_times_that_are_settled(value, expected):
    assert moment_of(value) == expected


@pytest.mark.parametrize(
    "value",
    [
        True, False, None, [], {}, float("nan"), float("inf"), "2026", "1700000000", "1700000000.5", "1e9", "soon", "", "2026-13-01", "2026-02-30",
        "2026-01-02T24:00:00", "2026-01-02T03:04:60Z", 10**400, 253_402_300_801 * 10**9,
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_is_no_time(value):
    assert moment_of(value) == NO_TIME


@pytest.mark.parametrize(
    "value",
    ["2026-W01-1", "20260102T030405", " 2026-01-02", "2026-01-02T03:04:05+23:59:59.5", "0001-01-01T00:00:00+01:00"],
)
def test_times_that_are_open(value):
    """Python reads some of these; whether a normaliser must is not said."""
    assert moment_of(value) == OPEN
    assert not is_plain_iso(value)


def test_a_dialect_may_change_the_bounds_of_units():
    bounds = (2e10, 2e13, 2e16)
    assert moment_of(30_000_000_000, bounds) == 30_000_000_000 * 10**3
    assert moment_of(20_000_000_000, bounds) == OPEN
    assert moment_of(-62_135_596_800) == FIRST
    assert moment_of("9999-12-31T23:59:59.999999Z") == LAST


# -- status ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("completed", "completed"),
        ("Done", "completed"),
        ("TIMED - OUT", "failed"),
        ("aborted", "cancelled"),
        ("In  Progress", "processing"),
        ("queued", "pending"),
    ],
)
def test_words_mean_what_the_table_says(word, expected):
    assert status({"status": word}, SPEC) == wanted(expected)


@pytest.mark.parametrize("word", ["hibernating", "incomplete", "", 5, None, True, [], {}])
def test_unknown_and_odd_words_are_pending(word):
    assert status({"status": word}, SPEC) == wanted("pending")


def test_the_raw_status_is_the_word_as_it_came():
    assert raw_status({"status": " Done "}) == wanted(" Done ")
    assert raw_status({}) == model.NOTHING
    assert raw_status({"status": 5}).open


def test_a_dialect_may_know_other_words():
    strict = NormaliserDialect(words="enum", unknown="processing", more_words={"ready": "completed"})
    assert status({"status": "Completed"}, strict) == wanted("processing")
    assert status({"status": "ready"}, strict) == wanted("completed")


# -- two keys ----------------------------------------------------------------------------------------------------------

PAYLOAD = {"markdown": "m"}


@pytest.mark.parametrize(
    ("envelope", "key"),
    [
        ({"result": PAYLOAD, "data": {"x": 1}}, "result"),
        ({"data": PAYLOAD}, "data"),
        ({"result": None, "data": PAYLOAD}, "data"),
        ({"result": {}, "data": PAYLOAD}, "data"),
        ({"result": "text", "data": PAYLOAD}, "data"),
        ({"result": {}, "data": {}}, ""),
        ({"result": [], "data": []}, ""),
        ({}, ""),
    ],
)
@pytest.mark.parametrize("resource", ["parse_jobs", "extract_jobs", "build_schema_jobs"])
def test_which_payload_counts(envelope, key, resource):
    assert result_key(envelope, resource, SPEC) == key


def test_a_dialect_may_read_old_keys_for_their_family_alone():
    family = NormaliserDialect(old_keys="family")
    assert result_key({"data": PAYLOAD}, "parse_jobs", family) == "data"
    assert result_key({"data": PAYLOAD}, "extract_jobs", family) == "?"


@pytest.mark.parametrize(
    ("envelope", "key"),
    [
        ({"error": {"message": "m"}, "failure_reason": "x"}, "error"),
        ({"error": {}, "failure_reason": "x"}, "failure_reason"),
        ({"error": " ", "failure_reason": "x"}, "failure_reason"),
        ({"error": 5, "failure_reason": "x"}, "failure_reason"),
        ({"error": [], "failure_reason": {"code": 5}}, "failure_reason"),
        ({"error": {"detail": "d"}, "failure_reason": "x"}, "?"),
        ({"error": [[1]], "failure_reason": "x"}, "?"),
        ({"error": {"code": 0}}, "error"),
        ({"error": {"code": 10**5000}, "failure_reason": None}, "error"),
        ({"failure_reason": ""}, ""),
    ],
    ids=[f"case {number}" for number in range(10)],
)
def test_which_failure_counts(envelope, key):
    assert failure_key(envelope, "extract_jobs", SPEC) == key


def test_which_time_counts():
    good, old = "2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z"
    assert time_value("created_at", {"created_at": good, "received_at": old}, "parse_jobs", SPEC) == (
        "created_at",
        good,
    )
    assert time_value("created_at", {"created_at": "soon", "received_at": old}, "parse_jobs", SPEC) == (
        "received_at",
        old,
    )
    assert time_value("created_at", {"received_at": old}, "extract_jobs", SPEC)[0] == "?"
    assert time_value("created_at", {"created_at": "2026-W01-1", "received_at": old}, "parse_jobs", SPEC)[0] == "?"
    assert time_value("created_at", {"created_at": "soon"}, "parse_jobs", SPEC) == ("", "soon")


# -- failures and plain fields -----------------------------------------------------------------------------------------


def test_what_an_error_must_say():
    assert failure("it broke").message.admits('"it broke"')
    assert failure("it broke").code == model.NOTHING
    assert failure({"code": 500, "message": "m"}).code.texts == ("500", '"500"')
    assert failure({"code": True, "message": 5}) == model.Failure(code=model.NOTHING, message=model.NOTHING)
    assert failure(["a ", {"message": "b"}, {"code": "c"}]).within == ("a", "b")
    assert failure({"code": 10**5000}).code.open


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        (0.5, ("0.5",)),
        (1, ("1", "1.0")),
        (True, ("null",)),
        ("0.5", ("null",)),
        (float("nan"), ("null",)),
        (None, ("null",)),
    ],
)
def test_progress_that_is_settled(value, texts):
    assert progress({"progress": value}).texts == texts


def test_progress_out_of_range_may_be_clipped():
    for value in (45, -1, 1.5, 10**400):
        assert progress({"progress": value}) == (0.0, 1.0)


def test_an_id_is_text_or_nothing():
    assert model.job_id({"job_id": "j"}) == wanted("j")
    assert model.job_id({"job_id": 7}) == wanted(None, "7")
    for value in (None, True, 1.5, [], {}):
        assert model.job_id({"job_id": value}) == model.NOTHING


def test_drift_is_named():
    usual = {
        "job_id": "j",
        "status": "done",
        "progress": 0.5,
        "created_at": 5,
        "error": {"code": "c"},
        "result": {},
        "x": [],
    }
    assert not model.lacks(usual)
    assert model.retyped(usual) == []
    assert model.lacks({"job_id": "j"})
    assert model.retyped({**usual, "progress": 45, "error": {"code": 5}, "created_at": True, "job_id": 1}) == [
        "created_at",
        "error",
        "job_id",
        "progress",
    ]


def test_an_open_field_admits_anything_and_says_so():
    assert model.ANYTHING.admits(object())
    assert model.ANYTHING.words() == "anything"
    assert wanted("a", None).words() == '"a" or null'
    assert model.ended(write_json("failed")) == wanted(True)
    assert model.ended(write_json("pending")) == wanted(False)
