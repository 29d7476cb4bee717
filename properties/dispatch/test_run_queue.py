"""Running plans against tiny correct queues, and against queues that misbehave: what is recorded, and that nothing ends the bench."""

import dataclasses
from contextlib import asynccontextmanager
from importlib import util
from pathlib import Path

import anyio.lowlevel
import pytest

from waitproof.faults.plan import answer, fault
from waitproof.faults.queue_plan import Kill, Planned, QueuePlan
from waitproof.faults.queue_running import run_queue
from waitproof.harness import events, queue_events
from waitproof.harness.calls import ApiCall
from waitproof.harness.queue_protocols import QueueConfig
from waitproof.models.invariants import catalogue
from waitproof.properties.suites import all_suites


def sibling(name):
    """A module beside this file: the folder is no package."""
    spec = util.spec_from_file_location(f"dispatch_{name}", Path(__file__).with_name(f"{name}.py"))
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tiny = sibling("tiny_queue")
MODES = (*tiny.BOTH, sibling("tiny_threads").TINY_THREADS)
BY_MODE = pytest.mark.parametrize("subject", MODES, ids=lambda subject: subject.name)


def submit(operation="o0", **values):
    step = {name: values.pop(name) for name in ("at", "then", "then_operation", "then_close") if name in values}
    return fault("queue_submit", operation=operation, call=ApiCall(**values), **step)


def kinds(history, *wanted):
    return [event.kind for event in history if event.kind in wanted]


def outcomes(history):
    return {event.op: event.data["view"]["kind"] for event in history.of_kind(queue_events.CALL_OUTCOME)}


@BY_MODE
def test_a_call_from_submit_to_effect_to_outcome(subject):
    history = run_queue(QueuePlan(), subject)
    told = (
        queue_events.CALL_SUBMIT,
        queue_events.ATTEMPT_START,
        queue_events.API_EFFECT,
        queue_events.ATTEMPT_END,
        queue_events.CALL_OUTCOME,
    )
    assert kinds(history, *told)[:5] == list(told)
    assert outcomes(history) == {"s0": "applied", "s1": "applied", "s2": "applied"}
    (settled,) = history.of_kind(queue_events.SETTLED)
    assert settled.data == {"open": [], "waiting": []}
    assert not history.of_kind(events.BENCH_STOP)


@BY_MODE
@pytest.mark.parametrize("schedule", [0, 1, 2, 3])
def test_the_same_plan_gives_the_same_bytes(subject, schedule):
    plan = QueuePlan(
        steps=tuple(submit(f"o{number}", uid=f"uid-{number}", name=f"pod-{number}") for number in range(4)),
        answers=(Planned(answer=answer("api_lost", effect="later")),),
        schedule=schedule,
    )
    assert run_queue(plan, subject).digest() == run_queue(plan, subject).digest()


@BY_MODE
def test_late_effects_land_when_the_queue_has_given_up(subject):
    plan = QueuePlan(answers=(Planned(answer=answer("api_hang", effect="later", lands=8.0)),))
    history = run_queue(plan, subject)
    (effect,) = history.of_kind(queue_events.API_EFFECT)
    (told,) = (event for event in history.of_kind(queue_events.CALL_OUTCOME) if event.op == "s0")
    assert (told.data["view"]["kind"], told.at, effect.at) == ("unknown", 5.0, 8.0)


@BY_MODE
def test_deadlines_count_from_the_start_whatever_the_clock_reads(subject):
    if not subject.dialect.deadlines:
        pytest.skip("no deadlines")
    plan = QueuePlan(
        steps=(submit("o1", uid="uid-2", name="pod-2"), submit(deadline=2.0)),
        config=QueueConfig(workers=1),
        ending=answer("api_ok", delay=3.0),
    )
    moved = dataclasses.replace(plan, origin=2.0**31)
    assert [run_queue(item, subject).of_kind(queue_events.CALL_OUTCOME)[0].at for item in (plan, moved)] == [2.0, 2.0]


