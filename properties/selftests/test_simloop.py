"""SimLoop runs real asyncio and anyio programs in virtual time, the same way each time, and says what it can't run."""

# ruff: noqa: ASYNC110, ASYNC251, SIM105 - programs under test are naughty on purpose

import _thread
import asyncio
import gc
import random
import sys
import threading
import time as real_time
import warnings

import anyio
import anyio.to_thread
import httpx
import pytest

from waitproof.harness import events
from waitproof.harness.clocks import AsyncClock, SyncClock, VirtualTime
from waitproof.harness.history import History
from waitproof.harness.loop import SimulationDeadlock, SimulationRefused
from waitproof.harness.loop.choices import READY, TIMER_TIE, Choices, Deviation
from waitproof.harness.loop.simloop import SimLoop, simulate
from waitproof.harness.recorder import BudgetExhausted, Recorder


@pytest.fixture(autouse=True)
def no_leftovers():
    """Nothing may be left for the garbage collector to complain about, in any test of this file."""
    unraisable = []
    hook, sys.unraisablehook = sys.unraisablehook, unraisable.append
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
        gc.collect()
    sys.unraisablehook = hook
    assert [str(item.message) for item in caught] == []
    assert unraisable == []


def line(budget=4_000):
    time = VirtualTime()
    history = History()
    recorder = Recorder(history, lambda: time.now, budget=budget)
    time.attach(recorder)
    return time, history, recorder


def run(main, **options):
    time, _, recorder = line()
    return simulate(lambda: main(time), time=time, recorder=recorder, **options), time.now


class Picks:
    """Answers from a list, by point; 0 when it has run out. Remembers what it was asked."""

    def __init__(self, **answers):
        self.answers = {point.replace("_", "-"): list(values) for point, values in answers.items()}
        self.asked = []

    def choose(self, point, options):
        self.asked.append((point, options))
        left = self.answers.get(point, [])
        return left.pop(0) if left else 0


class Dice:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def choose(self, point, options):
        return self.random.randrange(options)


# -- real programs -----------------------------------------------------------------------------------------------------


def test_asyncio_programs_run_in_virtual_time():
    async def main(time):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(5):
                await asyncio.sleep(1_000)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), 5)
        first = await asyncio.gather(asyncio.sleep(3, "a"), asyncio.sleep(1, "b"))
        async with asyncio.TaskGroup() as group:
            task = group.create_task(asyncio.sleep(2, "c"))
        assert asyncio.get_running_loop().time() == time.monotonic()
        return [*first, task.result()]

    assert run(main) == (["a", "b", "c"], 15.0)


def test_anyio_programs_run_in_virtual_time():
    async def main(time):
        order = []
        lock, event = anyio.Lock(), anyio.Event()

        async def worker(name, seconds):
            async with lock:
                await anyio.sleep(seconds)
                order.append((name, time.now))
            await event.wait()

        with pytest.raises(TimeoutError):
            with anyio.fail_after(4):
                await anyio.sleep_forever()
        async with anyio.create_task_group() as group:
            group.start_soon(worker, "a", 2)
            group.start_soon(worker, "b", 3)
            await anyio.sleep(7)
            event.set()
        with anyio.move_on_after(1) as scope:
            await anyio.sleep(2)
        return order, scope.cancelled_caught

    assert run(main) == (([("a", 6.0), ("b", 9.0)], True), 12.0)


def test_httpx_with_a_custom_transport_runs():
    class Slow(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request):
            await anyio.sleep(2)
            return httpx.Response(200, json={"status": "done"})

    async def main(time):
        async with httpx.AsyncClient(transport=Slow()) as client:
            answer = await client.get("http://bench.invalid/jobs/1")
            return answer.json()

    assert run(main) == ({"status": "done"}, 2.0)


def test_a_blocking_sleep_on_the_seam_delays_the_others_as_it_would_in_reality():
    time, _, recorder = line()
    clock = SyncClock(time, recorder)

    async def main():
        async def other():
            await asyncio.sleep(1)
            return time.now

        task = asyncio.create_task(other())
        await asyncio.sleep(0)
        clock.sleep(5)
        return await task

    assert simulate(main, time=time, recorder=recorder) == 5.0


