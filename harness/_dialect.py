"""What all dialects are: frozen fields that are checked when one is made, written as plain data and read again."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, cast, get_args, get_origin, get_type_hints

from .jsonable import Json


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """Base of the dialects. ``kind``: the word for it in error messages."""

    kind: ClassVar[str] = "dialect"

    def __post_init__(self) -> None:
        for name, hint in get_type_hints(type(self)).items():
            if get_origin(hint) is ClassVar:
                continue
            value = getattr(self, name)
            choices = get_args(hint) if get_origin(hint) is Literal else ()
            if choices and value not in choices:
                raise ValueError(f"dialect {name} must be one of {', '.join(choices)}, not {value!r}")
            if hint is bool and not isinstance(value, bool):
                raise ValueError(f"dialect {name} must be true or false, not {value!r}")

    def as_json(self) -> dict[str, Json]:
        """The dialect as plain data (sets as sorted lists)."""
        data: dict[str, Json] = {}
        for item in dataclasses.fields(self):
            value = getattr(self, item.name)
            if isinstance(value, frozenset):
                value = sorted(value)
            elif isinstance(value, Mapping):
                value = dict(value)
            data[item.name] = cast("Json", value)
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> Self:
        """Read what :meth:`as_json` wrote. Raises ``ValueError`` for a field that it does not have."""
        known = {item.name for item in dataclasses.fields(cls)}
        unknown = sorted(set(data) - known)
        if unknown:
            raise ValueError(f"a {cls.kind} has no field {', '.join(unknown)}; it has {', '.join(sorted(known))}")
        values: dict[str, Any] = dict(data)
        if "parameters" in values:
            values["parameters"] = frozenset(cast("list[str]", values["parameters"]))
        return cls(**values)
