"""Figures: the bounds that a queue prints beside the worst of a run, how a search keeps them, and the counts of explored models."""

import dataclasses
import math

import pytest

from waitproof.harness.campaign import search
from waitproof.harness.figures import Figure
from waitproof.harness.profiles import PROFILES
from waitproof.harness.results import FigureStats, read_results
from waitproof.models import explored
from waitproof.models.dispatch_bounds import figures
from waitproof.models.queue_explore import ExplorationError, explore
from waitproof.models.queue_table import TABLE
from waitproof.properties.dispatch._histories import Story
from waitproof.properties.dispatch.tiny_queue import TINY
from waitproof.properties.suites import dispatch_plans

BOUNDS = {"wait": 60.0, "overtakes": 9.0, "why": "by hand"}


def by_name(story):
    return {figure.name.partition(":")[0]: figure for figure in figures(story.history)}


def three(bounds):
    """One worker: o0 runs for 3 s, o1 waits for it, and o2, which came later, goes before o1."""
    story = Story(workers=1, bounds=bounds)
    story.submit(0, "o0", uid="uid-1")
    story.start(0, "o0")
    story.submit(0, "o1", uid="uid-2")
    story.submit(1, "o2", uid="uid-3", priority=50)
    story.effect(3, "o0").answer(3, "o0").told(3, "s0")
    story.run(3, "o2", lasts=1).told(4, "s2")
    return story.run(4, "o1", lasts=1).told(5, "s1").settled(10)


class TestFigures:
    def test_the_longest_wait_and_the_most_overtakes(self):
        found = by_name(three(BOUNDS))
        assert (found["W"].seen, found["W"].bound, found["W"].unit, found["W"].why) == (4.0, 60.0, "s", "by hand")
        assert (found["B"].seen, found["B"].bound) == (1.0, 9.0)

    def test_a_queue_that_prints_nothing_has_infinite_bounds(self):
        found = by_name(three(None))
        assert (found["W"].seen, found["W"].bound, found["W"].why) == (4.0, math.inf, "")

    def test_a_changed_quota_leaves_them_without_a_meaning(self):
        assert figures(three(BOUNDS).rate(11, 1.0, 1).history) == ()

    def test_a_history_in_which_nobody_surely_waited_has_none(self):
        assert figures(Story(bounds=BOUNDS).settled(5).history) == ()

    @pytest.mark.parametrize(
        ("seen", "bound", "share"), [(3.0, 6.0, 0.5), (3.0, math.inf, 0.0), (1.0, 0.0, math.inf), (0.0, 0.0, 0.0)]
    )
    def test_share(self, seen, bound, share):
        assert Figure(name="W", seen=seen, bound=bound).share == share


class TestSearch:
    def found(self, told):
        """A search whose histories say these figures in turn."""
        turns = iter(range(10_000))
        suite = dataclasses.replace(
            dispatch_plans.SUITES[0],
            figures=lambda _: told[next(turns) % len(told)],
            corners=lambda _: (),
            variants=lambda plan: (plan,),
            share=1.0,
        )
        profile = dataclasses.replace(PROFILES["quick"], examples=8)
        return search(suite, TINY, profile, seed=1).stats

    def test_the_greatest_and_the_closest_are_kept(self):
        near, far = Figure(name="W", seen=9.0, bound=10.0, why="near"), Figure(name="W", seen=50.0, bound=5_000.0)
        [kept] = self.found([(near,), (far,), (Figure(name="W", seen=1.0),)]).figures
        assert (kept.worst, kept.worst_bound) == (50.0, 5_000.0)
        assert (kept.closest, kept.closest_bound, kept.why) == (9.0, 10.0, "near")
        assert kept.runs > kept.bounded > 0

    def test_figures_that_break_are_told_and_end_nothing(self):
        stats = self.found([None])
        assert stats.figures == ()
        assert stats.examples
        assert stats.note.count("figures could not be read") == 1


class TestExplored:
    def test_the_counts_are_kept_as_they_are(self, tmp_path, monkeypatch, capsys):
        rows = [row for row in TABLE if row.name == "refusals"]
        walk = explore(rows=rows, disruptions=0)
        monkeypatch.setattr(explored, "MODELS", {"queue": lambda: explored.queue_info(lambda: walk, 0)})
        (tmp_path / "run.json").write_text(
            '{"schema": "waitproof.run/1", "waitproof": "0", "python": "3", "seed": 1, "profile": "quick"}'
        )
        assert explored.main([str(tmp_path)]) == 1  # one row does not meet every pair
        [info] = read_results(tmp_path).explorations
        assert (info.states, info.steps, info.histories) == (walk.states, walk.steps, walk.histories)
        assert len(info.visited) == len(walk.visited)
        assert info.missing == tuple(f"{state} / {event}" for state, event in walk.missing)
        assert f"{walk.states} states" in capsys.readouterr().out

    def test_a_broken_law_is_kept_in_one_line(self):
        def walk():
            raise ExplorationError("row 'x': wedged\n and a long path")

        assert explored.queue_info(walk, 1).broken == "row 'x': wedged"

    @pytest.mark.parametrize("arguments", [[], ["somewhere", "normaliser"]])
    def test_usage(self, arguments, capsys):
        assert explored.main(arguments) == 2
        assert "RESULT-DIR" in capsys.readouterr().err


def test_figures_of_a_suite_are_a_record():
    """What a search keeps is what the result files hold."""
    stats = TestSearch().found([(Figure(name="W", seen=1.0, bound=2.0, unit="s"),)])
    assert stats.figures == (
        FigureStats(
            name="W", unit="s", runs=stats.examples, bounded=stats.examples, worst=1.0, worst_bound=2.0, closest=1.0, closest_bound=2.0
        ),
    )  # fmt: skip
