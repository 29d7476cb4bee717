"""A sleep wakes on time: the wake between two others that do not."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from ..kind import Kind


@dataclass(frozen=True, kw_only=True)
class Exact:
    """It has no parameters."""


KINDS = (
    Kind(
        name="exact",
        place="wake",
        data=Exact,
        strategy=lambda: st.just(Exact()),
        words=lambda _: "wakes on time",
        adjust=lambda _data, asked: asked,
    ),
)
