"""Verdicts: what one checker says of one history, and what a campaign says of one invariant.

A checker answers in three values. ``True``: everything it looked at held, and ``witnesses`` are the events that exercised it (none:
the history never reached the situation, which is *vacuous* and never counts as a pass). ``False``: violated, with the cause.
``None``: undecided, because the run ended before it could be decided.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """What a campaign says of one invariant of one subject (SPEC, first table)."""

    HELD = "held"
    VIOLATED = "violated"
    NON_STRICT = "non-strict"
    VACUOUS = "vacuous"
    UNKNOWN = "unknown"
    NOT_CLAIMED = "not claimed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a checker says of one history.

    ``witnesses``: sequence numbers of the events that exercised the invariant. ``cause``: one line, only when violated or undecided.
    ``events``: the events that show it, for a violation the violating pair. ``expected`` and ``observed``: where they part, in words.
    """

    answer: bool | None
    witnesses: tuple[int, ...] = ()
    cause: str = ""
    events: tuple[int, ...] = ()
    expected: str = ""
    observed: str = ""

    @property
    def violated(self) -> bool:
        """True if the history breaks the invariant."""
        return self.answer is False

    @property
    def vacuous(self) -> bool:
        """True if nothing in the history exercised the invariant."""
        return self.answer is True and not self.witnesses


def held(witnesses: tuple[int, ...] | list[int] = ()) -> Finding:
    """Everything that was looked at held; no witness at all makes it vacuous."""
    return Finding(answer=True, witnesses=tuple(witnesses))


def violated(
    cause: str, *, events: tuple[int, ...], expected: str, observed: str, witnesses: tuple[int, ...] | list[int] = ()
) -> Finding:
    """The history breaks the invariant: ``cause`` in one line, the ``events`` that show it, and where the two part."""
    return Finding(
        answer=False,
        witnesses=tuple(witnesses) or events,
        cause=cause,
        events=events,
        expected=expected,
        observed=observed,
    )


def undecided(cause: str, *, events: tuple[int, ...] = (), witnesses: tuple[int, ...] | list[int] = ()) -> Finding:
    """The run ended before the invariant could be decided."""
    return Finding(answer=None, witnesses=tuple(witnesses), cause=cause, events=events)


def first_bad(findings: list[Finding]) -> Finding:
    """Join the findings of the parts of a history: the first violation, else an undecided one, else held with all the witnesses."""
    for finding in findings:
        if finding.violated:
            return finding
    for finding in findings:
        if finding.answer is None:
            return finding
    return held([seq for finding in findings for seq in finding.witnesses])
