"""The adapters to other people's packages: each waits for a job, tells a failure, and does the same twice.

A package that is not installed is skipped by name; the bench lists it as such.
"""

import dataclasses

import pytest

from waitproof.faults.plan import WaitPlan, answer, fault
from waitproof.faults.run import run_wait
from waitproof.harness import events, loading
from waitproof.harness.dialect import WaiterDialect
from waitproof.harness.protocols import JobView, WaitCall, WaiterSubject
from waitproof.models.invariants import invariant_named

REAL = {name: one for name, one in loading.adapters().items() if one.group == "real" and one.kind == "waiter"}
NAMES = [(adapter, subject) for adapter, one in REAL.items() for subject in one.provides]

PENDING = answer("status", word="processing")
DONE = WaitPlan(answers=(PENDING, PENDING))


@pytest.fixture(params=NAMES, ids=lambda pair: pair[1])
def subject(request):
    adapter, name = request.param
    package = REAL[adapter].package
    if not loading.version_of(package):
        pytest.skip(f"{package} is not installed; `pip install waitproof[subjects]` brings it")
    return next(one for one in loading.load(name) if one.name == name)


def outcome(plan, subject):
    """How the wait ended: the kind of event and its data."""
    history = run_wait(plan, subject)
    (end,) = history.of_kind(events.WAIT_RETURN, events.WAIT_RAISE)
    return end.kind, end.data, history


def judged(name, plan, subject):
    """What one invariant says of one plan."""
    return invariant_named(name).judge(run_wait(plan, subject))


def test_a_plain_wait_hands_out_the_completed_job(subject):
    """Two polls that say processing, one that says completed; what is handed out says nothing else."""
    kind, data, history = outcome(DONE, subject)
    assert kind == events.WAIT_RETURN
    assert "other" not in data["view"]
    assert data["view"]["status"] in ("completed", None)  # botocore's Waiter returns nothing
    assert data["view"]["job_id"] in ("job-1", None)
    if "result" in subject.claims:
        assert data["view"]["result"]["metadata"]["job"] == "job-1"
    assert len(history.of_kind(events.FETCH_START)) == 3


def test_a_failed_job_is_told_as_a_failure(subject):
    """Raised as a failure or returned as failed, as the dialect says."""
    kind, data, _ = outcome(WaitPlan(ending=answer("status", word="failed")), subject)
    if subject.dialect.failure == "raise":
        assert (kind, data["category"]) == (events.WAIT_RAISE, "failure")
    else:
        assert (kind, data["view"]["status"]) == (events.WAIT_RETURN, "failed")


def test_a_plan_gives_the_same_bytes_twice(subject):
    """Whatever a package draws at random, or reads from a clock, is the bench's."""
    plan = WaitPlan(answers=(PENDING, answer("http_error", status=503), PENDING, answer("hint", seconds=5)))
    assert run_wait(plan, subject).to_jsonl() == run_wait(plan, subject).to_jsonl()


def test_each_claim_and_dialect_is_one_that_there_is(subject):
    """An adapter's file says nothing that no invariant could judge."""
    from waitproof.models.claims import WAITER_CLAIMS

    assert subject.claims <= set(WAITER_CLAIMS)
    assert subject.package == REAL[next(a for a, s in NAMES if s == subject.name)].package
    assert WaiterDialect.from_json(subject.dialect.as_json()) == subject.dialect


@pytest.mark.parametrize("adapter", REAL)
def test_a_package_that_is_not_installed_is_listed_as_such(adapter, monkeypatch):
    """A group still has its members, each with what is missing, and none is loaded."""
    monkeypatch.setattr(loading, "version_of", lambda _: "")
    found = {item.spec: item.missing for item in loading.wanted(["real"])}
    assert {found[name] for name in REAL[adapter].provides} == {REAL[adapter].package}


# -- what was found in them, checked by hand against their sources: each is still there -------------------------------------

CANCELLED = WaitPlan(ending=answer("status", word="cancelled"))
STRANGER = WaitPlan(answers=(answer("wrong_id"),))
BACK = WaitPlan(call=WaitCall(timeout=60.0), ending=PENDING, clock=(fault("wall_jump", at=0.5, seconds=-3600.0),))
AHEAD = dataclasses.replace(BACK, clock=(fault("wall_jump", at=0.5, seconds=3600.0),))
SLOW = WaitPlan(
    call=WaitCall(timeout=10.0, poll_interval=8.0),
    answers=(answer("status", word="processing", delay=6.0),),
    ending=PENDING,
)
GARBAGE = WaitPlan(answers=(answer("hint", form="text", text="soon"),))
ENDLESS = WaitPlan(answers=(answer("hint", form="text", text="inf"),))

