"""Timelines: pairs become bars, order is never lost, what is not known stays open, and large histories are cut where it hurts least."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waitproof.reports import timeline
from waitproof.reports.operations import deadlines, pair, read_history, words
from waitproof.reports.timescale import TimeScale


@pytest.fixture
def moments(make_history):
    return read_history(make_history())[0]


def lines(*rows):
    return "\n".join(json.dumps(row) for row in rows)


def event(seq, at, kind, op="w0", lane="client", **data):
    return {"seq": seq, "at": at, "kind": kind, "op": op, "lane": lane, "data": data}


class TestOperations:
    def test_bars_and_marks_hold_every_event_once(self, moments):
        bars, marks = pair(moments)
        seen = (
            [bar.first.seq for bar in bars] + [bar.last.seq for bar in bars if bar.last] + [mark.seq for mark in marks]
        )
        assert sorted(seen) == [moment.seq for moment in moments]

    def test_an_answer_a_failure_and_what_never_ended(self, moments):
        bars, _ = pair(moments)
        endings = {bar.first.op: bar.ending for bar in bars if bar.first.kind == "fetch.start"}
        assert endings["w0.f0"] == "ok"
        assert endings["w0.f2"] == "bad"
        [lost] = [bar for bar in bars if bar.first.kind == "server.request" and bar.last is None]
        assert (lost.first.op, lost.ending) == ("w0.f2", "open")

    def test_a_change_without_an_answer_has_an_open_outcome(self):
        """The effect may have happened; a read has none, so its failure is just a failure."""
        for method, ending in (("POST", "open"), ("GET", "bad")):
            found, _ = read_history(
                lines(
                    event(0, 0.0, "fetch.start", method=method, target="/"),
                    event(1, 1.0, "fetch.end", ending="error", error="ReadTimeout"),
                )
            )
            assert pair(found)[0][0].ending == ending

    def test_a_kind_that_nobody_has_heard_of_is_drawn(self):
        found, _ = read_history(
            lines(event(0, 0, "lease.start", lane="worker"), event(1, 2, "lease.end", lane="worker"))
        )
        [bar], marks = pair(found)
        assert (bar.first.at, bar.last.at, marks) == (0.0, 2.0, [])
        assert timeline.picture(found, ()).lanes[0].name == "worker"

    def test_deadlines_of_finite_timeouts_only(self, make_history):
        assert deadlines(read_history(make_history(timeout=5.0))[0]) == [(5.0, "deadline w0")]
        assert deadlines(read_history(make_history(timeout={"$float": "inf"}))[0]) == []

    @pytest.mark.parametrize(
        "text",
        ["", "\n\n", "not json", '{"schema": "waitproof.history/1", "header": {}}', "[1]", "null", '{"at": "x"}'],
    )
    def test_a_history_without_events_has_no_picture(self, text):
        found, _ = read_history(text)
        assert found == []
        assert timeline.picture(found, ()) is None

    def test_data_of_the_wrong_shape_is_told_plainly(self):
        """Other people's results may hold anything; a report never crashes on it."""
        kinds = (
            "wait.start",
            "wait.return",
            "wait.raise",
            "sleep.start",
            "sleep.end",
            "fetch.start",
            "fetch.end",
            "server.request",
            "clock.jump",
            "bench.stop",
        )
        for data in (
            {},
            {"call": 3, "view": None, "seconds": "x", "slept": "y", "late": "z", "headers": 7, "method": None},
        ):
            found, _ = read_history(lines(*(event(index, index, kind, **data) for index, kind in enumerate(kinds))))
            assert all(isinstance(words(moment), str) for moment in found)
            assert timeline.picture(found, (0, 3)) is not None

    def test_words(self, moments):
        told = {moment.kind: words(moment) for moment in reversed(moments)}
        assert told["wait.start"].startswith("calls wait('job-1') on parse_jobs, sync: timeout=5")
        assert told["wait.raise"] == "raises JobWaitTimeoutError (timeout): job job-1 is still processing"
        assert [words(moment) for moment in moments if moment.kind == "sleep.end"][
            1
        ] == "woke after 1.75 s, 0.25 s late"


