"""How fast the bench is. Figures are compared within one run, as ratios; nothing here passes or fails by time."""

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import seed as with_seed
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from waitproof.faults.plan import WaitPlan, answer
from waitproof.faults.run import run_wait
from waitproof.harness.campaign import judge
from waitproof.harness.loading import load
from waitproof.harness.protocols import WaitCall
from waitproof.properties.suites import all_suites

TEN_FETCHES = WaitPlan(call=WaitCall(timeout=600.0), answers=(answer("status", word="processing"),) * 9)
EXAMPLES = settings(
    max_examples=20,
    stateful_step_count=20,
    deadline=None,
    database=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)


def subject(name):
    [found] = load(name)
    return found


@pytest.mark.parametrize(
    "name", ["builtin-sync", "builtin-asyncio", "builtin-trio", "landingai-ade-sync", "landingai-ade-asyncio"]
)
def test_a_wait_of_ten_fetches(benchmark, name):
    """Waits a second in virtual time: the client, the transport, the server and the recording of some 80 events."""
    waiter = subject(name)
    history = benchmark(lambda: run_wait(TEN_FETCHES, waiter))
    benchmark.extra_info["events"] = len(history)


@pytest.mark.parametrize("fetches", [10, 100])
def test_checking_a_history(benchmark, fetches):
    """All invariants of the plain suite on one history; divide by ``events`` for the cost of an event."""
    waiter, suite = subject("builtin-sync"), all_suites()["waiter"]
    plan = WaitPlan(call=WaitCall(timeout=10_000.0), answers=(answer("status", word="processing"),) * (fetches - 1))
    history = run_wait(plan, waiter)
    findings = benchmark(lambda: judge(suite, waiter, history))
    assert not [name for name, finding in findings.items() if finding.violated]
    benchmark.extra_info["events"] = len(history)


class Bare(RuleBasedStateMachine):
    """A machine that does nothing: what Hypothesis itself costs a step."""

    @rule(seconds=st.floats(0, 10), word=st.sampled_from(("pending", "completed")))
    def step(self, seconds, word):
        """Nothing."""


def test_stateful_steps_of_a_bare_machine(benchmark):
    """The floor for the next figure: 20 examples of at most 20 steps."""
    benchmark.pedantic(lambda: run_state_machine_as_test(with_seed(1)(Bare), settings=EXAMPLES), rounds=3)


@pytest.mark.parametrize("name", ["builtin-sync", "builtin-asyncio", "builtin-trio"])
def test_stateful_steps_of_the_waiter_machine(benchmark, name):
    """The same number of examples and steps, with the subject really running and the model beside it."""
    suite, waiter = all_suites()["waiter-machine"], subject(name)

    def campaign():
        machine = suite.machine(waiter, lambda _plan, _history: None)
        run_state_machine_as_test(with_seed(1)(machine), settings=EXAMPLES)

    benchmark.pedantic(campaign, rounds=3)
