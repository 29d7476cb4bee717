"""JSON text ↔ values without recursion and without limits, for the benches of subjects that must bear any JSON value.

The standard library's decoder recurses and refuses integers above 4,300 digits, and so does its encoder. A bench that hands out such
values and writes down what came of them can't afford either.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from .jsonable import safe_repr

MOST_PARTS = 200_000
"""Parts of one value that are written before the rest is cut: a subject may hand out a value that holds itself."""

_TOKEN = re.compile(
    r"""[ \t\n\r]*(?:
        (?P<mark>[{}\[\],:])
      | (?P<text>"(?:[^"\\\x00-\x1f]|\\.)*")
      | (?P<word>true|false|null|NaN|-?Infinity)
      | (?P<number>-?(?:0|[1-9][0-9]*)(?P<real>(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?))
    )""",
    re.VERBOSE | re.DOTALL,
)
_BLANK = re.compile(r"[ \t\n\r]*")
_WORDS = {"true": True, "false": False, "null": None, "NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def read_json(text: str) -> Any:
    """The value of a JSON text, as Python's ``json`` reads it (``NaN`` and ``Infinity`` included; of duplicate keys the last counts), at
    any depth and with integers of any length. Raises ``ValueError`` for text that is not JSON."""
    try:
        return json.loads(text)
    except (RecursionError, ValueError):
        return _read(text)


def _read(text: str) -> Any:
    root: list[Any] = []
    around: list[tuple[Any, Any]] = []  # the containers that are open, each with the key that it stands under
    here: Any = root
    key: Any = None
    wants = "value"  # value, value], key, key}, colon, comma, end
    position = 0
    while wants != "end":
        found = _TOKEN.match(text, position)
        if found is None:
            raise ValueError(f"not JSON: at character {position} a {wants.rstrip(']}')} was expected")
        position, mark = found.end(), found["mark"]
        if wants.startswith("key") and found["text"] is not None:
            key, wants = json.loads(found["text"]), "colon"
        elif wants == "colon" and mark == ":":
            wants = "value"
        elif wants == "comma" and mark == ",":
            wants = "key" if isinstance(here, dict) else "value"
        elif mark and mark in "]}" and _may_close(here, root, wants, mark):
            here, key = around.pop()
            wants = "end" if here is root else "comma"
        elif wants.startswith("value") and mark not in ("]", "}", ",", ":"):
            value = [] if mark == "[" else {} if mark == "{" else _scalar(found)
            if isinstance(here, dict):
                here[key] = value
            else:
                here.append(value)
            if mark:
                around.append((here, key))
                here, wants = value, "value]" if mark == "[" else "key}"
            else:
                wants = "end" if here is root else "comma"
        else:
            raise ValueError(f"not JSON: at character {found.start()} a {wants.rstrip(']}')} was expected")
    blank = _BLANK.match(text, position)
    if blank is not None and blank.end() != len(text):
        raise ValueError(f"not JSON: there is more after the value, at character {position}")
    return root[0]


def _may_close(here: Any, root: Any, wants: str, mark: str) -> bool:
    return (
        here is not root
        and wants in ("comma", f"value{mark}", f"key{mark}")
        and mark == ("}" if isinstance(here, dict) else "]")
    )


def _scalar(found: re.Match[str]) -> Any:
    if found["text"] is not None:
        return json.loads(found["text"])
    if found["word"] is not None:
        return _WORDS[found["word"]]
    number = found["number"]
    return float(number) if found["real"] else int(Decimal(number))


def write_json(value: object, *, sort: bool = True) -> str:
    """``value`` as one canonical line: ASCII, no blanks, the keys of objects in order (unless ``sort`` is off).

    What is no JSON is written as ``<repr>``, which no JSON text is, so that it never equals anything. Never recurses. ``1``, ``1.0`` and
    ``true`` are three texts.
    """
    try:
        return json.dumps(value, sort_keys=sort, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return _write(value, sort=sort)


def _write(value: object, *, sort: bool) -> str:
    parts: list[str] = []
    work: list[Any] = [value]
    while work:
        item = work.pop()
        if isinstance(item, _Raw):
            parts.append(item)
        elif isinstance(item, Mapping):
            pairs = [(_key(name), part) for name, part in item.items()]
            if sort:
                pairs.sort(key=lambda pair: pair[0])
            work.append(_Raw("}"))
            for index in range(len(pairs) - 1, -1, -1):
                work += [pairs[index][1], _Raw(("," if index else "") + pairs[index][0] + ":")]
            work.append(_Raw("{"))
        elif isinstance(item, list | tuple):
            work.append(_Raw("]"))
            for index in range(len(item) - 1, -1, -1):
                work.append(item[index])
                if index:
                    work.append(_Raw(","))
            work.append(_Raw("["))
        else:
            parts.append(_plain(item))
        if len(parts) > MOST_PARTS:
            parts.append("<cut>")
            break
    return "".join(parts)


class _Raw(str):
    """Text that is already written."""

    __slots__ = ()


def _key(name: object) -> str:
    return json.dumps(name) if isinstance(name, str) else f"<{safe_repr(name)}>"


def _plain(value: object) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, int):
        # CPython prints no integers above 4,300 digits; a Decimal made of one is exact, and prints them all.
        return str(Decimal(int(value)))
    if isinstance(value, float):
        return json.dumps(float(value))
    return f"<{safe_repr(value)}>"


def depth_of(value: object, *, most: int = 1_000_000) -> int:
    """How deeply containers are nested in ``value``: 0 for a scalar, 1 for ``{}``, never counting beyond ``most``."""
    layer, depth = [value], 0
    while depth < most:
        layer = (
            [
                part
                for item in layer
                if isinstance(item, dict | list)
                for part in (item.values() if isinstance(item, dict) else item)
                if isinstance(part, dict | list)
            ]
            if depth
            else [item for item in layer if isinstance(item, dict | list)]
        )
        if not layer:
            return depth
        depth += 1
    return depth
