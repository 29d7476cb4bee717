"""The matrix of subjects and invariants: one cell is the verdict that decides over the suites, and leads to its evidence."""

from __future__ import annotations

from dataclasses import dataclass

from ..harness.results import InvariantInfo, Row
from ..harness.results.merge import deciding
from .evidence import Column, Evidence
from .verdict import sign, worst


@dataclass(frozen=True, kw_only=True)
class Cell:
    """What all suites together say of one invariant of one subject.

    ``exercised`` and ``evaluated``: histories, summed over the suites. ``agreeing``: in how many of the ``rows`` the verdict is this
    one. ``target``: the anchor of the evidence: of the first failure, or of the cell's line in the details (``anchor``).
    """

    verdict: str
    rows: tuple[Row, ...]
    exercised: int
    evaluated: int
    agreeing: int
    anchor: str
    target: str

    @property
    def sign(self) -> str:
        """The verdict's sign."""
        return sign(self.verdict)


@dataclass(frozen=True, kw_only=True)
class MatrixRow:
    """An invariant and its cells, one a column; None where no suite judged that subject by it."""

    info: InvariantInfo
    cells: tuple[Cell | None, ...]

    @property
    def verdict(self) -> str:
        """The worst verdict of the row."""
        return worst(cell.verdict for cell in self.cells if cell is not None)


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """Rows are invariants in the order of the catalogue, columns are the subjects that were judged."""

    columns: tuple[Column, ...]
    rows: tuple[MatrixRow, ...]


def build_matrix(evidence: Evidence) -> Matrix:
    """Lay out all verdicts. Subjects without a verdict have no column, invariants without one have no row."""
    numbers = [index for index, column in enumerate(evidence.columns) if column.rows]
    first_failure: dict[tuple[int, str], str] = {}
    for item in evidence.failures:
        first_failure.setdefault((item.column, item.failure.invariant), item.anchor)
    by_cell: dict[tuple[int, str], list[Row]] = {}
    for index in numbers:
        for row in evidence.columns[index].rows:
            by_cell.setdefault((index, row.invariant), []).append(row)
    rows = []
    for line, info in enumerate(evidence.invariants, start=1):
        cells = tuple(
            _cell(by_cell.get((index, info.id), []), f"cell-{line}-{index + 1}", first_failure.get((index, info.id)))
            for index in numbers
        )
        if any(cells):
            rows.append(MatrixRow(info=info, cells=cells))
    return Matrix(columns=tuple(evidence.columns[index] for index in numbers), rows=tuple(rows))


def _cell(rows: list[Row], anchor: str, failure: str | None) -> Cell | None:
    if not rows:
        return None
    verdict = deciding(row.verdict for row in rows)
    return Cell(
        verdict=verdict,
        rows=tuple(rows),
        exercised=sum(row.exercised for row in rows),
        evaluated=sum(row.evaluated for row in rows),
        agreeing=sum(worst([row.verdict]) == verdict for row in rows),
        anchor=anchor,
        target=failure or anchor,
    )
