"""Sessions: a live run goes on exactly as far as it is told, and the same timeline gives the same bytes again."""

import asyncio
import itertools
import math
import os
import random
import threading

import pytest
import trio

from waitproof.faults.plan import PlanFormatError, answer, plan_from_json, plan_to_json, simpler, size
from waitproof.faults.stepping import Session, run_timeline
from waitproof.faults.timeline import Cancel, FaultNext, Pass, Server, StartWait, TimelinePlan
from waitproof.harness import events
from waitproof.harness.dialect import WaiterDialect
from waitproof.harness.jsonable import dumps, loads
from waitproof.harness.protocols import JobView, WaitCall, WaiterSubject
from waitproof.harness.subjects.builtin_waiter import subject as builtin
from waitproof.models.following import follow
from waitproof.models.trace import traces

MODES = ("sync", "asyncio", "trio")

BUSY = TimelinePlan(
    steps=(
        StartWait(call=WaitCall(timeout=60.0)),
        Pass(seconds=1.0),
        FaultNext(answer=answer("http_error", status=503)),
        Pass(seconds=1.5002),
        StartWait(call=WaitCall(job_id="job-2", timeout=9.0)),
        StartWait(call=WaitCall(timeout=3.0)),
        Pass(seconds=3.0),
        FaultNext(job="job-2", answer=answer("hang")),
        Server(job="job-1", word="failed"),
        Cancel(wait=0),
        Pass(seconds=20.0),
    ),
    origin=1024.0,
)


@pytest.fixture(autouse=True)
def no_thread_is_left():
    before = threading.active_count()
    yield
    assert threading.active_count() == before


def toy(mode, wait):
    dialect = WaiterDialect(parameters=frozenset({"first_delay"}))
    return WaiterSubject(name="toy", mode=mode, wait=wait, view=lambda _: JobView(), dialect=dialect)


def stop_of(history):
    return [event.data["reason"] for event in history.of_kind(events.BENCH_STOP)]


# -- timelines as data -------------------------------------------------------------------------------------------------


def test_a_timeline_survives_json():
    """All step types, an infinite timeout, and numbers that were given as integers."""
    plan = TimelinePlan(steps=(*BUSY.steps, StartWait(call=WaitCall(timeout=math.inf)), Pass(seconds=2)), origin=5.0)
    text = dumps(plan_to_json(plan))
    again = plan_from_json(TimelinePlan, loads(text))
    assert again == plan
    assert dumps(plan_to_json(again)) == text


@pytest.mark.parametrize(
    ("old", "new"), [('"cancel"', '"cancle"'), ('"seconds":20.0', '"seconds":-1.0'), ('"word"', '"wrod"')]
)
def test_a_timeline_with_a_mistake_is_refused_by_name(old, new):
    text = dumps(plan_to_json(BUSY))
    assert old in text
    with pytest.raises(PlanFormatError, match=r"plan\.steps\[\d+\]"):
        plan_from_json(TimelinePlan, loads(text.replace(old, new)))


def test_a_timeline_is_told_in_words_and_made_simpler():
    assert BUSY.words()[:4] == [
        "the monotonic clock reads 1024 at the start",
        "wait for parse_jobs 'job-1', timeout=60.0",
        "1 s pass",
        "at the next fetch of 'job-1' the server answers HTTP 503",
    ]
    assert len(BUSY.words()) == len(BUSY.steps) + 2
    assert all(size(plan) <= size(BUSY) for plan in simpler(BUSY))
    assert TimelinePlan() in list(simpler(TimelinePlan(steps=(Pass(),))))


# -- exactly so far ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_time_goes_exactly_as_far_as_it_is_told(mode):
    """The second fetch is due at 1 s: it is not there at 0.999 s, and it is there at 1 s, whole."""
    with Session(builtin(mode)) as session:
        session.start(WaitCall())
        assert [event.at for event in session.history.of_kind(events.FETCH_END)] == [0.0]
        session.advance(0.999)
        assert (session.now, len(session.history.of_kind(events.FETCH_START))) == (0.999, 1)
        session.advance(0.001)
        assert session.now == 1.0
        assert [event.at for event in session.history.of_kind(events.FETCH_END)] == [0.0, 1.0]
        assert session.running(0)
        session.set_status("job-1", "completed")
        assert session.running(0)
        session.advance(1.5)
        assert not session.running(0)
        assert session.history[-1].kind == events.WAIT_RETURN


