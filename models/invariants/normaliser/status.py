"""Status words: known ones mean what they mean, unknown ones end nothing and stay readable (SPEC 3)."""

from __future__ import annotations

from ....harness.invariant import Invariant, Level
from ....harness.json_text import write_json
from ....harness.verdicts import Finding, held
from ...normaliser import ended, meaning, raw_status, status, wanted
from ...normaliser_trace import Call, Reading
from ...words import STATUSES, UNKNOWN
from ._judging import breach, each_job, field_is


def _words(call: Call, _: Reading) -> Finding:
    if meaning(call.envelope, call.dialect) not in STATUSES:
        return held()
    return field_is(call, "status", status(call.envelope, call.dialect), f" for the word {call.envelope['status']!r}")


def _unknown(call: Call, _: Reading) -> Finding:
    found = meaning(call.envelope, call.dialect)
    if found not in (UNKNOWN, "missing"):
        return held()
    what = f" for the unknown word {call.envelope['status']!r}" if found == UNKNOWN else " where no status word came"
    return field_is(call, "status", status(call.envelope, call.dialect), what)


def _closed(call: Call, reading: Reading) -> Finding:
    allowed = wanted(*STATUSES, call.dialect.unknown)
    if not allowed.admits(reading.get("status")):
        return breach(call, "the status is none of the five", expected=allowed.words(), observed=reading.get("status"))
    return held(call.shown[-1:])


def _raw(call: Call, _: Reading) -> Finding:
    return field_is(call, "raw_status", raw_status(call.envelope))


def _terminal(call: Call, reading: Reading) -> Finding:
    if reading.get("status") not in {write_json(name) for name in STATUSES}:
        return held()
    return field_is(
        call, "terminal", ended(reading.get("status")), f" for a job that says it is {reading.get('status')}"
    )


INVARIANTS = (
    Invariant(
        id="normaliser.status_words", level=Level.MUST, claim="words", check=each_job(_words), source="SPEC 3 status; W14, W51, W52",
        expectation="A known status word, in any spelling that the dialect folds, means the status that SPEC says.",
        possible=lambda dialect: "status" in dialect.fields,
    ),
    Invariant(
        id="normaliser.unknown_status_pending", level=Level.MUST, claim="unknown_status", check=each_job(_unknown), source="SPEC 3 status; W48, W64, W65",
        expectation="An unknown, odd or missing status becomes pending: it is never taken for an end.",
        possible=lambda dialect: "status" in dialect.fields,
    ),
    Invariant(
        id="normaliser.status_closed", level=Level.MUST, claim="status", check=each_job(_closed), source="SPEC 3 status; W14",
        expectation="The status is one of the five, whatever came.",
        possible=lambda dialect: "status" in dialect.fields,
    ),
    Invariant(
        id="normaliser.raw_status_readable", level=Level.MUST, claim="raw_status", check=each_job(_raw), source="SPEC 3 status; W65",
        expectation="raw_status is the server's word exactly as it came.",
        possible=lambda dialect: "raw_status" in dialect.fields,
    ),
    Invariant(
        id="normaliser.terminal_flag", level=Level.MUST, claim="terminal", check=each_job(_terminal), source="SPEC 3 Job; W2, W8",
        expectation="is_terminal is true exactly for completed, failed and cancelled.",
        possible=lambda dialect: {"status", "terminal"} <= dialect.fields,
    ),
)  # fmt: skip
