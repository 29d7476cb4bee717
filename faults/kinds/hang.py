"""Nothing more comes: no connection, no head, or no body after the head."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from hypothesis import strategies as st

from ..kind import Kind
from ..reply import Asked, Reply
from ..server.envelopes import envelope


@dataclass(frozen=True, kw_only=True)
class Hang:
    """``where``: what never comes."""

    where: Literal["head", "connect", "body"] = "head"


def _reply(data: Hang, asked: Asked) -> Reply:
    body = envelope(asked, "completed")
    if data.where == "connect":
        return Reply(connect=math.inf)
    if data.where == "body":
        # one byte comes with the head, so a reader sees a body that has begun
        return Reply(body=body, drip=math.inf, piece=1)
    return Reply(body=body, delay=math.inf)


def _words(data: Hang) -> str:
    return {
        "head": "the server never answers",
        "connect": "the connection is never made",
        "body": "the answer's head comes and its body never does",
    }[data.where]


KINDS = (
    Kind(
        name="hang",
        place="answer",
        data=Hang,
        strategy=lambda: st.builds(Hang, where=st.sampled_from(("head", "connect", "body"))),
        words=_words,
        reply=_reply,
    ),
)