def test_a_busy_loop_lets_time_pass_in_the_end():
    async def main(time):
        woken = asyncio.get_running_loop().call_later(3, flag := [].append, 1)
        done = asyncio.Event()
        asyncio.get_running_loop().call_later(3, done.set)
        while not done.is_set():
            await asyncio.sleep(0)
        return woken is not None and flag is not None

    assert run(main) == (True, 3.0)


# -- order -------------------------------------------------------------------------------------------------------------


def test_the_same_program_gives_the_same_history_and_another_order_another():
    def digest(seed):
        time, history, recorder = line()
        clock = AsyncClock(time, recorder)

        async def main():
            async with anyio.create_task_group() as group:
                for index in range(6):
                    group.start_soon(clock.sleep, 1 + index % 2)

        simulate(main, time=time, recorder=recorder, chooser=None if seed is None else Dice(seed))
        return history.digest()

    assert digest(None) == digest(None)
    assert digest(1) == digest(1)
    assert len({digest(seed) for seed in range(5)}) > 1


@pytest.mark.parametrize("group", ["anyio", "asyncio", "sets"])
def test_no_address_decides_an_order(group):
    """Both anyio and asyncio keep tasks and cancel scopes in sets, whose order is that of addresses; subjects iterate over sets, too."""

    def digest():
        time, history, recorder = line()
        clock = AsyncClock(time, recorder)

        async def sleeper(index):
            with anyio.fail_after(100):
                await clock.sleep(50 + index)

        async def with_anyio():
            async with anyio.create_task_group() as tasks:
                for index in range(12):
                    tasks.start_soon(sleeper, index)
                await anyio.sleep(1)
                tasks.cancel_scope.cancel()

        async def with_asyncio():
            async with asyncio.timeout(1):
                async with asyncio.TaskGroup() as tasks:
                    for index in range(12):
                        tasks.create_task(sleeper(index))

        async def with_sets():
            done, _ = await asyncio.wait([asyncio.ensure_future(clock.sleep(index % 3)) for index in range(12)])
            for task in done:
                recorder.note("name", "bench", task.get_name())

        try:
            simulate(
                {"anyio": with_anyio, "asyncio": with_asyncio, "sets": with_sets}[group], time=time, recorder=recorder
            )
        except TimeoutError:
            pass
        return history.digest()

    garbage, digests = [], set()
    for size in range(10):
        garbage.append([object() for _ in range(size * 7)])  # so that addresses differ
        digests.add(digest())
    assert len(digests) == 1


def test_equal_deadlines_fire_in_order_of_arming_and_are_a_choice():
    async def main(time):
        loop, fired = asyncio.get_running_loop(), []
        for index in range(8):
            loop.call_at(time.monotonic() + 1 + (index % 2) * 1e-13, fired.append, index)
        await asyncio.sleep(2)
        return fired

    assert run(main)[0] == list(range(8))
    picks = Picks(timer_tie=[7, 0, 1])
    trace = Choices(picks)
    assert run(main, chooser=trace)[0] == [7, 0, 2, 1, 3, 4, 5, 6]
    assert [options for point, options in picks.asked if point == TIMER_TIE] == [8, 7, 6, 5, 4, 3, 2]
    assert [(made.point, made.options, made.choice) for made in trace.deviations] == [
        (TIMER_TIE, 8, 7),
        (TIMER_TIE, 6, 1),
    ]


def test_the_ready_queue_is_a_choice_and_the_trace_holds_the_deviation():
    async def main(time):
        order = []

        async def note(name):
            order.append(name)

        await asyncio.gather(*(note(name) for name in "abc"))
        return "".join(order)

    assert run(main)[0] == "abc"
    trace = Choices(Picks(ready=[2]))
    assert run(main, chooser=trace)[0] == "cab"
    assert trace.deviations == [Deviation(position=0, point=READY, options=3, choice=2)]


def test_a_choice_out_of_range_is_refused():
    async def main(time):
        await asyncio.gather(asyncio.sleep(0), asyncio.sleep(0))

    with pytest.raises(ValueError, match="Picks chose 9 at 'ready'"):
        run(main, chooser=Picks(ready=[9]))


