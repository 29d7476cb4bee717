"""Where a counterexample parts from the reference model: told beside what was seen, for waiters and normalisers."""

import dataclasses

import pytest

from waitproof.faults.envelope_plan import EnvelopePlan, body
from waitproof.faults.plan import WaitPlan, answer
from waitproof.faults.run import run_wait
from waitproof.faults.run_normaliser import run_envelope
from waitproof.harness.loading import load
from waitproof.harness.outcomes import outcome_of
from waitproof.harness.protocols import WaitCall
from waitproof.models import following, normaliser_view
from waitproof.properties.session import ends_of
from waitproof.properties.suites import all_suites

PENDING = answer("status", word="processing")


def builtin(name="builtin-sync"):
    """The built-in subject of this name."""
    [subject] = load(name)
    return subject


def as_if(subject, **dialect):
    """The same subject under another dialect, which it then breaks."""
    return dataclasses.replace(subject, dialect=dataclasses.replace(subject.dialect, **dialect))


def test_a_correct_wait_never_parts():
    plan = WaitPlan(call=WaitCall(timeout=4.0), answers=(PENDING,) * 2, ending=PENDING)
    assert following.first_parting(run_wait(plan, builtin())) is None


def test_the_first_thing_that_the_model_forbids_with_what_it_allows():
    """A waiter that fetches first, judged as one that sleeps first: one second to the first poll was due."""
    history = run_wait(WaitPlan(answers=(PENDING,)), as_if(builtin(), first="sleep"))
    parting = following.first_parting(history)
    assert parting.observed == "a fetch at 0 s"
    assert parting.allowed == "a sleep that ends from 0 s to 1 s or a fetch at 1 s"
    assert parting.state == "w0: start at 0 s, 0 polls done, next poll due at 1 s, deadline at 600 s"
    assert history[parting.event].kind == "fetch.start"


def test_an_end_that_the_model_forbids():
    """It returns a failed job where its dialect says that failures are raised."""
    history = run_wait(WaitPlan(ending=answer("status", word="failed")), as_if(builtin(), failure="raise"))
    parting = following.first_parting(history)
    assert (parting.allowed, parting.observed) == ("the failure error at 0 s", "a return at 0 s")


def test_waits_with_bad_arguments_are_passed_over():
    """What those may do the model does not know."""
    assert following.first_parting(run_wait(WaitPlan(call=WaitCall(timeout=float("nan"))), builtin())) is None


def test_a_correct_normaliser_never_parts():
    plan = EnvelopePlan(
        body=body(job_id="j", status="SUCCEEDED", progress=1, result={"markdown": "m"}, created_at=1_700_000_000)
    )
    assert normaliser_view.first_parting(run_envelope(plan, builtin("builtin-normaliser"))) is None


def test_the_whole_view_beside_the_one_that_is_expected():
    """A job that is not completed and has a result, by a dialect that gives none: the line that differs is marked."""
    subject = as_if(builtin("builtin-normaliser"), words="enum")
    plan = EnvelopePlan(
        body=body(job_id="j", status="SUCCEEDED", failure_reason="late", created_at="2026-01-02T03:04:05Z")
    )
    parting = normaliser_view.first_parting(run_envelope(plan, subject))
    expected, seen = parting.allowed.splitlines(), parting.observed.splitlines()
    assert [line.partition(":")[0] for line in expected] == [line.partition(":")[0] for line in seen]
    assert [line for line in seen if line.endswith("≠")] == ['status: "completed"  ≠']
    assert 'status: "pending"' in expected
    assert 'error: code null, message "late"' in expected


def test_outcomes_of_a_normaliser_are_counted_too():
    """Whatever the kind of subject: a run's reach says how calls ended."""
    subject = builtin("builtin-normaliser")
    told = [
        [outcome_of(event) for event in run_envelope(EnvelopePlan(body=body(text)), subject)] for text in ("{}", "[]")
    ]
    assert [[word for word in words if word] for words in told] == [["returned"], ["raised EnvelopeError"]]


@pytest.mark.parametrize("suite", all_suites().values(), ids=lambda suite: suite.name)
def test_every_suite_has_an_invariant_for_subjects_that_never_end(suite):
    """A subject that hangs or ends the interpreter in it breaks that one."""
    assert ends_of([suite], suite.kind, suite.name) in {item.id for item in suite.invariants}
