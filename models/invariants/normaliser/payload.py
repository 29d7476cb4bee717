"""Results: the payload of a completed job, under its new or its old key (SPEC 3)."""

from __future__ import annotations

from typing import Any

from ....harness.invariant import Invariant, Level
from ....harness.json_text import write_json
from ....harness.verdicts import Finding, held
from ...normaliser import ABSENT, EMPTY, FULL, ODD, payload_kind, result_key
from ...normaliser_trace import Call, Reading
from ._judging import breach, each_job

COMPLETED = '"completed"'


def shows(reading: Reading, payload: Any, form: str) -> bool:
    """Does the result show this payload? ``typed``: every part that the result has and that holds something is in the payload."""
    if form == "payload":
        return reading.get("result") == write_json(payload)
    result = reading.value("result")
    return isinstance(result, dict) and _agrees(result, payload) and (_hollow(payload) or not _hollow(result))


def _agrees(part: Any, whole: Any) -> bool:
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(_hollow(value) or (key in whole and _agrees(value, whole[key])) for key, value in part.items())
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) == len(whole) and all(_agrees(one, other) for one, other in zip(part, whole, strict=True))
    if _is_number(part) and _is_number(whole):
        return bool(part == whole)  # a typed field may hold an integer as a float
    return write_json(part) == write_json(whole) or (_hollow(part) and _hollow(whole))


def _hollow(value: Any) -> bool:
    if isinstance(value, dict):
        return all(_hollow(item) for item in value.values())
    return value is None or value in ("", [])


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _completed(call: Call, reading: Reading) -> bool:
    """By its own word: whether that word is right is for ``status_words``."""
    return reading.get("status") == COMPLETED or call.dialect.result == "any"


def _from_key(call: Call, reading: Reading, key: str) -> Finding:
    payload = call.envelope[key]
    if not shows(reading, payload, call.dialect.result_form):
        return breach(
            call, f"the result is not what {key!r} holds", expected=write_json(payload), observed=reading.get("result")
        )
    return held(call.shown[-1:])


def _new(call: Call, reading: Reading) -> Finding:
    """Exercised where the old key holds another payload: then a normaliser that takes the old one shows."""
    if not _completed(call, reading) or result_key(call.envelope, call.resource, call.dialect) != "result":
        return held()
    if payload_kind(call.envelope.get("data")) == ABSENT:
        return held()
    return _from_key(call, reading, "result")


def _old(call: Call, reading: Reading) -> Finding:
    if not _completed(call, reading) or result_key(call.envelope, call.resource, call.dialect) != "data":
        return held()
    return _from_key(call, reading, "data") if payload_kind(call.envelope.get("result")) == ABSENT else held()


def _yields(call: Call, reading: Reading) -> Finding:
    if not _completed(call, reading) or result_key(call.envelope, call.resource, call.dialect) != "data":
        return held()
    return _from_key(call, reading, "data") if payload_kind(call.envelope.get("result")) in (EMPTY, ODD) else held()


def _only_completed(call: Call, reading: Reading) -> Finding:
    if reading.get("status") == COMPLETED or FULL not in (
        payload_kind(call.envelope.get("result")),
        payload_kind(call.envelope.get("data")),
    ):
        return held()
    if reading.get("result") != "null":
        return breach(
            call,
            f"a job that says it is {reading.get('status')} has a result",
            expected="null",
            observed=reading.get("result"),
        )
    return held(call.shown[-1:])


def _typed(call: Call, reading: Reading) -> Finding:
    if reading.get("status") != COMPLETED:
        return held()
    key = result_key(call.envelope, call.resource, call.dialect)
    if key == "result" and payload_kind(call.envelope.get("data")) == ABSENT:
        finding = _from_key(call, reading, key)
        if not finding.answer:
            return finding
    plain = key == "result" or (key == "data" and payload_kind(call.envelope.get("result")) == ABSENT)
    payload = call.envelope.get(key) if plain else None
    markdown = payload.get("markdown") if isinstance(payload, dict) else None
    if call.resource != "parse_jobs" or not call.has("markdown") or not isinstance(markdown, str):
        return held(call.shown[-1:] if key == "result" else [])
    if reading.get("markdown") != write_json(markdown):
        return breach(
            call,
            "the typed result does not say the markdown",
            expected=write_json(markdown),
            observed=reading.get("markdown"),
        )
    return held(call.shown[-1:])


INVARIANTS = (
    Invariant(
        id="normaliser.new_key_wins", level=Level.MUST, claim="new_keys", check=each_job(_new), source="SPEC 3 new keys",
        expectation="Where both hold a payload, the result is what the new key `result` holds.",
        possible=lambda dialect: "result" in dialect.fields,
    ),
    Invariant(
        id="normaliser.old_key_falls_back", level=Level.MUST, claim="old_keys", check=each_job(_old), source="SPEC 3 payload keys",
        expectation="Where `result` is absent or null, the result is what the old key `data` holds.",
        possible=lambda dialect: "result" in dialect.fields,
    ),
    Invariant(
        id="normaliser.odd_new_key_yields", level=Level.MUST, claim="odd_new_key", check=each_job(_yields), source="SPEC 3 new keys",
        expectation="Where `result` is of the wrong type or empty and `data` holds a payload, the result is that.",
        possible=lambda dialect: "result" in dialect.fields,
    ),
    Invariant(
        id="normaliser.result_only_when_completed", level=Level.MUST, claim="result_completed", check=each_job(_only_completed), source="SPEC 3 result; W48, W85",
        expectation="A job that is not completed has no result, whatever its envelope brings.",
        possible=lambda dialect: "result" in dialect.fields and dialect.result == "completed",
    ),
    Invariant(
        id="normaliser.result_typed", level=Level.MUST, claim="result", check=each_job(_typed), source="SPEC 3 result; W10, W35",
        expectation="The payload of a completed job can be read, and the typed result of a parse says its markdown.",
        possible=lambda dialect: "result" in dialect.fields,
    ),
)  # fmt: skip