def test_an_exception_of_the_chooser_reaches_the_caller_and_loses_no_task():
    class Stop(BaseException):
        pass

    class Stopper:
        def choose(self, point, options):
            raise Stop

    async def main(time):
        await asyncio.gather(asyncio.sleep(1), asyncio.sleep(1))

    with pytest.raises(Stop):
        run(main, chooser=Stopper())


# -- endings -----------------------------------------------------------------------------------------------------------


def test_a_deadlock_names_every_task_and_where_it_waits():
    time, history, recorder = line()

    async def main():
        async def waits_for_event():
            await asyncio.Event().wait()

        async def waits_for_lock(lock):
            async with lock:
                pass

        lock = asyncio.Lock()
        await lock.acquire()
        async with asyncio.TaskGroup() as group:
            group.create_task(waits_for_event())
            group.create_task(waits_for_lock(lock), name="locker")

    with pytest.raises(SimulationDeadlock) as caught:
        simulate(main, time=time, recorder=recorder)
    message = str(caught.value)
    assert "#0 'main' at test_simloop.py:" in message
    assert "#1 'task-1' at test_simloop.py:" in message
    assert "waits_for_event, on Event.wait (locks.py:" in message
    assert "#2 'locker' at test_simloop.py:" in message
    assert "waits_for_lock, on Lock." in message or "waits_for_lock, on _ContextManagerMixin.__aenter__" in message
    assert history.of_kind(events.BENCH_STOP)[0].data["reason"] == "deadlock"


def test_an_infinite_sleep_alone_is_a_deadlock_and_not_the_end_of_time():
    async def main(time):
        await asyncio.sleep(float("inf"))

    with pytest.raises(SimulationDeadlock, match="'main'"):
        run(main)


def test_a_cancelled_sleep_is_recorded_as_cancelled():
    time, history, recorder = line()
    clock = AsyncClock(time, recorder)

    async def main():
        task = asyncio.create_task(clock.sleep(10))
        await asyncio.sleep(4)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    simulate(main, time=time, recorder=recorder)
    assert history[-1].data == {"seconds": 10.0, "slept": 4.0, "late": -6.0, "ending": "cancelled"}


def test_a_storm_ends_by_the_step_budget_and_leaves_nothing():
    time, history, recorder = line()

    async def main():
        async def generator():
            try:
                while True:
                    yield 1
            finally:
                await asyncio.sleep(1)

        never_begun = [asyncio.create_task(asyncio.sleep(5)) for _ in range(3)]
        begun = generator()
        await anext(begun)
        while never_begun:
            await asyncio.sleep(0)

    with pytest.raises(BudgetExhausted, match="300 steps"):
        simulate(main, time=time, recorder=recorder, max_steps=300)
    assert history.of_kind(events.BENCH_STOP)[0].data["reason"] == "budget"


def test_a_storm_of_events_ends_even_in_a_task_that_nobody_awaits():
    time, history, recorder = line(budget=40)
    clock = AsyncClock(time, recorder)

    async def main():
        async def storm():
            while True:
                await clock.sleep(0)

        forgotten = asyncio.create_task(storm())
        await asyncio.Event().wait()
        return forgotten

    with pytest.raises(BudgetExhausted, match="40 events"):
        simulate(main, time=time, recorder=recorder)
    assert len(history.of_kind(events.BENCH_STOP)) == 1


def test_a_budget_inside_a_task_group_is_told_as_what_it_is():
    time, _, recorder = line(budget=40)
    clock = AsyncClock(time, recorder)

    async def main():
        async with anyio.create_task_group() as group:
            for _ in range(50):
                group.start_soon(clock.sleep, 1)

    with pytest.raises(BudgetExhausted):
        simulate(main, time=time, recorder=recorder)


def test_a_task_that_refuses_to_end_is_given_up_and_noted():
    time, history, recorder = line()

    async def main():
        async def stubborn():
            while True:
                try:
                    await asyncio.sleep(1)
                except BaseException:
                    pass

        kept = asyncio.create_task(stubborn(), name="stubborn")
        await asyncio.sleep(3)
        return kept is not None

    assert simulate(main, time=time, recorder=recorder) is True
    assert [dict(event.data) for event in history] == [{"what": "task-never-ends", "task": "stubborn"}]


