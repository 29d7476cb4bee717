"""The dialects, field by field, for `waitproof list dialect`: read from the classes themselves, so that nothing can be out of date."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin, get_type_hints

from ..harness.dialect import WaiterDialect
from ..harness.normaliser_subject import NormaliserDialect
from ..harness.queue_dialect import QueueDialect

DIALECTS = {"waiter": WaiterDialect, "normaliser": NormaliserDialect, "queue": QueueDialect}
"""The dialect of each kind of subject."""


def lines() -> Iterator[str]:
    """The listing: for each kind the class to import, then each field with its choices, its default and what it means."""
    for kind, cls in DIALECTS.items():
        yield f"{kind}: {cls.__module__}.{cls.__name__}"
        said = docs(cls)
        hints = get_type_hints(cls)
        for item in dataclasses.fields(cls):
            yield f"  {item.name} = {_default(item)}{_choices(hints[item.name])}"
            yield f"      {said.get(item.name) or 'not described'}"
        yield ""


def docs(cls: type[Any]) -> dict[str, str]:
    """What the docstring of a dialect says of each of its fields: the text behind the field's name and a colon, to the next one's."""
    text = " ".join((inspect.getdoc(cls) or "").split())
    names = {item.name for item in dataclasses.fields(cls)}
    marks = [mark for mark in re.finditer(r"(?:\* )?``(\w+)``: ", text) if mark[1] in names]
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    return {mark[1]: text[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True)}


def _default(item: dataclasses.Field[Any]) -> str:
    value = item.default if item.default_factory is dataclasses.MISSING else item.default_factory()
    return repr(sorted(value)) if isinstance(value, frozenset) else repr(value)


def _choices(hint: Any) -> str:
    return f"  (one of {', '.join(map(str, get_args(hint)))})" if get_origin(hint) is Literal else ""
