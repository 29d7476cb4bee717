"""The reference waiter by itself: the schedule of SPEC 2, and what it allows in each situation."""

import math

from waitproof.harness.dialect import WaiterDialect
from waitproof.harness.protocols import WaitCall
from waitproof.models.answers import Says
from waitproof.models.claims import WAITER_CLAIMS
from waitproof.models.pacing import Hint
from waitproof.models.schedule import Delays
from waitproof.models.waiter import WaiterModel

PENDING = Says(kind="running", status="processing", word="processing", http=200)


def model(dialect=None, **call):
    return WaiterModel.of(WaitCall(**call), dialect or WaiterDialect(), frozenset(WAITER_CLAIMS))


def acts(machine, state):
    return {action.act: (round(action.low, 6), round(action.high, 6)) for action in machine.allowed(state)}


def after(machine, says, at=0.0):
    return machine.answered(machine.fetching(machine.start(), at), at, says)


def test_the_default_wait_has_65_fetches_and_64_sleeps():
    """SPEC 2, step 3: with instant answers and the defaults that is 65 fetches and 64 sleeps."""
    machine = model()
    state, fetches, sleeps = machine.start(), 0, 0
    while "timeout" not in acts(machine, state):
        allowed = acts(machine, state)
        if "fetch" in allowed and allowed["fetch"][0] <= state.now + 1e-9:
            state = machine.answered(machine.fetching(state, state.now), state.now, PENDING)
            fetches += 1
        else:
            state = machine.slept(state, allowed["fetch"][0])
            sleeps += 1
    assert (fetches, sleeps, round(state.now, 6)) == (65, 64, 600.0)


def test_delays_never_overflow():
    assert Delays(WaitCall(first_delay=1.0, factor=1e308, cap=1e308))[10_000] == 1e308
    assert Delays(WaitCall(factor=1.0))[10_000] == 1.0
    assert Delays(WaitCall(poll_interval=20.0))[3] == 20.0


def test_first_a_fetch():
    machine = model()
    assert acts(machine, machine.start()) == {"fetch": (0.0, 0.0)}


def test_first_a_sleep():
    machine = model(WaiterDialect(first="sleep"))
    assert acts(machine, machine.start())["fetch"] == (1.0, 1.0)


def test_terminal_answers_end_it():
    done = Says(kind="terminal", status="failed", word="failed", http=200)
    assert acts(model(), after(model(), done)) == {"returned": (0.0, 0.0)}
    strict = model(raise_on_failure=True)
    assert acts(strict, after(strict, done)) == {"failure": (0.0, 0.0)}


def test_pause_clip_and_last_fetch():
    machine = model(timeout=0.5)
    assert acts(machine, after(machine, PENDING)) == {"sleep": (0.0, 0.5), "fetch": (0.5, 0.5)}


def test_no_fetch_after_the_deadline():
    machine = model(timeout=0.5)
    assert acts(machine, after(machine, PENDING, at=0.5)) == {"timeout": (0.5, 0.5)}


def test_a_hint_past_the_deadline_leaves_no_last_fetch():
    hint = Hint(low=60.0, high=60.0, form="seconds")
    machine = model(timeout=4.0)
    told = acts(machine, after(machine, Says(kind="transient", http=429, hint=hint, paced=True)))
    assert "fetch" not in told
    assert told["timeout"][1] == 4.0
    assert acts(machine, after(machine, Says(kind="running", http=200, status="processing", hint=hint, paced=True)))[
        "fetch"
    ] == (4.0, 4.0)


def test_jitter_is_an_interval_and_never_below_a_hint():
    machine = model(jitter_seed=1)
    assert acts(machine, after(machine, PENDING))["fetch"] == (0.5, 1.0)
    hint = Hint(low=0.75, high=0.75, form="seconds")
    assert acts(machine, after(machine, Says(kind="transient", http=503, hint=hint, paced=True)))["fetch"] == (
        0.75,
        1.0,
    )


def test_early_and_late_wakes():
    machine = model()
    paused = after(machine, PENDING)
    assert acts(machine, machine.slept(paused, 0.4, early=True)) == {"sleep": (0.4, 1.0), "fetch": (1.0, 1.0)}
    assert acts(machine, machine.slept(paused, 1.7))["fetch"] == (1.0, 1.7)
    hasty = model(WaiterDialect(early_wake="fetch"))
    assert acts(hasty, hasty.slept(after(hasty, PENDING), 0.4, early=True))["fetch"][0] == 0.4


def test_grace_of_a_404():
    missing = Says(kind="not_found", http=404)
    assert acts(model(), after(model(), missing)) == {"transport": (0.0, 0.0)}
    patient = model(not_found_grace=3.0)
    assert "transport" not in acts(patient, after(patient, missing, at=2.0))
    assert set(acts(patient, after(patient, missing, at=3.0))) > {"transport", "fetch"}
    assert set(acts(patient, after(patient, missing, at=3.1))) == {"transport"}


def test_a_client_that_retries_beneath():
    machine = model(WaiterDialect(transient="client", client_retries=1))
    lost = Says(kind="transient")
    once = after(machine, lost)
    assert acts(machine, once)["fetch"] == (0.0, math.inf)
    twice = machine.answered(machine.fetching(once, 0.5), 0.5, lost)
    assert set(acts(machine, twice)) == {"transport"}


def test_what_is_unclear_allows_everything():
    assert "any" in acts(model(), after(model(), Says(kind="unclear", http=200)))
