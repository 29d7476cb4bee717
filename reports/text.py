"""Text for people: hostile text made harmless, numbers and durations made readable."""

from __future__ import annotations

import math


def printable(text: str) -> str:
    """The text with every character that does not print shown as its escape; newlines and tabs stay.

    Those are controls, lone surrogates and marks that turn the direction of writing.
    Escaping markup is not enough: an escape sequence repaints a terminal, a lone surrogate can't be written as UTF-8, and U+202E makes a
    reader see another text than the one that is there.
    """
    if text.isprintable():
        return text
    return "".join(mark if mark.isprintable() or mark in "\n\t" else _escape(mark) for mark in text)


def _escape(mark: str) -> str:
    code = ord(mark)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def clip(text: str, limit: int) -> str:
    """At most ``limit`` characters; what was cut is said by an ellipsis."""
    return text if len(text) <= limit else text[: max(0, limit - 1)] + "…"


def one_line(text: str, limit: int = 240) -> str:
    """The text on one printable line of at most ``limit`` characters."""
    return clip(printable(" ".join(text[: limit * 4].split())), limit)


def number(value: float) -> str:
    """A number without noise: up to six decimals, no trailing zeros, thousands set apart by commas."""
    if not math.isfinite(value):
        return "infinite" if value > 0 else repr(value)
    text = f"{value:,.6f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def seconds(value: float) -> str:
    """A duration for people: ``250 ms``, ``1.5 s``, ``12 min``, ``3.2 h``, ``5.1 d``."""
    if not math.isfinite(value):
        return "infinite"
    size = abs(value)
    for limit, unit, name in ((1.0, 0.001, "ms"), (120.0, 1.0, "s"), (7_200.0, 60.0, "min"), (172_800.0, 3_600.0, "h")):
        if size < limit:
            return "0 s" if not value else f"{_short(value / unit)} {name}"
    return f"{_short(value / 86_400)} d"


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def many(count: int, noun: str, plural: str = "") -> str:
    """``1 suite``, ``2 suites``, ``3 histories``."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
