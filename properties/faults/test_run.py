"""Running plans: what a caller sees is what is recorded, and nothing that a subject does ends the harness."""

from __future__ import annotations

import asyncio
import dataclasses

import anyio
import httpx
import pytest

from waitproof.faults.client_plan import Attempt, ClientPlan
from waitproof.faults.concurrent_plan import ConcurrentPlan, StartedWait
from waitproof.faults.plan import WaitPlan, answer, fault
from waitproof.faults.run import run_client, run_concurrent, run_many, run_wait
from waitproof.faults.server.jobs import BenchBrokenError
from waitproof.harness import events
from waitproof.harness.dialect import WaiterDialect
from waitproof.harness.history import History
from waitproof.harness.protocols import JobView, WaitCall, WaiterSubject

MODES = ("sync", "asyncio", "trio")
PROCESSING = answer("status", word="processing")


class TooLongError(TimeoutError):
    """The toy's own timeout."""


def wait(bench, call):
    deadline = bench.clock.monotonic() + call.timeout
    while (job := bench.get_job(call.job_id, resource=call.resource, timeout=call.fetch_timeout))[
        "status"
    ] != "completed":
        if bench.clock.monotonic() >= deadline:
            raise TooLongError("too long")
        bench.clock.sleep(1.0)
    return job


async def wait_async(bench, call):
    deadline = bench.async_clock.monotonic() + call.timeout
    while (job := await bench.get_job_async(call.job_id, resource=call.resource, timeout=call.fetch_timeout))[
        "status"
    ] != "completed":
        if bench.async_clock.monotonic() >= deadline:
            raise TooLongError("too long")
        await bench.async_clock.sleep(1.0)
    return job


def subject(mode, **changes):
    toy = WaiterSubject(
        name=f"toy-{mode}",
        mode=mode,
        wait=wait if mode == "sync" else wait_async,
        view=lambda job: JobView(job_id=job["job_id"], status=job["status"]),
        dialect=WaiterDialect(parameters=frozenset({"timeout", "fetch_timeout"})),
        errors={"timeout": (TooLongError,)},
        carries=lambda error: {"said": str(error)},
    )
    return dataclasses.replace(toy, **changes)


def does(mode, action):
    """A subject that only does ``action`` (a plain function)."""

    async def asynchronous(bench, call):
        return action(bench, call)

    return subject(mode, wait=action if mode == "sync" else asynchronous)


@pytest.fixture(params=MODES)
def mode(request):
    return request.param


def one(history, kind):
    (event,) = history.of_kind(kind)
    return event


def test_a_wait_from_start_to_end(mode):
    plan = WaitPlan(
        call=WaitCall(job_id="a/b", timeout=9.0, factor=7.0),
        answers=(PROCESSING, answer("status", word="queued", delay=0.25)),
    )
    history = run_wait(plan, subject(mode))
    assert [
        (event.kind, event.op, event.at) for event in history if event.kind.startswith(("wait", "fetch", "sleep"))
    ] == [
        ("wait.start", "w0", 0.0),
        ("fetch.start", "w0.f0", 0.0),
        ("fetch.end", "w0.f0", 0.0),
        ("sleep.start", "w0", 0.0),
        ("sleep.end", "w0", 1.0),
        ("fetch.start", "w0.f1", 1.0),
        ("fetch.end", "w0.f1", 1.25),
        ("sleep.start", "w0", 1.25),
        ("sleep.end", "w0", 2.25),
        ("fetch.start", "w0.f2", 2.25),
        ("fetch.end", "w0.f2", 2.25),
        ("wait.return", "w0", 2.25),
    ]
    start = one(history, events.WAIT_START).data
    assert (start["mode"], start["call"]["timeout"], start["call"]["factor"]) == (
        mode,
        9.0,
        1.5,
    )  # it does not take a factor
    assert one(history, events.WAIT_RETURN).data["view"]["job_id"] == "a/b"
    assert history.header["plan"]["plan"]["call"]["factor"] == 7.0
    assert (history.header["subject"], history.header["mode"]) == (f"toy-{mode}", mode)


def test_the_same_plan_gives_the_same_bytes(mode):
    plan = WaitPlan(
        call=WaitCall(timeout=20.0),
        answers=(answer("rate_limit", form="both"), PROCESSING, answer("drip", word="processing", gap=0.5)) * 2,
        wakes=(fault("early"), fault("late", seconds=3.0)),
        clock=(fault("wall_jump", at=1.5, seconds=-60.0),),
        origin=1e6,
    )
    assert len({run_wait(plan, subject(mode)).digest() for _ in range(3)}) == 1


def test_what_it_raises_is_told(mode):
    history = run_wait(WaitPlan(call=WaitCall(timeout=2.0), ending=PROCESSING), subject(mode))
    raised = one(history, events.WAIT_RAISE)
    assert raised.at == 2.0
    assert dict(raised.data) == {
        "category": "timeout",
        "type": "TooLongError",
        "message": "too long",
        "builtin_timeout": True,
        "carries": {"said": "too long"},
        "cause": None,
    }