def test_cleanup_that_takes_time_is_run_to_its_end():
    ended = []

    async def main(time):
        async def tidy():
            try:
                await asyncio.sleep(100)
            finally:
                await asyncio.sleep(2)
                ended.append(time.now)

        kept = asyncio.create_task(tidy())
        await asyncio.sleep(1)
        return kept is not None

    run(main)
    assert ended == [3.0]


@pytest.mark.parametrize("error", [ValueError("from a callback"), KeyboardInterrupt("too"), GeneratorExit("and this")])
def test_exceptions_in_callbacks_are_raised_from_the_run(error):
    async def main(time):
        def fail():
            raise error

        asyncio.get_running_loop().call_soon(fail)
        await asyncio.sleep(1)

    with pytest.raises(type(error)) as caught:
        run(main)
    assert caught.value is error


def test_an_exception_that_nobody_retrieves_is_noted():
    time, history, recorder = line()

    async def main():
        async def fails():
            raise LookupError("lost")

        kept = asyncio.create_task(fails())
        await asyncio.sleep(1)
        return kept is not None

    simulate(main, time=time, recorder=recorder)
    wanted = {"what": "task-exception", "task": "task-1", "type": "LookupError", "message": "LookupError('lost')"}
    assert [dict(event.data) for event in history] == [wanted]


def test_the_current_event_loop_is_left_alone():
    policy = asyncio.get_event_loop_policy()
    mine = asyncio.new_event_loop()
    asyncio.set_event_loop(mine)
    try:

        async def main(time):
            assert isinstance(asyncio.get_event_loop(), SimLoop)

        run(main)
        assert policy.get_event_loop() is mine
    finally:
        asyncio.set_event_loop(None)
        mine.close()


# -- refusals ----------------------------------------------------------------------------------------------------------


def _in_executor():
    return asyncio.get_running_loop().run_in_executor(None, print)


async def _watches_a_socket():
    asyncio.get_running_loop().add_reader(0, print)


async def _watches_a_signal():
    asyncio.get_running_loop().add_signal_handler(2, print)


async def _blocks():
    real_time.sleep(3)


@pytest.mark.parametrize(
    ("ask", "word"),
    [
        (_in_executor, "run_in_executor"),
        (lambda: asyncio.to_thread(print), "run_in_executor"),
        (lambda: anyio.to_thread.run_sync(print), "starting a thread"),
        (lambda: asyncio.open_connection("127.0.0.1", 1), "create_connection"),
        (lambda: anyio.connect_tcp("127.0.0.1", 1), "create_connection"),
        (lambda: anyio.connect_tcp("bench.invalid", 1), "getaddrinfo"),
        (lambda: asyncio.create_subprocess_exec("true"), "subprocess_exec"),
        (_watches_a_socket, "add_reader"),
        (_watches_a_signal, "add_signal_handler"),
        (_blocks, r"time.sleep\(3\) is a real sleep"),
    ],
)
def test_what_cannot_be_simulated_is_refused_by_name(ask, word):
    time, history, recorder = line()

    async def main():
        await ask()

    with pytest.raises((SimulationRefused, ExceptionGroup)) as caught:
        simulate(main, time=time, recorder=recorder)
    caught.match(word)
    stop = history.of_kind(events.BENCH_STOP)[0]
    assert stop.data["reason"] == "refused"


def test_a_swallowed_refusal_still_ends_the_run():
    async def main(time):
        try:
            real_time.sleep(3)
        except RuntimeError:
            pass
        await asyncio.sleep(1)

    with pytest.raises(SimulationRefused, match="is a real sleep"):
        run(main)


def test_call_soon_threadsafe_is_refused_from_another_thread():
    seen = []

    class InNoHurry(threading.Thread):
        def __init__(self, loop):
            super().__init__()
            self.loop = loop

        def run(self):
            try:
                self.loop.call_soon_threadsafe(print)
            except SimulationRefused as error:
                seen.append(str(error))

    async def main(time):
        thread = InNoHurry(asyncio.get_running_loop())
        _thread.start_new_thread(thread.run, ())  # the guard refuses Thread.start, so go round it
        while not seen:
            pass

    run(main)
    assert "call_soon_threadsafe from another thread" in seen[0]
