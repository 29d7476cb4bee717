"""Nobody listens: the connection is refused, and surely nothing has happened."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from ..api_script import ApiScript
from ..kind import Kind


@dataclass(frozen=True, kw_only=True)
class ApiRefused:
    """It has no data."""


KINDS = (
    Kind(
        name="api_refused",
        place="api",
        data=ApiRefused,
        strategy=lambda: st.builds(ApiRefused),
        words=lambda _: "refuses the connection",
        script=lambda _: ApiScript(refuse=True, arrives=False, handled=False, answered=False),
    ),
)