@BY_MODE
def test_reentrant_submit_and_close(subject):
    history = run_queue(QueuePlan(steps=(submit(then=ApiCall(target="other"), then_operation="o1"),)), subject)
    assert [event.data["submitter"] for event in history.of_kind(queue_events.CALL_SUBMIT)][:2] == [
        "caller",
        "callback",
    ]
    assert outcomes(history)["s1"] == "applied"
    closing = run_queue(QueuePlan(steps=(submit(then_close=True), submit("o1", at=1.0))), subject)
    assert [event.data["by"] for event in closing.of_kind(queue_events.CLOSE_START)] == ["callback", "caller"]
    assert outcomes(closing) == {"s0": "applied", "s1": "closed"}


@BY_MODE
def test_deleting_and_making_anew(subject):
    plan = QueuePlan(steps=(submit(), fault("queue_recreate", uid="uid-9"), submit("o1", at=2.0)))
    history = run_queue(plan, subject)
    assert outcomes(history)["s1"] == "failed", "its uid is not that of the new pod"
    assert [event.data["type"] for event in history.of_kind(queue_events.API_EFFECT)] == ["patch", "delete", "create"]


@BY_MODE
def test_payload_snapshots_are_counted(subject):
    plan = QueuePlan(steps=tuple(submit(f"o{number}") for number in range(3)), memory=True)
    (note,) = (event for event in run_queue(plan, subject).of_kind(events.BENCH_NOTE) if event.data["what"] == "memory")
    assert note.data == {"what": "memory", "kept": 0, "live": 0}


def test_a_queue_that_keeps_payloads_is_seen():
    kept = []

    @asynccontextmanager
    async def hoarding(bench, config):
        async with tiny.open_tiny(bench, config) as queue:
            plain = queue.submit

            def submit(call, settled):
                kept.append(dict(call.payload))
                return plain(call, settled)

            queue.submit = submit
            yield queue

    subject = dataclasses.replace(tiny.TINY, open=hoarding)
    plan = QueuePlan(steps=tuple(submit(f"o{number}") for number in range(3)), memory=True)
    (note,) = (event for event in run_queue(plan, subject).of_kind(events.BENCH_NOTE) if event.data["what"] == "memory")
    assert note.data["kept"] == 3


def test_a_mutated_payload_is_the_callers_own():
    plan = QueuePlan(
        steps=(
            submit("o1", uid="uid-2", name="pod-2"),
            submit(payload={"value": 1, "items": [1]}),
            fault("queue_mutate", at=1.0, submit=1),
        ),
        config=QueueConfig(workers=1),
        ending=answer("api_ok", delay=2.0),
    )
    sent = {
        event.data["operation"]: event.data["payload"]
        for event in run_queue(plan, tiny.TINY).of_kind(queue_events.ATTEMPT_START)
    }
    assert sent["o0"] == {"operation": "o0", "value": 1, "items": [1]}


@pytest.mark.parametrize("subject", tiny.BOTH, ids=lambda subject: subject.name)
@pytest.mark.parametrize("step", [0, 1])
def test_a_waiter_is_cancelled_at_its_await_point(subject, step):
    plan = QueuePlan(
        steps=(submit(), submit("o1", target="other")), kill=Kill(step=step), ending=answer("api_ok", delay=1.0)
    )
    history = run_queue(plan, subject)
    (cancel,) = history.of_kind(queue_events.WAITER_CANCEL)
    assert cancel.op == f"s{step}"
    assert outcomes(history)[cancel.op] == "applied"
    (waited,) = (
        event
        for event in history.of_kind(events.BENCH_NOTE)
        if event.data["what"] == "waited" and event.op == cancel.op
    )
    assert waited.data["raised"] in ("CancelledError", "Cancelled")


@BY_MODE
def test_an_attempt_is_struck_and_the_queue_goes_on(subject):
    plan = QueuePlan(kill=Kill(who="attempt", how="error"), config=QueueConfig(workers=1))
    history = run_queue(plan, subject)
    ended = history.of_kind(queue_events.ATTEMPT_END)[0]
    assert outcomes(history) == {"s0": "unknown", "s1": "applied"}
    assert ended.data["error"] == "UnforeseenError"


def test_cancelling_an_attempt_on_asyncio_is_seen_at_the_transport():
    history = run_queue(QueuePlan(kill=Kill(who="attempt", step=1), ending=answer("api_ok", delay=1.0)), tiny.TINY)
    assert history.of_kind(queue_events.ATTEMPT_END)[0].data["ending"] == "cancelled"


