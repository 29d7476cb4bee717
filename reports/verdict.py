"""The verdict line: what is said of one subject and of the whole report, in one word with a sign and in one sentence.

The order of severity is that of the exit status (SPEC 1): interrupted, violated, could not run, undecided, passed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..harness.results.merge import deciding
from .evidence import Column, Evidence
from .text import many, one_line

SIGNS = {"violated": "✕", "unknown": "?", "vacuous": "○", "non-strict": "△", "held": "✓", "not claimed": "-"}
"""The sign of each verdict, the worst verdict first. Colour is never the only sign."""

MEANINGS = {
    "held": "exercised at least once (the count is shown) and never violated",
    "violated": "a counterexample, a timeline of it, and one command that replays it",
    "non-strict": "as violated, but of an invariant whose level is SHOULD",
    "vacuous": "the run never reached the situation the invariant speaks of: never counted as a pass",
    "unknown": "the budget or the subject ended before it could be decided",
    "not claimed": "the subject does not promise this, and its adapter says so",
}

WORD_SIGNS = {
    "PASS": "✓",
    "FAIL": "✕",
    "UNDECIDED": "?",
    "COULD NOT RUN": "⊘",
    "NOT INSTALLED": "-",
    "INTERRUPTED": "‖",
}

_RANK = {verdict: rank for rank, verdict in enumerate(SIGNS)}


def sign(verdict: str) -> str:
    """The sign of a verdict; a verdict that this version does not know is shown as unknown."""
    return SIGNS.get(verdict, "?")


def worst(verdicts: Iterable[str]) -> str:
    """The worst of some verdicts; a word that is no verdict counts as unknown, so does no verdict at all."""
    known = [verdict if verdict in _RANK else "unknown" for verdict in verdicts]
    return min(known, key=_RANK.__getitem__, default="unknown")


@dataclass(frozen=True, kw_only=True)
class SubjectVerdict:
    """What is said of one subject. ``counts``: invariants by the verdict that decides over the suites."""

    label: str
    word: str
    sentence: str
    counts: dict[str, int]

    @property
    def sign(self) -> str:
        """The sign of the word."""
        return WORD_SIGNS[self.word]


@dataclass(frozen=True, kw_only=True)
class Overall:
    """What is said of the whole report."""

    word: str
    sentence: str

    @property
    def sign(self) -> str:
        """The sign of the word."""
        return WORD_SIGNS[self.word]


def tally(column: Column) -> dict[str, int]:
    """How many invariants of a subject have which verdict, each by the one that decides over the suites."""
    by_invariant: dict[str, list[str]] = {}
    for row in column.rows:
        by_invariant.setdefault(row.invariant, []).append(row.verdict)
    counts = dict.fromkeys(SIGNS, 0)
    for verdicts in by_invariant.values():
        counts[deciding(verdicts)] += 1
    return counts


def subject_verdict(column: Column) -> SubjectVerdict:
    """Judge one subject. It passes only if something held, nothing is violated or undecided, and it ran to its end."""
    counts = tally(column)
    word, sentence = _judge(column, counts)
    return SubjectVerdict(label=column.label, word=word, sentence=sentence, counts=counts)


def _judge(column: Column, counts: dict[str, int]) -> tuple[str, str]:
    info = column.info
    ending = "" if info.status == "ran" else f"the subject: {info.status}"
    if ending and info.reason:
        ending += f", {one_line(info.reason)}"
    if not column.rows and info.status == "not installed":
        word = "COULD NOT RUN" if info.named else "NOT INSTALLED"
        return word, one_line(info.reason) or "not installed"
    if not column.rows and info.status == "unusable":
        return "COULD NOT RUN", one_line(info.reason) or "unusable"
    if counts["violated"]:
        broken = f"breaks {many(counts['violated'], 'invariant')} that it promises"
        return "FAIL", broken + (f"; {ending}" if ending else "")
    open_points = [ending] if ending else []
    if counts["unknown"]:
        open_points.append(f"{many(counts['unknown'], 'invariant')} could not be decided")
    if counts["vacuous"]:
        open_points.append(f"{many(counts['vacuous'], 'invariant')} never exercised in any suite")
    open_points += _unfinished(column)
    if not counts["held"] and not counts["non-strict"]:
        open_points.append("nothing was found to hold")
    if open_points:
        return "UNDECIDED", "; ".join(open_points)
    aside = f"; {many(counts['non-strict'], 'SHOULD')} not met" if counts["non-strict"] else ""
    return "PASS", f"all {many(counts['held'], 'invariant')} that it is judged by held{aside}"


def _unfinished(column: Column) -> list[str]:
    points = []
    cut = [stats.suite for stats in column.suites if stats.status != "complete"]
    if cut:
        points.append(f"{many(len(cut), 'suite')} did not complete")
    # SPEC 8: an empty history is a failure, never a pass.
    empty = [stats.suite for stats in column.suites if not stats.examples or not stats.events]
    if empty:
        points.append(f"{many(len(empty), 'suite')} observed nothing")
    return points


def overall(evidence: Evidence) -> Overall:
    """Judge the whole report."""
    verdicts = [subject_verdict(column) for column in evidence.columns]
    missed = [row.bug for row in evidence.zoo if not row.caught]
    words = [verdict.word for verdict in verdicts]
    judged = [word for word in words if word != "NOT INSTALLED"]
    total = many(len(judged), "subject")
    broke = f"{words.count('FAIL')} of {total} broke"
    if any(found.run.interrupted or found.run.exit == 130 for found in evidence.runs):
        return Overall(word="INTERRUPTED", sentence=f"the run was interrupted; {broke} a promise until then")
    if "FAIL" in words:
        return Overall(word="FAIL", sentence=f"{broke} at least one invariant of level MUST")
    if missed:
        return Overall(word="FAIL", sentence=f"{many(len(missed), 'seeded bug')} of {len(evidence.zoo)} escaped")
    if "COULD NOT RUN" in words:
        return Overall(word="COULD NOT RUN", sentence=f"{words.count('COULD NOT RUN')} of {total} could not run")
    if "UNDECIDED" in words or not (judged or evidence.zoo):
        return Overall(
            word="UNDECIDED",
            sentence=f"no violation was found, but {words.count('UNDECIDED')} of {total} could not be decided",
        )
    if not judged:
        return Overall(word="PASS", sentence=f"all {many(len(evidence.zoo), 'seeded bug')} were caught")
    return Overall(word="PASS", sentence=f"everything that {total} promised held wherever it was exercised")
