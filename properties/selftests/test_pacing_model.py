"""The models' own reading of pacing headers, status words and failed fetches."""

import pytest

from waitproof.harness.dialect import WaiterDialect
from waitproof.harness.protocols import WaitCall
from waitproof.models import errors
from waitproof.models.pacing import MOST, hint_of
from waitproof.models.parameters import bad_parameters, surely_bad
from waitproof.models.words import status_of

NOW = "Tue, 14 Nov 2023 22:13:20 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 7 "}, 7.0),
        ({"retry-after": "1.9"}, 1.9),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "2147483648"}, MOST),
        ({"retry-after": "86401"}, MOST),
        ({"retry-after-ms": "2500"}, 2.5),
        ({"retry-after-ms": "2500", "retry-after": "9"}, 2.5),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": "Tue, 14 Nov 2023 22:13:25 GMT", "date": NOW}, 5.0),
        ({"retry-after": "Fri, 31 Dec 9999 23:59:59 GMT", "date": NOW}, MOST),
    ],
)
def test_a_clear_hint(headers, seconds):
    hint = hint_of(headers)
    assert hint is not None
    assert (hint.low, hint.high, hint.ignorable) == (seconds, seconds, False)


@pytest.mark.parametrize(
    "text", ["", "soon", "-5", "NaN", "inf", "-inf", "0x10", "Fri, 31 Dec 99999 23:59:59 GMT", "2023-11-14T22:13:30Z"]
)
def test_garbage_is_no_hint(text):
    assert hint_of({"retry-after": text, "date": NOW}) is None


@pytest.mark.parametrize(
    "text", ["+3", "1e3", "1_0", "٣", "3,5", "9" * 400, "Tue, 14 Nov 2023 22:13:10 GMT", "Tue Nov 14 22:13:25 2023"]
)
def test_what_is_not_settled_may_be_ignored(text):
    hint = hint_of({"retry-after": text, "date": NOW})
    assert hint is not None
    assert hint.ignorable


def test_a_date_without_a_date_beside_it_is_anyones_guess():
    hint = hint_of({"retry-after": NOW})
    assert hint is not None
    assert (hint.low, hint.high) == (0.0, MOST)


@pytest.mark.parametrize(
    ("word", "status"),
    [
        ("completed", "completed"),
        (" Timed-Out\n", "failed"),
        ("IN  progress", "processing"),
        ("canceled", "cancelled"),
        ("queued", "pending"),
        ("completed?", "unknown"),
        ("not_completed", "unknown"),
        ("", "unknown"),
        (None, "unknown"),
        (True, "unknown"),
    ],
)
def test_words(word, status):
    assert status_of(word, WaiterDialect()) == status


def test_words_of_a_dialect():
    assert status_of("done", WaiterDialect(words="folded")) == "unknown"
    assert status_of("COMPLETED", WaiterDialect(words="folded")) == "completed"
    assert status_of("COMPLETED", WaiterDialect(words="enum")) == "unknown"
    assert status_of("incomplete", WaiterDialect(words="enum", more_words={"incomplete": "failed"})) == "failed"


def test_failed_fetches():
    transient = [status for status in range(100, 600) if errors.of_status(status) == errors.TRANSIENT]
    assert transient == [408, 425, 429, 500, 502, 503, 504, *range(506, 600)]
    assert errors.of_status(404) == errors.NOT_FOUND
    assert [errors.of_error(name) for name in ("httpx.ReadTimeout", "LocalProtocolError", "Weird")] == [
        "transient",
        "permanent",
        "unclear",
    ]


@pytest.mark.parametrize(
    "fields",
    [
        {"timeout": -1.0},
        {"timeout": float("nan")},
        {"poll_interval": 0.0},
        {"first_delay": 0.001},
        {"cap": float("inf")},
        {"factor": 0.5},
        {"cap": 0.5},
        {"fetch_timeout": 0.0},
        {"not_found_grace": float("inf")},
        {"timeout": True},
    ],
)
def test_bad_parameters(fields):
    assert surely_bad(WaitCall(**fields))


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"timeout": float("inf")},
        {"timeout": 0.0},
        {"factor": 1.0},
        {"cap": 0.5, "poll_interval": 1.0},
        {"first_delay": 0.01},
    ],
)
def test_good_parameters(fields):
    assert bad_parameters(WaitCall(**fields)) == []
