"""Errors: every form in which a failure comes is read, whatever the status (SPEC 3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....harness.invariant import Invariant, Level
from ....harness.json_text import write_json
from ....harness.verdicts import Finding, held
from ...normaliser import ABSENT, EMPTY, Failure, failure, failure_key, failure_kind, is_code, wanted
from ...normaliser_trace import Call, Reading
from ._judging import Judge, breach, each_job

NAMES = ("error", "failure_reason")


def usual(key: str, value: Any) -> bool:
    """Is this the form that the key has in its own family: ``error`` an object, ``failure_reason`` a text?"""
    return isinstance(value, dict) if key == "error" else isinstance(value, str)


def _judged(call: Call, reading: Reading, key: str) -> Finding:
    value = call.envelope[key]
    want = failure(value)
    error = reading.value("error")
    if not isinstance(error, dict):
        return breach(call, f"the failure under {key!r} is lost", expected=_words(want), observed=reading.get("error"))
    integer = isinstance(value, dict) and is_code(value.get("code"))
    parts = [("message", want.message), *([] if integer else [("code", want.code)])]
    for name, one in parts:
        said = write_json(error.get(name))
        if not one.admits(said):
            return breach(
                call, f"the {name} of the failure under {key!r} is wrong", expected=one.words(), observed=said
            )
    message = error.get("message")
    lost = [text for text in want.within if not (isinstance(message, str) and text in message)]
    if lost:
        return breach(
            call,
            f"a message of the failures under {key!r} is lost",
            expected=repr(lost[0]),
            observed=write_json(message),
        )
    return held(call.shown[-1:])


def _words(want: Failure) -> str:
    return f"an error with code {want.code.words()} and message {want.message.words()}"


def _where(wants: Callable[[Call, str, Any], bool]) -> Judge:
    def judge(call: Call, reading: Reading) -> Finding:
        key = failure_key(call.envelope, call.resource, call.dialect)
        if key not in NAMES or failure_kind(call.envelope[key]) != "full" or not wants(call, key, call.envelope[key]):
            return held()
        return _judged(call, reading, key)

    return judge


def _plain(call: Call, key: str, value: Any) -> bool:
    """The usual form of its family, and no rule about odd new keys is needed to choose it."""
    return usual(key, value) and (key == "error" or failure_kind(call.envelope.get("error")) == ABSENT)


def _ended_well(call: Call, key: str, value: Any) -> bool:
    assert call.reading is not None
    return _plain(call, key, value) and call.reading.get("status") != '"failed"'


def _forms(call: Call, key: str, value: Any) -> bool:
    return not usual(key, value) and (key == "error" or failure_kind(call.envelope.get("error")) == ABSENT)


def _yields(call: Call, key: str, _: Any) -> bool:
    return key == "failure_reason" and failure_kind(call.envelope.get("error")) != ABSENT


def _codes(call: Call, reading: Reading) -> Finding:
    key = failure_key(call.envelope, call.resource, call.dialect)
    value = call.envelope.get(key) if key in NAMES else None
    code = value.get("code") if isinstance(value, dict) else None
    if not is_code(code) or not usual(key, value):
        return held()
    error, want = reading.value("error"), wanted(code, write_json(code))
    said = write_json(error.get("code")) if isinstance(error, dict) else str(reading.get("error"))
    if not want.admits(said):
        return breach(call, "an integer code is lost", expected=want.words(), observed=said)
    return held(call.shown[-1:])


def _nothing(call: Call, reading: Reading) -> Finding:
    """No failure came: a job that has an error all the same made it up."""
    values = {name: call.envelope.get(name) for name in NAMES}
    if not all(
        failure_kind(value) == ABSENT or (failure_kind(value) == EMPTY and usual(name, value))
        for name, value in values.items()
    ):
        return held()
    error = reading.value("error")
    made_up = isinstance(error, dict) and any(isinstance(part, str) and part.strip() for part in error.values())
    if made_up:
        return breach(call, "no failure came, but the job has an error", expected="null", observed=reading.get("error"))
    return held(call.shown[-1:])


def _has_error(dialect: Any) -> bool:
    return "error" in dialect.fields


INVARIANTS = (
    Invariant(
        id="normaliser.error_read", level=Level.MUST, claim="errors", check=each_job(_where(_plain)), source="SPEC 3 failure; W67",
        expectation="An `error` object gives its code and message, a `failure_reason` text gives its message.", possible=_has_error,
    ),
    Invariant(
        id="normaliser.error_forms", level=Level.MUST, claim="error_forms", check=each_job(_where(_forms)), source="SPEC 3 failure; W67",
        expectation="A failure that is a text or a list under `error`, or an object or a list under `failure_reason`, is read too.", possible=_has_error,
    ),
    Invariant(
        id="normaliser.unreadable_error_yields", level=Level.MUST, claim="odd_new_key", check=each_job(_where(_yields)), source="SPEC 3 new keys",
        expectation="Where `error` is empty, unreadable or of the wrong type, the failure under `failure_reason` counts.", possible=_has_error,
    ),
    Invariant(
        id="normaliser.error_kept_whatever_status", level=Level.MUST, claim="error_kept", check=each_job(_where(_ended_well)), source="SPEC 3 error; W5, W44",
        expectation="A failure is kept whatever the status says.", possible=_has_error,
    ),
    Invariant(
        id="normaliser.error_code_text", level=Level.MUST, claim="error_codes", check=each_job(_codes), source="SPEC 3 failure",
        expectation="An integer code is kept, as a number or as its digits.", possible=_has_error,
    ),
    Invariant(
        id="normaliser.no_error_made_up", level=Level.MUST, claim="errors", check=each_job(_nothing), source="SPEC 3 odd fields; W2",
        expectation="Where no failure came the job has no error.", possible=_has_error,
    ),
)  # fmt: skip
