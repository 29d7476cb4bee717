"""The reference model of the normaliser (SPEC 3): what a job must say, for any JSON value.

Written from the specification, not from any code. Where SPEC leaves a choice, the model lists every reading that is right, or says that
the field is *open*. It knows nothing of Python types of jobs: it speaks of JSON values, statuses and microseconds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..harness.dialect import WaiterDialect
from ..harness.json_text import write_json
from ..harness.normaliser_subject import NormaliserDialect
from .normaliser_times import NO_TIME, OPEN, moment_of
from .words import STATUSES, TERMINAL, UNCLEAR, UNKNOWN, status_of

OLD: Final[Mapping[str, str]] = {"result": "data", "error": "failure_reason", "created_at": "received_at"}
"""The old spelling of each new key."""
KNOWN: Final = frozenset(
    """
    job_id status progress result data error failure_reason created_at received_at started_at completed_at
    """.split()
)
_PARSE_ONLY = frozenset({"data", "received_at"})
_PRINTABLE = 10**600


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What a field may say: one of ``texts`` (canonical JSON), or, if there are none, anything: it is open."""

    texts: tuple[str, ...] = ()

    @property
    def open(self) -> bool:
        """True if SPEC does not say what is right."""
        return not self.texts

    def admits(self, text: object) -> bool:
        """True if a field that says ``text`` (canonical JSON) is right, or may be."""
        return self.open or text in self.texts

    def words(self) -> str:
        """What is expected, for a person."""
        return " or ".join(self.texts) or "anything"


ANYTHING: Final = Wanted()
NOTHING: Final = Wanted(texts=("null",))


def wanted(*values: object) -> Wanted:
    """A field that must say one of these values."""
    return Wanted(texts=tuple(dict.fromkeys(write_json(value) for value in values)))


# -- status ------------------------------------------------------------------------------------------------------------


def meaning(envelope: Mapping[str, Any], dialect: NormaliserDialect) -> str:
    """The status that the envelope's word means: one of the five, ``unknown`` (a word that is not in the dialect's table), ``missing``
    (no text stands there), or ``unclear`` (nobody says whether it is in the table)."""
    word = envelope.get("status")
    if not isinstance(word, str):
        return "missing"
    return status_of(word, WaiterDialect(words=dialect.words, more_words=dialect.more_words))


def status(envelope: Mapping[str, Any], dialect: NormaliserDialect) -> Wanted:
    """``Job.status``."""
    found = meaning(envelope, dialect)
    if found == UNCLEAR:
        return wanted(*STATUSES, dialect.unknown)
    return wanted(found if found in STATUSES else dialect.unknown)


def raw_status(envelope: Mapping[str, Any]) -> Wanted:
    """``Job.raw_status``: the word as it came. Of what is no text nobody says whether it is shown."""
    word = envelope.get("status")
    if word is None:
        return NOTHING
    if isinstance(word, str):
        return wanted(word) if word else wanted(word, None)
    return ANYTHING


def ended(status_text: object) -> Wanted:
    """``Job.is_terminal``, from what the job says of its own status (canonical JSON)."""
    return wanted(status_text in {write_json(name) for name in TERMINAL})


# -- drift -------------------------------------------------------------------------------------------------------------


def lacks(envelope: Mapping[str, Any]) -> bool:
    """Is a field missing (or null) that every envelope of either family has: the id, or the status?"""
    return envelope.get("job_id") is None or envelope.get("status") is None


def retyped(envelope: Mapping[str, Any]) -> list[str]:
    """The known keys whose value has another shape than the families give it (SPEC 3, first table)."""
    return [key for key in sorted(KNOWN) if envelope.get(key) is not None and not _usual(key, envelope[key])]


def _usual(key: str, value: object) -> bool:
    if key in ("job_id", "status", "failure_reason"):
        return isinstance(value, str)
    if key in ("result", "data"):
        return isinstance(value, dict)
    if key == "error":
        return isinstance(value, dict) and all(isinstance(value.get(name), str | None) for name in ("code", "message"))
    if key == "progress":
        return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    return isinstance(value, str) or isinstance(moment_of(value), int)


# -- plain fields ------------------------------------------------------------------------------------------------------


def job_id(envelope: Mapping[str, Any]) -> Wanted:
    """``Job.job_id``. An integer may be shown as its digits; whatever else is no text becomes None."""
    value = envelope.get("job_id")
    if isinstance(value, str):
        return wanted(value) if value else wanted(value, None)
    if isinstance(value, int) and not isinstance(value, bool):
        return wanted(None, write_json(value))
    return NOTHING


def progress(envelope: Mapping[str, Any]) -> Wanted | tuple[float, float]:
    """``Job.progress``. For a number out of range a pair: it may become None, or be clipped into that range."""
    value = envelope.get("progress")
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or (isinstance(value, float) and not math.isfinite(value))
    ):
        return NOTHING
    if not 0 <= value <= 1:
        return (0.0, 1.0)
    return wanted(value, float(value), int(value) if value in (0, 1) else value)


# -- two keys for one field --------------------------------------------------------------------------------------------

FULL: Final = "full"
EMPTY: Final = "empty"
ABSENT: Final = "absent"
ODD: Final = "odd"
UNSURE: Final = "unsure"


