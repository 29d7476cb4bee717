"""Decoding a body as JSON, whatever its depth and however long its integers (SPEC section 3: no JSON value raises).

The standard library's decoder recurses, and refuses integers above 4,300 digits; both are the server's choice.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from json.decoder import scanstring  # type: ignore[attr-defined]  # public in all but typeshed
from typing import Any

__all__ = ["decode_json"]

_BLANKS = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_WORDS = {"true": True, "false": False, "null": None}
_WORD = re.compile("true|false|null")


def decode_json(body: bytes) -> Any:
    """Return the value of a JSON text in UTF-8, UTF-16 or UTF-32. Raises ValueError if it is none."""
    text = body.decode(json.detect_encoding(body))
    try:
        return json.loads(text, parse_int=_integer)
    except RecursionError:
        return _decode_deep(text)


def _integer(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:  # above sys.get_int_max_str_digits()
        return int(Decimal(digits))


def _decode_deep(text: str) -> Any:
    """Decode without recursion, with the containers around a value on a list of our own."""
    root: list[Any] = []
    outer: list[Any] = []  # the containers around the one being filled
    container: Any = root
    position = _skip(text, 0)
    while True:
        # A value starts here.
        if isinstance(container, dict):
            key, position = _key(text, position)
            value, position, opened = _value(text, position)
            container[key] = value
        else:
            value, position, opened = _value(text, position)
            container.append(value)
        if opened:
            outer.append(container)
            container = value
            position = _skip(text, position)
            if not text.startswith("}" if isinstance(value, dict) else "]", position):
                continue
            position += 1
            container = outer.pop()
        # A value has ended: close what ends here, then go on after a comma.
        while outer:
            position = _skip(text, position)
            mark = text[position : position + 1]
            position += 1
            if mark == ",":
                position = _skip(text, position)
                break
            if mark != ("}" if isinstance(container, dict) else "]"):
                raise json.JSONDecodeError("Expecting ',' or the end of the container", text, position - 1)
            container = outer.pop()
        else:
            if _skip(text, position) != len(text):
                raise json.JSONDecodeError("Extra data", text, position)
            return root[0]


def _skip(text: str, position: int) -> int:
    match = _BLANKS.match(text, position)
    return position if match is None else match.end()


def _key(text: str, position: int) -> tuple[str, int]:
    if not text.startswith('"', position):
        raise json.JSONDecodeError("Expecting a property name in double quotes", text, position)
    key, position = scanstring(text, position + 1)
    position = _skip(text, position)
    if not text.startswith(":", position):
        raise json.JSONDecodeError("Expecting ':'", text, position)
    return key, _skip(text, position + 1)


def _value(text: str, position: int) -> tuple[Any, int, bool]:
    """Return a value, the position after it, and whether it is a container that has only been opened."""
    mark = text[position : position + 1]
    if mark == "{":
        return {}, position + 1, True
    if mark == "[":
        return [], position + 1, True
    if mark == '"':
        value, position = scanstring(text, position + 1)
        return value, position, False
    if word := _WORD.match(text, position):
        return _WORDS[word.group()], word.end(), False
    if number := _NUMBER.match(text, position):
        is_float = number.group(1) or number.group(2)
        return (float if is_float else _integer)(number.group()), number.end(), False
    raise json.JSONDecodeError("Expecting a value", text, position)
