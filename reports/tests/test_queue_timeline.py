"""Timelines of dispatch queues: lanes, rows of what is in flight, what came too late, what stays open, plots, and hostile text."""

import json
import math
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waitproof.harness.results import InvariantInfo, ResultWriter, RunInfo, SubjectInfo
from waitproof.reports import build_report, plots
from waitproof.reports.operations import read_history, words
from waitproof.reports.packing import Item, pack_bars, pack_marks
from waitproof.reports.queue_reading import is_queue, read
from waitproof.reports.queue_timeline import queue_picture
from waitproof.reports.tests import queue_histories as made
from waitproof.reports.timeline import RIGHT, THICK


def moments_of(*rows):
    return read_history(made.lines(*rows))[0]


@pytest.fixture
def moments():
    return read_history(made.queue_history())[0]


def seq_of(moments, kind, op=""):
    return next(moment.seq for moment in moments if moment.kind == kind and moment.op == op)


class TestReading:
    def test_a_queue_is_known_by_its_events(self, moments, make_history):
        assert is_queue(moments)
        assert not is_queue(read_history(make_history())[0])

    def test_an_answer_after_the_deadline_is_stale_and_an_effect_after_its_attempt_is_late(self, moments):
        late = read(moments, ()).late
        assert late == {
            seq_of(moments, "attempt.end", "o0.a0"): "stale",
            seq_of(moments, "api.effect", "o1.a0"): "late",
        }

    def test_an_answer_after_the_outcome_is_late(self):
        found = moments_of(
            made.submit(0, "s0", "o0"),
            made.start(0, "o0.a0"),
            made.outcome(1, "s0", "unknown"),
            made.answer(2, "o0.a0"),
        )
        assert read(found, ()).late == {3: "late"}

    def test_an_answer_for_a_context_that_ended_meanwhile_is_stale(self):
        found = moments_of(
            made.submit(0, "s0", "o0"), made.start(0, "o0.a0"),
            (1, "context.end", "caller", "", {"context": "context-1"}), made.answer(2, "o0.a0"),
        )  # fmt: skip
        assert read(found, ()).late == {3: "stale"}

    def test_an_ordinary_answer_is_neither(self):
        """Nor is one that a joiner still waits for."""
        found = moments_of(
            made.submit(0, "s0", "o0"), made.submit(0, "s1", "o0"), made.start(0, "o0.a0"),
            made.outcome(1, "s0", "cancelled"), made.effect(2, "o0.a0"), made.answer(2, "o0.a0"), made.outcome(2, "s1", "applied"),
        )  # fmt: skip
        assert read(found, ()).late == {}


