"""Subjects without a clock seam are put on the time line by their modules' own names, and everything is restored."""

# ruff: noqa: DTZ001, SIM117 - naive UTC is what freezegun speaks

import asyncio
import datetime as dt
import sys
import textwrap
import time as real_time
from types import ModuleType

import httpx
import pytest

from waitproof.harness import events
from waitproof.harness.clocks import VirtualTime, WakePlan
from waitproof.harness.history import History
from waitproof.harness.loop.simloop import simulate
from waitproof.harness.loop.triorun import simulate_trio
from waitproof.harness.recorder import BudgetExhausted, Recorder
from waitproof.harness.timepatch import patch_time

SUBJECT = """
    import asyncio, datetime, time
    import anyio, trio
    import time as clock
    from datetime import date, datetime as moment
    from time import monotonic, perf_counter_ns as ticks, sleep as nap

    REAL = (time, clock, asyncio, anyio, trio, nap, monotonic, ticks)

    def by_module(seconds): time.sleep(seconds)
    def by_alias(seconds): clock.sleep(seconds)
    def by_name(seconds): nap(seconds)
    def by_default(seconds, sleep=time.sleep): sleep(seconds)
    def by_keyword(seconds, *, sleep=time.sleep): sleep(seconds)
    def inside(seconds):
        import time
        time.sleep(seconds)
    def inside_by_name(seconds):
        from time import sleep
        sleep(seconds)

    class Waiter:
        pause = staticmethod(time.sleep)
        def wait(self, seconds, sleep=time.sleep):
            self.pause(seconds)
            sleep(seconds)

    def readings():
        return time.monotonic(), monotonic(), clock.perf_counter(), time.monotonic_ns(), ticks()
    def wall():
        return time.time(), time.time_ns(), moment.now(), datetime.datetime.utcnow(), date.today(), time.gmtime()

    async def with_asyncio(seconds): return await asyncio.sleep(seconds, "result")
    async def with_anyio(seconds): await anyio.sleep(seconds)
    async def with_trio(seconds): await trio.sleep(seconds)
"""

CLIENT = """
    import time
    import httpx

    def get(client, url):
        for attempt in range(3):
            answer = client.get(url)
            if answer.status_code != 503:
                return answer
            time.sleep(float(answer.headers["retry-after"]))
"""


def module(name, source):
    made = ModuleType(name)
    exec(compile(textwrap.dedent(source), f"{name}.py", "exec"), vars(made))
    return made


@pytest.fixture
def subject(monkeypatch):
    package = ModuleType("acme")
    monkeypatch.setitem(sys.modules, "acme", package)
    made = module("acme.waiter", SUBJECT)
    monkeypatch.setitem(sys.modules, "acme.waiter", made)
    return made


def line(**options):
    time = VirtualTime(**options)
    history = History()
    recorder = Recorder(history, lambda: time.now)
    time.attach(recorder)
    return time, history, recorder


def sleeps(history):
    return [(event.at, event.data["seconds"], event.data["by"]) for event in history.of_kind(events.SLEEP_START)]


WAYS = ["by_module", "by_alias", "by_name", "by_default", "by_keyword", "inside", "inside_by_name"]


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_sleep_is_virtual_and_recorded_by_module(subject, way):
    time, history, recorder = line()
    with patch_time(["acme"], time=time, recorder=recorder):
        getattr(subject, way)(1_000)
    assert time.now == 1_000
    assert sleeps(history) == [(0.0, 1_000.0, "acme.waiter")]


def test_sleeps_held_by_a_class_are_virtual(subject):
    time, _, recorder = line()
    with patch_time(["acme.waiter"], time=time, recorder=recorder):
        subject.Waiter().wait(500)
    assert time.now == 1_000


def test_all_clocks_are_on_one_line(subject):
    time, _, recorder = line(origin=64.0)
    with patch_time(["acme"], time=time, recorder=recorder):
        assert subject.readings() == (64.0, 64.0, 64.0, 64_000_000_000, 64_000_000_000)
        subject.by_module(1.5)
        assert subject.readings() == (65.5, 65.5, 65.5, 65_500_000_000, 65_500_000_000)


def test_the_wall_clock_agrees_everywhere_also_after_a_jump(subject):
    time, history, recorder = line(wall_jumps=((10.0, -86_400.0),))

    def check():
        wall = time.wall()
        epoch, nanoseconds, now, utc, today, broken_down = subject.wall()
        wanted = dt.datetime(1970, 1, 1) + dt.timedelta(seconds=wall)
        assert (epoch, nanoseconds) == (wall, wall * 1e9)
        assert (now, utc, today) == (wanted, wanted, wanted.date())
        assert tuple(broken_down)[:6] == wanted.timetuple()[:6]

    with patch_time(["acme"], time=time, recorder=recorder):
        check()
        subject.by_name(3.0)
        check()
        before = subject.readings()[0]
        subject.by_name(20.0)
        check()
        assert subject.readings()[0] - before == 20.0
    assert [event.at for event in history.of_kind(events.WALL_JUMP)] == [10.0]