def payload_kind(value: object) -> str:
    """Does this hold a payload? ``full``, ``empty``, ``absent`` (null or not there) or ``odd`` (no object)."""
    if value is None:
        return ABSENT
    if not isinstance(value, dict):
        return ODD
    return FULL if value else EMPTY


def failure_kind(value: object) -> str:
    """Does this hold a failure that can be read? As :func:`payload_kind`, and ``unsure``."""
    if value is None:
        return ABSENT
    if isinstance(value, str):
        return FULL if value.strip() else EMPTY
    if isinstance(value, dict):
        if any(_is_text(value.get(name)) for name in ("code", "message")) or is_code(value.get("code")):
            return FULL
        return EMPTY if all(name in ("code", "message") and value[name] in (None, "") for name in value) else UNSURE
    if isinstance(value, list):
        if not value:
            return EMPTY
        return FULL if all(isinstance(item, str | dict) and failure_kind(item) == FULL for item in value) else UNSURE
    return ODD


def time_kind(value: object, dialect: NormaliserDialect) -> str:
    """Does this hold a moment? As :func:`failure_kind`."""
    if value is None:
        return ABSENT
    moment = moment_of(value, dialect.epoch_bounds)
    if moment == OPEN:
        return UNSURE
    return FULL if moment != NO_TIME else ODD


def winner(new: str, old: str, resource: str, dialect: NormaliserDialect, kinds: Mapping[str, str]) -> str:
    """Which of two keys counts: its name, ``""`` if neither holds anything, or ``?`` if SPEC does not say.

    ``kinds``: what each of the two holds. "The new key wins unless it is absent, null, of the wrong type, or empty or unreadable while the
    old key holds something."
    """
    mine, other = kinds[new], kinds[old]
    if mine == FULL:
        return new
    if mine == UNSURE:
        return new if other in (ABSENT, EMPTY, ODD) else "?"
    if other in (FULL, UNSURE) and not reads_old(old, resource, dialect):
        return "?"
    if other == FULL:
        return old
    return "?" if other == UNSURE else ""


def reads_old(old: str, resource: str, dialect: NormaliserDialect) -> bool:
    """Must this old key be read for this resource? Both payload keys and all failure forms are, whatever the endpoint; the old name of a
    time belongs to the parse family alone."""
    if resource == "parse_jobs":
        return True
    return old not in (_PARSE_ONLY if dialect.old_keys == "family" else {"received_at"})


# -- result ------------------------------------------------------------------------------------------------------------


def result_key(envelope: Mapping[str, Any], resource: str, dialect: NormaliserDialect) -> str:
    """Which key's payload is the result of a completed job; as :func:`winner`."""
    kinds = {name: payload_kind(envelope.get(name)) for name in ("result", "data")}
    return winner("result", "data", resource, dialect, kinds)


# -- error -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Failure:
    """What ``Job.error`` must say. ``code`` and ``message``: what they may be. ``within``: texts that the message must hold."""

    code: Wanted = ANYTHING
    message: Wanted = ANYTHING
    within: tuple[str, ...] = ()


def failure_key(envelope: Mapping[str, Any], resource: str, dialect: NormaliserDialect) -> str:
    """Which key's failure is the error; as :func:`winner`."""
    kinds = {name: failure_kind(envelope.get(name)) for name in ("error", "failure_reason")}
    return winner("error", "failure_reason", resource, dialect, kinds)


def failure(value: object) -> Failure:
    """What the error made of a readable value must say: a text, an object with code and message, or a list of those."""
    if isinstance(value, str):
        return Failure(code=NOTHING, message=wanted(value, value.strip()))
    if isinstance(value, dict):
        code, message = value.get("code"), value.get("message")
        huge = isinstance(code, int) and not isinstance(code, bool) and not is_code(code)
        codes = ANYTHING if huge else wanted(code, write_json(code)) if is_code(code) else _text_or_nothing(code)
        return Failure(code=codes, message=_text_or_nothing(message))
    if isinstance(value, list):
        said = [item if isinstance(item, str) else item.get("message") for item in value]
        return Failure(within=tuple(text.strip() for text in said if isinstance(text, str) and text.strip()))
    return Failure()


def _text_or_nothing(value: object) -> Wanted:
    if isinstance(value, str):
        return wanted(value, value.strip()) if value.strip() else wanted(value, None)
    return NOTHING


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def is_code(value: object) -> bool:
    """An integer that CPython prints: whether a code of more than some 4,300 digits is one is open."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _PRINTABLE


# -- times -------------------------------------------------------------------------------------------------------------


def time_value(
    field: str, envelope: Mapping[str, Any], resource: str, dialect: NormaliserDialect
) -> tuple[str, object]:
    """Which key the time ``field`` comes from (as :func:`winner`), and what stands there."""
    if field != "created_at":
        return field, envelope.get(field)
    kinds = {name: time_kind(envelope.get(name), dialect) for name in ("created_at", "received_at")}
    key = winner("created_at", "received_at", resource, dialect, kinds)
    return key, envelope.get(key or "created_at")


UNKNOWN_WORD: Final = UNKNOWN
