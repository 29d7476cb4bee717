"""Statistics: how much was run, how far it reached, and what a number of clean runs is worth."""

from __future__ import annotations

from dataclasses import dataclass

from .evidence import Column, Evidence
from .text import many


def rule_of_three(clean_runs: int) -> float | None:
    """The 95% upper bound on the chance that one run fails, after ``clean_runs`` independent runs of which none failed: 3/n, at most 1.

    The rule of three is the first-order form of the exact bound ``1 - 0.05 ** (1 / n)``, which it never undercuts (Hanley and
    Lippman-Hand, JAMA 249, 1983). None if there was no clean run: then nothing is known.
    """
    return min(1.0, 3.0 / clean_runs) if clean_runs > 0 else None


def bound_in_words(clean_runs: int) -> str:
    """What that many clean runs show, in one sentence part."""
    if clean_runs <= 0:
        return "no clean run, so no bound"
    if clean_runs <= 3:
        return f"{many(clean_runs, 'clean history', 'clean histories')}: too few for a bound"
    return f"at most 1 in {clean_runs // 3:,} (95%)"


@dataclass(frozen=True, kw_only=True)
class SuiteLine:
    """One suite on one subject.

    ``broken``: invariants that it found broken. ``clean``: runs that count for the bound. ``least``: the invariant that held with the
    fewest histories behind it, and their number: the bound of the suite as a whole says less about that one.
    """

    label: str
    suite: str
    status: str
    examples: int
    distinct: int
    events: int
    virtual_seconds: float
    wall_seconds: float
    broken: int
    clean: int
    least: tuple[str, int] | None

    @property
    def bound(self) -> float | None:
        """The 95% upper bound on the chance that a further plan of this suite breaks an invariant; None if one was broken."""
        return rule_of_three(self.clean)

    @property
    def words(self) -> str:
        """The bound in words."""
        if self.broken:
            return f"none: {many(self.broken, 'invariant')} broken"
        return bound_in_words(self.clean)

    @property
    def least_words(self) -> str:
        """What the histories behind the least exercised invariant show, in words."""
        return bound_in_words(self.least[1]) if self.least else ""


def suite_lines(evidence: Evidence) -> tuple[SuiteLine, ...]:
    """One line a subject and suite, in the order of the run."""
    return tuple(_line(column, index) for column in evidence.columns for index in range(len(column.suites)))


def _line(column: Column, index: int) -> SuiteLine:
    stats = column.suites[index]
    rows = [row for row in column.rows if row.suite == stats.suite]
    broken = sum(row.verdict in ("violated", "non-strict") for row in rows)
    held = [row for row in rows if row.verdict == "held"]
    least = min(held, key=lambda row: row.exercised, default=None)
    # Distinct histories, not examples: a plan that repeats another one's history is no further evidence.
    clean = 0 if broken else min(stats.distinct, stats.examples)
    return SuiteLine(
        label=column.label,
        suite=stats.suite,
        status=stats.status,
        examples=stats.examples,
        distinct=stats.distinct,
        events=stats.events,
        virtual_seconds=stats.virtual_seconds,
        wall_seconds=stats.wall_seconds,
        broken=broken,
        clean=clean,
        least=(least.invariant, least.exercised) if least else None,
    )


@dataclass(frozen=True, kw_only=True)
class Reach:
    """How often each thing of one group (answers, wakes, outcomes …) happened, by suite, summed over the subjects.

    ``rows``: name → a count for each of ``suites`` (None: the suite does not list it). ``peak``: the largest count.
    """

    group: str
    suites: tuple[str, ...]
    rows: tuple[tuple[str, tuple[int | None, ...]], ...]
    peak: int


def reach(evidence: Evidence) -> tuple[Reach, ...]:
    """One table a group; groups and suites in the order of the run, names sorted by how often they happened, most often first."""
    totals: dict[str, dict[str, dict[str, int]]] = {}
    for column in evidence.columns:
        for stats in column.suites:
            for group, counts in stats.reach.items():
                for name, count in counts.items():
                    suites = totals.setdefault(group, {}).setdefault(name, {})
                    suites[stats.suite] = suites.get(stats.suite, 0) + count
    tables = []
    for group, names in sorted(totals.items()):
        seen = {suite for suites in names.values() for suite in suites}
        order = tuple(info.name for info in evidence.suites if info.name in seen)
        ranked = sorted(names.items(), key=lambda item: (-sum(item[1].values()), item[0]))
        rows = tuple((name, tuple(suites.get(suite) for suite in order)) for name, suites in ranked)
        peak = max(count for suites in names.values() for count in suites.values())
        tables.append(Reach(group=group, suites=order, rows=rows, peak=peak))
    return tuple(tables)


def warmth(count: int | None, peak: int) -> int:
    """How warm a count is next to the peak, 0 (nothing) to 5, by powers: rare things must not look like nothing."""
    if not count or peak <= 0:
        return 0
    return max(1, min(5, 1 + int(4 * count.bit_length() / peak.bit_length())))
