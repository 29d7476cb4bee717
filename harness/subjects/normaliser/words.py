"""The status words that servers use, and what they mean (SPEC section 3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from .job import JobStatus

__all__ = ["DEFAULT_WORDS", "normalise_word", "status_of_word", "status_words"]

_SEPARATORS = re.compile(r"[\s_-]+")


def normalise_word(word: str) -> str:
    """Return the form in which words are compared: lower-case, stripped, one underscore for each run of separators.

    Separators are blanks, hyphens and underscores: 'In  Progress', 'in-progress' and 'IN_PROGRESS' are one word.
    """
    return _SEPARATORS.sub("_", word.strip().lower())


_MEANINGS = {
    JobStatus.PENDING: "pending queued waiting created submitted",
    JobStatus.PROCESSING: "processing running in_progress started",
    JobStatus.COMPLETED: "completed complete succeeded success done finished",
    JobStatus.FAILED: "failed failure error errored expired timed_out",
    JobStatus.CANCELLED: "cancelled canceled aborted",
}

DEFAULT_WORDS: Mapping[str, JobStatus] = MappingProxyType(
    {word: status for status, words in _MEANINGS.items() for word in words.split()}
)
"""Normalised word to status."""


def status_words(more: Mapping[str, JobStatus]) -> Mapping[str, JobStatus]:
    """Return the default table, extended (and where it says so, overruled) by a caller's own words.

    Raises ValueError if a word is not text, or its meaning not a `JobStatus`.
    """
    table = dict(DEFAULT_WORDS)
    for word, status in more.items():
        if not isinstance(word, str) or not isinstance(status, JobStatus):
            msg = f"a status word maps text to a JobStatus, e.g. 'ready': JobStatus.COMPLETED; got {word!r}: {status!r}"
            raise ValueError(msg)  # noqa: TRY004  (bad parameters are ValueErrors all over this package)
        table[normalise_word(word)] = status
    return MappingProxyType(table)


def status_of_word(word: str | None, words: Mapping[str, JobStatus]) -> JobStatus:
    """Return what a word means. An unknown word is pending: the job may well go on, and a waiter has a deadline."""
    if word is None:
        return JobStatus.PENDING
    return words.get(normalise_word(word), JobStatus.PENDING)
