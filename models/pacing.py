"""Pacing: what the ``Retry-After`` headers of an answer mean (SPEC 2, "Pacing"). The models' own reader.

Where SPEC 2 does not settle a form (a sign, an exponent, the two obsolete date forms, a date without a ``Date`` beside it), the hint
is a range, or may be ignored as well as obeyed, so that nobody is judged by our taste.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final, Literal

MOST: Final = 86_400.0

Form = Literal["seconds", "ms", "date"]

_PLAIN = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)\Z", re.ASCII)
_FIXDATE = re.compile(r"[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT\Z", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """A pause that the server asked for: ``low`` to ``high`` seconds (the same, if it is clear) from the arrival of the answer.

    ``ignorable``: to ignore it is as right as to obey it. ``form``: how it was written. ``counted``: it was above 86,400 s.
    """

    low: float
    high: float
    form: Form
    ignorable: bool = False
    counted: bool = False


def hint_of(headers: Mapping[str, str]) -> Hint | None:
    """The hint in these headers (names in lower case), or ``None`` if there is none, or only garbage."""
    in_ms = headers.get("retry-after-ms")
    if in_ms is not None:
        hint = _number(in_ms.strip(), "ms")
        if hint is not None and not hint.ignorable:
            return hint
        if hint is not None:
            other = _retry_after(headers)
            least, most = (0.0, MOST) if other is not None else (hint.low, hint.high)
            return Hint(low=least, high=most, form="ms", ignorable=True)
    return _retry_after(headers)


def has_header(headers: Mapping[str, str]) -> bool:
    """True if the answer carries any pacing header, garbage included."""
    return "retry-after" in headers or "retry-after-ms" in headers


def _retry_after(headers: Mapping[str, str]) -> Hint | None:
    text = headers.get("retry-after")
    if text is None:
        return None
    text = text.strip()
    hint = _number(text, "seconds")
    if hint is not None:
        return hint
    if "," in text and not text[:1].isalpha():
        return Hint(
            low=0.0, high=MOST, form="seconds", ignorable=True
        )  # several headers, joined by the client: which one counts?
    return _date(text, headers.get("date"))


def _number(text: str, form: Form) -> Hint | None:
    try:
        value = float(text)
    except ValueError:
        return None
    if math.isnan(value) or value < 0:
        return None
    if not _PLAIN.match(text):
        if math.isinf(value) and not any(letter.isdigit() for letter in text):
            return None  # "inf" and its like are no finite number
        top = min(value / (1000.0 if form == "ms" else 1.0), MOST)
        return Hint(low=top, high=top, form=form, ignorable=True)
    if math.isinf(value):
        return Hint(low=MOST, high=MOST, form=form, ignorable=True, counted=True)  # more digits than a float can hold
    seconds = value / 1000.0 if form == "ms" else value
    return Hint(low=min(seconds, MOST), high=min(seconds, MOST), form=form, counted=seconds > MOST)


def _date(text: str, now: str | None) -> Hint | None:
    until = _instant(text)
    if until is None:
        return None
    since = _instant(now.strip()) if now is not None else None
    if since is None or now is None:
        return Hint(low=0.0, high=MOST, form="date", ignorable=True)  # it counts from a wall clock that we do not see
    seconds = (until - since).total_seconds()
    strict = _FIXDATE.match(text) is not None and _FIXDATE.match(now.strip()) is not None
    if seconds < 0:
        return Hint(low=0.0, high=0.0, form="date", ignorable=True)
    seconds, counted = min(seconds, MOST), seconds > MOST
    return Hint(low=seconds, high=seconds, form="date", ignorable=not strict, counted=counted)


def _instant(text: str) -> datetime | None:
    try:
        value = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
