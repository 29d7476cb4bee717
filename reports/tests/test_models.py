"""What the report says of printed bounds and of explored reference models."""

import json
import math

import pytest

from waitproof.harness.results import (
    ExplorationInfo,
    FigureStats,
    ResultWriter,
    RunInfo,
    SubjectInfo,
    SuiteStats,
    read_results,
)
from waitproof.reports import build_report
from waitproof.reports.bounds import BoundLine, bound_lines
from waitproof.reports.evidence import gather
from waitproof.reports.exploration import walks


def written(folder, *stats, explorations=()):
    writer = ResultWriter(folder)
    for item in stats:
        writer.suite(item)
    if explorations:
        writer.explorations(explorations)
    names = dict.fromkeys(item.subject for item in stats)
    people = tuple(SubjectInfo(name=name, kind="queue") for name in names)
    writer.run(RunInfo(waitproof="0", python="3", seed=1, profile="quick", subjects=people))
    return folder


def suite(name, *figures, subject="queue"):
    return SuiteStats(subject=subject, suite=name, examples=9, distinct=9, events=99, figures=figures)


WAIT = FigureStats(
    name="W: wait", unit="s", runs=9, bounded=9, worst=12.5, worst_bound=325.0, closest=10.0, closest_bound=20.0, why="T = 20 / 1"
)  # fmt: skip


class TestBounds:
    def test_figures_come_back_from_the_files_as_they_were(self, tmp_path):
        none = FigureStats(name="B: overtakes", runs=3, worst=7.0)
        found = read_results(written(tmp_path, suite("a", WAIT, none)))
        assert found.suites[0].figures == (WAIT, none)
        assert math.isinf(found.suites[0].figures[1].worst_bound)

    def test_files_without_figures_are_read(self, tmp_path):
        """Results of an older version have none."""
        writer = ResultWriter(tmp_path)
        line = {"schema": "waitproof.suite/1", "subject": "queue", "suite": "a"}
        folder = writer.subject_dir("queue")
        folder.mkdir(parents=True)
        (folder / "suites.jsonl").write_text(json.dumps(line) + "\n")
        written(tmp_path)
        assert read_results(tmp_path).suites[0].figures == ()
        assert bound_lines(gather([read_results(tmp_path)])) == ()

    def test_the_worst_and_the_closest_over_all_suites(self, tmp_path):
        other = FigureStats(
            name="W: wait", unit="s", runs=2, bounded=1, worst=40.0, worst_bound=400.0, closest=19.0, closest_bound=20.0
        )
        evidence = gather([read_results(written(tmp_path, suite("a", WAIT), suite("b", other)))])
        [line] = bound_lines(evidence)
        assert (line.figure.worst, line.figure.worst_bound) == (40.0, 400.0)
        assert (line.figure.closest, line.figure.closest_bound, line.share_words) == (19.0, 20.0, "95%")
        assert (line.figure.runs, line.figure.bounded) == (11, 10)

    @pytest.mark.parametrize(
        ("closest", "bound", "said"),
        [
            (0.0, 20.0, "0%"), (0.001, 2_000.0, "less than 0.1%"), (20.0, 20.0, "100%"), (21.0, 20.0, "✕ beyond its bound"),
            (3.0, math.inf, "prints no finite bound"), (1.0, 0.0, "✕ beyond its bound"), (0.0, 0.0, "0%"),
        ],
    )  # fmt: skip
    def test_how_much_was_used_up(self, closest, bound, said):
        figure = FigureStats(name="W", runs=1, bounded=int(math.isfinite(bound)), closest=closest, closest_bound=bound)
        assert BoundLine(label="q", figure=figure).share_words == said

    def test_the_page_shows_both_and_the_derivation(self, tmp_path):
        page = build_report([written(tmp_path / "r", suite("a", WAIT))], tmp_path / "page.html").read_text(
            encoding="utf-8"
        )
        part = page[page.index('id="bounds"') : page.index('id="reach"')]
        for text in ("12.5 s", "325 s", "10 s", "20 s", "50%", "T = 20 / 1"):
            assert text in part
        twin = json.loads((tmp_path / "page.json").read_text())
        assert twin["bounds"][0]["share"] == 0.5

    def test_a_page_without_figures_has_no_such_section(self, tmp_path):
        page = build_report([written(tmp_path / "r", suite("a"))], tmp_path / "page.html").read_text(encoding="utf-8")
        assert 'id="bounds"' not in page
        assert 'id="models"' not in page


class TestExplorations:
    INFO = ExplorationInfo(
        model="dispatch queue", scope="2 configurations", states=1_234, steps=5_678, histories=90, events=400,
        visited={"pending / told": 7, "settled / cancel": 3}, unreachable={"settled / attempt": "it is over"}, missing=("pending / cancel",),
    )  # fmt: skip

    def test_states_against_events(self, tmp_path):
        folder = written(tmp_path, explorations=[self.INFO])
        [walk] = walks(gather([read_results(folder)]))
        assert walk.info == self.INFO
        assert walk.events == ("attempt", "cancel", "told")
        assert dict(walk.rows)["settled"] == (None, 3, -1)
        assert walk.reasons == (("it is over", ("settled / attempt",)),)

    def test_counts_and_reasons_are_in_the_page(self, tmp_path, hostile):
        broken = ExplorationInfo(model="waiter" + hostile, scope="x", broken="law broken" + hostile)
        folder = written(tmp_path / "r", explorations=[self.INFO, broken])
        page = build_report([folder], tmp_path / "page.html").read_text(encoding="utf-8")
        part = page[page.index('id="models"') : page.index('id="reach"')]
        for text in ("1,234", "5,678", "it is over", "✕ law broken", "neither met nor known"):
            assert text in part
        assert "<script>alert" not in page
        assert len(json.loads((tmp_path / "page.json").read_text())["explorations"]) == 2

    def test_a_broken_line_is_left_out_and_said(self, tmp_path):
        folder = written(tmp_path, explorations=[self.INFO])
        with (folder / "explorations.jsonl").open("a") as file:
            file.write('{"schema": "waitproof.exploration/1"\n')
        found = read_results(folder)
        assert len(found.explorations) == 1
        assert "explorations.jsonl line 2" in found.warnings[0]
