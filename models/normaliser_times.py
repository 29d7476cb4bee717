"""Which moment a JSON value names (SPEC 3, "times"): the models' own reading, which leaves open what SPEC leaves open.

A moment is a number of microseconds since 1970, in UTC.
"""

from __future__ import annotations

import calendar
import math
import re
from collections.abc import Sequence
from typing import Final

from ..harness.normaliser_subject import SPEC_BOUNDS

NO_TIME: Final = "no time"
OPEN: Final = "open"
"""SPEC does not say whether this is a time, or which."""

FIRST: Final = -62_135_596_800 * 10**6
LAST: Final = 253_402_300_799_999_999
"""The microseconds that have a year from 1 to 9999."""

_UNITS: Final = (10**9, 10**6, 10**3, 1)  # nanoseconds in a second, a millisecond, a microsecond, a nanosecond

_ISO = re.compile(
    r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
    r"(?:[T ](?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:[.,](?P<part>[0-9]+))?)?"
    r"(?P<zone>Z|[+-][0-9]{2}:[0-9]{2}(?::[0-9]{2})?)?)?\Z"
)
_NUMBER = re.compile(r"\s*[+-]?[0-9]*\.?[0-9]*(?:[eE][+-]?[0-9]+)?\s*\Z")
_ODD_DATE = re.compile(r"[0-9]{8}[^0-9]")


def moment_of(value: object, bounds: Sequence[float] = SPEC_BOUNDS) -> int | str:
    """The microseconds since 1970 that ``value`` names, :data:`NO_TIME`, or :data:`OPEN`. ``bounds``: where epoch numbers change units."""
    if isinstance(value, bool) or value is None:
        return NO_TIME
    if isinstance(value, str):
        return _of_text(value)
    if isinstance(value, int | float):
        return _of_number(value, bounds)
    return NO_TIME


def is_plain_iso(value: object) -> bool:
    """True for text in the extended form, with a date and perhaps a time and an offset, that names a moment."""
    return isinstance(value, str) and _ISO.match(value) is not None and isinstance(moment_of(value), int)


def _of_text(text: str) -> int | str:
    found = _ISO.match(text)
    if found is not None:
        return _of_fields({name: part for name, part in found.groupdict().items() if part is not None})
    if not any(letter.isdigit() for letter in text):
        return NO_TIME
    if text.strip().isdigit():
        return NO_TIME
    if _NUMBER.match(text) and not _ODD_DATE.match(text):
        return NO_TIME
    return OPEN  # week dates, basic forms, blanks around, and whatever else Python's own reading may take


def _of_fields(found: dict[str, str]) -> int | str:
    year, month, day = (int(found[name]) for name in ("year", "month", "day"))
    hour, minute, second = (int(found.get(name, "0")) for name in ("hour", "minute", "second"))
    if not 1 <= month <= 12 or year < 1 or not 1 <= day <= calendar.monthrange(year, month)[1]:
        return NO_TIME
    if hour > 23 or minute > 59 or second > 59:
        return NO_TIME
    zone = found.get("zone", "Z")
    offset = 0
    if zone != "Z":
        hours, minutes, seconds = (*(int(part) for part in zone[1:].split(":")), 0)[:3]
        if hours > 23 or minutes > 59 or seconds > 59:
            return OPEN  # Python 3.11 looks at the sum only
        offset = (hours * 3600 + minutes * 60 + seconds) * (-1 if zone[0] == "-" else 1)
    days = _days(year, month, day)
    whole = days * 86_400 + hour * 3600 + minute * 60 + second - offset
    moment = whole * 10**6 + int(found.get("part", "0")[:6].ljust(6, "0"))
    # A moment that has no year in UTC can't be handed out as one; whether it is clipped or dropped nobody says.
    return moment if FIRST <= moment <= LAST else OPEN


def _days(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01, counted by the calendar's own leap years."""
    before = year - 1
    leaps = before // 4 - before // 100 + before // 400
    return (
        before * 365
        + leaps
        + sum(calendar.monthrange(year, number)[1] for number in range(1, month))
        + day
        - 1
        - 719_162
    )


def _of_number(value: float, bounds: Sequence[float]) -> int | str:
    if isinstance(value, float) and not math.isfinite(value):
        return NO_TIME
    if abs(value) in bounds and tuple(bounds) != SPEC_BOUNDS:
        return OPEN
    unit = next((size for bound, size in zip(bounds, _UNITS, strict=False) if abs(value) < bound), _UNITS[-1])
    top, bottom = (value, 1) if isinstance(value, int) else value.as_integer_ratio()
    moment = (top * unit + 500 * bottom) // (1000 * bottom)
    if FIRST <= moment <= LAST:
        return moment
    return OPEN if FIRST - 1 <= moment <= LAST + 1 else NO_TIME
