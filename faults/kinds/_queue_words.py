"""Words and times that the steps of queues share."""

from __future__ import annotations

import dataclasses
from functools import cache

from hypothesis import strategies as st

from ...harness.calls import ApiCall


@cache
def instants() -> st.SearchStrategy[float]:
    """Seconds since the start of the run at which something may be done."""
    return st.sampled_from((0.0, 0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 0.001, 1.001, 0.999))


def call_words(call: ApiCall) -> str:
    """A call in words: what it does to which object, and whatever is not as by default."""
    given = [
        f"{item.name}={_value(getattr(call, item.name))}"
        for item in dataclasses.fields(call)
        if item.name not in ("type", "uid", "name", "target", "effect")
        and getattr(call, item.name) != (item.default if item.default is not dataclasses.MISSING else None)
        and not (item.name == "precondition" and call.precondition == type(call.precondition)())
    ]
    return f"{call.type} {call.target} of {call.name} ({call.uid})" + "".join(f", {text}" for text in given)


def _value(value: object) -> str:
    if dataclasses.is_dataclass(value):
        told = {item.name: getattr(value, item.name) for item in dataclasses.fields(value)}
        return "(" + ", ".join(f"{name}={what!r}" for name, what in told.items() if what is not None) + ")"
    return repr(value)
