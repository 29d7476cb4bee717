"""No answer ever comes; the effect never happens, happens at once, or happens when the caller has given up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from hypothesis import strategies as st

from ..api_script import ApiScript
from ..kind import Kind


@dataclass(frozen=True, kw_only=True)
class ApiHang:
    """``effect``: never, now, or ``lands`` seconds after the request arrived."""

    effect: Literal["never", "now", "later"] = "never"
    lands: float = 6.0


def _script(data: ApiHang) -> ApiScript:
    return ApiScript(
        handled=data.effect != "never", lands=data.lands if data.effect == "later" else 0.0, delay=math.inf
    )


def _words(data: ApiHang) -> str:
    what = {
        "never": "and does nothing",
        "now": "but does as asked",
        "later": f"and does as asked {data.lands:g} s later",
    }
    return f"never answers, {what[data.effect]}"


KINDS = (
    Kind(
        name="api_hang",
        place="api",
        data=ApiHang,
        strategy=lambda: st.builds(
            ApiHang, effect=st.sampled_from(("never", "now", "later")), lands=st.sampled_from((6.0, 1.0, 5.5, 12.0))
        ),
        words=_words,
        script=_script,
        weight=2,
    ),
)
