"""Cooperative threads run one at a time, in virtual time, the same way each time, and say what went wrong."""

import contextlib
import gc
import random
import sys
import threading
import time as real_time
import warnings

import pytest

from waitproof.harness import events
from waitproof.harness.clocks import SyncClock, VirtualTime
from waitproof.harness.history import History
from waitproof.harness.loop import SimulationDeadlock, SimulationRefused
from waitproof.harness.loop.choices import IO, TIMER_TIE, Choices
from waitproof.harness.loop.threads import CoopThreads, RunIsOver
from waitproof.harness.recorder import BudgetExhausted, Recorder


@pytest.fixture(autouse=True, scope="module")
def no_leftovers():
    """Nothing may be left for the garbage collector to complain about, and no thread, by the tests of this file."""
    before = threading.active_count()
    unraisable = []
    hook, sys.unraisablehook = sys.unraisablehook, unraisable.append
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
        gc.collect()
    sys.unraisablehook = hook
    assert [str(item.message) for item in caught] == []
    assert unraisable == []
    assert threading.active_count() <= before + len(NEVER_ENDING)
    NEVER_ENDING.clear()


NEVER_ENDING = []


class Bench:
    """Threads on a fresh time line, with their history."""

    def __init__(self, chooser=None, budget=4_000, **options):
        self.time = VirtualTime()
        self.history = History()
        self.recorder = Recorder(self.history, lambda: self.time.now, budget=budget)
        self.threads = CoopThreads(self.time, self.recorder, chooser, **options)
        self.run = self.threads.run
        self.start = self.threads.start

    def told(self, what):
        return [event.data for event in self.history.of_kind(events.BENCH_NOTE) if event.data["what"] == what]

    @property
    def stops(self):
        return [event.data["reason"] for event in self.history.of_kind(events.BENCH_STOP)]


class Picks:
    """Answers from a list, by point (as far as there are options); 0 when it has run out. Remembers what it was asked."""

    def __init__(self, **answers):
        self.answers = {point.replace("_", "-"): list(values) for point, values in answers.items()}
        self.asked = []

    def choose(self, point, options):
        self.asked.append((point, options))
        left = self.answers.get(point, [])
        return min(left.pop(0), options - 1) if left else 0


