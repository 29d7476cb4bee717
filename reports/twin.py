"""The JSON twin: what the HTML report says, as data of schema ``waitproof.report/1``.

Histories are not copied: each failure names its result file and the history's digest.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any

from ..harness.results import FigureStats, Row
from ..harness.results.records import record_to_json
from .bounds import bound_lines
from .doubts import doubts
from .evidence import Evidence, Numbered
from .matrix import Matrix, build_matrices
from .statistics import SuiteLine, reach, suite_lines
from .verdict import overall, subject_verdict

SCHEMA = "waitproof.report/1"


def summary(evidence: Evidence) -> dict[str, Any]:
    """The verdicts alone: small enough to be embedded in a page."""
    judged = overall(evidence)
    verdicts = [subject_verdict(column) for column in evidence.columns]
    return {
        "schema": SCHEMA,
        "verdict": judged.word,
        "sentence": judged.sentence,
        "subjects": [
            {
                "label": verdict.label,
                "name": column.info.name,
                "run": column.run,
                "status": column.info.status,
                "verdict": verdict.word,
                "sentence": verdict.sentence,
                "counts": verdict.counts,
            }
            for verdict, column in zip(verdicts, evidence.columns, strict=True)
        ],
        "failures": len(evidence.failures),
    }


def twin(evidence: Evidence) -> dict[str, Any]:
    """The whole report as plain data: the summary, runs, doubts, matrices, failures, reach, printed bounds, explorations, zoo, statistics and warnings."""
    return {
        **summary(evidence),
        "runs": [_plain(found.run) for found in evidence.runs],
        "doubts": [
            {
                "key": doubt.key,
                "title": doubt.title,
                "why": doubt.why,
                "serious": doubt.serious,
                "items": list(doubt.items),
            }
            for doubt in doubts(evidence)
        ],
        "matrices": [_matrix(matrix) for matrix in build_matrices(evidence)],
        "failures": [_failure(evidence, item) for item in evidence.failures],
        "reach": [
            {
                "group": table.group,
                "suites": list(table.suites),
                "rows": [{"name": name, "counts": list(counts)} for name, counts in table.rows],
            }
            for table in reach(evidence)
        ],
        "bounds": [
            {"subject": line.label, **_plain_figure(line.figure), "share": _finite(line.share)}
            for line in bound_lines(evidence)
        ],
        "explorations": [_plain(info) for found in evidence.runs for info in found.explorations],
        "zoo": [_plain(row) for row in evidence.zoo],
        "statistics": [_line(line) for line in suite_lines(evidence)],
        "warnings": list(evidence.warnings),
    }


def render(evidence: Evidence) -> str:
    """The twin as JSON text: sorted keys, ASCII only. Same evidence, same bytes."""
    return json.dumps(twin(evidence), sort_keys=True, indent=1, ensure_ascii=True, allow_nan=False) + "\n"


def _matrix(matrix: Matrix) -> dict[str, Any]:
    return {
        "kind": matrix.kind,
        "columns": [column.label for column in matrix.columns],
        "rows": [
            {
                "invariant": row.info.id,
                "level": row.info.level,
                "expectation": row.info.expectation,
                "source": row.info.source,
                "cells": [
                    None
                    if cell is None
                    else {
                        "verdict": cell.verdict,
                        "exercised": cell.exercised,
                        "evaluated": cell.evaluated,
                        "rows": [_row(item) for item in cell.rows],
                    }
                    for cell in row.cells
                ],
            }
            for row in matrix.rows
        ],
    }


def _plain(record: object) -> dict[str, Any]:
    data = dict(record_to_json(record))
    data.pop("schema")
    return data


def _plain_figure(figure: FigureStats) -> dict[str, Any]:
    """A figure; a bound that is not finite is null."""
    data = asdict(figure)
    return {key: _finite(value) if isinstance(value, float) else value for key, value in data.items()}


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _row(row: Row) -> dict[str, Any]:
    data = _plain(row)
    for key in ("subject", "invariant", "level"):
        data.pop(key)
    return data


def _failure(evidence: Evidence, item: Numbered) -> dict[str, Any]:
    data = _plain(item.failure)
    data.pop("history")
    return {**data, "number": item.number, "label": evidence.columns[item.column].label, "file": item.path}


def _line(line: SuiteLine) -> dict[str, Any]:
    return {
        "subject": line.label,
        "suite": line.suite,
        "status": line.status,
        "examples": line.examples,
        "distinct": line.distinct,
        "events": line.events,
        "virtual_seconds": line.virtual_seconds,
        "wall_seconds": line.wall_seconds,
        "broken": line.broken,
        "bound": line.bound,
        "bound_in_words": line.words,
        "least_exercised": None if line.least is None else {"invariant": line.least[0], "histories": line.least[1]},
    }
