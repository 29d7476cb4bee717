"""The matrices of subjects and invariants, one a kind of subject: one cell is the verdict that decides over the suites, and leads to its evidence."""

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

    @property
    def claimed(self) -> bool:
        """Does any subject claim it? Nobody's claim is nobody's verdict: such a row says nothing but its name."""
        return any(cell is not None and cell.verdict != "not claimed" for cell in self.cells)


KINDS = {"waiter": "Waiters", "normaliser": "Normalisers", "queue": "Dispatch queues"}
"""Headings of the kinds that are known, in the order in which they are shown; another kind is shown behind them, by its own word."""


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """The subjects of one kind: rows are invariants in the order of the catalogue, columns are those subjects that were judged."""

    kind: str
    columns: tuple[Column, ...]
    rows: tuple[MatrixRow, ...]

    @property
    def title(self) -> str:
        """What the subjects of this kind are called."""
        return KINDS.get(self.kind, f"Kind {self.kind}")

    @property
    def claimed(self) -> tuple[MatrixRow, ...]:
        """The rows that at least one subject claims."""
        return tuple(row for row in self.rows if row.claimed)

    @property
    def unclaimed(self) -> tuple[MatrixRow, ...]:
        """The rows that nobody claims."""
        return tuple(row for row in self.rows if not row.claimed)


def build_matrices(evidence: Evidence) -> tuple[Matrix, ...]:
    """Lay out all verdicts by kind. Subjects without a verdict have no column, invariants without one have no row."""
    kinds = list(dict.fromkeys(column.info.kind for column in evidence.columns if column.rows))
    order = [*(kind for kind in KINDS if kind in kinds), *(kind for kind in kinds if kind not in KINDS)]
    return tuple(_matrix(evidence, kind) for kind in order)


def _matrix(evidence: Evidence, kind: str) -> Matrix:
    numbers = [index for index, column in enumerate(evidence.columns) if column.rows and column.info.kind == kind]
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
    return Matrix(kind=kind, columns=tuple(evidence.columns[index] for index in numbers), rows=tuple(rows))


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
