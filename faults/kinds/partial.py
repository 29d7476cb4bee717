"""A job that ended badly and yet brings a result: what there is of it, beside the failure."""

from __future__ import annotations

import json
from dataclasses import dataclass

from hypothesis import strategies as st

from ..kind import Kind
from ..reply import Asked, Reply
from ..server.envelopes import envelope


@dataclass(frozen=True, kw_only=True)
class Partial:
    """``word``: the status. ``error``: an error comes along as well."""

    word: str = "failed"
    error: bool = False


def _reply(data: Partial, asked: Asked) -> Reply:
    whole = json.loads(envelope(asked, "completed"))
    payload = {key: whole[key] for key in ("result", "data") if key in whole}
    return Reply(body=envelope(asked, data.word, error="auto" if data.error else "absent", extra=payload))


def _words(data: Partial) -> str:
    return f"the server answers {data.word!r} with a result all the same" + (" and an error" if data.error else "")


def _strategy() -> st.SearchStrategy[Partial]:
    return st.builds(Partial, word=st.sampled_from(("failed", "cancelled", "processing")), error=st.booleans())


KINDS = (Kind(name="partial", place="answer", data=Partial, strategy=_strategy, words=_words, reply=_reply),)
