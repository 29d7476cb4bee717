"""The envelope of another job: a mixed-up cache, or a proxy that answers the wrong request. A missing id is no fault of anyone's."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from ..kind import Kind
from ..reply import Asked, Reply
from ..server.envelopes import Raw, envelope

_IDS = ('"another-job"', '"job-10"', '"JOB-1"', '" job-1"', "1", "0", "true", "[]", '""', "null", "")


@dataclass(frozen=True, kw_only=True)
class WrongId:
    """``json``: the id as JSON text; empty: the key is missing. ``word``: the status."""

    json: str = '"another-job"'
    word: str = "completed"


def _reply(data: WrongId, asked: Asked) -> Reply:
    missing = () if data.json else ("job_id",)
    return Reply(body=envelope(asked, data.word, job_id=Raw(data.json), missing=missing))


def _words(data: WrongId) -> str:
    return f"the server answers {data.word!r} " + (f"for the job {data.json}" if data.json else "without a job id")


def _strategy() -> st.SearchStrategy[WrongId]:
    return st.builds(WrongId, json=st.sampled_from(_IDS), word=st.sampled_from(("completed", "failed", "processing")))


KINDS = (Kind(name="wrong_id", place="answer", data=WrongId, strategy=_strategy, words=_words, reply=_reply),)