def test_a_close_that_the_bench_cancels_is_told_as_such():
    plan = QueuePlan(
        steps=(submit(), fault("queue_close", at=0.5)), kill=Kill(who="closer"), ending=answer("api_ok", delay=3.0)
    )
    ends = run_queue(plan, tiny.TINY).of_kind(queue_events.CLOSE_END)
    assert [(event.op, event.data["cancelled"]) for event in ends] == [("c0", True), ("c1", False)]


def test_await_points_are_counted():
    history = run_queue(QueuePlan(kill=Kill(who="attempt", step=-1)), tiny.TINY)
    (note,) = (event for event in history.of_kind(events.BENCH_NOTE) if event.data["what"] == "suspensions")
    assert note.data["counts"]["attempt"] >= 2


# -- queues that misbehave ---------------------------------------------------------------------------------------------


class Nasty(BaseException):
    """What nobody catches."""


def changed(**methods):
    """The tiny queue with other methods."""

    @asynccontextmanager
    async def opened(bench, config):
        async with tiny.open_tiny(bench, config) as queue:
            for name, method in methods.items():
                setattr(queue, name, method)
            yield queue

    return dataclasses.replace(tiny.TINY, open=opened)


def raising(*_):
    raise Nasty("from anywhere")


@pytest.mark.parametrize("name", ["submit", "cancel", "close", "stats"])
def test_whatever_raises_is_recorded(name):
    plan = QueuePlan(
        steps=(submit(), fault("queue_cancel", at=0.5), fault("queue_close", at=2.0)),
        ending=answer("api_ok", delay=1.0),
    )
    method = raising if name != "stats" else lambda: 1 / 0
    history = run_queue(plan, changed(**{name: method}))
    assert not history.of_kind(events.BENCH_STOP)
    assert history.of_kind(queue_events.SETTLED)


def test_nonsense_outcomes_are_shown():
    subject = dataclasses.replace(tiny.TINY, view=lambda _: "nonsense")
    history = run_queue(QueuePlan(), subject)
    assert all("no outcome view" in word for word in outcomes(history).values())
    failing = dataclasses.replace(tiny.TINY, view=lambda _: 1 / 0)
    assert "raised ZeroDivisionError" in outcomes(run_queue(QueuePlan(), failing))["s0"]


def test_a_queue_that_cannot_be_opened_is_stopped():
    @asynccontextmanager
    async def broken(bench, config):
        raise Nasty("no such luck")
        yield

    history = run_queue(QueuePlan(), dataclasses.replace(tiny.TINY, open=broken))
    assert history.of_kind(events.BENCH_STOP)


def test_a_queue_that_spins_is_stopped():
    async def spin():
        while True:
            await anyio.lowlevel.checkpoint()

    @asynccontextmanager
    async def spinning(bench, config):
        async with tiny.open_tiny(bench, config) as queue:
            queue.group.start_soon(spin)
            yield queue

    history = run_queue(QueuePlan(), dataclasses.replace(tiny.TINY, open=spinning), budget=200)
    assert history.of_kind(events.BENCH_STOP)[0].data["reason"] == "budget"


# -- the suites --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@BY_MODE
@pytest.mark.parametrize("name", ["dispatch-plans", "dispatch-cancel"])
def test_no_corner_is_an_alarm_on_a_correct_queue(subject, name):
    suite = all_suites()[name]
    found = []
    for plan in suite.corners(subject):
        history = suite.run(plan, subject)
        found += [(item.id, plan.words()) for item in suite.applicable(subject) if item.judge(history).violated]
    assert not found


def test_every_dispatch_invariant_is_judged_by_every_suite():
    wanted = {name for name in catalogue() if name.startswith("dispatch.")}
    suites = [suite for suite in all_suites().values() if suite.kind == "queue"]
    assert {suite.name for suite in suites} == {
        "dispatch-cancel",
        "dispatch-machine",
        "dispatch-plans",
        "dispatch-starved",
    }
    assert all({item.id for item in suite.invariants} == wanted for suite in suites)
