"""The suite ``waiter-machine``: it holds on the built-in waiter, it catches and shrinks, and what it found can be done again."""

import dataclasses
import threading

import pytest
from hypothesis import seed
from hypothesis.errors import StopTest
from hypothesis.stateful import run_state_machine_as_test

from waitproof.faults.plan import plan_from_json
from waitproof.faults.stepping import run_timeline
from waitproof.faults.timeline import Pass, StartWait, TimelinePlan
from waitproof.faults.zoo.bug import variant, wrapping
from waitproof.harness.campaign import search
from waitproof.harness.history import History
from waitproof.harness.jsonable import dumps
from waitproof.harness.profiles import Profile, hypothesis_settings
from waitproof.harness.subjects.builtin_waiter import subject as builtin
from waitproof.models.following import follow
from waitproof.models.trace import traces
from waitproof.properties.suites import all_suites
from waitproof.properties.suites.machine import NAME, machine_of

MODES = ("sync", "asyncio", "trio")

SUITE = all_suites()[NAME]

FEW = Profile(name="few", examples=16, shrink_runs=40)


@pytest.fixture(autouse=True)
def no_thread_is_left():
    before = threading.active_count()
    yield
    assert threading.active_count() == before


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_it_holds_on_the_builtin_waiter(mode):
    """A few hundred steps, with every kind of step among them; nothing is stopped, and the reference model is followed."""
    result = search(SUITE, builtin(mode), Profile(name="more", examples=40), seed=11)
    assert [(row.invariant, row.cause) for row in result.rows if row.verdict not in ("held", "vacuous")] == []
    assert {row.invariant: row.verdict for row in result.rows}["waiter.follows_model"] == "held"
    assert result.stats.stops == {}
    assert set(result.stats.reach["steps"]) == {"start", "server", "fault", "pass", "cancel"}
    assert sum(result.stats.reach["steps"].values()) > 200


def no_backoff(mode):
    return variant(
        builtin(mode), "no-backoff", {"waiter.policy:WaitPolicy.delay_after": lambda self, _: self.initial_delay}
    )


def no_final_poll(mode):
    def slept(original, self, now):
        return original(self, now) if now < self._deadline - 1e-9 else self._timed_out(now)

    return variant(builtin(mode), "no-final-poll", {"waiter.core:WaitCore.slept": wrapping(slept)})


def found(subject, invariant):
    """The counterexample of one invariant, searched and shrunk on its own."""
    items = tuple(item for item in SUITE.invariants if item.id == invariant)
    suite = dataclasses.replace(SUITE, invariants=items, corners=lambda _: ())
    [failure] = search(suite, subject, FEW, seed=3).failures
    return failure


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_a_bug_is_caught_and_shrinks_to_two_steps(mode):
    """No backoff: the third fetch comes half a second early. Done again it gives the same bytes; the healthy waiter is clean."""
    failure = found(no_backoff(mode), "waiter.follows_model")
    plan = plan_from_json(TimelinePlan, failure.plan)
    assert plan == TimelinePlan(steps=(StartWait(), Pass(seconds=1.0)))
    assert failure.deterministic
    assert "fetch at 2 s" in failure.observed
    assert "2.5 s" in failure.expected
    assert run_timeline(plan, no_backoff(mode), suite=NAME).digest() == failure.digest
    assert History.from_jsonl(failure.history).digest() == failure.digest
    clean = SUITE.run(plan, builtin(mode))
    assert [item.id for item in SUITE.invariants if item.judge(clean).violated] == []


@pytest.mark.slow
def test_a_bug_at_the_deadline_is_caught():
    """No fetch at the deadline: the machine aims at that instant because the model knows it."""
    failure = found(no_final_poll("sync"), "waiter.final_poll")
    plan = plan_from_json(TimelinePlan, failure.plan)
    assert len(plan.steps) <= 3
    assert isinstance(plan.steps[0], StartWait)


@pytest.mark.parametrize("mode", MODES)
def test_a_live_run_and_its_replay_are_the_same(mode):
    """Every example hands over once; its plan, done again, gives the bytes that the live run gave, and so does a second search."""
    seen = []

    def on_case(plan, history):
        seen.append((dumps(SUITE.format.to_json(plan)), history.digest()))
        assert run_timeline(plan, builtin(mode), suite=NAME).digest() == history.digest()
        assert [standing.parted for standing in map(follow, traces(history)) if standing.parted] == []

    settings = hypothesis_settings(Profile(name="few", examples=4))
    for _ in range(2):
        run_state_machine_as_test(seed(5)(machine_of(builtin(mode), on_case)), settings=settings)
    half = len(seen) // 2
    assert half >= 4
    assert seen[:half] == seen[half:]


def test_an_exception_of_on_case_comes_out_and_an_example_that_was_given_up_is_not_handed_over():
    """So that Hypothesis shrinks, and counts what it counts."""

    class Found(AssertionError):
        pass

    def on_case(plan, history):
        raise Found

    machine = machine_of(builtin("asyncio"), on_case)
    with pytest.raises(Found):
        run_state_machine_as_test(seed(5)(machine), settings=hypothesis_settings(FEW))
    try:
        raise StopTest(0)
    except StopTest:
        machine().teardown()
    with pytest.raises(Found):
        machine().teardown()