class TestPicture:
    def test_lanes_are_the_caller_the_workers_the_server_and_each_object(self, moments):
        assert [lane.name for lane in queue_picture(moments, ()).lanes] == [
            "caller",
            "workers",
            "server",
            "uid-1",
            "uid-2",
        ]

    def test_attempts_have_as_many_rows_as_were_in_flight(self, moments):
        attempts = [shape for shape in queue_picture(moments, ()).shapes if shape.style.startswith("fetch")]
        assert len({shape.y for shape in attempts}) == 2

    def test_attempts_of_one_instant_that_followed_each_other_share_a_row(self):
        rows = [made.submit(0, "s0", "o0")]
        for index in range(3):
            rows += [made.start(0, f"o0.a{index}"), made.answer(0, f"o0.a{index}", 503)]
        found = queue_picture(moments_of(*rows, made.outcome(5, "s0", "exhausted")), ())
        attempts = [shape for shape in found.shapes if shape.style.startswith("fetch")]
        assert len({shape.y for shape in attempts}) == 1
        assert all(before.x + before.width < after.x for before, after in pairwise(attempts))

    def test_what_is_not_known_is_open_to_the_right(self, moments):
        shapes = {(shape.style, shape.label): shape for shape in queue_picture(moments, ()).shapes}
        unknown = shapes["wait open", "s1 patch → unknown"]
        assert unknown.tail
        assert unknown.title.endswith("is told unknown: ambiguous")
        never = queue_picture(moments_of(made.submit(0, "s0", "o0"), made.start(1, "o0.a0")), ())
        assert {shape.style for shape in never.shapes if shape.width} == {"wait open", "fetch open"}
        assert {round(shape.x + shape.width) for shape in never.shapes if shape.width} == {RIGHT - 12}

    def test_stale_and_late_are_said_in_words(self, moments):
        """Colour is never the only sign."""
        labels = [shape.label for shape in queue_picture(moments, ()).shapes]
        assert "stale o0.a0 patch uid-1: 200" in labels
        assert "s0 patch → stale" in labels
        assert "late o1.a0: patch uid-2" in labels
        assert "somebody else: patch uid-1" in labels

    def test_deadlines_are_lines(self, moments):
        assert [line.label for line in queue_picture(moments, ()).deadlines] == ["deadline s0 = 4 s"]

    def test_labels_of_many_deadlines_do_not_lie_over_each_other(self):
        rows = [made.submit(0, f"s{index}", f"o{index}", deadline=5 + index / 100) for index in range(20)]
        found = queue_picture(moments_of(*rows), ())
        assert len(found.deadlines) == 20
        assert 0 < sum(bool(line.label) for line in found.deadlines) < 20

    def test_the_violating_events_are_ringed_where_they_happened(self, moments):
        pair = (seq_of(moments, "attempt.start", "o1.a0"), seq_of(moments, "call.outcome", "s1"))
        found = queue_picture(moments, pair)
        assert [(ring.number, ring.seq) for ring in found.rings] == [(1, pair[0]), (2, pair[1])]
        bar = next(shape for shape in found.shapes if shape.seq == pair[0])
        assert (found.rings[0].x, found.rings[0].y) == (bar.x, bar.y + THICK / 2)

    def test_a_quiet_event_is_drawn_if_it_shows_the_violation(self, moments):
        """Whatever an invariant points at is in the picture."""
        for moment in moments:
            assert [ring.seq for ring in queue_picture(moments, (moment.seq,)).rings] == [moment.seq]

    def test_no_bar_lies_over_another(self, moments):
        rows = {}
        for shape in queue_picture(moments, ()).shapes:
            if shape.width:
                rows.setdefault(shape.y, []).append((shape.x, shape.x + shape.width))
        for bars in rows.values():
            assert all(before[1] <= after[0] for before, after in pairwise(sorted(bars)))

    def test_what_the_bench_does_at_the_end_is_left_out_if_the_violation_lies_before(self):
        rows = (
            made.submit(0, "s0", "o0"), made.start(0, "o0.a0"), made.answer(1, "o0.a0"), made.outcome(1, "s0", "failed"),
            (60, "bench.healed", "bench", "", {"within": 80}), (140, "bench.settled", "bench", "", {"open": []}),
            made.submit(140, "s1", "probe0"), made.outcome(141, "s1", "applied"),
        )  # fmt: skip
        found = queue_picture(moments_of(*rows), (1, 3))
        assert max(float(tick.label) for tick in found.ticks) == 1
        assert found.left_out == 4
        assert queue_picture(moments_of(*rows), (5,)).left_out == 0

    def test_many_objects_have_no_lane_but_those_of_the_violation(self):
        rows = [made.submit(index, f"s{index}", f"o{index}", uid=f"uid-{index}") for index in range(30)]
        found = queue_picture(moments_of(*rows), (29,))
        names = [lane.name for lane in found.lanes]
        assert len(names) == 15
        assert found.hidden == 16
        assert names[-1] == "uid-29"

    def test_a_large_history_is_cut_around_the_violation(self):
        rows = [made.open_(qps={"$float": "inf"})]
        for index in range(2_000):
            op = f"o{index}"
            rows += [
                made.submit(index, f"s{index}", op), made.start(index, f"{op}.a0"), made.answer(index + 0.5, f"{op}.a0"),
                made.outcome(index + 0.5, f"s{index}", "applied"),
            ]  # fmt: skip
        found = queue_picture(moments_of(*rows), (4_001,))
        assert found.left_out > 7_000
        assert [ring.seq for ring in found.rings] == [4_001]
        assert max(len(plot.points) for plot in found.plots) < 1_000

    @pytest.mark.parametrize(
        "data", [{}, {"call": 3, "view": "x", "config": [], "bounds": 1, "operation": None, "status": "?", "qps": {}}]
    )
    def test_data_of_the_wrong_shape_is_drawn_all_the_same(self, data):
        kinds = (
            "queue.open call.submit call.accepted attempt.start api.request api.effect api.answer attempt.end call.outcome call.cancel "
            "call.mutate waiter.cancel context.end object.deleted queue.rate queue.stats plugin.failure plugin.reevaluate bench.healed "
            "bench.settled bench.probe queue.close queue.closed"
        ).split()
        found = moments_of(*((index, kind, "caller", "s0", data) for index, kind in enumerate(kinds)))
        assert all(isinstance(words(moment), str) for moment in found)
        assert queue_picture(found, (0, 3, 8)) is not None

    def test_words(self, moments):
        told = {moment.kind: words(moment) for moment in reversed(moments)}
        assert told["queue.open"] == (
            "the queue is open: workers=2, capacity=10, qps=2, burst=2, attempts=4, attempt_timeout=5; it prints W = 325 s, B = 212"
        )
        assert told["call.submit"] == "submits o0: patch status of pod-1 (uid-1), context-1, deadline at 4 s"
        assert told["api.effect"] == "effect by somebody else: patch status of uid-1, version 1 → 2"
        assert told["queue.rate"] == "the quota is 1 a second, burst 1"


