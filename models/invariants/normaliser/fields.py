"""Plain fields: progress, the id, and what stands where nothing usable came (SPEC 3, "a missing or odd field becomes None")."""

from __future__ import annotations

from ....harness.invariant import Invariant, Level
from ....harness.verdicts import Finding, held
from ...normaliser import FULL, NOTHING, job_id, payload_kind, progress
from ...normaliser_trace import Call, Reading
from ._judging import breach, each_job, field_is


def _progress(call: Call, reading: Reading) -> Finding:
    want = progress(call.envelope)
    if not isinstance(want, tuple):
        return field_is(call, "progress", want)
    said = reading.value("progress") if reading.get("progress") != "null" else None
    number = said if isinstance(said, int | float) and not isinstance(said, bool) else None
    if reading.get("progress") == "null" or (number is not None and want[0] <= number <= want[1]):
        return held(call.shown[-1:])
    return breach(
        call, "progress is out of range", expected="null, or a number from 0 to 1", observed=reading.get("progress")
    )


def _odd(call: Call, reading: Reading) -> Finding:
    findings = []
    if call.has("job_id"):
        findings.append(field_is(call, "job_id", job_id(call.envelope)))
    empty = FULL not in (payload_kind(call.envelope.get("result")), payload_kind(call.envelope.get("data")))
    if call.has("result") and empty:
        want_none = reading.get("result") in ("null", "{}") or (
            call.dialect.result_form == "typed" and reading.value("result") is not None
        )
        odd = [
            name
            for name in ("result", "data")
            if call.envelope.get(name) is not None and not isinstance(call.envelope[name], dict)
        ]
        if not want_none:
            findings.append(
                breach(
                    call,
                    "no payload came, but the job has a result",
                    expected=NOTHING.words(),
                    observed=reading.get("result"),
                )
            )
        elif odd:
            findings.append(held(call.shown[-1:]))
    return next(
        (finding for finding in findings if not finding.answer),
        held([seq for item in findings for seq in item.witnesses]),
    )


INVARIANTS = (
    Invariant(
        id="normaliser.progress_range", level=Level.MUST, claim="progress", check=each_job(_progress), source="SPEC 3 progress; W70",
        expectation="progress is the number that came if it lies from 0 to 1, else None or clipped; never made of a bool or of text.",
        possible=lambda dialect: "progress" in dialect.fields,
    ),
    Invariant(
        id="normaliser.odd_field_none", level=Level.MUST, claim="odd_fields", check=each_job(_odd), source="SPEC 3; W65, W85",
        expectation="A job id that is missing or odd is None, and so is a result that is no object: neither is made into text.",
        possible=lambda dialect: bool({"job_id", "result"} & dialect.fields),
    ),
)  # fmt: skip
