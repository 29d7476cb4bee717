"""Canonical JSON: one value, one line of bytes.

Everything that leaves a run (plans, histories, results, tokens) is written by this module, so "the same bytes" has one meaning.
Numbers that JSON lacks are tagged: ``{"$float": "inf"}``. Keys are sorted, text is ASCII-escaped, so lone surrogates survive.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias, cast

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

_FLOAT_TAG = "$float"


def plain(value: object) -> Json:
    """Turn ``value`` into plain JSON data.

    Mappings become dicts with text keys, sequences become lists, non-finite floats are tagged, anything else becomes its ``repr``,
    cut at 200 characters (a subject may hand out objects whose ``repr`` raises: that is reported in the text, never raised).
    """
    if value is None or isinstance(value, bool | str):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        number = float(value)
        return number if math.isfinite(number) else {_FLOAT_TAG: repr(number)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [plain(item) for item in value]
    return safe_repr(value)


def revive(value: object) -> Json:
    """Undo the tagging of :func:`plain` (``{"$float": "inf"}`` becomes ``inf``)."""
    if isinstance(value, list):
        return [revive(item) for item in value]
    if isinstance(value, dict):
        if set(value) == {_FLOAT_TAG}:
            return float(cast("str", value[_FLOAT_TAG]))
        return {key: revive(item) for key, item in value.items()}
    return cast("Json", value)


def dumps(value: object) -> str:
    """Write ``value`` as one canonical line (no newline at its end)."""
    return json.dumps(plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def loads(text: str | bytes) -> Json:
    """Read what :func:`dumps` wrote. Raises ``ValueError`` for text that is not JSON."""
    return revive(json.loads(text))


def safe_repr(value: object, limit: int = 200) -> str:
    """``repr`` that cannot raise and cannot be long; addresses (``at 0x…``) are cut, because they differ between runs."""
    try:
        text = repr(value)
    except Exception as error:  # noqa: BLE001 - a subject's repr may raise anything
        text = f"<{type(value).__name__} whose repr raised {type(error).__name__}>"
    if " at 0x" in text:
        head, _, tail = text.partition(" at 0x")
        text = head + tail.lstrip("0123456789abcdefABCDEF")
    return text if len(text) <= limit else text[: limit - 1] + "…"


def told(error: BaseException, limit: int = 300) -> str:
    """The type and the message of an exception, in one line; it can neither raise nor be long."""
    name = type(error).__name__
    try:
        text = " ".join(str(error).split())
    except Exception as other:  # noqa: BLE001 - a subject's exception may raise anything
        text = f"its text raised {type(other).__name__}"
    whole = f"{name}: {text}" if text else name
    return whole if len(whole) <= limit else whole[: limit - 1] + "…"
