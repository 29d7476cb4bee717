"""The same simulation on trio: virtual time, the same seam for order, the same endings."""

# ruff: noqa: ASYNC105, ASYNC110, ASYNC115, ASYNC251, SIM105 - programs under test are naughty on purpose

import gc
import random
import sys
import time as real_time
import warnings

import anyio
import anyio.to_thread
import httpx
import pytest
import trio
import trio._core._run as trio_run

from waitproof.harness import events
from waitproof.harness.clocks import AsyncClock, VirtualTime
from waitproof.harness.history import History
from waitproof.harness.loop import SimulationDeadlock, SimulationRefused
from waitproof.harness.loop.choices import READY, Choices, Deviation
from waitproof.harness.loop.triorun import simulate_trio
from waitproof.harness.recorder import BudgetExhausted, Recorder


@pytest.fixture(autouse=True)
def no_leftovers():
    """Nothing may be left for the garbage collector to complain about, and trio's switches are as they were."""
    unraisable = []
    hook, sys.unraisablehook = sys.unraisablehook, unraisable.append
    before = trio_run._r, trio_run._ALLOW_DETERMINISTIC_SCHEDULING
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
        gc.collect()
    sys.unraisablehook = hook
    assert (trio_run._r, trio_run._ALLOW_DETERMINISTIC_SCHEDULING) == before
    assert [str(item.message) for item in caught] == []
    assert unraisable == []


def line(budget=4_000, **options):
    time = VirtualTime(**options)
    history = History()
    recorder = Recorder(history, lambda: time.now, budget=budget)
    time.attach(recorder)
    return time, history, recorder


class Dice:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def choose(self, point, options):
        return self.random.randrange(options)


class Picks:
    def __init__(self, *answers):
        self.answers = list(answers)

    def choose(self, point, options):
        return self.answers.pop(0) if self.answers else 0


def test_trio_programs_run_in_virtual_time():
    time, _, recorder = line()

    async def main():
        with trio.move_on_after(5) as scope:
            await trio.sleep_forever()
        with pytest.raises(TimeoutError):
            with anyio.fail_after(2):
                await anyio.sleep(600)
        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(trio.sleep, 1.1)
        assert trio.current_time() == time.monotonic()
        return scope.cancelled_caught

    assert simulate_trio(main, time=time, recorder=recorder) is True
    assert time.now == pytest.approx(8.1)


def test_httpx_with_a_custom_transport_runs():
    class Slow(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request):
            await anyio.sleep(2)
            return httpx.Response(200, text="done")

    async def main():
        async with httpx.AsyncClient(transport=Slow()) as client:
            return (await client.get("http://bench.invalid/")).text

    time, _, recorder = line()
    assert (simulate_trio(main, time=time, recorder=recorder), time.now) == ("done", 2.0)


def test_the_same_program_gives_the_same_history_and_another_order_another():
    def digest(seed):
        time, history, recorder = line()
        clock = AsyncClock(time, recorder)

        async def main():
            async with trio.open_nursery() as nursery:
                for index in range(6):
                    nursery.start_soon(clock.sleep, 1 + index % 2)

        simulate_trio(main, time=time, recorder=recorder, chooser=None if seed is None else Dice(seed))
        return history.digest()

    assert digest(None) == digest(None)
    assert digest(1) == digest(1)
    assert len({digest(seed) for seed in range(5)}) > 1


def test_no_address_decides_an_order():
    def digest():
        time, history, recorder = line()
        clock = AsyncClock(time, recorder)

        async def sleeper(index):
            with anyio.fail_after(100):
                await clock.sleep(50 + index)

        async def main():
            async with anyio.create_task_group() as tasks:
                for index in range(12):
                    tasks.start_soon(sleeper, index)
                await anyio.sleep(1)
                tasks.cancel_scope.cancel()

        simulate_trio(main, time=time, recorder=recorder)
        return history.digest()

    garbage, digests = [], set()
    for size in range(10):
        garbage.append([object() for _ in range(size * 7)])  # so that addresses differ
        digests.add(digest())
    assert len(digests) == 1


def test_the_orderly_choice_is_order_of_creation_and_equal_deadlines_are_a_choice():
    def order(chooser):
        time, _, recorder = line()
        woken = []

        async def main():
            async def sleeper(name):
                await trio.sleep(1)
                woken.append(name)

            async with trio.open_nursery() as nursery:
                for name in "abc":
                    nursery.start_soon(sleeper, name)
                await trio.sleep(0.5)

        simulate_trio(main, time=time, recorder=recorder, chooser=chooser)
        return "".join(woken)

    assert order(None) == "abc"
    every = Choices(Dice(3))
    order(every)
    assert every.count > 2  # the three sleepers of one instant were choices
    last = Choices(Picks(*[0] * (every.count - 2), 2))
    assert order(last) == "cab"
    assert last.deviations == [Deviation(position=every.count - 2, point=READY, options=3, choice=2)]


