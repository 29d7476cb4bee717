"""The time line and the two clock seams: what is recorded, what passes, and what ends a run."""

import math

import pytest

from waitproof.harness import events
from waitproof.harness.clocks import (
    HORIZON,
    READS_AT_ONE_INSTANT,
    AsyncClock,
    SyncClock,
    VirtualTime,
    WakePlan,
    current_op,
)
from waitproof.harness.history import History
from waitproof.harness.loop.simloop import simulate
from waitproof.harness.loop.triorun import simulate_trio
from waitproof.harness.recorder import BudgetExhausted, Recorder


def line(budget=4_000, **options):
    time = VirtualTime(**options)
    history = History()
    recorder = Recorder(history, lambda: time.now, budget=budget)
    time.attach(recorder)
    return time, history, recorder


def told(history):
    return [(event.at, event.kind, dict(event.data)) for event in history]


def test_a_sleep_moves_every_reading_by_the_same():
    time, history, recorder = line(origin=50.0, wall_origin=1_000.0)
    clock = SyncClock(time, recorder)
    clock.sleep(2.5)
    assert (time.now, clock.monotonic(), clock.wall()) == (2.5, 52.5, 1_002.5)
    assert told(history) == [
        (0.0, events.SLEEP_START, {"seconds": 2.5, "by": "seam"}),
        (2.5, events.SLEEP_END, {"seconds": 2.5, "slept": 2.5, "late": 0.0, "ending": "woke"}),
    ]


def test_early_and_late_wakes_are_as_planned_and_recorded():
    time, history, recorder = line()
    clock = SyncClock(time, recorder, WakePlan(offsets=(-0.25, 0.5, -9.0)))
    for _ in range(4):
        clock.sleep(1)
    ends = history.of_kind(events.SLEEP_END)
    assert [event.data["slept"] for event in ends] == [0.75, 1.5, 0.0, 1.0]
    assert [event.data["late"] for event in ends] == [-0.25, 0.5, -1.0, 0.0]


def test_a_wake_plan_can_go_round():
    plan = WakePlan(offsets=(1.0, 0.0), repeat=True)
    assert [plan.adjust(index, 2.0) for index in range(4)] == [3.0, 2.0, 3.0, 2.0]


def test_wall_jumps_move_the_wall_clock_alone_and_are_recorded_at_their_time():
    time, history, recorder = line(wall_origin=1_000.0, wall_jumps=((3.0, 60.0), (1.0, -600.0)))
    SyncClock(time, recorder).sleep(5.0)
    assert (time.now, time.monotonic() - time.origin, time.wall()) == (5.0, 5.0, 465.0)
    jumps = history.of_kind(events.WALL_JUMP)
    assert [(event.at, event.data["seconds"]) for event in jumps] == [(1.0, -600.0), (3.0, 60.0)]


def test_a_wall_jump_at_the_very_start_is_recorded_when_somebody_listens():
    time, history, _ = line(wall_jumps=((0.0, 7.0),))
    assert [event.data["seconds"] for event in history] == [7.0]
    assert time.wall() == time.wall_origin + 7.0


def test_an_interrupt_stops_time_inside_a_sleep_once():
    time, history, recorder = line(interrupt_at=3.0)
    clock = SyncClock(time, recorder)
    current_op.set("w0")
    clock.sleep(2.0)
    with pytest.raises(KeyboardInterrupt):
        clock.sleep(2.0)
    assert time.now == 3.0
    kinds = [(event.kind, event.op) for event in history][-2:]
    assert kinds == [(events.WAIT_CANCEL, "w0"), (events.SLEEP_END, "w0")]
    assert history[-1].data == {"seconds": 2.0, "slept": 1.0, "late": -1.0, "ending": "cancelled"}
    clock.sleep(2.0)
    assert time.now == 5.0
    current_op.set("")


def test_negative_sleeps_take_no_time_and_nan_raises():
    time, history, recorder = line()
    clock = SyncClock(time, recorder)
    clock.sleep(-3.0)
    with pytest.raises(ValueError, match="NaN"):
        clock.sleep(math.nan)
    with pytest.raises(TypeError):
        clock.sleep("1")
    assert time.now == 0.0
    assert history[0].data["seconds"] == -3.0
    assert history[1].data == {"seconds": -3.0, "slept": 0.0, "late": 0.0, "ending": "woke"}


@pytest.mark.parametrize("seconds", [math.inf, HORIZON * 2])
def test_an_endless_blocking_sleep_is_a_hang(seconds):
    time, history, recorder = line()
    with pytest.raises(BudgetExhausted):
        SyncClock(time, recorder).sleep(seconds)
    assert [event.kind for event in history] == [events.SLEEP_START, events.BENCH_STOP]
    assert history[-1].data["reason"] == "hang"


def test_a_storm_of_sleeps_ends_by_the_budget():
    time, history, recorder = line(budget=50)
    clock = SyncClock(time, recorder)
    with pytest.raises(BudgetExhausted):
        while True:
            clock.sleep(0)
    assert history[-1].data["reason"] == "budget"
    assert len(history) <= 2 * 50 + 1


def test_a_busy_wait_on_the_clock_is_a_hang():
    time, history, recorder = line()
    clock = SyncClock(time, recorder)
    with pytest.raises(BudgetExhausted, match="busy wait"):
        for _ in range(READS_AT_ONE_INSTANT + 1):
            clock.monotonic()
    assert history[-1].data["reason"] == "hang"


@pytest.mark.parametrize("run", [simulate, simulate_trio])
def test_the_asynchronous_clock_records_the_same_as_the_synchronous(run):
    time, history, recorder = line(wall_jumps=((1.0, 5.0),))
    clock = AsyncClock(time, recorder, WakePlan(offsets=(0.5, -0.5)))

    async def main():
        for seconds in (1, 2.0, -1.0):
            await clock.sleep(seconds)

    run(main, time=time, recorder=recorder)
    twin_time, twin, twin_recorder = line(wall_jumps=((1.0, 5.0),))
    other = SyncClock(twin_time, twin_recorder, WakePlan(offsets=(0.5, -0.5)))
    for seconds in (1, 2.0, -1.0):
        other.sleep(seconds)
    assert history.to_jsonl() == twin.to_jsonl()


@pytest.mark.parametrize(
    "options",
    [
        {"origin": math.inf},
        {"wall_jumps": ((-1.0, 1.0),)},
        {"interrupt_at": math.nan},
        {"wall_jumps": ((1.0, math.nan),)},
    ],
)
def test_times_that_are_none_are_refused(options):
    with pytest.raises(ValueError, match="not"):
        VirtualTime(**options)


def test_time_never_runs_backwards():
    time = VirtualTime()
    time.reach(time.origin + 3)
    time.reach(time.origin + 1)
    assert time.now == 3
    with pytest.raises(ValueError, match="advanced"):
        time.advance(-1)
