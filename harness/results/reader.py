"""Reads result directories. It is the only part of the house that a report may use."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ..jsonable import loads
from .records import ExplorationInfo, Failure, Row, RunInfo, SuiteStats, ZooRow, record_from_json

T = TypeVar("T")


class ResultFormatError(ValueError):
    """A result file can't be read; the message names the file and what is wrong."""


@dataclass(frozen=True, kw_only=True)
class Results:
    """All that one result directory holds. ``warnings``: what was left out while reading, in words."""

    root: Path
    run: RunInfo
    rows: tuple[Row, ...]
    suites: tuple[SuiteStats, ...]
    failures: tuple[Failure, ...]
    zoo: tuple[ZooRow, ...]
    warnings: tuple[str, ...] = ()
    explorations: tuple[ExplorationInfo, ...] = ()

    def failure_of(self, row: Row) -> Failure | None:
        """The counterexample behind a row, if there is one."""
        for failure in self.failures:
            if (failure.subject, failure.suite, failure.invariant) == (row.subject, row.suite, row.invariant):
                return failure
        return None


def read_results(root: Path) -> Results:
    """Read one result directory. Raises :class:`ResultFormatError` if ``run.json`` is missing or not of this version.

    A line or file that is broken is left out and named in ``warnings``; subjects come in the order of ``run.json``.
    """
    run_file = root / "run.json"
    if not run_file.is_file():
        raise ResultFormatError(f"{root} is not a result directory: it has no run.json")
    try:
        run = record_from_json(RunInfo, loads(run_file.read_text(encoding="utf-8")))
    except ValueError as error:
        raise ResultFormatError(f"{run_file}: {error}") from error
    warnings: list[str] = []
    folders = sorted(path for path in (root / "subjects").glob("*") if path.is_dir())
    rows = [row for folder in folders for row in _lines(Row, folder / "rows.jsonl", warnings)]
    suites = [stats for folder in folders for stats in _lines(SuiteStats, folder / "suites.jsonl", warnings)]
    failures = [
        item for folder in folders for file in sorted(folder.glob("failures/*.json")) for item in _one(file, warnings)
    ]
    order = {info.name: number for number, info in enumerate(run.subjects)}
    rows.sort(key=lambda row: order.get(row.subject, len(order)))
    suites.sort(key=lambda stats: order.get(stats.subject, len(order)))
    failures.sort(key=lambda item: order.get(item.subject, len(order)))
    return Results(
        root=root,
        run=run,
        rows=tuple(rows),
        suites=tuple(suites),
        failures=tuple(failures),
        zoo=tuple(_lines(ZooRow, root / "zoo.jsonl", warnings)),
        explorations=tuple(_lines(ExplorationInfo, root / "explorations.jsonl", warnings)),
        warnings=tuple(warnings),
    )


def _lines(cls: type[T], file: Path, warnings: list[str]) -> list[T]:
    if not file.is_file():
        return []
    found: list[T] = []
    for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
        try:
            found.append(record_from_json(cls, loads(line)))
        except ValueError as error:
            warnings.append(f"{file.name} line {number} of {file.parent.name} was left out: {error}")
    return found


def _one(file: Path, warnings: list[str]) -> list[Failure]:
    try:
        return [record_from_json(Failure, loads(file.read_text(encoding="utf-8", errors="replace")))]
    except ValueError as error:
        warnings.append(f"{file.name} was left out: {error}")
        return []
