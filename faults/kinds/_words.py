"""Status words as servers have been seen to spell them: the five, their synonyms, case and spacing, and words nobody knows."""

from __future__ import annotations

from hypothesis import strategies as st

from ..server.envelopes import WORDS

UNKNOWN = (
    "waiting_for_retry",
    "paused",
    "on hold",
    "PARTIAL",
    "completed?",
    "incomplete",
    "not_completed",
    "",
    "  ",
    "完了",
    "null",
    "2",
)
"""Words that mean nothing to anyone. Some hold a known word, which a careless reader takes for it."""

_ENDED = ("completed", "failed", "cancelled")
_OPEN = ("pending", "processing")


def _respelt(word: str, style: int) -> str:
    return (word, word.upper(), f" {word.title()}\n", word.replace("_", "-"), word.replace("_", "  "))[style]


def words(*, ended: bool = True) -> st.SearchStrategy[str]:
    """Any word. ``ended=False``: only words after which the job is still open."""
    five = _OPEN + (_ENDED if ended else ())
    synonyms = [word for means in five for word in WORDS[means]]  # type: ignore[index]
    plain = st.sampled_from(five)
    spelt = st.builds(_respelt, st.sampled_from(synonyms), st.integers(0, 4))
    return st.one_of(plain, plain, spelt, st.sampled_from(UNKNOWN))
