"""Writes result files: whole files by rename, lines by append and flush, so that a killed run keeps what it had."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from ..jsonable import dumps
from .records import ExplorationInfo, Failure, Row, RunInfo, SuiteStats, ZooRow, record_to_json


def safe_name(text: str) -> str:
    """A file name for any text: letters, digits, ``.``, ``_`` and ``-`` stay, each run of anything else becomes one ``-``."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip(".-") or "x"


def write_whole(path: Path, text: str) -> None:
    """Write a file so that a reader sees the old text or the new, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def append_line(path: Path, line: str) -> None:
    """Append one line and flush it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(line + "\n")
        file.flush()


class ResultWriter:
    """Writes one result directory. Raises ``OSError`` if it can't."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)

    def run(self, info: RunInfo) -> None:
        """Write ``run.json`` (again)."""
        write_whole(self.root / "run.json", dumps(record_to_json(info)) + "\n")

    def row(self, row: Row) -> None:
        """Append one verdict."""
        append_line(self.subject_dir(row.subject) / "rows.jsonl", dumps(record_to_json(row)))

    def suite(self, stats: SuiteStats) -> None:
        """Append what a suite reached."""
        append_line(self.subject_dir(stats.subject) / "suites.jsonl", dumps(record_to_json(stats)))

    def failure(self, failure: Failure) -> str:
        """Write one counterexample; the answer is its path relative to the result directory."""
        folder = self.subject_dir(failure.subject) / "failures"
        path = folder / f"{safe_name(failure.suite)}--{safe_name(failure.invariant)}.json"
        write_whole(path, dumps(record_to_json(failure)) + "\n")
        return path.relative_to(self.root).as_posix()

    def zoo(self, row: ZooRow) -> None:
        """Append one seeded bug."""
        append_line(self.root / "zoo.jsonl", dumps(record_to_json(row)))

    def explorations(self, infos: Iterable[ExplorationInfo]) -> None:
        """Write how far the reference models were walked (again)."""
        write_whole(self.root / "explorations.jsonl", "".join(dumps(record_to_json(info)) + "\n" for info in infos))

    def subject_dir(self, subject: str) -> Path:
        """The folder of one subject's results."""
        return self.root / "subjects" / safe_name(subject)
