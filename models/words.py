"""Status words: which word means which status, under a dialect (SPEC 3).

The models' own table, on purpose: a table that is shared with the subject hides the subject's mistakes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ..harness.dialect import WaiterDialect

STATUSES: Final = ("pending", "processing", "completed", "failed", "cancelled")
TERMINAL: Final = frozenset({"completed", "failed", "cancelled"})

SYNONYMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("complete", "succeeded", "success", "done", "finished"), "completed"),
        **dict.fromkeys(("failure", "error", "errored", "expired", "timed_out"), "failed"),
        **dict.fromkeys(("canceled", "aborted"), "cancelled"),
        **dict.fromkeys(("running", "in_progress", "started"), "processing"),
        **dict.fromkeys(("queued", "waiting", "created", "submitted"), "pending"),
    }
)

UNKNOWN: Final = "unknown"
UNCLEAR: Final = "unclear"

_GAP = re.compile(r"[\s_-]+")
_ASCII_GAP = re.compile(r"[ \t\n\r\f\v_-]+")


def fold(word: str) -> str:
    """A word as it is compared: lower-case, stripped, each run of blanks, hyphens and underscores as one underscore."""
    return _GAP.sub("_", word.strip().lower())


def _fold_ascii(word: str) -> str:
    return _ASCII_GAP.sub("_", word.strip(" \t\n\r\f\v").casefold())


def status_of(word: object, dialect: WaiterDialect) -> str:
    """The status that ``word`` means under ``dialect``: one of :data:`STATUSES`, ``unknown`` or ``unclear``.

    ``unclear``: SPEC 3 does not say which, because the word holds blanks or letters that are not ASCII; nothing is judged by it.
    """
    if not isinstance(word, str):
        return UNKNOWN
    if dialect.words == "enum":
        table = {**{status: status for status in STATUSES}, **dialect.more_words}
        return table.get(word, UNKNOWN)
    table = {status: status for status in STATUSES}
    if dialect.words == "synonyms":
        table.update(SYNONYMS)
    table.update({fold(more): status for more, status in dialect.more_words.items()})
    one, other = table.get(fold(word), UNKNOWN), table.get(_fold_ascii(word), UNKNOWN)
    return one if one == other else UNCLEAR
