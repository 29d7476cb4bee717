"""Reading the server's wish about when to come back (SPEC section 2, 'Pacing').

`retry-after-ms` wins over `Retry-After`, which is a number of seconds or an HTTP-date.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

__all__ = ["LONGEST_HINT", "pacing_hint"]

LONGEST_HINT = 86_400.0
"""Seconds. A server that asks for more is taken to ask for a day."""

# What float() takes beyond this (nan, infinity, 1_000, digits of other scripts) is not a number in a header.
_NUMBER = re.compile(r"\+?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|-0+(?:\.0*)?", re.ASCII)


def pacing_hint(headers: Mapping[str, str], wall: Callable[[], float]) -> float | None:
    """Return how many seconds after its arrival an answer asks to be left alone, or None if it does not ask.

    An HTTP-date counts from the answer's own `Date`, so that no clock of ours is compared with the server's; only
    without a readable `Date` is `wall` called, which returns seconds since 1970 (`time.time`). The result is a
    finite number from 0 to LONGEST_HINT. Whatever is not a number of 0 or more is ignored. Never raises.
    """
    lower = {name.lower(): value for name, value in headers.items() if isinstance(name, str)}
    milliseconds = _seconds(lower.get("retry-after-ms"), 1000.0)
    if milliseconds is not None:
        return milliseconds
    value = lower.get("retry-after")
    seconds = _seconds(value, 1.0)
    if seconds is not None:
        return seconds
    moment = _http_date(value)
    if moment is None:
        return None
    sent = _http_date(lower.get("date"))
    difference = moment - (wall() if sent is None else sent)
    return _clipped(difference) if math.isfinite(difference) and difference >= 0 else None


def _seconds(text: str | None, per_second: float) -> float | None:
    if not isinstance(text, str) or not _NUMBER.fullmatch(text.strip()):
        return None
    # Digits beyond the range of a float give infinity here, and are still a number above the longest hint.
    return _clipped(abs(float(text)) / per_second)


def _clipped(seconds: float) -> float:
    return min(seconds, LONGEST_HINT)


def _http_date(text: str | None) -> float | None:
    """Return an HTTP-date, in any of its three forms, as seconds since 1970."""
    if not isinstance(text, str):
        return None
    try:
        moment = parsedate_to_datetime(text)
        return (moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment).timestamp()
    except Exception:  # noqa: BLE001  (the parser of the standard library raises half a dozen types for bad dates)
        return None
