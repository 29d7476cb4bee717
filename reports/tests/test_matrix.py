"""The matrices: one a kind of subject, and rows that nobody claims behind a fold."""

import json
import re

from waitproof.harness.results import InvariantInfo, ResultWriter, Row, RunInfo, SubjectInfo, read_results
from waitproof.reports import build_report
from waitproof.reports.evidence import gather
from waitproof.reports.matrix import build_matrices

ROWS = (
    ("normaliser-a", "normaliser", "normaliser.total", "held"),
    ("waiter-a", "waiter", "waiter.no_storm", "held"),
    ("waiter-a", "waiter", "waiter.schedule", "not claimed"),
    ("waiter-b", "waiter", "waiter.no_storm", "violated"),
    ("waiter-b", "waiter", "waiter.schedule", "not claimed"),
    ("waiter-b", "waiter", "waiter.final_poll", "not claimed"),
    ("odd-one", "kind <b>", "odd.rule", "held"),
)


def written(root):
    """A run over three kinds of subjects."""
    writer = ResultWriter(root)
    people = {name: kind for name, kind, _, _ in ROWS}
    for subject, _, invariant, verdict in ROWS:
        reached = 5 if verdict in ("held", "violated") else 0
        writer.row(
            Row(subject=subject, suite="s", invariant=invariant, verdict=verdict, evaluated=9, exercised=reached)
        )
    names = dict.fromkeys(invariant for _, _, invariant, _ in ROWS)
    writer.run(
        RunInfo(
            waitproof="0.1", python="3.11", seed=1, profile="quick", exit=1,
            subjects=tuple(SubjectInfo(name=name, kind=kind) for name, kind in people.items()),
            invariants=tuple(InvariantInfo(id=name, level="MUST", expectation=f"About {name}.", source="SPEC") for name in names),
        )
    )  # fmt: skip
    return root


def test_one_matrix_a_kind_in_a_settled_order(tmp_path):
    """Waiters first, then normalisers, then kinds that this version does not know; no row of one stands in another."""
    matrices = build_matrices(gather([read_results(written(tmp_path))]))
    assert [(matrix.title, [column.label for column in matrix.columns]) for matrix in matrices] == [
        ("Waiters", ["waiter-a", "waiter-b"]),
        ("Normalisers", ["normaliser-a"]),
        ("Kind kind <b>", ["odd-one"]),
    ]
    assert [row.info.id for row in matrices[0].claimed] == ["waiter.no_storm"]
    assert [row.info.id for row in matrices[0].unclaimed] == ["waiter.schedule", "waiter.final_poll"]


def test_unclaimed_rows_are_behind_a_fold(tmp_path):
    """Their names and sentences are there to be read, their cells are not."""
    text = build_report([written(tmp_path / "results")], tmp_path / "report.html").read_text()
    fold = re.search(r"2 further invariants are claimed by nobody here</summary>(.*?)</details>", text, re.DOTALL)
    assert "About waiter.final_poll." in fold.group(1)
    tables = "".join(re.findall(r'<table class="matrix">(.*?)</table>', text, re.DOTALL))
    assert "waiter.<wbr>no_<wbr>storm" in tables
    assert "waiter.<wbr>schedule" not in tables
    assert "Kind kind &lt;b&gt;" in text


def test_the_twin_has_them_by_kind(tmp_path):
    build_report([written(tmp_path / "results")], tmp_path / "report.html")
    twin = json.loads((tmp_path / "report.json").read_text())
    assert [(matrix["kind"], len(matrix["rows"])) for matrix in twin["matrices"]] == [
        ("waiter", 3), ("normaliser", 1), ("kind <b>", 1),
    ]  # fmt: skip
