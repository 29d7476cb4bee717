"""Other people's queues on the bench: each does what it is for, runs the same twice, and claims no more than it says; and what was found."""

import asyncio

import pytest

from waitproof.faults.plan import answer, fault
from waitproof.faults.queue_plan import Kill, Planned, QueuePlan
from waitproof.faults.queue_running import run_queue
from waitproof.harness import loading, queue_events
from waitproof.harness.calls import ApiCall
from waitproof.harness.queue_dialect import QueueDialect
from waitproof.harness.queue_protocols import QueueConfig
from waitproof.models.dispatch_claims import DISPATCH_CLAIMS
from waitproof.models.invariants import invariant_named

REAL = {name: one for name, one in loading.adapters().items() if one.group == "real" and one.kind == "queue"}


@pytest.fixture(params=list(REAL))
def subject(request):
    return loaded(request.param)


def loaded(name):
    package = REAL[name].package
    if package and not loading.version_of(package):
        pytest.skip(f"{package} is not installed; `pip install waitproof[subjects]` brings it")
    (found,) = loading.load(name)
    return found


def submits(count, every=0.0, **values):
    """Calls to as many pods."""
    return tuple(
        fault(
            "queue_submit",
            at=number * every,
            operation=f"o{number}",
            call=ApiCall(uid=f"uid-{number}", name=f"pod-{number}", **values),
        )
        for number in range(count)
    )


def slow(*operations, seconds=3.0):
    return tuple(Planned(operation=f"o{number}", answer=answer("api_ok", delay=seconds)) for number in operations)


def outcomes(history):
    return [event.data["view"]["kind"] for event in history.of_kind(queue_events.CALL_OUTCOME)]


def judged(name, plan, subject):
    return invariant_named(name).judge(run_queue(plan, subject))


def test_there_are_three():
    assert list(REAL) == ["aiojobs", "plain-pool", "pyrate-limiter"]


def test_plain_calls_are_done(subject):
    history = run_queue(QueuePlan(steps=submits(5, every=0.5)), subject)
    assert outcomes(history) == ["applied"] * (5 + 2)  # and the two of the probe
    assert len(history.of_kind(queue_events.API_EFFECT)) == 5


def test_what_went_wrong_is_told_in_the_benchs_words(subject):
    answers = (
        answer("api_error", status=403),
        answer("api_error", status=409),
        answer("api_error", status=503),
        answer("api_error", status=500),
        answer("api_lost"),
    )
    planned = tuple(Planned(operation=f"o{number}", answer=given) for number, given in enumerate(answers))
    history = run_queue(QueuePlan(steps=submits(5, every=10.0), answers=planned), subject)
    assert outcomes(history)[:5] == ["failed", "failed", "exhausted", "unknown", "unknown"]


def test_no_more_run_at_once_than_there_are_workers(subject):
    plan = QueuePlan(steps=submits(6), answers=slow(*range(6)), config=QueueConfig(workers=2))
    assert invariant_named("dispatch.workers").judge(run_queue(plan, subject)).answer is True


def test_a_plan_gives_the_same_bytes_twice(subject):
    """Under any order of things."""
    for schedule in (0, 1, 2):
        plan = QueuePlan(steps=submits(6), answers=slow(1, 2), config=QueueConfig(qps=2.0, burst=2), schedule=schedule)
        assert run_queue(plan, subject).to_jsonl() == run_queue(plan, subject).to_jsonl()


def test_each_claim_and_dialect_is_one_that_there_is(subject):
    assert subject.claims <= set(DISPATCH_CLAIMS)
    assert subject.package == REAL[subject.name].package
    assert QueueDialect.from_json(subject.dialect.as_json()) == subject.dialect
    assert not subject.dialect.retries
    assert not subject.dialect.deadlines


def test_after_close_a_submit_is_told_so(subject):
    steps = (*submits(1), fault("queue_close", at=1.0), *submits(2, every=2.0)[1:])
    assert outcomes(run_queue(QueuePlan(steps=steps), subject)) == ["applied", "closed"]


# -- what each is for --------------------------------------------------------------------------------------------------


def test_the_pool_takes_the_highest_priority_first():
    steps = tuple(
        fault(
            "queue_submit", operation=f"o{number}", call=ApiCall(uid=f"u{number}", name=f"p{number}", priority=priority)
        )
        for number, priority in enumerate((0, 10, 30, 20))
    )
    plan = QueuePlan(steps=steps, config=QueueConfig(workers=1), ending=answer("api_ok", delay=1.0))
    started = [event.op for event in run_queue(plan, loaded("plain-pool")).of_kind(queue_events.ATTEMPT_START)]
    assert started[:4] == ["o2.a0", "o3.a0", "o1.a0", "o0.a0"]


def test_the_limiter_keeps_its_rate_and_takes_another_one():
    steps = (*submits(8), fault("queue_rate", at=2.2, qps=4.0, burst=2))
    history = run_queue(
        QueuePlan(steps=steps, config=QueueConfig(qps=1.0, burst=2, workers=8)), loaded("pyrate-limiter")
    )
    assert invariant_named("dispatch.rate").judge(history).answer is True
    at = [event.at for event in history.of_kind(queue_events.ATTEMPT_START)][:8]
    assert at[:4] == pytest.approx([0.0, 0.0, 1.05, 2.05])  # its buffer is 50 ms
    assert 3.0 < at[7] < 6.0


# -- findings ----------------------------------------------------------------------------------------------------------


def test_finding_aiojobs_exceeds_its_limit_when_a_pending_job_is_closed():
    """One runs, two are pending, the later of them is closed: the other one is started at once, beside the first."""
    plan = QueuePlan(
        steps=(*submits(3), fault("queue_cancel", at=1.0, submit=2)),
        answers=slow(0, 1),
        config=QueueConfig(workers=1),
    )
    found = judged("dispatch.workers", plan, loaded("aiojobs"))
    assert found.violated
    assert "2 attempts under way" in found.cause


def test_finding_aiojobs_by_hand():
    """The same without a bench, on a real loop."""
    aiojobs = pytest.importorskip("aiojobs")

    async def main():
        running, most, done = 0, 0, asyncio.Event()

        async def work():
            nonlocal running, most
            running += 1
            most = max(most, running)
            await done.wait()
            running -= 1

        async with aiojobs.Scheduler(limit=1) as scheduler:
            _, _, last = [await scheduler.spawn(work()) for _ in range(3)]
            await asyncio.sleep(0)
            assert (scheduler.active_count, most) == (1, 1)
            await last.close()
            await asyncio.sleep(0)
            done.set()
        return most

    assert asyncio.run(main()) == 2


def test_finding_the_pool_loses_a_worker_and_a_call_when_a_job_is_cancelled_from_within():
    """``except Exception`` does not see a ``CancelledError``: the future is never resolved, and the worker is gone."""
    plan = QueuePlan(steps=submits(2), config=QueueConfig(workers=1), kill=Kill(who="attempt", step=0))
    assert judged("dispatch.one_outcome", plan, loaded("plain-pool")).violated
    for name in ("aiojobs", "pyrate-limiter"):
        assert judged("dispatch.one_outcome", plan, loaded(name)).answer is True
