"""What could make a green meaningless: everything that a reader must know before believing a pass."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .evidence import Evidence
from .text import many, one_line
from .verdict import overall


@dataclass(frozen=True, kw_only=True)
class Doubt:
    """One kind of doubt. ``why``: what it means for a pass. ``items``: what was found, one line each; none: nothing was found.

    ``serious``: it takes something away from a pass; otherwise it only says how far the run reached.
    """

    key: str
    title: str
    why: str
    items: tuple[str, ...]
    serious: bool = True


def doubts(evidence: Evidence) -> tuple[Doubt, ...]:
    """Every kind of doubt in a fixed order, those without a finding included, so that a reader sees what was looked at."""
    return (
        _doubt(
            "vacuous",
            "never exercised",
            "The suite never reached the situation that the invariant speaks of.",
            _vacuous(evidence),
        ),
        _doubt("unknown", "undecided", "The run ended before the invariant could be decided.", _unknown(evidence)),
        _doubt(
            "unfinished",
            "interrupted, hung or died",
            "What the run would still have found is not known.",
            _unfinished(evidence),
        ),
        _doubt(
            "empty",
            "empty evidence",
            "Nothing was observed, or nothing was judged: that is never a pass.",
            _empty(evidence),
        ),
        _doubt(
            "stops",
            "ended by the bench",
            "These runs were cut; invariants about their end were not tested by them.",
            _stops(evidence),
        ),
        _doubt(
            "determinism",
            "not deterministic",
            "The same plan gave two histories, so a replay may not show the same.",
            _determinism(evidence),
        ),
        _doubt("subjects", "subjects that could not run", "Nothing below speaks of them.", _subjects(evidence)),
        _doubt(
            "zoo",
            "seeded bugs that escaped",
            "A checker that misses a bug planted for it may miss yours.",
            _zoo(evidence),
        ),
        _doubt(
            "evidence",
            "evidence that is missing or does not agree",
            "The files do not tell one story.",
            _disagreement(evidence),
        ),
        _doubt("reading", "left out while reading", "These lines or files were broken.", evidence.warnings),
        _doubt("reach", "never happened", "The suite names these, and no run met them.", _never(evidence)),
        _doubt(
            "unjudged",
            "invariants judged by no suite",
            "They are in the catalogue of the run and got no verdict.",
            _unjudged(evidence),
            False,
        ),
        _doubt(
            "levels",
            "levels of reality that were skipped",
            "What only these can show was not looked for.",
            _levels(evidence),
            False,
        ),
    )


def _doubt(key: str, title: str, why: str, items: Iterable[str], serious: bool = True) -> Doubt:
    return Doubt(key=key, title=title, why=why, items=tuple(one_line(item, 400) for item in items), serious=serious)


def _vacuous(evidence: Evidence) -> list[str]:
    """One line an invariant: where it was vacuous, and whether another suite reached it."""
    where: dict[str, dict[str, list[str]]] = {}
    reached: dict[tuple[str, str], int] = {}
    for column in evidence.columns:
        for row in column.rows:
            if row.verdict == "vacuous":
                where.setdefault(row.invariant, {}).setdefault(column.label, []).append(row.suite)
            reached[row.invariant, column.label] = reached.get((row.invariant, column.label), 0) + row.exercised
    lines = []
    for invariant, labels in where.items():
        parts = [
            f"{label} in {', '.join(suites)}" + (" (other suites reached it)" if reached[invariant, label] else "")
            for label, suites in labels.items()
        ]
        lines.append(f"{invariant}: {'; '.join(parts)}")
    return lines


def _unknown(evidence: Evidence) -> list[str]:
    return [
        f"{row.invariant}: {column.label} in {row.suite}" + (f": {row.cause}" if row.cause else "")
        for column in evidence.columns
        for row in column.rows
        if row.verdict == "unknown"
    ]


def _unfinished(evidence: Evidence) -> list[str]:
    lines = []
    for index, found in enumerate(evidence.runs, start=1):
        name = "the run" if len(evidence.runs) == 1 else f"run {index}"
        if found.run.interrupted:
            lines.append(f"{name} was interrupted; it keeps what it had")
        elif found.run.exit is None:
            lines.append(f"{name} has no exit status: it was killed, or it is still running")
    lines += [
        f"{column.label}: suite {stats.suite} {stats.status}" + (f": {stats.note}" if stats.note else "")
        for column in evidence.columns
        for stats in column.suites
        if stats.status != "complete"
    ]
    return lines


def _empty(evidence: Evidence) -> list[str]:
    lines = []
    for column in evidence.columns:
        for stats in column.suites:
            if not stats.examples:
                lines.append(f"{column.label}: suite {stats.suite} ran no example")
            elif not stats.events:
                lines.append(
                    f"{column.label}: suite {stats.suite} ran {many(stats.examples, 'example')} and recorded no event"
                )
        lines += [
            f"{column.label}: {row.invariant} in {row.suite} is said to hold, but no history exercised it"
            for row in column.rows
            if row.verdict == "held" and not row.exercised
        ]
        if column.info.status == "ran" and not column.rows:
            lines.append(f"{column.label}: ran, and left no verdict")
    return lines


def _stops(evidence: Evidence) -> list[str]:
    words = {
        "budget": "used up the step budget",
        "deadlock": "could not go on (deadlock)",
        "refused": "asked for something the bench refuses",
    }
    return [
        f"{column.label}: suite {stats.suite}: {many(count, 'run')} {words.get(reason, f'stopped: {reason}')}"
        + (f", the first: {stats.stop_details[reason]}" if stats.stop_details.get(reason) else "")
        for column in evidence.columns
        for stats in column.suites
        for reason, count in stats.stops.items()
        if count
    ]


def _determinism(evidence: Evidence) -> list[str]:
    lines = [
        f"{column.label}: suite {stats.suite}: {stats.determinism_failed} of "
        f"{many(stats.determinism_checked, 'failing example')} gave another history the second time"
        for column in evidence.columns
        for stats in column.suites
        if stats.determinism_failed
    ]
    lines += [
        f"failure {item.number} ({evidence.columns[item.column].label}, {item.failure.invariant}) did not give the same bytes twice"
        for item in evidence.failures
        if not item.failure.deterministic
    ]
    return lines


def _subjects(evidence: Evidence) -> list[str]:
    return [
        f"{column.label}: {column.info.status}" + (f": {column.info.reason}" if column.info.reason else "")
        for column in evidence.columns
        if column.info.status != "ran"
    ]


def _zoo(evidence: Evidence) -> list[str]:
    return [f"{row.bug}: {row.invariant} did not catch it: {row.summary}" for row in evidence.zoo if not row.caught]


def _disagreement(evidence: Evidence) -> list[str]:
    lines = []
    shown = {(item.column, item.failure.suite, item.failure.invariant) for item in evidence.failures}
    for index, column in enumerate(evidence.columns):
        lines += [
            f"{column.label}: {row.invariant} in {row.suite} is {row.verdict}, but its counterexample is missing"
            for row in column.rows
            if row.verdict in ("violated", "non-strict") and (index, row.suite, row.invariant) not in shown
        ]
    judged = overall(evidence).word
    if judged != "PASS" and evidence.runs and all(found.run.exit == 0 for found in evidence.runs):
        lines.append(f"the recorded exit status is 0, but the files say {judged}")
    return lines


def _never(evidence: Evidence) -> list[str]:
    """Things that a suite lists with a count of zero on every subject that ran it."""
    totals: dict[tuple[str, str, str], int] = {}
    for column in evidence.columns:
        for stats in column.suites:
            for group, counts in stats.reach.items():
                for name, count in counts.items():
                    key = (stats.suite, group, name)
                    totals[key] = totals.get(key, 0) + count
    return [f"{suite}: {group}: {name}" for (suite, group, name), count in totals.items() if not count]


def _unjudged(evidence: Evidence) -> list[str]:
    judged = {row.invariant for column in evidence.columns for row in column.rows}
    return [info.id for info in evidence.invariants if info.id not in judged] if judged else []


def _levels(evidence: Evidence) -> list[str]:
    run = {found.run.level for found in evidence.runs}
    names = {
        "sim": "simulated: virtual time, a deterministic loop, thousands of plans",
        "sockets": "real sockets: the same server over HTTP behind toxiproxy",
    }
    return [words for level, words in names.items() if level not in run]
