"""A 200 whose body is no job: a page of HTML, half an object, nothing, or JSON that is no object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from hypothesis import strategies as st

from ..kind import Kind
from ..reply import Asked, Reply
from ..server.envelopes import envelope

Form = Literal["html", "truncated", "empty", "null", "list", "number", "text", "true", "bytes", "deep"]

_BODIES: Final[dict[str, bytes]] = {
    "html": b"<!doctype html><title>Sign in</title>",
    "empty": b"",
    "null": b"null",
    "list": b'[{"status":"completed"}]',
    "number": b"17",
    "text": b'"completed"',
    "true": b"true",
    "bytes": b"\xff\xfe\x00{",
    # deeper than any interpreter's recursion limit that is left as it is
    "deep": b"[" * 3_000 + b"]" * 3_000,
}


@dataclass(frozen=True, kw_only=True)
class NotJson:
    """``form``: what the body is."""

    form: Form = "html"


def _reply(data: NotJson, asked: Asked) -> Reply:
    if data.form == "truncated":
        return Reply(body=envelope(asked, "completed")[:-9])
    content = "text/html" if data.form == "html" else "application/json"
    return Reply(headers=(("content-type", content),), body=_BODIES[data.form])


def _strategy() -> st.SearchStrategy[NotJson]:
    return st.builds(
        NotJson, form=st.sampled_from(("html", "truncated", *(name for name in _BODIES if name != "html")))
    )


_WORDS: Final[dict[str, str]] = {
    "html": "a page of HTML",
    "truncated": "a JSON object that is cut off",
    "empty": "an empty body",
    "null": "null",
    "list": "a list",
    "number": "a number",
    "text": "a text",
    "true": "true",
    "bytes": "bytes that are no UTF-8",
    "deep": "a list nested 3,000 deep",
}

KINDS = (
    Kind(
        name="not_json",
        place="answer",
        data=NotJson,
        strategy=_strategy,
        words=lambda data: f"the server answers 200 with {_WORDS[data.form]} for a body",
        reply=_reply,
    ),
)
