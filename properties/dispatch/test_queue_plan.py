"""Plans of queues: they travel through JSON, get simpler, say when they heal, and are drawn by what a dialect has."""

import dataclasses
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from waitproof.faults.kinds import all_kinds, kind_named
from waitproof.faults.plan import answer, fault, plan_from_json, plan_to_json
from waitproof.faults.queue_calls import settled
from waitproof.faults.queue_plan import Kill, Planned, QueuePlan, plan_size, simpler_plans
from waitproof.faults.queue_strategies import queue_plans, variants
from waitproof.harness.calls import ApiCall, Precondition
from waitproof.harness.jsonable import dumps, loads
from waitproof.harness.queue_dialect import QueueDialect
from waitproof.harness.queue_protocols import QueueConfig

FULL = QueueDialect(parameters=frozenset(item.name for item in dataclasses.fields(QueueConfig)))
BARE = QueueDialect(
    coalescing="none", contexts=False, cancels=False, deadlines=False, rate=False, snapshots=False, shares=False
)
QUIET = settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))


def travelled(plan):
    return plan_from_json(QueuePlan, loads(dumps(plan_to_json(plan))))


@QUIET
@given(queue_plans(FULL))
def test_drawn_plans_travel_and_have_words(plan):
    assert travelled(plan) == plan
    assert all(line == line.strip() and "\n" not in line for line in plan.words())
    assert 0 < plan.heals_at() < 5_000
    assert 0 < plan.within() < 5_000


@QUIET
@given(queue_plans(FULL))
def test_simpler_plans_are_plans(plan):
    for number, simple in enumerate(simpler_plans(plan)):
        assert plan_size(simple) <= plan_size(plan) + 1
        if number < 12:
            assert travelled(simple) == simple


@QUIET
@given(queue_plans(BARE))
def test_nothing_is_drawn_that_the_dialect_has_no_word_for(plan):
    assert all(kind_named(step.kind).suits(BARE) for step in plan.steps)
    assert plan.config == QueueConfig()
    assert all(step.data.call.deadline == math.inf for step in plan.steps if step.kind == "queue_submit")


@QUIET
@given(queue_plans(FULL, starved=True))
def test_a_starved_quota_is_short(plan):
    assert plan.config.qps <= 2.0 or plan.config.qps == 10.0 or plan.config.burst <= 2


@QUIET
@given(queue_plans(FULL))
def test_an_operation_has_one_content(plan):
    """Twins share operation, key and payload; two contents are two operations."""
    calls = [item.data for item in plan.steps if item.kind == "queue_submit"]
    pairs = [(data.operation, data.call) for data in calls] + [
        (data.then_operation, data.then) for data in calls if data.then
    ]
    content = {}
    for operation, call in pairs:
        told = dumps([call.uid, call.type, call.target, call.key, call.context, call.payload])
        assert content.setdefault(operation, told) == told


def test_twins_are_one_operation_and_look_alikes_are_not():
    one = ApiCall(payload={"value": 1})
    other = dataclasses.replace(one, target="other")
    newer = dataclasses.replace(one, precondition=Precondition(generation=(1, 1)))
    names = [name for name, _ in settled([one, one, other, newer, one], FULL)]
    assert names == ["o0", "o0", "o1", "o2", "o0"]
    assert [name for name, _ in settled([one, one], BARE)] == ["o0", "o1"]


def test_reuse_of_a_key_is_a_mistake_of_the_second_operation():
    calls = [ApiCall(key="k", payload={"value": 1}), ApiCall(key="k", target="other"), ApiCall(key="k", uid="uid-2")]
    keys = [call.key for _, call in settled(calls, FULL, reuse=True)]
    assert keys == ["key-o0", "key-o0", "key-o2"]


def test_five_schedules_of_a_plan():
    plan = QueuePlan(schedule=7)
    assert [item.schedule for item in variants(plan)] == [0, 29, 30, 31, 32]
    assert all(dataclasses.replace(item, schedule=7) == plan for item in variants(plan))


def test_size_counts_what_is_not_as_by_default():
    assert plan_size(QueuePlan(steps=())) == 0
    plan = QueuePlan(answers=(Planned(),), config=QueueConfig(workers=1, qps=2.0), kill=Kill(), schedule=3)
    assert plan_size(plan) == 1 + 1 + 2 + 1 + 1


def test_what_is_planned_is_answered_and_everything_else_gets_the_ending():
    plan = QueuePlan(
        answers=(Planned(attempt=1, answer=answer("api_error", status=503)),), ending=answer("api_ok", delay=2.0)
    )
    assert [plan.script("o0", number)[0].status for number in range(3)] == [None, 503, None]
    assert plan.script("o7", 0)[0].delay == 2.0


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"steps": (fault("cancel"),)}, "no step of a queue"),
        ({"ending": answer("status")}, "no answer of an API server"),
    ],
)
def test_a_plan_holds_only_what_belongs_to_queues(values, said):
    with pytest.raises(ValueError, match=said):
        QueuePlan(**values)


@pytest.mark.parametrize("name", [kind.name for kind in all_kinds().values() if kind.place == "step"])
def test_steps_are_drawn_with_their_instants(name):
    kind = kind_named(name)

    @QUIET
    @given(kind.strategy())
    def check(data):
        assert kind.at(data) >= 0

    check()


def test_a_kill_has_words():
    for kill in (Kill(), Kill(who="closer", step=2), Kill(who="attempt", how="error"), Kill(step=-1)):
        assert kill.words()


def test_answers_are_swarmed():
    """Some plans have no fault at all, others several kinds: seen in a few hundred plans, each with a chance above one in ten."""
    seen = set()

    @settings(max_examples=200, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(queue_plans(FULL), st.just(None))
    def check(plan, _):
        seen.add(min(3, len({item.answer.kind for item in plan.answers})))

    check()
    assert {0, 1, 2} <= seen


def test_a_simpler_plan_does_not_make_two_calls_into_one_operation():
    """A bind and a patch keep an operation each: renamed into one, the healthy queue would seem to do one of them for the other."""
    patch = fault("queue_submit", at=0.0, operation="o0", call=ApiCall())
    bind = fault("queue_submit", at=0.0, operation="o1", call=ApiCall(type="bind", target="node-1"))
    for simple in simpler_plans(QueuePlan(steps=(patch, bind))):
        pairs = {(step.data.operation, step.data.call.type) for step in simple.steps}
        assert len(pairs) == len({operation for operation, _ in pairs}), simple.words()
