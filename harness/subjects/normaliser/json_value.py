"""Copying and comparing JSON values without recursion, so that no depth of nesting can raise (SPEC section 3).

`copy.deepcopy` and `==` both recurse, and a server decides how deep a body is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["copy_json", "same_json", "text_of_id"]


def copy_json(value: Any) -> Any:
    """Return a copy of a JSON value that shares no object or list with it.

    Objects (any mapping) become plain dictionaries, lists plain lists; what cannot be changed in place is kept. A
    part that occurs twice in the input is copied once, so that a value that was built with sharing stays small.
    """
    copies: dict[int, Any] = {}
    root, pending = _shell(value, copies)
    work = [(value, root)] if pending else []
    while work:
        source, target = work.pop()
        if isinstance(target, dict):
            for key, item in source.items():
                target[key], pending = _shell(item, copies)
                if pending:
                    work.append((item, target[key]))
        else:
            for item in source:
                shell, pending = _shell(item, copies)
                target.append(shell)
                if pending:
                    work.append((item, shell))
    return root


def _shell(value: Any, copies: dict[int, Any]) -> tuple[Any, bool]:
    """Return the (still empty) copy of a value, and whether it has yet to be filled."""
    if not isinstance(value, (Mapping, list)):
        return value, False
    known = copies.get(id(value))
    if known is not None:
        return known, False
    shell: list[Any] | dict[Any, Any] = [] if isinstance(value, list) else {}
    copies[id(value)] = shell
    return shell, True


def same_json(left: Any, right: Any) -> bool:
    """Say whether two JSON values are equal; unlike `==`, `True` is not 1, and no depth raises."""
    work = [(left, right)]
    seen: set[tuple[int, int]] = set()
    while work:
        one, other = work.pop()
        if one is other:
            continue
        if isinstance(one, (dict, list)):
            if not isinstance(other, (dict, list)) or len(one) != len(other):
                return False
            # A pair seen before is either equal so far or already refused: this ends on shared and cyclic parts.
            if (id(one), id(other)) in seen:
                continue
            seen.add((id(one), id(other)))
            if isinstance(one, dict) and isinstance(other, dict):
                if one.keys() != other.keys():
                    return False
                work.extend((item, other[key]) for key, item in one.items())
            elif isinstance(one, list) and isinstance(other, list):
                work.extend(zip(one, other, strict=True))
            else:
                return False
        elif isinstance(other, (dict, list)) or isinstance(one, bool) is not isinstance(other, bool) or one != other:
            return False
    return True


def text_of_id(value: Any) -> str | None:
    """Return an identifier or a code as text: text as it is, an integer in decimal, anything else None."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        try:
            return str(value)
        except ValueError:  # CPython refuses to print integers above 4,300 digits (sys.set_int_max_str_digits).
            return None
    return None
