"""Times: right in every zone, of every magnitude, and never made of what is no time (SPEC 3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....harness.invariant import Invariant, Level
from ....harness.verdicts import Finding, first_bad, held
from ...normaliser import time_kind, time_value
from ...normaliser_times import NO_TIME, is_plain_iso, moment_of
from ...normaliser_trace import Call, Reading
from ._judging import Judge, breach, each_job

FIELDS = ("created_at", "started_at", "completed_at")
NEAR = 1
"""Microseconds by which a reading may be off: whether the last digit is rounded or cut is nobody's business."""


def _said(reading: Reading, field: str) -> dict[str, Any]:
    said = reading.get(field)
    return said if isinstance(said, dict) else {"is": "odd", "text": said}


def _is_epoch(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _where(wants: Callable[[Any], bool]) -> Judge:
    """A judge of the times whose value is of the kind that it wants."""

    def judge(call: Call, reading: Reading) -> Finding:
        return first_bad([_judged(call, reading, field, wants) for field in FIELDS if call.has(field)])

    return judge


def _judged(call: Call, reading: Reading, field: str, wants: Callable[[Any], bool]) -> Finding:
    key, value = time_value(field, call.envelope, call.resource, call.dialect)
    if key == "?" or not wants(value):
        return held()
    if key == "received_at" and time_kind(call.envelope.get("created_at"), call.dialect) != "absent":
        return held()  # for created_at_yields
    moment, said = moment_of(value, call.dialect.epoch_bounds), _said(reading, field)
    if moment == NO_TIME:
        if said["is"] != "none":
            return breach(
                call,
                f"{field} was made of {_short(value)}, which is no time",
                expected="null",
                observed=said.get("text"),
            )
        return held(call.shown[-1:])
    if not isinstance(moment, int):
        return held()
    if said["is"] != "time":
        return breach(
            call,
            f"{field} can't be read from {_short(value)}",
            expected=f"{moment} µs since 1970",
            observed=said.get("text", "null"),
        )
    if abs(said["us"] - moment) > NEAR:
        return breach(
            call, f"{field} is another moment than {_short(value)}", expected=f"{moment} µs since 1970", observed=f"{said['us']} µs, {said['text']}"
        )  # fmt: skip
    return held(call.shown[-1:])


def _short(value: Any) -> str:
    try:
        return repr(value)[:60]
    except ValueError:
        return "a huge integer"


def _no_time(value: Any) -> bool:
    return value is not None and not _is_finite_number(value) and moment_of(value) == NO_TIME


def _is_finite_number(value: Any) -> bool:
    return _is_epoch(value) and value == value and value not in (float("inf"), float("-inf"))  # noqa: PLR0124 - NaN


def _utc(call: Call, reading: Reading) -> Finding:
    seen = []
    for field in FIELDS:
        said = _said(reading, field)
        if not call.has(field) or said["is"] != "time":
            continue
        if not said["aware"] or not said["utc"]:
            what = "is in another zone than UTC" if said["aware"] else "is naive"
            return breach(call, f"{field} {what}", expected="an aware time in UTC", observed=said["text"])
        seen.append(call.shown[-1])
    return held(seen)


def _created(wants: Callable[[str, str], bool]) -> Judge:
    def judge(call: Call, reading: Reading) -> Finding:
        kinds = [time_kind(call.envelope.get(name), call.dialect) for name in ("created_at", "received_at")]
        key, value = time_value("created_at", call.envelope, call.resource, call.dialect)
        if key not in ("created_at", "received_at") or not wants(key, kinds[0]) or kinds[1] == "absent":
            return held()
        moment, said = moment_of(value, call.dialect.epoch_bounds), _said(reading, "created_at")
        if not isinstance(moment, int) or (key == "created_at" and said["is"] == "none"):
            return held()  # that the new one can't be read at all is for times_iso and times_epoch_magnitudes
        if said["is"] != "time" or abs(said["us"] - moment) > NEAR:
            return breach(
                call, f"created_at is not what {key!r} holds", expected=f"{moment} µs since 1970", observed=said.get("text", "null")
            )  # fmt: skip
        return held(call.shown[-1:])

    return judge


def _has_times(dialect: Any) -> bool:
    return bool(dialect.fields & set(FIELDS))


def _has_created(dialect: Any) -> bool:
    return "created_at" in dialect.fields


INVARIANTS = (
    Invariant(
        id="normaliser.times_iso", level=Level.MUST, claim="iso", check=each_job(_where(is_plain_iso)), source="SPEC 3 times; W72",
        expectation="ISO 8601 text is the moment that it names, offset included; naive text is UTC.", possible=_has_times,
    ),
    Invariant(
        id="normaliser.times_epoch_magnitudes", level=Level.MUST, claim="epochs", check=each_job(_where(_is_finite_number)), source="SPEC 3 times; W62",
        expectation="A number is seconds, milliseconds, microseconds or nanoseconds since 1970, as its magnitude tells; one that has no year from 1 to 9999 is no time.",
        possible=_has_times,
    ),
    Invariant(
        id="normaliser.times_not_coerced", level=Level.MUST, claim="time_types", check=each_job(_where(_no_time)), source="SPEC 3 times; W70",
        expectation="A bool, NaN, an infinity, text of digits and whatever else can't be read is no time.", possible=_has_times,
    ),
    Invariant(
        id="normaliser.times_aware_utc", level=Level.MUST, claim="times_utc", check=each_job(_utc), source="SPEC 3 times; W72",
        expectation="Every time is aware, and in UTC.", possible=_has_times,
    ),
    Invariant(
        id="normaliser.created_at_wins", level=Level.MUST, claim="new_keys", check=each_job(_created(lambda key, _: key == "created_at")), source="SPEC 3 new keys",
        expectation="Where both hold a time, created_at is what `created_at` holds.", possible=_has_created,
    ),
    Invariant(
        id="normaliser.received_at_falls_back", level=Level.MUST, claim="old_keys", check=each_job(_created(lambda key, new: key == "received_at" and new == "absent")),
        source="SPEC 3 times", expectation="Where `created_at` is absent or null, created_at is what `received_at` holds.", possible=_has_created,
    ),
    Invariant(
        id="normaliser.unreadable_created_at_yields", level=Level.MUST, claim="odd_new_key",
        check=each_job(_created(lambda key, new: key == "received_at" and new != "absent")),
        source="SPEC 3 new keys", expectation="Where `created_at` can't be read, created_at is what `received_at` holds.", possible=_has_created,
    ),
)  # fmt: skip