@pytest.mark.parametrize("mode", MODES)
def test_the_model_knows_the_instants_of_a_live_wait(mode):
    """A pause (next poll, deadline), then an open fetch (its timeout, deadline)."""
    with Session(builtin(mode)) as session:
        session.start(WaitCall(timeout=60.0, fetch_timeout=7.0))
        assert follow(traces(session.history)[0]).instants == {"wake": 1.0, "deadline": 60.0}
        session.fault_next("job-1", answer("hang"))
        session.advance(3.0)
        assert follow(traces(session.history)[0]).instants == {"fetch_timeout": 8.0, "deadline": 60.0}
        session.advance(5.0)
        assert follow(traces(session.history)[0]).instants == {"wake": 9.5, "deadline": 60.0}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fault", [None, answer("hang")])
def test_a_cancelled_wait_ends_at_once(mode, fault):
    """In a sleep, and in a fetch."""
    with Session(builtin(mode)) as session:
        if fault is not None:
            session.fault_next("job-1", fault)
        session.start(WaitCall())
        session.advance(0.25)
        session.cancel()
        assert not session.running(0)
        last = session.history[-1]
        assert (last.kind, last.at, last.data["category"]) == (events.WAIT_RAISE, 0.25, "cancelled")


# -- again -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_the_same_timeline_gives_the_same_bytes(mode):
    """Live, and three times again."""
    with Session(builtin(mode), origin=BUSY.origin) as session:
        for step in BUSY.steps:
            session.apply(step)
        live = session.finish()
        assert session.plan == BUSY
        assert session.finish() is live
    assert stop_of(live) == []
    assert {run_timeline(BUSY, builtin(mode)).to_jsonl() for _ in range(3)} == {live.to_jsonl()}
    assert live.header["plan"] == plan_to_json(BUSY)


def test_a_subject_that_draws_at_random_gives_the_same_bytes_too():
    """Whatever is drawn between two steps by somebody else."""

    def wait(bench, call):
        for _ in range(4):
            bench.clock.sleep(random.random() + int.from_bytes(os.urandom(1)))

    steps = (StartWait(), *[Pass(seconds=50.0)] * 3)
    digests = set()
    for number in range(3):
        random.seed(number)
        with Session(toy("sync", wait)) as session:
            for step in steps:
                session.apply(step)
                random.random()
            digests.add(session.finish().digest())
    assert digests == {run_timeline(TimelinePlan(steps=steps), toy("sync", wait)).digest()}


def test_the_modes_do_the_same_things_at_the_same_times():
    """Three waits, two of them side by side at one job, a fault, a hang and a cancellation."""
    seen = [
        [
            (event.at, event.kind, event.op)
            for event in run_timeline(BUSY, builtin(mode))
            if event.lane in ("caller", "client")
        ]
        for mode in MODES
    ]
    assert seen[0] == seen[1] == seen[2]
    assert len(seen[0]) > 30


@pytest.mark.parametrize("mode", MODES)
def test_any_step_can_be_left_out(mode):
    """Steps that find nothing to act on do nothing, and nothing is broken by what is missing."""
    for index in range(len(BUSY.steps)):
        history = run_timeline(TimelinePlan(steps=BUSY.steps[:index] + BUSY.steps[index + 1 :]), builtin(mode))
        assert stop_of(history) == []
    assert len(run_timeline(TimelinePlan(steps=(Cancel(), Cancel(wait=3), Server(), Pass())), builtin(mode))) == 0


@pytest.mark.parametrize("mode", MODES)
def test_a_session_heals_and_converges(mode):
    """Faults that no fetch has met are dropped, and what is open is completed."""
    plan = TimelinePlan(steps=(StartWait(), *[FaultNext(answer=answer("hang"))] * 3, Server(word="no such word")))
    history = run_timeline(plan, builtin(mode))
    assert [event.data["view"]["status"] for event in history.of_kind(events.WAIT_RETURN)] == ["completed"]
    assert history[-1].at == 1.0


# -- bad subjects ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_an_abandoned_session_leaves_nothing_behind(mode):
    """No thread (see the fixture), no warning (pytest turns them into errors), no end that a caller would have seen."""
    with Session(builtin(mode)) as session:
        session.start(WaitCall())
        session.start(WaitCall(job_id="job-2"))
        session.advance(0.5)
    session.close()
    assert session.history.of_kind(events.WAIT_RETURN, events.WAIT_RAISE, events.BENCH_STOP) == []
    with pytest.raises(ValueError, match="closed"):
        session.advance(1.0)


