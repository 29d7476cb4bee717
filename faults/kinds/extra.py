"""An envelope with a key that nobody knows, small or bulky: tolerated by a good reader, and what is counted when memory is in question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hypothesis import strategies as st

from ..kind import Kind
from ..reply import Asked, Reply
from ..server.envelopes import envelope

CANARY: Final = "waitproof-canary"


@dataclass(frozen=True, kw_only=True)
class Extra:
    """``word``: the status. ``lists``: how many one-element lists the unknown key holds."""

    word: str = "processing"
    lists: int = 1


def _reply(data: Extra, asked: Asked) -> Reply:
    return Reply(body=envelope(asked, data.word, extra={"canaries": [[CANARY]] * data.lists}))


def _words(data: Extra) -> str:
    return f"the server answers {data.word!r} with an unknown key that holds {data.lists} lists"


def _strategy() -> st.SearchStrategy[Extra]:
    return st.builds(Extra, word=st.sampled_from(("processing", "completed")), lists=st.sampled_from((0, 1, 20)))


KINDS = (Kind(name="extra", place="answer", data=Extra, strategy=_strategy, words=_words, reply=_reply),)
