"""A status that is no text: a number, a boolean, null, a list, an object, or no status at all."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from ..kind import Kind
from ..reply import Asked, Reply
from ..server.envelopes import Raw, envelope

_ODD = (
    "",
    "null",
    "0",
    "1",
    "2",
    "1.5",
    "true",
    "false",
    "[]",
    '["completed"]',
    "{}",
    '{"state":"completed"}',
    "1e400",
    "NaN",
)


@dataclass(frozen=True, kw_only=True)
class OddStatus:
    """``json``: the status as JSON text; empty: the key is missing."""

    json: str = ""


def _reply(data: OddStatus, asked: Asked) -> Reply:
    return Reply(body=envelope(asked, Raw(data.json), missing=() if data.json else ("status",)))


def _words(data: OddStatus) -> str:
    return f"the server answers with the status {data.json}" if data.json else "the server answers without a status"


KINDS = (
    Kind(
        name="odd_status",
        place="answer",
        data=OddStatus,
        strategy=lambda: st.builds(OddStatus, json=st.sampled_from(_ODD)),
        words=_words,
        reply=_reply,
    ),
)
