"""The connection is lost: before the request arrived, after it had its effect, or in the middle of the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hypothesis import strategies as st

from ..kind import Kind
from ..reply import Asked, Reply
from ..server.envelopes import envelope

When = Literal["before_effect", "after_effect", "in_body"]


@dataclass(frozen=True, kw_only=True)
class Disconnect:
    """``when``: at which point. ``after``: with ``in_body``, the bytes of the body that still come."""

    when: When = "before_effect"
    after: int = 0


def _reply(data: Disconnect, asked: Asked) -> Reply:
    body = envelope(asked, "completed")
    if data.when == "in_body":
        return Reply(body=body, cut=min(max(data.after, 0), len(body) - 1))
    return Reply(body=body, lost=data.when)


def _words(data: Disconnect) -> str:
    return {
        "before_effect": "the connection is lost before the request arrives",
        "after_effect": "the request is handled and its answer is lost",
        "in_body": f"the connection is lost after {data.after} bytes of the answer's body",
    }[data.when]


def _strategy() -> st.SearchStrategy[Disconnect]:
    return st.builds(
        Disconnect,
        when=st.sampled_from(("before_effect", "after_effect", "in_body")),
        after=st.sampled_from((0, 1, 20, 60)),
    )


KINDS = (Kind(name="disconnect", place="answer", data=Disconnect, strategy=_strategy, words=_words, reply=_reply),)