def test_everything_is_restored(subject):
    def state():
        kept = {name: getattr(real_time, name) for name in dir(real_time) if not name.startswith("_")}
        defaults = subject.by_default.__defaults__, subject.by_keyword.__kwdefaults__, vars(subject.Waiter)["pause"]
        return dict(vars(subject)), kept, asyncio.sleep, dt.datetime, defaults

    before = state()
    time, _, recorder = line()
    with pytest.raises(RuntimeError, match="subject"):
        with patch_time(["acme"], time=time, recorder=recorder):
            assert state() != before
            raise RuntimeError("subject")
    assert state() == before
    assert time.watchers == []


def test_the_rest_of_the_process_keeps_its_time():
    time, _, recorder = line()
    with patch_time(["acme"], time=time, recorder=recorder):
        first = real_time.monotonic()
        assert abs(real_time.time() - time.wall()) > 1_000
        assert real_time.monotonic() >= first
        assert real_time.perf_counter() < 1e9


def test_a_module_imported_under_the_patch_is_known_to_later_patches(monkeypatch):
    time, _, recorder = line()
    with patch_time(["acme"], time=time, recorder=recorder):
        late = module("acme.late", "from time import sleep\ndef wait(seconds): sleep(seconds)")
        monkeypatch.setitem(sys.modules, "acme.late", late)
        late.wait(5)
    assert time.now == 5
    again, history, recorder = line()
    with patch_time(["acme"], time=again, recorder=recorder):
        late.wait(7)
    assert sleeps(history) == [(0.0, 7.0, "acme.late")]


def test_a_prefix_means_a_package_and_not_a_beginning(subject, monkeypatch):
    other = module("acmeology", "import time\nREAL = time")
    monkeypatch.setitem(sys.modules, "acmeology", other)
    time, _, recorder = line()
    with patch_time(["acme"], time=time, recorder=recorder):
        assert other.time is other.REAL
        assert subject.time is not other.REAL


def test_wakes_are_numbered_over_all_ways_to_sleep(subject):
    time, history, recorder = line()
    with patch_time(["acme"], time=time, recorder=recorder, wakes=WakePlan(offsets=(0.5, -0.25))):
        subject.by_module(1)
        subject.by_name(1)
        subject.inside(1)
    assert [event.data["late"] for event in history.of_kind(events.SLEEP_END)] == [0.5, -0.25, 0.0]


def test_negative_and_endless_sleeps(subject):
    time, history, recorder = line()
    with patch_time(["acme"], time=time, recorder=recorder):
        with pytest.raises(ValueError, match="non-negative"):
            subject.by_module(-1)
        with pytest.raises(BudgetExhausted):
            subject.by_module(float("inf"))
    assert [seconds for _, seconds, _ in sleeps(history)] == [-1.0, {"$float": "inf"}]
    assert history[-1].data["reason"] == "hang"


def test_an_interrupt_reaches_a_sleep_of_the_subject(subject):
    time, history, recorder = line(interrupt_at=2.0)
    with patch_time(["acme"], time=time, recorder=recorder), pytest.raises(KeyboardInterrupt):
        subject.by_default(60)
    assert time.now == 2.0
    assert history[-1].data["ending"] == "cancelled"


@pytest.mark.parametrize(
    ("run", "ways"), [(simulate, ["with_asyncio", "with_anyio"]), (simulate_trio, ["with_trio", "with_anyio"])]
)
def test_asynchronous_sleeps_are_recorded_by_module(subject, run, ways):
    time, history, recorder = line()

    async def main():
        for way in ways:
            result = await getattr(subject, way)(30)
            assert result == ("result" if way == "with_asyncio" else None)

    with patch_time(["acme"], time=time, recorder=recorder):
        run(main, time=time, recorder=recorder)
    assert sleeps(history) == [(0.0, 30.0, "acme.waiter"), (30.0, 30.0, "acme.waiter")]


def test_a_blocking_sleep_in_a_coroutine_moves_the_loop_too(subject):
    time, _, recorder = line()

    async def main():
        other = asyncio.create_task(asyncio.sleep(1))
        subject.by_module(5)
        await other

    with patch_time(["acme"], time=time, recorder=recorder):
        simulate(main, time=time, recorder=recorder)
    assert time.now == 6.0  # the other task had not begun when the loop was blocked


def test_sleeps_inside_a_subjects_http_client_are_virtual(monkeypatch):
    client_module = module("acme._base_client", CLIENT)
    monkeypatch.setitem(sys.modules, "acme._base_client", client_module)
    answers = [httpx.Response(503, headers={"retry-after": "7"}), httpx.Response(200, text="done")]
    time, history, recorder = line()
    with patch_time(["acme"], time=time, recorder=recorder):
        with httpx.Client(transport=httpx.MockTransport(lambda request: answers.pop(0))) as client:
            assert client_module.get(client, "http://bench.invalid/").text == "done"
    assert sleeps(history) == [(0.0, 7.0, "acme._base_client")]
    assert time.now == 7.0


def test_the_same_program_twice_gives_the_same_history(subject):
    def digest():
        time, history, recorder = line(wall_jumps=((2.0, 9.0),))
        with patch_time(["acme"], time=time, recorder=recorder, wakes=WakePlan(offsets=(0.1,), repeat=True)):
            for way in WAYS:
                getattr(subject, way)(1)
        return history.digest()

    assert digest() == digest()


@pytest.mark.parametrize("prefixes", ["acme", []])
def test_prefixes_must_be_a_list_of_names(prefixes):
    time, _, recorder = line()
    with pytest.raises(ValueError, match="package_prefixes"):
        with patch_time(prefixes, time=time, recorder=recorder):
            pass
