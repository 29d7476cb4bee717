"""A job that goes on, with a hint when to ask again: 200 and ``Retry-After`` (long-running operations do that)."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from ..kind import Kind
from ..reply import Asked, Reply
from ..server.envelopes import envelope
from ._pacing import Form, Pacing, pacing_fields
from ._words import words as drawn_words


@dataclass(frozen=True, kw_only=True)
class Hint(Pacing):
    """``word``: the status. ``status``: the HTTP status, a 2xx. The rest is the hint."""

    form: Form = "seconds"
    word: str = "processing"
    status: int = 200


def _reply(data: Hint, asked: Asked) -> Reply:
    headers = (("content-type", "application/json"), *data.headers(asked.wall))
    return Reply(status=data.status, headers=headers, body=envelope(asked, data.word))


def _words(data: Hint) -> str:
    code = f"HTTP {data.status} " if data.status != 200 else ""
    return f"the server answers {code}{data.word!r}{data.hint_words()}"


def _strategy() -> st.SearchStrategy[Hint]:
    forms = pacing_fields(("seconds", "date", "ms", "both", "text", "ms_text"))
    return st.builds(Hint, word=drawn_words(ended=False), status=st.sampled_from((200, 200, 202)), **forms)


KINDS = (Kind(name="hint", place="answer", data=Hint, strategy=_strategy, words=_words, reply=_reply, weight=2),)
