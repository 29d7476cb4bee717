"""The connection breaks and there is no answer: the request never arrived, it has had its effect, or it will have it later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hypothesis import strategies as st

from ..api_script import ApiScript
from ..kind import Kind


@dataclass(frozen=True, kw_only=True)
class ApiLost:
    """``effect``: never, now, or ``lands`` seconds after the request arrived (when the caller has long been told of the break)."""

    effect: Literal["never", "now", "later"] = "now"
    lands: float = 3.0


def _script(data: ApiLost) -> ApiScript:
    if data.effect == "never":
        return ApiScript(arrives=False, handled=False, answered=False)
    return ApiScript(answered=False, lands=data.lands if data.effect == "later" else 0.0)


def _words(data: ApiLost) -> str:
    what = {
        "never": "the request never arrives",
        "now": "after the effect",
        "later": f"the effect comes {data.lands:g} s later",
    }
    return f"breaks the connection: {what[data.effect]}"


KINDS = (
    Kind(
        name="api_lost",
        place="api",
        data=ApiLost,
        strategy=lambda: st.builds(
            ApiLost, effect=st.sampled_from(("now", "never", "later")), lands=st.sampled_from((3.0, 0.25, 1.0, 8.0))
        ),
        words=_words,
        script=_script,
        weight=3,
    ),
)