class TestTimeScale:
    @given(st.lists(st.floats(0, 1e9), min_size=1, max_size=60))
    def test_order_is_never_lost(self, times):
        scale = TimeScale(times, left=100, right=900)
        places = [scale(time) for time in scale.times]
        assert places == sorted(places)
        assert len(set(places)) == len(places)
        assert 100 <= places[0] <= places[-1] <= 900.001

    def test_a_millisecond_after_a_deadline_is_seen_beside_it(self):
        scale = TimeScale([0, 1, 2, 600, 600.001], left=0, right=900)
        assert scale(600.001) - scale(600) > 5

    def test_long_idle_is_compressed_and_said(self):
        scale = TimeScale([0, 1, 2, 3, 4, 5, 6, 3_000], left=0, right=900)
        assert scale(6) > 150
        assert [gap.seconds for gap in scale.gaps] == [2_994]

    def test_an_even_rhythm_is_left_alone(self):
        scale = TimeScale([0, 1, 2, 3, 4], left=0, right=400)
        assert [round(scale(time)) for time in (0, 1, 2.5, 4)] == [0, 100, 250, 400]
        assert scale.gaps == []


class TestPicture:
    def test_lanes_in_their_order(self, moments):
        assert [lane.name for lane in timeline.picture(moments, ()).lanes] == [
            "caller",
            "client",
            "server",
            "clock",
            "fault",
        ]

    def test_the_violating_events_are_ringed_where_they_happened(self, moments):
        asked, woke = [moment for moment in moments if moment.kind.startswith("sleep")][-2:]
        found = timeline.picture(moments, (asked.seq, woke.seq))
        assert [(ring.number, ring.seq) for ring in found.rings] == [(1, asked.seq), (2, woke.seq)]
        [bar] = [shape for shape in found.shapes if shape.seq == asked.seq]
        assert [round(ring.x, 6) for ring in found.rings] == [round(bar.x, 6), round(bar.x + bar.width, 6)]
        assert {ring.y for ring in found.rings} == {bar.y + timeline.THICK / 2}

    def test_a_deadline_is_a_line_even_behind_the_last_event(self, make_history):
        found = timeline.picture(read_history(make_history(timeout=600.0))[0], ())
        assert [line.label for line in found.deadlines] == ["deadline w0 = 600 s"]
        assert timeline.GUTTER < found.deadlines[0].x <= timeline.RIGHT

    def test_what_never_ended_reaches_the_right_edge(self, make_history):
        found = timeline.picture(read_history(make_history(ends=False))[0], ())
        ends = {shape.x + shape.width for shape in found.shapes if shape.style.endswith("open")}
        assert ends == {timeline.RIGHT}

    def test_nothing_overlaps_within_a_row(self, make_history):
        found = timeline.picture(read_history(make_history() + make_history(run="asyncio"))[0], ())
        rows = {}
        for shape in found.shapes:
            if shape.width:
                rows.setdefault(shape.y, []).append((shape.x, shape.x + shape.width))
        for bars in rows.values():
            bars.sort()
            assert all(before[1] <= after[0] + 0.51 for before, after in pairwise(bars))

    def test_two_runs_in_one_history_have_lanes_of_their_own(self, make_history):
        found = timeline.picture(read_history(make_history(run="sync") + make_history(run="asyncio"))[0], ())
        assert [lane.name for lane in found.lanes][::5] == ["sync caller", "asyncio caller"]

    def test_a_large_history_is_cut_around_the_violation(self, make_history):
        found, _ = read_history(make_history(polls=500))
        seq = found[1_500].seq
        drawn = timeline.picture(found, (seq,))
        assert drawn.left_out > 2_000
        assert [ring.seq for ring in drawn.rings] == [seq]

    def test_events_that_are_not_there_are_not_ringed(self, moments):
        assert timeline.picture(moments, (9_999,)).rings == ()


class TestTable:
    def test_a_small_history_is_whole(self, moments):
        rows = timeline.table(moments, (3,))
        assert [row.seq for row in rows] == [moment.seq for moment in moments]
        assert [row.seq for row in rows if row.marked] == [3]

    def test_what_is_left_out_is_counted(self, make_history):
        found, _ = read_history(make_history(polls=500))
        rows = timeline.table(found, (1_500,), cap=40)
        assert sum(row.skipped or 1 for row in rows) == len(found)
        assert [row.skipped > 0 for row in rows].count(True) == 2
        assert any(row.marked for row in rows)