class TestPlots:
    def test_live_and_in_flight(self, moments):
        found = read(moments, ())
        assert plots.live(found.lives) == [(0, 0), (0, 1), (1, 2), (1, 3), (2, 2), (4.5, 1), (6, 0)]
        assert max(value for _, value in plots.in_flight(found.attempts)) == 2

    def test_tokens_fill_up_to_the_burst_and_are_taken_by_attempts(self):
        rows = [made.start(at, f"o0.a{index}") for index, at in enumerate((0, 0, 1, 9))]
        found = read(moments_of(*rows), ())
        assert plots.tokens(found.attempts, (), {"qps": 1.0, "burst": 2}) == [
            (0, 2), (0, 2), (0, 1), (0, 1), (0, 0), (1, 1), (1, 0), (3, 2), (9, 2), (9, 1),
        ]  # fmt: skip
        assert plots.tokens(found.attempts, (), {"qps": {"$float": "inf"}, "burst": 2}) is None

    def test_tokens_refill_to_the_end_of_the_picture(self):
        found = read(moments_of(made.start(0, "o0.a0"), made.start(0, "o0.a1")), ())
        assert plots.tokens(found.attempts, (), {"qps": 1.0, "burst": 2}, 1.5)[-1] == (1.5, 1.5)

    def test_a_quota_that_is_broken_goes_below_zero(self):
        found = read(moments_of(*(made.start(0, f"o0.a{index}") for index in range(3))), ())
        assert plots.tokens(found.attempts, (), {"qps": 1.0, "burst": 2})[-1] == (0, -1)

    def test_the_three_plots_name_their_peak(self, moments):
        found = queue_picture(moments, ())
        assert [(plot.name, plot.peak) for plot in found.plots] == [
            ("live", "peak 3 of 10"), ("in flight", "peak 2 of 2"), ("tokens", "peak 2 of 2"),
        ]  # fmt: skip
        free = queue_picture(moments_of(made.open_(qps={"$float": "inf"}), *[made.start(0, "o0.a0")]), ())
        assert [plot.name for plot in free.plots] == ["live", "in flight", "started"]
        assert all(math.isfinite(y) for plot in found.plots for _, y in plot.points)


class TestPacking:
    @given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 9)), max_size=30))
    def test_bars_of_a_row_never_overlap(self, spans):
        items = [
            Item(left=10.0 * start, right=10.0 * (start + length) + 4, begins=start * 100 + index, ends=(start + length) * 100 + index)
            for index, (start, length) in enumerate(spans)
        ]  # fmt: skip
        pack_bars(items, 1_000)
        for one, other in pairwise(sorted(items, key=lambda item: (item.row, item.left))):
            assert one.row != other.row or one.right < other.left

    @given(st.lists(st.integers(0, 900), max_size=40))
    def test_labels_of_marks_never_overlap(self, places):
        items = [Item(left=place, right=place, begins=0, ends=0, labels=("s1 applied",)) for place in places]
        pack_marks(items, 1_000)
        shown = [(item.row, *item.beside(1_000)) for item in items if item.label]
        for one, other in pairwise(sorted(shown)):
            assert one[0] != other[0] or one[2] <= other[1]


def test_a_hostile_id_stays_text(make_failure, hostile, tmp_path):
    """In the picture as everywhere: an id that is markup is shown, and is no markup."""
    history = made.queue_history(hostile)
    writer = ResultWriter(tmp_path / "results")
    writer.failure(make_failure("queue", "dispatch-plans", "dispatch.ledger", history=history, text=hostile))
    info = InvariantInfo(id="dispatch.ledger", level="MUST", expectation="x", source="SPEC 4")
    subject = SubjectInfo(name="queue", kind="queue")
    writer.run(RunInfo(waitproof="0", python="3", seed=1, profile="quick", subjects=(subject,), invariants=(info,)))
    page = build_report([tmp_path / "results"], tmp_path / "report.html").read_text(encoding="utf-8")
    picture = page[page.index('class="timeline queue"') :]
    assert "<script>alert" not in page
    assert "onmouseover=alert" in picture
    assert not re.search(r"<b onmouseover", picture)
    assert len(json.loads((tmp_path / "report.json").read_text())["failures"]) == 1