def test_wall_jumps_are_recorded_at_their_own_time():
    time, history, recorder = line(wall_jumps=((3.0, -100.0),))

    async def main():
        await trio.sleep(10)

    simulate_trio(main, time=time, recorder=recorder)
    assert [(event.at, event.kind) for event in history] == [(3.0, events.WALL_JUMP)]


def test_a_deadlock_names_every_task_and_where_it_waits():
    time, history, recorder = line()

    async def main():
        async def waits_for_event():
            await trio.Event().wait()

        async def waits_for_lock(lock):
            async with lock:
                pass

        lock = trio.Lock()
        await lock.acquire()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(waits_for_event)
            nursery.start_soon(waits_for_lock, lock, name="locker")

    with pytest.raises(SimulationDeadlock) as caught:
        simulate_trio(main, time=time, recorder=recorder)
    message = str(caught.value)
    assert "#0 'main' at test_triorun.py:" in message
    assert "waits_for_event, on Event.wait (_sync.py:" in message
    assert "#2 'locker' at test_triorun.py:" in message
    assert history[-1].data["reason"] == "deadlock"


def test_a_shielded_endless_wait_is_a_deadlock_too_and_is_torn_down():
    time, history, recorder = line()

    async def main():
        with trio.CancelScope(shield=True):
            await trio.sleep_forever()

    with pytest.raises(SimulationDeadlock, match="sleep_forever"):
        simulate_trio(main, time=time, recorder=recorder)
    assert history[-1].data["what"] == "task-never-ends"


def test_a_cancelled_sleep_is_recorded_as_cancelled():
    time, history, recorder = line()
    clock = AsyncClock(time, recorder)

    async def main():
        with trio.move_on_after(4):
            await clock.sleep(10)

    simulate_trio(main, time=time, recorder=recorder)
    assert history[-1].data == {"seconds": 10.0, "slept": 4.0, "late": -6.0, "ending": "cancelled"}


def test_a_storm_ends_by_the_step_budget():
    time, history, recorder = line()

    async def main():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep, 5)
            while True:
                await trio.sleep(0)

    with pytest.raises(BudgetExhausted, match="300 task steps"):
        simulate_trio(main, time=time, recorder=recorder, max_steps=300)
    assert history[-1].data["reason"] == "budget"


def test_a_storm_that_swallows_cancellation_ends_as_well():
    time, history, recorder = line()

    async def main():
        while True:
            try:
                await trio.sleep(0)
            except BaseException:
                pass

    with pytest.raises(BudgetExhausted, match="300 task steps"):
        simulate_trio(main, time=time, recorder=recorder, max_steps=300)
    assert history[-1].data["what"] == "task-never-ends"


def test_a_budget_inside_a_nursery_is_told_as_what_it_is():
    time, _, recorder = line(budget=40)
    clock = AsyncClock(time, recorder)

    async def main():
        async with trio.open_nursery() as nursery:
            for _ in range(50):
                nursery.start_soon(clock.sleep, 1)

    with pytest.raises(BudgetExhausted, match="40 events"):
        simulate_trio(main, time=time, recorder=recorder)


def test_an_exception_of_the_chooser_reaches_the_caller():
    class Stop(BaseException):
        pass

    class Stopper:
        def choose(self, point, options):
            raise Stop

    async def main():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep, 1)
            nursery.start_soon(trio.sleep, 1)

    time, _, recorder = line()
    with pytest.raises(Stop):
        simulate_trio(main, time=time, recorder=recorder, chooser=Stopper())


async def _accepts():
    with trio.socket.socket() as listener:
        await listener.bind(("127.0.0.1", 0))
        listener.listen()
        with trio.move_on_after(5):
            await listener.accept()


async def _blocks():
    real_time.sleep(3)


@pytest.mark.parametrize(
    ("ask", "word"),
    [
        (_blocks, r"time.sleep\(3\) is a real sleep"),
        (lambda: trio.open_tcp_stream("127.0.0.1", 1), "real socket|thread"),
        (_accepts, "real socket"),
    ],
)
def test_what_cannot_be_simulated_is_refused_by_name(ask, word):
    time, history, recorder = line()

    async def main():
        await ask()

    with pytest.raises(SimulationRefused, match=word):
        simulate_trio(main, time=time, recorder=recorder)
    assert history[-1].data["reason"] == "refused"
