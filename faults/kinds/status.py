"""The plain answer: 200 with a job envelope that says a status word."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from ..kind import Kind
from ..reply import Asked, Reply
from ..server.envelopes import ErrorForm, envelope
from ._words import words as drawn_words


@dataclass(frozen=True, kw_only=True)
class Status:
    """``word``: the status as the server spells it. ``progress``: 0..1 or none.

    ``error``: whether and how an error comes along (``auto``: exactly when the word means failed).
    """

    word: str = "completed"
    error: ErrorForm = "auto"
    progress: float | None = None


def _reply(data: Status, asked: Asked) -> Reply:
    return Reply(body=envelope(asked, data.word, error=data.error, progress=data.progress))


def _words(data: Status) -> str:
    extras = (
        [] if data.error == "auto" else ["no error at all" if data.error == "absent" else f"an error ({data.error})"]
    )
    if data.progress is not None:
        extras.append(f"progress {data.progress:g}")
    return f"the server answers {data.word!r}" + (f" with {' and '.join(extras)}" if extras else "")


def _strategy() -> st.SearchStrategy[Status]:
    return st.builds(
        Status,
        word=drawn_words(),
        error=st.sampled_from(("auto", "auto", "auto", "absent", "family", "object", "text", "list")),
        progress=st.none() | st.sampled_from((0.0, 0.5, 1.0)),
    )


KINDS = (Kind(name="status", place="answer", data=Status, strategy=_strategy, words=_words, reply=_reply, weight=4),)
