"""Losslessness: a job keeps its envelope, untouched and shared with nobody, and gives itself again (SPEC 3)."""

from __future__ import annotations

from ....harness import normaliser_events as events
from ....harness.invariant import Invariant, Level
from ....harness.json_text import write_json
from ....harness.verdicts import Finding, held
from ...normaliser_trace import Call, Reading
from ._judging import breach, each_call, each_job

TOLD = (
    "job_id", "status", "raw_status", "progress", "result", "markdown", "error", "created_at", "started_at", "completed_at", "terminal",
)  # fmt: skip
"""What two jobs are compared by: everything but raw."""


def first_difference(one: Reading, other: Reading, names: tuple[str, ...] = TOLD) -> str:
    """The first part in which two readings differ, or ``""``."""
    return next((name for name in names if one.get(name) != other.get(name)), "")


def _lossless(call: Call, reading: Reading) -> Finding:
    sent = write_json(call.envelope)
    if reading.get("raw") != sent:
        return breach(call, "raw is not the envelope", expected=sent, observed=reading.get("raw"))
    return held(call.shown[-1:])


def _untouched(call: Call) -> Finding:
    event = call.later(events.INPUT, "call")
    if event is None:
        return held()
    sent = write_json(call.envelope)
    if event.data["text"] != sent:
        return breach(
            call,
            "normalising changed the envelope that it was given",
            expected=sent,
            observed=event.data["text"],
            more=[event],
        )
    return held([event.seq] if isinstance(call.envelope, dict | list) and call.envelope else [])


def _unaliased(call: Call, reading: Reading) -> Finding:
    if not call.envelope:
        return held()  # nothing to share
    seen = []
    for after, what in (
        ("input changed", "the caller changed its envelope"),
        ("result changed", "the caller changed the result"),
    ):
        event = call.later(events.REREAD, after)
        if event is None:
            continue
        again = Reading(event.data["reading"])  # type: ignore[arg-type]
        names = ("raw", *TOLD) if after == "input changed" else ("raw",)
        changed = first_difference(reading, again, names)
        if changed:
            return breach(
                call,
                f"{changed} changed when {what}",
                expected=reading.get(changed),
                observed=again.get(changed),
                more=[event],
            )
        seen.append(event.seq)
    before, after_raw = call.later(events.INPUT, "input changed"), call.later(events.INPUT, "raw changed")
    if before is not None and after_raw is not None:
        if before.data["text"] != after_raw.data["text"]:
            return breach(
                call, "the envelope changed when the job's raw was changed", expected=before.data["text"], observed=after_raw.data["text"], more=[after_raw]
            )  # fmt: skip
        seen.append(after_raw.seq)
    return held(seen)


def _idempotent(call: Call, reading: Reading) -> Finding:
    event = call.later(events.AGAIN)
    if event is None:
        return held()
    if "reading" not in event.data:
        return breach(
            call,
            "its own raw made it raise",
            expected="the same job",
            observed=f"raised {event.data.get('type')}",
            more=[event],
        )
    again = Reading(event.data["reading"])  # type: ignore[arg-type]
    changed = first_difference(reading, again, ("raw", *TOLD))
    if changed:
        return breach(
            call, f"its own raw gives another {changed}", expected=reading.get(changed), observed=again.get(changed), more=[event]
        )  # fmt: skip
    return held([event.seq])


INVARIANTS = (
    Invariant(
        id="normaliser.lossless_raw", level=Level.MUST, claim="raw", check=each_job(_lossless), source="SPEC 3 raw; N4",
        expectation="raw is the envelope as it came, every key and every value.",
        possible=lambda dialect: "raw" in dialect.fields,
    ),
    Invariant(
        id="normaliser.input_untouched", level=Level.MUST, safety=True, check=each_call(_untouched), source="SPEC 3 raw",
        expectation="Normalising changes nothing in the envelope that it is given.",
    ),
    Invariant(
        id="normaliser.raw_unaliased", level=Level.MUST, claim="unaliased", check=each_job(_unaliased), source="SPEC 3 raw; N4",
        expectation="What a job keeps is shared with nobody: a change of the envelope, of raw or of the result shows in none of the others.",
        possible=lambda dialect: "raw" in dialect.fields,
    ),
    Invariant(
        id="normaliser.idempotent_on_raw", level=Level.MUST, claim="idempotent", check=each_job(_idempotent), source="SPEC 5 normaliser",
        expectation="Normalising a job's own raw gives the same job.",
        possible=lambda dialect: "raw" in dialect.fields,
    ),
)  # fmt: skip
