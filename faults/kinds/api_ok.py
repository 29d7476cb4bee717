"""The API server does what it is asked, at once or a little later."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from ..api_script import ApiScript
from ..kind import Kind


@dataclass(frozen=True, kw_only=True)
class ApiOk:
    """``lands``: seconds from the arrival of the request to its effect; the answer never comes before that."""

    lands: float = 0.0


KINDS = (
    Kind(
        name="api_ok",
        place="api",
        data=ApiOk,
        strategy=lambda: st.builds(ApiOk, lands=st.sampled_from((0.0, 0.0, 0.0, 0.5, 2.0))),
        words=lambda data: "does as asked" + (f", {data.lands:g} s after it was asked" if data.lands else ""),
        script=lambda data: ApiScript(lands=data.lands, delay=data.lands),
        weight=3,
    ),
)
