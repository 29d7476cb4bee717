"""One verdict for a subject and an invariant that several suites judged, and the exit status that a run's verdicts give."""

from __future__ import annotations

from collections.abc import Iterable

from .reader import Results
from .records import Row, SubjectInfo

DECIDING = ("violated", "non-strict", "held", "unknown", "vacuous", "not claimed")
"""A violation anywhere counts; else being held somewhere counts, for a suite that never reached the situation says nothing about it."""

EXIT_OK, EXIT_VIOLATED, EXIT_ERROR, EXIT_UNDECIDED, EXIT_INTERRUPTED = 0, 1, 2, 3, 130


def deciding(verdicts: Iterable[str]) -> str:
    """The verdict that decides among those of several suites; a word that is no verdict counts as unknown, so does none at all."""
    known = [verdict if verdict in DECIDING else "unknown" for verdict in verdicts]
    return min(known, key=DECIDING.index, default="unknown")


def merged(rows: Iterable[Row]) -> dict[tuple[str, str], Row]:
    """The row that decides for each (subject, invariant), in the order in which they first came."""
    chosen: dict[tuple[str, str], Row] = {}
    for row in rows:
        key = (row.subject, row.invariant)
        if key not in chosen or DECIDING.index(row.verdict) < DECIDING.index(chosen[key].verdict):
            chosen[key] = row
    return chosen


def exit_status(results: Results) -> int:
    """The exit status of SPEC 1: 130 interrupted, 1 a violation, 2 a named subject could not run, 3 undecided, 0 all claimed held.

    Non-strict findings alone are 0. A run without a single decided row is never 0.
    """
    rows = merged(results.rows).values()
    verdicts = {row.verdict for row in rows}
    if results.run.interrupted:
        return EXIT_INTERRUPTED
    if "violated" in verdicts:
        return EXIT_VIOLATED
    if any(_is_error(info) for info in results.run.subjects):
        return EXIT_ERROR
    if "vacuous" in verdicts or "unknown" in verdicts or not verdicts & {"held", "non-strict"}:
        return EXIT_UNDECIDED
    return EXIT_OK


def _is_error(info: SubjectInfo) -> bool:
    """A subject that was named and could not run, or a fault of our own. One that died or hung while it ran is a finding instead."""
    return info.status == "harness error" or (info.named and info.status not in ("ran", "died", "hung"))