@pytest.mark.parametrize("at", [0.0, 0.5, 2.25, 3.0])
def test_the_caller_cancels(mode, at):
    """In a fetch or in a sleep: the cancellation and the end are at that very time."""
    plan = WaitPlan(ending=dataclasses.replace(PROCESSING, delay=0.5), caller=(fault("cancel", at=at),))
    history = run_wait(plan, subject(mode))
    assert one(history, events.WAIT_CANCEL).at == at
    raised = one(history, events.WAIT_RAISE)
    assert (raised.at, raised.data["category"]) == (at, "cancelled")
    opened = {event.op for event in history.of_kind(events.FETCH_START)}
    assert opened == {event.op for event in history.of_kind(events.FETCH_END)}


def test_a_cancellation_after_the_end_is_none(mode):
    history = run_wait(WaitPlan(caller=(fault("cancel", at=5.0),)), subject(mode))
    assert one(history, events.WAIT_RETURN)
    assert not history.of_kind(events.WAIT_CANCEL)


def test_sleeps_wake_as_planned(mode):
    plan = WaitPlan(
        answers=(PROCESSING,) * 3, wakes=(fault("exact"), fault("early", seconds=0.25), fault("late", seconds=2.0))
    )
    late = [event.data["late"] for event in run_wait(plan, subject(mode)).of_kind(events.SLEEP_END)]
    assert late == [0.0, -0.25, 2.0]


def test_a_storm_is_stopped(mode):
    def storm(bench, call):
        while True:
            try:
                bench.get_job(call.job_id)
            except Exception:
                continue

    async def storm_async(bench, call):
        while True:
            await bench.get_job_async(call.job_id)

    stormy = subject(mode, wait=storm if mode == "sync" else storm_async)
    history = run_wait(WaitPlan(ending=PROCESSING), stormy, budget=50)
    assert one(history, events.BENCH_STOP).data["reason"] == "budget"
    assert not history.of_kind(events.WAIT_RAISE, events.WAIT_RETURN)


def test_a_wait_that_never_ends_is_stopped(mode):
    history = run_wait(WaitPlan(ending=answer("hang")), does("sync", lambda bench, call: bench.get_job(call.job_id)))
    assert one(history, events.BENCH_STOP).data["reason"] == "hang"
    if mode != "sync":

        async def for_ever(bench, call):
            await anyio.Event().wait()

        history = run_wait(WaitPlan(), subject(mode, wait=for_ever))
        assert one(history, events.BENCH_STOP).data["reason"] == "deadlock"
        assert not history.of_kind(events.WAIT_RAISE)


@pytest.mark.parametrize(
    "error", [SystemExit(3), GeneratorExit(), MemoryError(), type("Odd", (BaseException,), {})("odd")]
)
def test_whatever_flies_is_recorded(mode, error):
    def throw(bench, call):
        raise error

    raised = one(run_wait(WaitPlan(), does(mode, throw)), events.WAIT_RAISE)
    assert (raised.data["type"], raised.data["category"]) == (type(error).__name__, "other")


def test_a_real_interrupt_stops_the_harness(mode):
    def throw(bench, call):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_wait(WaitPlan(), does(mode, throw))


def test_an_error_whose_str_raises(mode):
    class Rude(Exception):
        def __str__(self):
            raise ValueError("no")

    def throw(bench, call):
        raise Rude

    raised = one(run_wait(WaitPlan(), does(mode, throw)), events.WAIT_RAISE)
    assert raised.data["message"] == "<Rude whose str raised ValueError>"


@pytest.mark.parametrize("view", [lambda job: job, lambda job: job.nothing, lambda job: None])
def test_nonsense_is_recorded_as_such(mode, view):
    told = one(run_wait(WaitPlan(), subject(mode, view=view)), events.WAIT_RETURN).data["view"]
    assert told["status"] is None
    assert told["other"]


@pytest.mark.parametrize("carries", [lambda error: 3, lambda error: error.nothing])
def test_nonsense_that_an_error_carries(mode, carries):
    plan = WaitPlan(call=WaitCall(timeout=0.0), ending=PROCESSING)
    assert one(run_wait(plan, subject(mode, carries=carries)), events.WAIT_RAISE).data["carries"]["other"]


def test_an_asynchronous_subject_that_returns_no_awaitable():
    history = run_wait(WaitPlan(), subject("asyncio", wait=lambda bench, call: 3))
    assert "must return an awaitable" in one(history, events.WAIT_RAISE).data["message"]


def test_a_task_left_behind_is_seen():
    kept = []

    async def careless(bench, call):
        async def later():
            await asyncio.sleep(5.0)
            await bench.get_job_async(call.job_id)

        kept.append(asyncio.ensure_future(later()))
        return await bench.get_job_async(call.job_id)

    history = run_wait(WaitPlan(), subject("asyncio", wait=careless))
    assert one(history, events.WAIT_RETURN).at == 0.0
    assert [event.at for event in history.of_kind(events.FETCH_START)] == [0.0, 5.0]


