"""Evidence: what one or more result directories say, joined into columns (a subject of one run) and numbered failures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..harness.results import Failure, InvariantInfo, Results, Row, SubjectInfo, SuiteInfo, SuiteStats, ZooRow


@dataclass(frozen=True, kw_only=True)
class Column:
    """One subject of one run. ``label``: its name, with the run's number behind it where two runs hold the same name."""

    label: str
    run: int
    info: SubjectInfo
    rows: tuple[Row, ...]
    suites: tuple[SuiteStats, ...]
    failures: tuple[Failure, ...]


@dataclass(frozen=True, kw_only=True)
class Numbered:
    """A failure with its number in the report (from 1; MUST before SHOULD), its column, and the path of its file."""

    number: int
    column: int
    failure: Failure
    info: InvariantInfo
    path: str

    @property
    def anchor(self) -> str:
        """The failure's anchor in the HTML report."""
        return f"failure-{self.number}"


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """All that a report speaks of. ``warnings``: what could not be read, and what the files do not agree on."""

    runs: tuple[Results, ...]
    columns: tuple[Column, ...]
    invariants: tuple[InvariantInfo, ...]
    suites: tuple[SuiteInfo, ...]
    failures: tuple[Numbered, ...]
    zoo: tuple[ZooRow, ...]
    warnings: tuple[str, ...]


def gather(results: Sequence[Results]) -> Evidence:
    """Join result directories in the order given. Raises ``ValueError`` if there is none."""
    if not results:
        raise ValueError("a report needs at least one result directory; none was given")
    warnings = [line for found in results for line in found.warnings]
    columns = [column for index, found in enumerate(results) for column in _columns(index, found, warnings)]
    names = [column.info.name for column in columns]
    columns = [
        column
        if names.count(column.info.name) == 1
        else _relabelled(column, f"{column.info.name} (run {column.run + 1})")
        for column in columns
    ]
    invariants = _invariants(results, columns)
    return Evidence(
        runs=tuple(results),
        columns=tuple(columns),
        invariants=invariants,
        suites=_suites(results, columns),
        failures=_numbered(columns, {info.id: info for info in invariants}),
        zoo=tuple(row for found in results for row in found.zoo),
        warnings=tuple(warnings),
    )


def _columns(index: int, found: Results, warnings: list[str]) -> list[Column]:
    known = {info.name: info for info in found.run.subjects}
    told = [row.subject for row in found.rows] + [stats.subject for stats in found.suites]
    told += [failure.subject for failure in found.failures]
    loose = [name for name in dict.fromkeys(told) if name not in known]
    warnings += [f"subject {name!r} left results but is not named in run.json" for name in loose]
    infos = [*known.values(), *(SubjectInfo(name=name, reason="not named in run.json") for name in loose)]
    columns = []
    for info in infos:
        rows = [row for row in found.rows if row.subject == info.name]
        failures = tuple(item for item in found.failures if item.subject == info.name)
        judged = {(row.suite, row.invariant) for row in rows}
        # A run may be killed after it wrote a counterexample and before it wrote the verdict: the counterexample counts.
        rows += [_row_of(item) for item in failures if (item.suite, item.invariant) not in judged]
        suites = tuple(stats for stats in found.suites if stats.subject == info.name)
        columns.append(
            Column(label=info.name, run=index, info=info, rows=tuple(rows), suites=suites, failures=failures)
        )
    return columns


def _row_of(failure: Failure) -> Row:
    return Row(
        subject=failure.subject,
        suite=failure.suite,
        invariant=failure.invariant,
        verdict="non-strict" if failure.level == "SHOULD" else "violated",
        level=failure.level,
        evaluated=1,
        exercised=1,
        witnesses=len(failure.events),
        violations=1,
        cause=failure.cause,
    )


def _relabelled(column: Column, label: str) -> Column:
    return replace(column, label=label)


def _invariants(results: Sequence[Results], columns: Sequence[Column]) -> tuple[InvariantInfo, ...]:
    infos: dict[str, InvariantInfo] = {}
    for found in results:
        for info in found.run.invariants:
            infos.setdefault(info.id, info)
    for column in columns:
        for row in column.rows:
            infos.setdefault(row.invariant, InvariantInfo(id=row.invariant, level=row.level, expectation="", source=""))
    return tuple(infos.values())


def _suites(results: Sequence[Results], columns: Sequence[Column]) -> tuple[SuiteInfo, ...]:
    infos: dict[str, SuiteInfo] = {}
    for found in results:
        for info in found.run.suites:
            infos.setdefault(info.name, info)
    for column in columns:
        for name in (*(row.suite for row in column.rows), *(stats.suite for stats in column.suites)):
            infos.setdefault(name, SuiteInfo(name=name, summary="", invariants=()))
    return tuple(infos.values())


def _numbered(columns: Sequence[Column], infos: dict[str, InvariantInfo]) -> tuple[Numbered, ...]:
    found = [(index, failure) for index, column in enumerate(columns) for failure in column.failures]
    found.sort(key=lambda pair: pair[1].level == "SHOULD")
    paths = {
        (index, row.suite, row.invariant): row.failure for index, column in enumerate(columns) for row in column.rows
    }
    return tuple(
        Numbered(
            number=number,
            column=index,
            failure=failure,
            info=infos[failure.invariant],
            path=paths.get((index, failure.suite, failure.invariant), ""),
        )
        for number, (index, failure) in enumerate(found, start=1)
    )
