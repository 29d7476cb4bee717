"""Nobody listens: the connection is refused."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from ..kind import Kind
from ..reply import Reply


@dataclass(frozen=True, kw_only=True)
class Refused:
    """It has no parameters."""


KINDS = (
    Kind(
        name="refused",
        place="answer",
        data=Refused,
        strategy=lambda: st.just(Refused()),
        words=lambda _: "the connection is refused",
        reply=lambda _data, _asked: Reply(refuse=True),
    ),
)
