"""The answer comes in pieces: each is in time, all of them together may not be."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from ..kind import Kind
from ..reply import Asked, Reply
from ..server.envelopes import envelope
from ._words import words as drawn_words


@dataclass(frozen=True, kw_only=True)
class Drip:
    """The job's status is ``word``; it comes ``piece`` bytes at a time, ``gap`` seconds apart.

    ``head``: the head comes in pieces too, where the transport shows bytes.
    """

    word: str = "completed"
    gap: float = 1.0
    piece: int = 32
    head: bool = False


def _reply(data: Drip, asked: Asked) -> Reply:
    return Reply(body=envelope(asked, data.word), drip=data.gap, piece=max(1, data.piece), drip_head=data.head)


def _words(data: Drip) -> str:
    head = ", its head too" if data.head else ""
    return f"the server answers {data.word!r} in pieces of {data.piece} bytes, {data.gap:g} s apart{head}"


def _strategy() -> st.SearchStrategy[Drip]:
    return st.builds(
        Drip,
        word=drawn_words(),
        gap=st.sampled_from((0.1, 0.5, 1.0, 2.0, 9.0, 9.999, 10.0, 11.0, 100.0)),
        piece=st.sampled_from((8, 16, 32, 64, 1000)),
        head=st.booleans(),
    )


KINDS = (Kind(name="drip", place="answer", data=Drip, strategy=_strategy, words=_words, reply=_reply),)