FOUND = [
    ("runwayml-sync", "waiter.failure_raised", CANCELLED),
    ("runwayml-sync", "waiter.prompt_stop", CANCELLED),
    ("runwayml-sync", "waiter.total_time", BACK),
    ("runwayml-sync", "waiter.gives_up_not_early", AHEAD),
    ("backoff-sync", "waiter.total_time", BACK),
    ("backoff-asyncio", "waiter.gives_up_not_early", AHEAD),
    ("backoff-sync", "waiter.no_sleep_past_deadline", SLOW),
    ("polling2-sync", "waiter.total_time", BACK),
    ("polling2-sync", "waiter.gives_up_not_early", AHEAD),
    ("openai-sync", "waiter.identity_of_answer", STRANGER),
    ("azure-core-asyncio", "waiter.identity_of_answer", STRANGER),
    ("azure-core-sync", "subject.ends", GARBAGE),
    ("azure-core-sync", "waiter.retry_after_garbage_ignored", GARBAGE),
    ("azure-core-asyncio", "subject.ends", ENDLESS),
    ("google-api-core-sync", "waiter.identity_of_answer", STRANGER),
]

# 65 times 0.1 s is a rounding error less than 6.5 s, so that whoever compares floats polls once more.
ROUNDED = WaitPlan(call=WaitCall(timeout=6.5, poll_interval=0.1), ending=PENDING)

SHORT = WaitPlan(answers=(answer("hint", form="ms", seconds=0.002), answer("hint", seconds=0)))

FAITHFUL = [
    ("azure-core-sync", "waiter.no_storm", SHORT),
    ("azure-core-asyncio", "waiter.retry_after_on_success", SHORT),
    ("tenacity-sync", "waiter.stops_at_deadline", ROUNDED),
    ("tenacity-asyncio", "waiter.stops_at_deadline", ROUNDED),
    ("runwayml-asyncio", "waiter.failure_raised", CANCELLED),
    ("runwayml-asyncio", "waiter.total_time", BACK),
    ("tenacity-sync", "waiter.total_time", BACK),
    ("tenacity-sync", "waiter.gives_up_not_early", AHEAD),
    ("openai-asyncio", "waiter.total_time", BACK),
    ("google-api-core-sync", "waiter.gives_up_not_early", AHEAD),
    ("backoff-sync", "waiter.total_time", dataclasses.replace(BACK, clock=())),
]


def loaded(name):
    """The subject of this name, if its package is there."""
    package = next(REAL[adapter].package for adapter, subject in NAMES if subject == name)
    if not loading.version_of(package):
        pytest.skip(f"{package} is not installed; `pip install waitproof[subjects]` brings it")
    return next(one for one in loading.load(name) if one.name == name)


@pytest.mark.parametrize(("name", "invariant", "plan"), FOUND, ids=[f"{one[0]}-{one[1]}" for one in FOUND])
def test_what_was_found_is_still_found(name, invariant, plan):
    """A fault of the constraints' versions; should a later version mend it, move the line below."""
    assert judged(invariant, plan, loaded(name)).violated


@pytest.mark.parametrize(("name", "invariant", "plan"), FAITHFUL, ids=[f"{one[0]}-{one[1]}" for one in FAITHFUL])
def test_the_others_do_it_right(name, invariant, plan):
    """The same plans are no trap: who does it right is not blamed."""
    assert not judged(invariant, plan, loaded(name)).violated


# -- the dialect that gives up rather than pause across the limit ---------------------------------------------------------


class GaveUp(Exception):
    """The limit of a waiter of these tests."""


def gives_up(early):
    """A waiter that gives up ``early`` seconds before its limit, two seconds apart, and says that it gives up before a pause."""

    def wait(bench, call):
        started = bench.clock.monotonic()
        while True:
            job = bench.get_job(call.job_id, resource=call.resource)
            if job["status"] == "completed":
                return job
            if bench.clock.monotonic() + 2.0 > started + call.timeout - early:
                raise GaveUp
            bench.clock.sleep(2.0)

    return WaiterSubject(
        name="gives-up",
        mode="sync",
        wait=wait,
        view=lambda _: JobView(),
        errors={"timeout": (GaveUp,)},
        dialect=WaiterDialect(
            gives_up="before_pause",
            final_poll=False,
            parameters=frozenset({"timeout"}),
            defaults={"first_delay": 2.0, "factor": 1.0},
        ),
        claims=frozenset({"deadline", "disjoint", "reference", "monotonic"}),
    )


@pytest.mark.parametrize("invariant", ["waiter.gives_up_not_early", "waiter.outcomes_disjoint", "waiter.follows_model"])
def test_to_give_up_before_a_pause_is_a_dialect(invariant):
    """With a limit of 5 s and pauses of 2 s the end at 4 s is no fault."""
    plan = WaitPlan(call=WaitCall(timeout=5.0), ending=PENDING)
    assert judged(invariant, plan, gives_up(0.0)).answer is True


@pytest.mark.parametrize("invariant", ["waiter.gives_up_not_early", "waiter.follows_model"])
def test_to_give_up_before_the_last_pause_but_one_is_a_fault(invariant):
    """The end at 2 s is one pause too early."""
    plan = WaitPlan(call=WaitCall(timeout=5.0), ending=PENDING)
    assert judged(invariant, plan, gives_up(2.0)).violated
