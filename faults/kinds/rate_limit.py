"""429 or 503, with every form of ``Retry-After`` or with none."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from ..kind import Kind
from ..reply import Asked, Reply
from ._pacing import Pacing, pacing_fields


@dataclass(frozen=True, kw_only=True)
class RateLimit(Pacing):
    """``status``: 429 or 503. The rest is the hint."""

    status: int = 429


def _reply(data: RateLimit, asked: Asked) -> Reply:
    headers = (("content-type", "application/json"), *data.headers(asked.wall))
    return Reply(status=data.status, headers=headers, body=b'{"detail":"slow down"}')


def _words(data: RateLimit) -> str:
    return f"the server answers HTTP {data.status}{data.hint_words()}"


def _strategy() -> st.SearchStrategy[RateLimit]:
    forms = pacing_fields(("none", "seconds", "seconds", "date", "ms", "both", "text", "ms_text"))
    return st.builds(RateLimit, status=st.sampled_from((429, 503)), **forms)


KINDS = (
    Kind(name="rate_limit", place="answer", data=RateLimit, strategy=_strategy, words=_words, reply=_reply, weight=2),
)
