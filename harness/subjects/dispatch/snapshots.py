"""Payload snapshots: a deep copy taken at submit, the comparison of two payloads, and a mark by which equal ones are found."""

from __future__ import annotations

import copy
from typing import Any

__all__ = ["NotCopyableError", "payload_mark", "same_payload", "snapshot"]

_PLAIN = frozenset({str, int, float, bool, type(None), bytes})
_DEEPEST = 60


class NotCopyableError(Exception):
    """A payload can't be copied, so what would be sent can't be promised."""


def snapshot(payload: Any) -> Any:
    """Return a deep copy that shares nothing changeable with `payload`. JSON values are copied fast, all else by `copy.deepcopy`.

    Raises `NotCopyableError` if it can't be done.
    """
    try:
        return _copied(payload, 0)
    except Exception as error:
        raise NotCopyableError(f"a payload of type {type(payload).__name__} can't be copied") from error


def _copied(value: Any, depth: int) -> Any:
    kind = type(value)
    if kind in _PLAIN:
        return value
    if depth >= _DEEPEST:  # also where a payload that holds itself ends up
        return copy.deepcopy(value)
    if kind is dict:
        return {name: item if type(item) in _PLAIN else _copied(item, depth + 1) for name, item in value.items()}
    if kind is list:
        return [item if type(item) in _PLAIN else _copied(item, depth + 1) for item in value]
    return copy.deepcopy(value)


def payload_mark(payload: Any) -> int:
    """A number that payloads share for which `same_payload` says yes; others seldom do. Good for one process only."""
    try:
        return _mark(payload, 0)
    except Exception:  # noqa: BLE001 - other people's __hash__
        return 0


def _mark(value: Any, depth: int) -> int:
    kind = type(value)
    if kind in _PLAIN:
        return hash(value)
    if depth < _DEEPEST:
        if kind is dict:
            return hash(frozenset((name, _mark(item, depth + 1)) for name, item in value.items()))
        if kind is list or kind is tuple:
            return hash(tuple(_mark(item, depth + 1) for item in value))
    return 0


def same_payload(one: Any, other: Any) -> bool:
    """Whether two payloads are equal, types included (1, 1.0 and True differ). What can't be compared is not the same."""
    if one is other and type(one) in _PLAIN:
        return True
    try:
        return _same(one, other, 0)
    except Exception:  # noqa: BLE001 - other people's __eq__
        return False


def _same(one: Any, other: Any, depth: int) -> bool:
    kind = type(one)
    if kind is not type(other):
        return False
    if kind in _PLAIN:
        return bool(one == other)
    if depth >= _DEEPEST:
        return bool(one == other)
    if kind is dict:
        return len(one) == len(other) and all(
            name in other and _same(item, other[name], depth + 1) for name, item in one.items()
        )
    if kind in (list, tuple):
        return len(one) == len(other) and all(_same(a, b, depth + 1) for a, b in zip(one, other, strict=True))
    return bool(one == other)
