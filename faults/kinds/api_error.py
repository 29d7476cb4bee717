"""The API server answers an error status, and has done nothing, or (a lie of gateways) has done it all the same."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from ..api_script import ApiScript
from ..kind import Kind

_STATUSES = (500, 503, 409, 404, 422, 400, 403, 502, 504, 408, 429, 425, 501, 410)
_AMBIGUOUS = (500, 502, 504, 408)


@dataclass(frozen=True, kw_only=True)
class ApiError:
    """``status``: 400..599. ``done``: what was asked has been done all the same; only statuses that leave it open can say so falsely."""

    status: int = 500
    done: bool = False


def _strategy() -> st.SearchStrategy[ApiError]:
    plain = st.builds(ApiError, status=st.sampled_from(_STATUSES))
    return plain | st.builds(ApiError, status=st.sampled_from(_AMBIGUOUS), done=st.booleans())


KINDS = (
    Kind(
        name="api_error",
        place="api",
        data=ApiError,
        strategy=_strategy,
        words=lambda data: (
            f"answers HTTP {data.status}, although it has done as asked" if data.done else f"answers HTTP {data.status}"
        ),
        script=lambda data: ApiScript(status=data.status, handled=data.done and data.status in _AMBIGUOUS),
        weight=3,
    ),
)
