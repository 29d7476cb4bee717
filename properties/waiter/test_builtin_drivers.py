"""The two drivers of the built-in waiter: the same events in the same order, on threads, asyncio and trio."""

import asyncio
import math
import random
import time

import anyio
import httpx
import pytest
import trio.testing
from hypothesis import given, settings
from hypothesis import strategies as st

from waitproof.harness.subjects.normaliser import normalise_job
from waitproof.harness.subjects.waiter import (
    Answer,
    AnyioClock,
    FetchTimeoutError,
    JobWaitTimeoutError,
    SystemClock,
    async_wait_for_job,
    wait_for_job,
)

BACKENDS = ["asyncio", "trio"]


def job(status="processing"):
    return normalise_job({"job_id": "j", "status": status}, resource="parse_jobs")


def rate_limited(seconds):
    request = httpx.Request("GET", "http://h/")
    response = httpx.Response(429, headers={"Retry-After": str(seconds)}, request=request)
    return httpx.HTTPStatusError("slow down", request=request, response=response)


class FakeClock:
    """Time moves only by sleeping; every call is noted. It can wake early."""

    def __init__(self, early=0.0, start=0.0):
        self.now, self.early, self.events = start, early, []

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.events.append(("sleep", seconds))
        self.now += seconds * (1 - self.early)


class FakeAsyncClock(FakeClock):
    async def sleep(self, seconds):
        super().sleep(seconds)


def play(script, *, driver, early=0.0, fetch_takes=0.0, **options):
    """Run a script (statuses, exceptions, answers; the last repeats) through one driver; return all events."""
    clock = FakeClock(early) if driver == "sync" else FakeAsyncClock(early)
    polls = 0

    def fetch(limit):
        nonlocal polls
        what = script[min(polls, len(script) - 1)]
        polls += 1
        clock.events.append(("fetch", clock.now, limit))
        clock.now += fetch_takes
        if isinstance(what, Exception):
            raise what
        return what if isinstance(what, Answer) else job(what)

    async def fetch_async(limit):
        return fetch(limit)

    def on_poll(event):
        clock.events.append(("poll", event.polls, event.elapsed, event.job, type(event.error)))
        clock.now += 0.125

    options = {"on_poll": on_poll, **options}
    try:
        if driver == "sync":
            result = wait_for_job(fetch, clock=clock, **options)
        else:
            result = anyio.run(lambda: async_wait_for_job(fetch_async, clock=clock, **options), backend=driver)
        clock.events.append(("return", result))
    except Exception as error:
        clock.events.append(("raise", type(error), str(error), repr(error.__cause__)))
    return clock.events


STEPS = st.sampled_from(["pending", "running", "mystery", "completed", "failed"]) | st.builds(
    lambda kind: kind,
    st.sampled_from([TimeoutError("t"), httpx.ConnectError("c"), rate_limited(3), rate_limited(99), KeyError("k")]),
)


@settings(max_examples=60, deadline=None)
@given(
    script=st.lists(STEPS, min_size=1, max_size=6),
    timeout=st.sampled_from([0.0, 1.0, 7.5, 30.0]),
    early=st.sampled_from([0.0, 0.3]),
    seed=st.none() | st.integers(0, 9),
    raising=st.booleans(),
)
def test_sync_and_async_take_the_same_decisions(script, timeout, early, seed, raising):
    """Event for event, the three drivers do the same."""

    def run(driver):
        jitter = None if seed is None else random.Random(seed)
        return play(script, driver=driver, timeout=timeout, early=early, jitter=jitter, raise_on_failure=raising)

    assert run("sync") == run("asyncio") == run("trio")


def test_the_fetch_is_told_its_limit():
    """`fetch_timeout` reaches the fetch function."""
    assert play(["completed"], driver="sync", fetch_timeout=2.5)[0] == ("fetch", 0.0, 2.5)


def test_on_poll_sees_every_fetch():
    """The callback is told about failures, and about the last job seen."""
    events = [e for e in play(["pending", TimeoutError(), "completed"], driver="sync") if e[0] == "poll"]
    assert [(polls, error) for _, polls, _, _, error in events] == [(1, type(None)), (2, TimeoutError), (3, type(None))]
    assert events[1][3] == job("pending")


@pytest.mark.parametrize("options", [{"timeout": -1}, {"factor": math.nan}, {"cap": True}])
def test_bad_parameters_are_refused_before_the_first_fetch(options):
    """ValueError, and no fetch."""
    for driver in ("sync", *BACKENDS):
        events = play(["completed"], driver=driver, **options)
        assert [e[:2] for e in events] == [("raise", ValueError)]


def test_an_unknown_option_is_a_type_error():
    """A misspelt option is not silently ignored."""
    with pytest.raises(TypeError):
        wait_for_job(lambda _: job(), pol_interval=1.0)


def test_the_raised_error_is_the_fetchs_own():
    """A permanent error is the same object, without a context of ours."""
    error = KeyError("mine")

    def fetch(_):
        raise error

    with pytest.raises(KeyError) as caught:
        wait_for_job(fetch, clock=FakeClock())
    assert caught.value is error
    assert caught.value.__context__ is None


