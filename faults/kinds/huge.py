"""Numbers that no one expects: progress beyond all bounds, times beyond the calendar, payloads nested deep."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from ..kind import Kind
from ..reply import Asked, Reply
from ..server.envelopes import Raw, envelope

_PROGRESS = ("0.5", "-1", "100", "1e400", "-1e400", "NaN", "9" * 400, "true", '"50%"', "[]", "5e-324")
_TIMES = ("null", "1e400", "NaN", "-1", "9" * 400, "true", '"99999-12-31T00:00:00Z"', '"2024"', "{}", "253402300800")


@dataclass(frozen=True, kw_only=True)
class Huge:
    """``word``: the status. ``progress``, ``time``: as JSON text. ``depth``: lists nested around an extra field."""

    word: str = "processing"
    progress: str = "0.5"
    time: str = "null"
    depth: int = 0


def _reply(data: Huge, asked: Asked) -> Reply:
    time = Raw(data.time)
    extra = {"created_at": time, "received_at": time, "completed_at": time}
    if data.depth:
        extra["extra"] = Raw("[" * data.depth + "]" * data.depth)
    return Reply(body=envelope(asked, data.word, progress=Raw(data.progress), extra=extra))


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:20]}… ({len(text)} digits)"


def _words(data: Huge) -> str:
    deep = f" and an extra field nested {data.depth} deep" if data.depth else ""
    return f"the server answers {data.word!r} with progress {_short(data.progress)}, times {_short(data.time)}{deep}"


def _strategy() -> st.SearchStrategy[Huge]:
    return st.builds(
        Huge,
        word=st.sampled_from(("processing", "pending", "completed", "failed")),
        progress=st.sampled_from(_PROGRESS),
        time=st.sampled_from(_TIMES),
        depth=st.sampled_from((0, 0, 0, 50, 900)),
    )


KINDS = (Kind(name="huge", place="answer", data=Huge, strategy=_strategy, words=_words, reply=_reply),)
