"""A whole job as the reference model reads an envelope, beside the job that the subject made: what the report shows where they part.

It says what each part of the job may be; where SPEC 3 leaves a part open, or says nothing of it alone, that part is not shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..harness.history import History
from ..harness.json_text import write_json
from ..harness.parting import Parting
from .normaliser import (
    FULL,
    NOTHING,
    Wanted,
    ended,
    failure,
    failure_key,
    failure_kind,
    job_id,
    meaning,
    payload_kind,
    progress,
    raw_status,
    result_key,
    status,
    time_value,
)
from .normaliser_times import NO_TIME, moment_of
from .normaliser_trace import Call, Reading, trace_of

TIMES = ("created_at", "started_at", "completed_at")
WIDTH = 160
"""Characters of a part that are shown."""


def first_parting(history: History) -> Parting | None:
    """The first envelope of a history that the subject reads otherwise than the model, ``None`` if there is none."""
    trace = trace_of(history)
    calls = [*trace.calls, *(call for page in trace.lists for call in page.alone.values())]
    found = (_parting(call) for call in calls if call.is_object and not call.deep)
    return next((parting for parting in found if parting is not None), None)


def _parting(call: Call) -> Parting | None:
    if call.outcome is None:
        return None
    parts = list(_expected(call))
    state = f"{call.op}: the envelope of a {call.resource.removesuffix('_jobs')} job, status {meaning(call.envelope, call.dialect)}"
    allowed = "\n".join(f"{name}: {_short(want)}" for name, want, _ in parts)
    if call.reading is None:
        what = f"raised {call.outcome.data.get('type')}: {_short(str(call.outcome.data.get('message')))}"
        return Parting(event=call.outcome.seq, state=state, allowed=allowed, observed=what)
    if all(right for _, _, right in parts):
        return None
    said = call.reading
    observed = "\n".join(f"{name}: {_short(_text(said, name))}{'' if right else '  ≠'}" for name, _, right in parts)
    return Parting(event=call.outcome.seq, state=state, allowed=allowed, observed=observed)


def _expected(call: Call) -> Iterator[tuple[str, str, bool]]:
    """Each part that the model speaks of: its name, what it may be, and whether the subject's is that (true where it raised)."""
    envelope, dialect = call.envelope, call.dialect
    wants: dict[str, Wanted] = {
        "job_id": job_id(envelope),
        "status": status(envelope, dialect),
        "raw_status": raw_status(envelope),
    }
    if call.reading is not None:
        wants["terminal"] = ended(call.reading.get("status"))
    portion = progress(envelope)
    wants["progress"] = portion if isinstance(portion, Wanted) else Wanted()
    if not call.has("status") or dialect.result_form == "payload":
        wants["result"] = _result(call)
    for name, want in wants.items():
        if call.has(name) and not want.open:
            yield name, want.words(), call.reading is None or want.admits(call.reading.get(name))
    yield from _error(call)
    yield from _times(call)


def _result(call: Call) -> Wanted:
    completed = meaning(call.envelope, call.dialect) == "completed" or call.dialect.result == "any"
    if not completed:
        return NOTHING
    key = result_key(call.envelope, call.resource, call.dialect)
    if key in ("result", "data"):
        return Wanted(texts=(write_json(call.envelope[key]),))
    kinds = {payload_kind(call.envelope.get(name)) for name in ("result", "data")}
    return Wanted() if key == "?" or FULL in kinds else Wanted(texts=("null", "{}"))


def _error(call: Call) -> Iterator[tuple[str, str, bool]]:
    key = failure_key(call.envelope, call.resource, call.dialect)
    if not call.has("error") or key not in ("error", "failure_reason") or failure_kind(call.envelope[key]) != FULL:
        return
    want = failure(call.envelope[key])
    texts = [f"holding {text!r}" for text in want.within]
    words = f"code {want.code.words()}, message {' and '.join(texts) or want.message.words()}"
    yield "error", words, call.reading is None or _is_error(call.reading.value("error"), want)


def _is_error(error: Any, want: Any) -> bool:
    if not isinstance(error, dict):
        return False
    message = error.get("message")
    return (
        want.code.admits(write_json(error.get("code")))
        and want.message.admits(write_json(message))
        and all(isinstance(message, str) and text in message for text in want.within)
    )


def _times(call: Call) -> Iterator[tuple[str, str, bool]]:
    for name in TIMES:
        key, value = time_value(name, call.envelope, call.resource, call.dialect)
        moment = moment_of(value, call.dialect.epoch_bounds)
        if not call.has(name) or key == "?" or not (isinstance(moment, int) or moment == NO_TIME):
            continue
        said = call.reading.get(name) if call.reading is not None else None
        said = said if isinstance(said, dict) else {}
        if isinstance(moment, int):
            right = said.get("is") == "time" and bool(said.get("aware")) and abs(said["us"] - moment) <= 1
            yield name, f"{moment} µs since 1970", call.reading is None or right
        else:
            yield name, "null", call.reading is None or said.get("is") == "none"


def _text(said: Reading, name: str) -> str:
    value = said.get(name)
    if not isinstance(value, dict):
        return str(value)
    if value.get("is") == "time":
        return f"{value.get('us')} µs since 1970, {value.get('text')}"
    return "null" if value.get("is") == "none" else str(value.get("text"))


def _short(text: str) -> str:
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"