def test_a_thread_that_does_not_come_back_is_a_stop():
    """It is given up after the patience; later steps do nothing."""
    release = threading.Event()
    with Session(toy("sync", lambda bench, call: release.wait()), patience=0.05) as session:
        session.start(WaitCall())
        session.advance(1.0)
        history = session.finish()
    assert stop_of(history) == ["hang"]
    release.set()
    for thread in threading.enumerate():
        if thread.name == "w0":
            thread.join()


def test_a_thread_that_ignores_its_end_is_still_ended():
    """It swallows whatever is raised into it, a few times."""

    def wait(bench, call):
        for _ in range(5):
            try:
                bench.clock.sleep(1.0)
            except BaseException:
                continue

    with Session(toy("sync", wait)) as session:
        session.start(WaitCall())
        session.cancel()
        assert session.running(0)


def test_a_busy_wait_is_a_stop():
    """Virtual time would never pass for it."""

    def wait(bench, call):
        while bench.clock.monotonic() >= 0:
            pass

    assert stop_of(run_timeline(TimelinePlan(steps=(StartWait(),)), toy("sync", wait))) == ["hang"]


def test_time_in_a_thread_of_the_subjects_own_is_refused():
    """It would run beside the baton."""

    def wait(bench, call):
        thread = threading.Thread(target=attempt, args=(bench,))
        thread.start()
        thread.join()

    def attempt(bench):
        with pytest.raises(RuntimeError, match="can't be simulated"):
            bench.clock.sleep(1.0)

    assert stop_of(run_timeline(TimelinePlan(steps=(StartWait(),)), toy("sync", wait))) == ["refused"]


@pytest.mark.parametrize("mode", ["asyncio", "trio"])
def test_a_task_that_waits_for_nothing_is_a_deadlock(mode):
    """It is no deadlock as long as the session lives: somebody may still cancel it."""

    async def wait(bench, call):
        await (asyncio.Event() if mode == "asyncio" else trio.Event()).wait()

    with Session(toy(mode, wait)) as session:
        session.start(WaitCall())
        session.advance(1e6)
        assert stop_of(session.history) == []
        session.start(WaitCall())
        session.cancel(0)
        assert session.history[-1].kind == events.WAIT_RAISE
        assert stop_of(session.finish()) == ["deadlock"]


@pytest.mark.parametrize("mode", MODES)
def test_a_storm_ends_with_the_budget(mode):
    """And the run after it is as ever."""

    def sync(bench, call):
        while True:
            bench.get_job(call.job_id)

    async def storm(bench, call):
        while True:
            await bench.get_job_async(call.job_id)

    plan = TimelinePlan(steps=(StartWait(), Pass(seconds=1.0), Pass(seconds=1.0)))
    first, second = (run_timeline(plan, toy(mode, sync if mode == "sync" else storm), budget=100) for _ in range(2))
    assert stop_of(first) == ["budget"]
    assert first.digest() == second.digest()
    assert len(first) < 150  # ends are recorded beyond the budget


@pytest.mark.parametrize("mode", MODES)
def test_what_a_subject_raises_is_recorded(mode):
    """Whatever it is, synchronous mistakes of an asynchronous subject included."""

    def wait(bench, call):
        raise SystemExit(3)

    history = run_timeline(TimelinePlan(steps=(StartWait(), Pass())), toy(mode, wait))
    assert [event.data["type"] for event in history.of_kind(events.WAIT_RAISE)] == ["SystemExit"]


def test_waits_of_threads_that_are_due_together_go_in_the_order_in_which_they_fell_asleep():
    """Six blocking waits side by side, of one second and of two; the clock never runs backwards."""

    def wait(bench, call):
        for _ in range(2):
            bench.clock.sleep(call.first_delay)

    steps = [StartWait(call=WaitCall(first_delay=1.0 + number % 2)) for number in range(6)]
    history = run_timeline(TimelinePlan(steps=tuple(steps)), toy("sync", wait))
    woken = [(event.at, event.op) for event in history.of_kind(events.SLEEP_END)]
    assert woken == [
        *((1.0, op) for op in ("w0", "w2", "w4")),
        *((2.0, op) for op in ("w1", "w3", "w5", "w0", "w2", "w4")),
        *((4.0, op) for op in ("w1", "w3", "w5")),
    ]
    times = [event.at for event in history]
    assert all(before <= after for before, after in itertools.pairwise(times))
