"""Result files: how evidence crosses from a run into a report.

A result directory holds

* ``run.json`` (:class:`~.records.RunInfo`): what was run, with which versions, seed and profile, and how it ended;
* ``subjects/NAME/rows.jsonl`` (:class:`~.records.Row`): a verdict a suite and invariant, written as soon as it is known;
* ``subjects/NAME/suites.jsonl`` (:class:`~.records.SuiteStats`): what a suite reached;
* ``subjects/NAME/failures/SUITE--INVARIANT.json`` (:class:`~.records.Failure`): a shrunk counterexample with its history;
* ``zoo.jsonl`` (:class:`~.records.ZooRow`), if seeded bugs were searched;
* ``explorations.jsonl`` (:class:`~.records.ExplorationInfo`), if reference models were walked for it.

Every file says its schema and version. Lines are appended and flushed one by one, so a run that is killed keeps what it had; a last
line that was cut is left out by the reader and said.
"""

from .reader import ResultFormatError, Results, read_results
from .records import (
    ExplorationInfo,
    Failure,
    FigureStats,
    InvariantInfo,
    Row,
    RunInfo,
    SubjectInfo,
    SuiteInfo,
    SuiteStats,
    ZooRow,
)
from .writer import ResultWriter

__all__ = [
    "ExplorationInfo",
    "Failure",
    "FigureStats",
    "InvariantInfo",
    "ResultFormatError",
    "ResultWriter",
    "Results",
    "Row",
    "RunInfo",
    "SubjectInfo",
    "SuiteInfo",
    "SuiteStats",
    "ZooRow",
    "read_results",
]
