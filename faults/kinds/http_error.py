"""An HTTP error status, with or without a body."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

from hypothesis import strategies as st

from ..kind import Kind
from ..reply import Asked, Reply
from ..server.envelopes import envelope

_STATUSES = (
    500,
    502,
    503,
    504,
    404,
    400,
    401,
    403,
    408,
    409,
    410,
    422,
    425,
    429,
    451,
    499,
    501,
    505,
    507,
    520,
    599,
    418,
)
_HTML = (("content-type", "text/html"),)


@dataclass(frozen=True, kw_only=True)
class HttpError:
    """``status``: 400..599. ``body``: nothing, the usual JSON, a page of HTML, or (mind the reader) the envelope of a completed job."""

    status: int = 500
    body: Literal["none", "json", "html", "job"] = "none"


def _reply(data: HttpError, asked: Asked) -> Reply:
    if data.body == "none":
        return Reply(status=data.status, headers=())
    if data.body == "html":
        return Reply(status=data.status, headers=_HTML, body=b"<html><body><h1>Sorry</h1></body></html>")
    if data.body == "job":
        return Reply(status=data.status, body=envelope(asked, "completed"))
    return Reply(status=data.status, body=json.dumps({"detail": f"error {data.status}"}).encode())


def _words(data: HttpError) -> str:
    body = {
        "none": "",
        "json": " with a JSON body",
        "html": " with a page of HTML",
        "job": " with the envelope of a completed job",
    }
    return f"the server answers HTTP {data.status}{body[data.body]}"


def _strategy() -> st.SearchStrategy[HttpError]:
    return st.builds(
        HttpError, status=st.sampled_from(_STATUSES), body=st.sampled_from(("none", "json", "html", "job"))
    )


KINDS = (
    Kind(name="http_error", place="answer", data=HttpError, strategy=_strategy, words=_words, reply=_reply, weight=2),
)
