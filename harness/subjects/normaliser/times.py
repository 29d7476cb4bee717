"""Reading the times that servers send: ISO 8601 text and epoch numbers of any unit (SPEC section 3)."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from typing import Any

__all__ = ["parse_time"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# A number below the bound counts in the unit of so many nanoseconds. Units agree for years 1974 to 5000.
_UNITS = ((10**11, 10**9), (10**14, 10**6), (10**17, 10**3))
_NANOSECONDS = 1

# Later versions of Python read hour 24 as midnight; 3.11 does not, and a time must not depend on the interpreter.
_HOUR_24 = re.compile(r"(?:\d{4}-?\d{2}-?\d{2}|\d{4}-?W\d{2}(?:-?\d)?).24", re.DOTALL)


def parse_time(value: Any) -> datetime | None:
    """Return a JSON value as an aware datetime in UTC, or None if it is not a time.

    Text is ISO 8601 as Python 3.11 reads it, naive text being UTC; digits alone are no time. A number is an epoch
    in the unit that its magnitude tells: below 1e11 seconds, below 1e14 milliseconds, below 1e17 microseconds, else
    nanoseconds. Booleans, NaN, infinities and times outside of the years 1 to 9999 are not times. Never raises.
    """
    try:
        if isinstance(value, str):
            return _from_text(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return _from_nanoseconds(value * _unit(value))
        if isinstance(value, float) and math.isfinite(value):
            # Through a ratio of integers: a float times 1e6 would be rounded once more than needed.
            numerator, denominator = value.as_integer_ratio()
            return _from_nanoseconds(numerator * _unit(value) // denominator)
    except (ValueError, OverflowError):
        return None
    return None


def _from_text(text: str) -> datetime | None:
    if text.strip().isdigit() or _HOUR_24.match(text):
        return None
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _unit(number: float) -> int:
    return next((unit for bound, unit in _UNITS if abs(number) < bound), _NANOSECONDS)


def _from_nanoseconds(nanoseconds: int) -> datetime:
    # Rounded to the nearest microsecond: 1700000000.1 is a float just below .100000.
    return _EPOCH + timedelta(microseconds=(nanoseconds + 500) // 1000)