def test_what_escapes_from_a_task_left_behind_is_a_finding():
    kept = []

    async def careless(bench, call):
        async def later():
            await asyncio.sleep(5.0)
            raise SystemExit(3)

        kept.append(asyncio.ensure_future(later()))
        return await bench.get_job_async(call.job_id)

    stop = one(run_wait(WaitPlan(), subject("asyncio", wait=careless)), events.BENCH_STOP)
    assert stop.data["reason"] == "escaped"
    assert "SystemExit" in stop.data["detail"]


def test_a_bug_of_the_bench_is_not_the_subjects(monkeypatch, mode):
    monkeypatch.setattr(WaitPlan, "answer_to", lambda self, index: 1 / 0)
    with pytest.raises(BenchBrokenError, match="ZeroDivisionError"):
        run_wait(WaitPlan(), subject(mode))


def test_twins_share_a_history():
    plan, history = WaitPlan(answers=(PROCESSING,), origin=5.0), History({"subject": "toys"})
    for each in MODES:
        assert run_wait(plan, subject(each), prefix=f"{each}/", history=history) is history
    starts = history.of_kind(events.WAIT_START)
    assert [(event.op, event.at) for event in starts] == [("sync/w0", 0.0), ("asyncio/w0", 0.0), ("trio/w0", 0.0)]

    def of(prefix):
        lines = [event for event in history if event.op.startswith(prefix)]
        return [(event.at, event.kind, event.op.removeprefix(prefix), event.data.get("ending")) for event in lines]

    assert of("sync/") == of("asyncio/") == of("trio/")


def test_several_waits_share_a_world(mode):
    slow = WaitPlan(call=WaitCall(job_id="slow"), answers=(PROCESSING,) * 3, wakes=(fault("late", seconds=0.5),))
    quick = WaitPlan(call=WaitCall(job_id="quick"), answers=(PROCESSING,))
    ends = run_many([(slow, 0.0), (quick, 0.5)], subject(mode)).of_kind(events.WAIT_RETURN)
    expected = (
        [("w0", 3.5, "slow"), ("w1", 4.5, "quick")] if mode == "sync" else [("w1", 1.5, "quick"), ("w0", 3.5, "slow")]
    )
    assert [(event.op, event.at, event.data["view"]["job_id"]) for event in ends] == expected


def test_one_of_several_waits_is_cancelled():
    first = WaitPlan(ending=PROCESSING, caller=(fault("cancel", at=2.5),))
    second = WaitPlan(answers=(PROCESSING,) * 4)
    for each in ("asyncio", "trio"):
        history = run_many([(first, 0.0), (second, 0.0)], subject(each))
        assert (one(history, events.WAIT_RAISE).op, one(history, events.WAIT_RETURN).op) == ("w0", "w1")
        assert one(history, events.WAIT_RETURN).at == 4.0


def test_an_interrupt_between_two_blocking_waits_hits_nobody():
    plans = [(WaitPlan(caller=(fault("cancel", at=2.0),)), 0.0), (WaitPlan(), 5.0)]
    history = run_many(plans, subject("sync"))
    assert [event.at for event in history.of_kind(events.WAIT_RETURN)] == [0.0, 5.0]


def test_waits_of_one_job_id_get_jobs_of_their_own(mode):
    plan = ConcurrentPlan(waits=(StartedWait(), StartedWait(start=1.0)))
    calls = [event.data["call"]["job_id"] for event in run_concurrent(plan, subject(mode)).of_kind(events.WAIT_START)]
    assert calls == ["job-1", "job-1-2"]
    assert len(run_concurrent(ConcurrentPlan(), subject(mode))) == 0


def post(bench, call):
    with httpx.Client(transport=bench.transport(), base_url=bench.base_url, trust_env=False) as client:
        for _ in range(3):
            try:
                return (
                    client.post("/v2/parse/jobs", json={"operation": call.operation}, timeout=5.0)
                    .raise_for_status()
                    .json()
                )
            except httpx.TransportError:
                bench.clock.sleep(1.0)
        raise TooLongError("three times")


def test_a_client_that_repeats_itself_without_a_key_submits_twice():
    plan = ClientPlan(operation="operation-7", attempts=(Attempt(answer=answer("disconnect", when="after_effect")),))
    history = run_client(plan, subject("sync", create=post))
    assert one(history, events.WAIT_START).data["call"] == {
        "op": "create",
        "resource": "parse_jobs",
        "operation": "operation-7",
    }
    assert [event.data["operation"] for event in history.of_kind(events.SERVER_EFFECT)] == [
        "operation-7",
        "operation-7",
    ]
    assert [event.op for event in history.of_kind(events.FETCH_START)] == ["c0.f0", "c0.f1"]
    assert one(history, events.WAIT_RETURN).op == "c0"


def test_a_subject_without_that_path_is_refused():
    with pytest.raises(ValueError, match="has no direct path"):
        run_client(ClientPlan(op="direct"), subject("sync"))


def test_no_plan_at_all_is_refused():
    with pytest.raises(ValueError, match="at least one plan"):
        run_many([], subject("sync"))
