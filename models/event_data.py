"""Reading single values out of an event's data, whatever stands there: for the readers of every kind of history."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import cast

from ..harness.jsonable import Json, revive


def number(value: object, default: float = math.nan) -> float:
    """A number out of an event's data (infinities are tagged there), ``default`` if it is none."""
    if isinstance(value, dict):
        value = revive(value)
    return float(value) if isinstance(value, int | float) else default


def mapping(value: object) -> Mapping[str, Json]:
    """A mapping out of an event's data, empty if it is none."""
    return cast("Mapping[str, Json]", value) if isinstance(value, Mapping) else {}