def test_interrupts_pass_through_at_once():
    """KeyboardInterrupt in a fetch or a sleep is not classified."""

    def fetch(_):
        raise KeyboardInterrupt

    clock = FakeClock()
    with pytest.raises(KeyboardInterrupt):
        wait_for_job(fetch, clock=clock)
    assert clock.events == []


def in_virtual_trio(function):
    return trio.run(function, clock=trio.testing.MockClock(autojump_threshold=0))


def test_a_hanging_fetch_is_cancelled_after_its_limit():
    """Every fetch is bounded; the wait goes on, and ends by timeout + fetch timeout."""

    async def main():
        async def hang(_):
            await anyio.sleep_forever()

        started = anyio.current_time()
        with pytest.raises(JobWaitTimeoutError) as caught:
            await async_wait_for_job(hang, timeout=25.0, fetch_timeout=10.0)
        assert isinstance(caught.value.__cause__, FetchTimeoutError)
        return caught.value.polls, anyio.current_time() - started

    assert in_virtual_trio(main) == (3, pytest.approx(32.5))


def test_a_timeout_error_of_the_fetchs_own_is_classified():
    """A TimeoutError that the fetch raises itself is transient, and passes through as it is."""
    own = TimeoutError("mine")

    async def main():
        async def fetch(_):
            raise own

        with pytest.raises(JobWaitTimeoutError) as caught:
            await async_wait_for_job(fetch, timeout=0.0)
        assert caught.value.__cause__ is own

    in_virtual_trio(main)


def test_the_default_async_clock_is_the_loops():
    """With virtual time a wait of ten minutes takes none, and has 65 polls."""

    async def main():
        async def fetch(_):
            return job()

        with pytest.raises(JobWaitTimeoutError) as caught:
            await async_wait_for_job(fetch)
        return caught.value.polls

    assert in_virtual_trio(main) == 65


@pytest.mark.parametrize("where", ["fetch", "sleep"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_cancellation_stops_the_wait_at_once(backend, where):
    """Cancelled in a fetch or in a sleep, nothing more is fetched, and the scope sees its own cancellation."""
    fetches = []

    async def main():
        async def fetch(_):
            fetches.append(1)
            if where == "fetch":
                scope.cancel()
                await anyio.sleep_forever()
            return job()

        class Clock(AnyioClock):
            async def sleep(self, seconds):
                scope.cancel()
                await anyio.sleep(seconds)

        with anyio.CancelScope() as scope:
            await async_wait_for_job(fetch, clock=Clock())
        assert scope.cancelled_caught

    anyio.run(main, backend=backend)
    assert fetches == [1]


def test_native_asyncio_cancellation_is_the_original_one():
    """`task.cancel(msg)` comes out as that CancelledError, not as a timeout."""

    async def main():
        entered = asyncio.Event()

        async def fetch(_):
            entered.set()
            await asyncio.sleep(3600)

        task = asyncio.ensure_future(async_wait_for_job(fetch))
        await entered.wait()
        task.cancel("enough")
        with pytest.raises(asyncio.CancelledError, match="enough"):
            await task
        assert task.cancelled()

    asyncio.run(main())


@pytest.mark.parametrize("first", ["limit", "cancel"])
def test_an_outer_cancellation_in_the_tick_of_the_fetch_timeout_wins(first):
    """When both come together the wait ends cancelled: the fetch's limit must not swallow the outer one."""

    async def main():
        loop = asyncio.get_running_loop()
        entered = asyncio.Event()

        async def fetch(_):
            entered.set()
            await asyncio.sleep(3600)

        task = asyncio.ensure_future(async_wait_for_job(fetch, fetch_timeout=0.01))
        await entered.wait()
        moment = loop.time() + 0.02
        while loop.time() < moment:  # the limit's timer is due, and the loop has not yet had its turn
            pass
        if first == "cancel":
            loop.call_soon(task.cancel)
        else:
            loop.call_at(loop.time(), task.cancel)  # due in the same turn, behind the limit's timer
        with pytest.raises(asyncio.CancelledError):
            await task
        assert task.cancelled()

    asyncio.run(main())


def test_the_system_clock_sleeps_what_no_timer_takes(monkeypatch):
    """time.sleep(1e10) overflows; the clock sleeps it in pieces."""
    pieces = []
    monkeypatch.setattr(time, "sleep", pieces.append)
    SystemClock().sleep(1e6)
    assert sum(pieces) == 1e6
    assert max(pieces) == 86_400.0
    pieces.clear()
    SystemClock().sleep(-1.0)
    assert pieces == [0.0]


@pytest.mark.parametrize("resolution", [True, -1.0, math.nan, math.inf, "1"])
def test_a_bad_resolution_is_refused(resolution):
    """A clock with a nonsensical resolution is a ValueError."""
    clock = FakeClock()
    clock.resolution = resolution
    with pytest.raises(ValueError, match="resolution"):
        wait_for_job(lambda _: job(), clock=clock)


def test_memory_stays_bounded():
    """A wait of 20,000 failures keeps one error, not a chain of them."""
    events = []

    def fetch(_):
        events.append(1)
        raise TimeoutError(str(len(events)))

    clock = FakeClock()
    with pytest.raises(JobWaitTimeoutError) as caught:
        wait_for_job(fetch, clock=clock, timeout=20_000.0, poll_interval=1.0)
    assert caught.value.polls == 20_001
    assert caught.value.__cause__.__context__ is None
    assert caught.value.__context__ is None