class Dice:
    """Any choice, from a seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def choose(self, point, options):
        return self.random.randrange(options)


# -- real programs -----------------------------------------------------------------------------------------------------


def pool(bench, jobs=6, workers=2):
    """A worker pool on the seam; gives (job, worker, virtual time at its end) in order."""
    done = []

    def main():
        condition = bench.threads.condition(bench.threads.lock())
        waiting = []

        def work(number):
            while True:
                with condition:
                    while not waiting:
                        condition.wait()
                    job = waiting.pop(0)
                if job is None:
                    return
                bench.threads.io_wait(1.0)
                done.append((job, number, bench.time.now))

        made = [bench.start(lambda number=number: work(number), name=f"worker-{number}") for number in range(workers)]
        for job in [*range(jobs), *[None] * workers]:
            with condition:
                waiting.append(job)
                condition.notify()
        for thread in made:
            thread.join()
        return done

    return main


def test_a_pool_of_workers_runs_in_virtual_time():
    bench = Bench()
    assert bench.run(pool(bench)) == [(0, 0, 1.0), (1, 1, 1.0), (2, 0, 2.0), (3, 1, 2.0), (4, 0, 3.0), (5, 1, 3.0)]


def test_the_clock_is_the_time_line_and_its_sleeps_are_recorded():
    bench = Bench()

    def main():
        clock = bench.threads.clock
        began = clock.monotonic(), clock.wall()
        clock.sleep(2.5)
        return clock.monotonic() - began[0], clock.wall() - began[1]

    assert bench.run(main) == (2.5, 2.5)
    assert [event.kind for event in bench.history] == [events.SLEEP_START, events.SLEEP_END]


def test_other_blocking_code_on_the_time_line_lets_other_threads_run():
    """Transports and patched modules let time pass with ``time.advance``; in a thread that is a sleep of this thread."""
    bench = Bench()
    clock = SyncClock(bench.time, bench.recorder)
    order = []

    def other():
        bench.time.advance(1.0)
        order.append("other")

    def main():
        thread = bench.start(other, name="other")
        clock.sleep(2.0)
        order.append("main")
        thread.join()

    bench.run(main)
    assert order == ["other", "main"]
    bench.time.advance(1.0)  # as before, when the run is over
    assert bench.time.now == 3.0


def test_what_main_returns_and_raises_comes_out():
    assert Bench().run(lambda: 7) == 7
    with pytest.raises(LookupError, match="lost"):
        Bench().run(lost)


def lost():
    raise LookupError("lost")


def test_one_object_serves_one_run():
    bench = Bench()
    bench.run(lambda: None)
    with pytest.raises(RuntimeError, match="one run"):
        bench.run(lambda: None)
    with pytest.raises(RuntimeError, match="while run"):
        bench.start(lambda: None, name="late")


# -- locks -------------------------------------------------------------------------------------------------------------


def test_a_lock_excludes_and_a_waiter_gets_it():
    bench = Bench()
    order = []

    def main():
        lock = bench.threads.lock()

        def other():
            with lock:
                order.append(("other", bench.time.now))

        with lock:
            thread = bench.start(other, name="other")
            bench.threads.sleep(3.0)
            order.append(("main", bench.time.now))
            assert lock.locked()
        thread.join()
        assert not lock.locked()

    bench.run(main)
    assert order == [("main", 3.0), ("other", 3.0)]


def test_a_lock_gives_up_after_its_timeout_and_at_once_if_it_may_not_block():
    bench = Bench()

    def main():
        lock = bench.threads.lock()
        holder = bench.start(lambda: (lock.acquire(), bench.threads.sleep(5.0), lock.release()), name="holder")
        bench.threads.sleep(1.0)
        seen = [lock.acquire(blocking=False), bench.time.now, lock.acquire(timeout=2.0), bench.time.now]
        seen += [lock.acquire(timeout=2.5), bench.time.now]
        holder.join()
        return seen

    assert bench.run(main) == [False, 1.0, False, 3.0, True, 5.0]


def test_locks_refuse_what_real_ones_refuse():
    bench = Bench()

    def main():
        lock, again = bench.threads.lock(), bench.threads.rlock()
        with pytest.raises(RuntimeError, match="release unlocked lock"):
            lock.release()
        with pytest.raises(ValueError, match="non-blocking"):
            lock.acquire(blocking=False, timeout=1)
        with pytest.raises(ValueError, match="non-negative"):
            lock.acquire(timeout=-2)
        with again, again:
            pass
        again.acquire()
        failed = []

        def other():
            try:
                again.release()
            except RuntimeError as error:
                failed.append(str(error))

        bench.start(other, name="other").join()
        with pytest.raises(TypeError, match="made by the same"):
            bench.threads.condition(threading.Lock())
        return failed

    assert bench.run(main) == ["cannot release un-acquired lock"]


def test_locks_work_outside_of_a_run_as_long_as_nobody_has_to_wait():
    bench = Bench()
    lock = bench.threads.lock()
    with lock:
        assert lock.locked()
        with pytest.raises(SimulationDeadlock, match="nobody runs"):
            lock.acquire()


# -- conditions --------------------------------------------------------------------------------------------------------


def test_a_condition_times_out_and_tells_so():
    bench = Bench()

    def main():
        condition = bench.threads.condition()
        with condition:
            first = condition.wait(2.0), bench.time.now
        with condition:
            return first, condition.wait_for(lambda: False, timeout=3.0), bench.time.now

    assert bench.run(main) == ((False, 2.0), False, 5.0)


def test_which_waiter_is_notified_is_a_choice():
    def order(chooser):
        bench = Bench(chooser)
        woken = []

        def main():
            condition = bench.threads.condition()

            def wait(name):
                with condition:
                    condition.wait()
                    woken.append(name)

            made = [bench.start(lambda name=name: wait(name), name=name) for name in "abc"]
            bench.threads.sleep(1.0)
            for _ in made:
                with condition:
                    condition.notify()
                bench.threads.sleep(1.0)
            for thread in made:
                thread.join()

        bench.run(main)
        return "".join(woken)

    assert order(None) == "abc"
    assert {order(Dice(seed)) for seed in range(40)} == {"abc", "acb", "bac", "bca", "cab", "cba"}


def test_notify_all_wakes_all_and_a_plain_lock_will_do():
    bench = Bench()

    def main():
        condition = bench.threads.condition(bench.threads.lock())
        woken = []

        def wait(name):
            with condition:
                woken.append((name, condition.wait(10.0)))

        made = [bench.start(lambda name=name: wait(name), name=name) for name in "abc"]
        bench.threads.sleep(1.0)
        with condition:
            condition.notify_all()
        for thread in made:
            thread.join()
        return woken

    assert bench.run(main) == [("a", True), ("b", True), ("c", True)]


def test_conditions_refuse_what_real_ones_refuse():
    bench = Bench()

    def main():
        condition = bench.threads.condition()
        for call in (condition.wait, condition.notify):
            with pytest.raises(RuntimeError, match="un-acquired lock"):
                call()

    bench.run(main)


# -- order -------------------------------------------------------------------------------------------------------------


def test_timers_of_one_instant_are_a_choice_and_answers_have_their_own_point():
    for pause, point in (("sleep", TIMER_TIE), ("io_wait", IO)):
        picks = Picks(**{point.replace("-", "_"): [2, 1]})
        bench = Bench(picks)
        order = []

        def wait(name, pause=pause, bench=bench, order=order):
            getattr(bench.threads, pause)(1.0)
            order.append(name)

        def main(bench=bench, wait=wait):
            for thread in [bench.start(lambda name=name: wait(name), name=name) for name in "abc"]:
                thread.join()

        bench.run(main)
        assert order == ["c", "b", "a"]
        assert [asked for asked in picks.asked if asked[0] == point] == [(point, 3), (point, 2)]


def test_without_deviations_a_thread_keeps_the_baton_where_nothing_blocks():
    bench = Bench(trace := Choices())
    order = []

    def main():
        lock = bench.threads.lock()
        other = bench.start(lambda: order.append("other"), name="other")
        for _ in range(3):
            with lock:
                order.append("main")
        bench.threads.switch()
        order.append("main again")
        other.join()

    bench.run(main)
    assert order == ["main", "main", "main", "other", "main again"]
    assert trace.deviations == []
    assert trace.count > 0


def test_the_same_chooser_gives_the_same_history_twice():
    def digest():
        bench = Bench(Picks(ready=[1, 0, 2, 1, 1, 0, 0, 1] * 5))
        done = bench.run(pool(bench, jobs=9, workers=3))
        return done, bench.threads.steps, bench.history.digest()

    assert digest() == digest()


def test_a_busy_loop_of_switches_lets_time_pass_in_the_end():
    bench = Bench()

    def main():
        done = []
        thread = bench.start(lambda: (bench.threads.sleep(1.0), done.append(True)), name="slow")
        while not done:
            bench.threads.switch()
        thread.join()
        return bench.time.now

    assert bench.run(main) == 1.0


# -- what goes wrong ---------------------------------------------------------------------------------------------------


def test_a_deadlock_says_who_waits_for_what_and_where():
    bench = Bench()

    def main():
        first, second = bench.threads.lock(), bench.threads.lock()

        def other():
            with second:
                bench.threads.sleep(1.0)
                first.acquire()

        bench.start(other, name="other")
        with first:
            bench.threads.sleep(1.0)
            second.acquire()

    with pytest.raises(SimulationDeadlock) as caught:
        bench.run(main)
    words = str(caught.value)
    assert "deadlock at 1 s" in words
    assert "#0 'main' at test_threads.py" in words
    assert "waits for lock 2, held by #1 'other'" in words
    assert "waits for lock 1, held by #0 'main'" in words
    assert bench.stops == ["deadlock"]


def test_a_sleep_for_ever_and_a_lost_wake_up_are_deadlocks():
    def sleep(threads):
        threads.sleep(1e12)

    def wait(threads):
        with threads.condition() as _, pytest.raises(RuntimeError, match="un-acquired"):
            threads.condition().wait()
        with (condition := threads.condition()):
            condition.wait()

    for main, words in ((sleep, "sleeps 1e"), (wait, "waits on a condition of lock 3")):
        bench = Bench()
        with pytest.raises(SimulationDeadlock, match=words):
            bench.run(lambda bench=bench, main=main: main(bench.threads))


def test_the_step_budget_ends_a_storm_even_if_the_subject_swallows_everything():
    bench = Bench(max_steps=500)

    def main():
        while True:
            with contextlib.suppress(Exception):
                bench.threads.switch()

    with pytest.raises(BudgetExhausted, match="more than 500 switch points"):
        bench.run(main)
    assert bench.stops == ["budget"]


def test_the_event_budget_ends_the_run_from_any_thread():
    bench = Bench(budget=10)

    def storm():
        while True:
            bench.threads.clock.sleep(1.0)

    with pytest.raises(BudgetExhausted, match="more than 10 events"):
        bench.run(lambda: bench.start(storm, name="storm").join())


def test_an_exception_of_a_thread_is_recorded_and_the_others_go_on():
    bench = Bench()

    def main():
        bench.start(lost, name="broken").join()
        return "went on"

    assert bench.run(main) == "went on"
    wanted = {"what": "task-exception", "task": "broken", "type": "LookupError"}
    assert [{key: told[key] for key in wanted} for told in bench.told("task-exception")] == [wanted]


def test_a_thread_that_exits_is_silent_and_an_interrupt_ends_the_run():
    bench = Bench()
    assert bench.run(lambda: bench.start(sys.exit, name="leaves").join()) is None
    assert bench.told("task-exception") == []

    def interrupt():
        raise KeyboardInterrupt

    bench = Bench()
    with pytest.raises(KeyboardInterrupt):
        bench.run(lambda: (bench.start(interrupt, name="interrupted"), bench.threads.sleep(5.0)))


def test_an_exception_of_the_chooser_reaches_the_caller_and_not_the_subject():
    class Broken:
        def choose(self, point, options):
            raise ZeroDivisionError("the chooser's own")

    bench = Bench(Broken())
    seen = []

    def main():
        try:
            pool(bench)()
        except Exception as error:
            seen.append(error)

    with pytest.raises(ZeroDivisionError, match="the chooser's own"):
        bench.run(main)
    assert seen == []


def test_real_threads_sleeps_and_waits_are_refused_in_every_thread():
    naughty = {
        "starting a thread": lambda: threading.Thread(target=print).start(),
        "real sleep": lambda: real_time.sleep(5),
        "waits in real time": lambda: threading.Event().wait(),
    }
    for words, call in naughty.items():
        for inside in ("main", "another"):
            bench = Bench()

            def main(bench=bench, call=call, inside=inside):
                if inside == "main":
                    call()
                else:
                    bench.start(call, name="another").join()

            with pytest.raises(SimulationRefused, match=words):
                bench.run(main)
            assert bench.stops == ["refused"]


# -- the end -----------------------------------------------------------------------------------------------------------


def test_threads_that_outlive_main_are_ended_where_they_wait():
    bench = Bench()
    ends = []

    def main():
        condition, lock = bench.threads.condition(), bench.threads.lock()

        def on_condition():
            try:
                with condition:
                    condition.wait()
            except RunIsOver:
                ends.append("condition")
                raise

        def asleep():
            try:
                bench.threads.sleep(100.0)
            finally:
                ends.append("asleep")

        def on_lock():
            try:
                with lock:
                    pass
            finally:
                ends.append("lock")

        lock.acquire()
        for target in (on_condition, asleep, on_lock):
            bench.start(target, name=target.__name__)
        bench.threads.sleep(1.0)
        bench.start(lambda: ends.append("never begun"), name="late")

    bench.run(main)
    assert ends == ["condition", "asleep", "lock"]
    assert bench.told("task-exception") == bench.told("task-never-ends") == []
    assert bench.time.now == 1.0


def test_a_thread_that_swallows_its_end_is_reported_and_given_up():
    bench = Bench()

    def stubborn():
        while True:
            with contextlib.suppress(BaseException):
                bench.threads.sleep(1.0)

    NEVER_ENDING.append("stubborn")
    bench.run(lambda: (bench.start(stubborn, name="stubborn"), bench.threads.sleep(5.0)))
    assert [told["task"] for told in bench.told("task-never-ends")] == ["stubborn"]


def test_a_thread_that_keeps_the_baton_is_a_hang():
    bench = Bench(patience=0.05)
    stop = []

    def busy():
        while not stop:
            pass

    def main():
        bench.start(busy, name="busy").join()

    with pytest.raises(
        BudgetExhausted, match=r"no switch point within 0\.05 real seconds: #1 'busy' at test_threads.py"
    ):
        bench.run(main)
    stop.append(True)
    bench.threads._threads[1].real.join(5)
    assert bench.stops == ["hang"]
    assert [told["task"] for told in bench.told("task-never-ends")] == ["busy"]
