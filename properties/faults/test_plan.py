"""Plans as data: there and back again, errors that name the field, and what is simpler than what."""

from __future__ import annotations

import dataclasses
import math

import pytest
from hypothesis import HealthCheck, given, settings

from waitproof.faults.client_plan import ClientPlan
from waitproof.faults.concurrent_plan import ConcurrentPlan
from waitproof.faults.plan import (
    Answer,
    PlanFormatError,
    WaitPlan,
    answer,
    fault,
    plan_from_json,
    plan_to_json,
    simpler,
    size,
)
from waitproof.faults.strategies import (
    MOST_FETCHES,
    bad_calls,
    client_plans,
    concurrent_plans,
    endless,
    extreme_calls,
    goes_on,
    nominal_polls,
    wait_plans,
)
from waitproof.harness.dialect import WaiterDialect
from waitproof.harness.jsonable import dumps, loads
from waitproof.harness.protocols import WaitCall

ALL = frozenset(item.name for item in dataclasses.fields(WaitCall)) - {"job_id", "resource", "attempts"}
DIALECT = WaiterDialect(parameters=ALL)
FEW = WaiterDialect(parameters=frozenset({"timeout"}), defaults={"poll_interval": 2.0})
quickly = settings(
    max_examples=40,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def there_and_back(plan):
    text = dumps(plan_to_json(plan))
    again = dumps(plan_to_json(plan_from_json(type(plan), loads(text))))
    assert again == text


@quickly
@given(wait_plans(DIALECT))
def test_wait_plans_travel(plan):
    there_and_back(plan)
    assert all(line and "\n" not in line for line in plan.words())


@quickly
@given(concurrent_plans(DIALECT, most=3))
def test_concurrent_plans_travel_and_have_jobs_of_their_own(plan):
    there_and_back(plan)
    ids = [(wait.plan.call.resource, wait.plan.call.job_id) for wait in plan.waits]
    assert len(set(ids)) == len(ids) >= 2


@quickly
@given(client_plans())
def test_client_plans_travel(plan):
    there_and_back(plan)
    assert plan.words()


@quickly
@given(wait_plans(FEW))
def test_only_parameters_that_the_dialect_takes_are_drawn(plan):
    untouched = WaitCall(
        job_id=plan.call.job_id, resource=plan.call.resource, timeout=plan.call.timeout, poll_interval=2.0
    )
    assert plan.call == untouched


@quickly
@given(wait_plans(DIALECT))
def test_no_wait_polls_without_bound(plan):
    assert len(nominal_polls(plan.call, most=10_000)) <= MOST_FETCHES
    assert plan.call.poll_interval is not None or plan.call.cap >= plan.call.first_delay


@quickly
@given(wait_plans(DIALECT, calls=extreme_calls(DIALECT)))
def test_an_endless_call_has_an_ending_that_ends(plan):
    assert not (endless(plan.call, DIALECT) and goes_on(plan.ending))


@quickly
@given(bad_calls(DIALECT))
def test_a_bad_call_has_one_bad_parameter_and_travels(call):
    plan = WaitPlan(call=call)
    there_and_back(plan)
    changed = [item.name for item in dataclasses.fields(call) if repr(getattr(call, item.name)) != repr(item.default)]
    assert len(changed) == 1


@pytest.mark.parametrize("make", [lambda: wait_plans(DIALECT), client_plans], ids=["wait", "client"])
def test_plans_shrink_to_the_default(make):
    """The simplest plan that Hypothesis knows is the default plan."""
    found = []

    @settings(max_examples=1, deadline=None, database=None)
    @given(make())
    def first(plan):
        found.append(plan)

    first()
    assert size(found[0]) == 0


def test_infinite_times_travel():
    plan = WaitPlan(call=WaitCall(timeout=math.inf), answers=(answer("status", delay=math.inf),))
    assert plan_from_json(WaitPlan, loads(dumps(plan_to_json(plan)))) == plan


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (lambda data: data["plan"].update(surprise=1), "surprise"),
        (lambda data: data["plan"]["call"].update(tiemout=1), "tiemout"),
        (lambda data: data["plan"]["ending"].update(dely=1), "dely"),
        (lambda data: data["plan"]["ending"]["data"].update(wrod="x"), "wrod"),
        (lambda data: data["plan"]["ending"].update(kind="nonsense"), "nonsense"),
        (lambda data: data["plan"].update(origin="soon"), "origin"),
        (lambda data: data.update(schema="waitproof.plan/99"), "waitproof.plan/99"),
        (lambda data: data.update(type="OtherPlan"), "OtherPlan"),
    ],
)
def test_a_wrong_field_is_named(change, names):
    data = plan_to_json(WaitPlan())
    change(data)
    with pytest.raises(PlanFormatError, match=names):
        plan_from_json(WaitPlan, data)


def test_a_fault_needs_the_data_of_its_kind():
    with pytest.raises(TypeError, match="needs Status"):
        Answer(kind="status", data=fault("cancel").data)


def test_size_counts_what_is_not_default():
    assert size(WaitPlan()) == 0
    plan = WaitPlan(
        call=WaitCall(timeout=3.0, job_id="a/b"),
        answers=(answer("status", word="processing"), answer("refused")),
        caller=(fault("cancel", at=1.0),),
        old_keys=True,
    )
    assert size(plan) == 6


def test_simpler_ends_at_the_default_and_never_repeats_the_plan():
    """Always taking the first simpler plan ends, at the default."""
    plan = WaitPlan(
        call=WaitCall(timeout=3.0),
        answers=(answer("rate_limit", form="seconds", seconds=7.0, delay=0.5), answer("drip", gap=2.0)),
        wakes=(fault("early", seconds=0.1),),
        origin=1024.0,
    )
    for _ in range(50):
        options = list(simpler(plan))
        assert plan not in options
        if not options:
            break
        plan = options[0]
    assert plan == WaitPlan()


def test_simpler_reaches_into_the_parts_of_other_plans():
    plan = plan_from_json(ClientPlan, plan_to_json(ClientPlan(resource="extract_jobs")))
    assert ClientPlan() in list(simpler(plan))
    assert list(simpler(ConcurrentPlan())) == []
