"""The API server has no room now and says when to come again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hypothesis import strategies as st

from ..api_script import ApiScript
from ..kind import Kind


@dataclass(frozen=True, kw_only=True)
class ApiThrottle:
    """``status``: 429 or 503. ``seconds``: of ``Retry-After``."""

    status: Literal[429, 503] = 429
    seconds: float = 5.0


KINDS = (
    Kind(
        name="api_throttle",
        place="api",
        data=ApiThrottle,
        strategy=lambda: st.builds(
            ApiThrottle, status=st.sampled_from((429, 503)), seconds=st.sampled_from((5.0, 0.0, 1.0, 3.0, 12.0, 30.0))
        ),
        words=lambda data: f"answers HTTP {data.status} with Retry-After: {data.seconds:g}",
        script=lambda data: ApiScript(
            status=data.status, handled=False, headers=(("retry-after", f"{data.seconds:g}"),)
        ),
        weight=2,
    ),
)
