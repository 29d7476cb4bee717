"""The reference queue, SPEC 4 bullet by bullet: a history that it follows beside one that it does not."""

import pytest

from waitproof.harness.calls import ApiCall, Precondition
from waitproof.harness.queue_dialect import QueueDialect
from waitproof.harness.queue_protocols import QueueConfig
from waitproof.models.queue_following import follow
from waitproof.models.queue_tape import Tape

PATCH = ApiCall()
BIND = ApiCall(type="bind", target="node-1")
DELETE = ApiCall(type="delete", target="pod")
GET = ApiCall(type="get", effect="READ")


def good(tape):
    found = follow(tape.history)
    assert found.breach is None, f"{found.breach}\n{found.breach.allowed}\n{found.breach.state}"
    assert found.stopped == ""
    for state in found.states:
        assert state.conserved
    return found


def bad(tape, *words):
    found = follow(tape.history)
    assert found.breach is not None
    for word in words:
        assert word in str(found.breach), f"{found.breach}\n{found.breach.allowed}"
    return found


def run(tape, at, op, status=200, *, kind="applied", lasts=0.0, **more):
    """One attempt with its answer and the outcome."""
    attempt = tape.start(at, op)
    if status == 200:
        tape.effect(at + lasts, attempt)
    tape.end(at + lasts, attempt, status, **more)
    if kind:
        tape.tell(at + lasts, op, kind)
    return attempt


def test_one_call():
    tape = Tape()
    run(tape, 0.0, tape.submit(0.0, PATCH), lasts=0.5)
    tape.settled(100.0)
    assert good(tape).steps >= 6


def test_two_outcomes():
    tape = Tape()
    run(tape, 0.0, tape.submit(0.0, PATCH))
    tape.tell(0.0, "s0", "applied")
    bad(tape, "exactly one each")


def test_an_outcome_before_the_effect_is_decided():
    tape = Tape()
    tape.submit(0.0, PATCH)
    tape.start(0.0, "s0")
    tape.tell(0.0, "s0", "applied")
    bad(tape, "nothing yet")


def test_nobody_is_told():
    tape = Tape()
    run(tape, 0.0, tape.submit(0.0, PATCH), kind="")
    tape.settled(1.0)
    bad(tape, "had to be told applied")


def test_nothing_is_started():
    tape = Tape()
    tape.submit(0.0, PATCH)
    tape.settled(1.0)
    bad(tape, "nothing was started")


def test_nothing_is_started_after_a_backoff():
    tape = Tape()
    run(tape, 0.0, tape.submit(0.0, PATCH), 503, kind="")
    tape.settled(3.0)
    bad(tape, "nothing was started")


# -- the checks of submit, in their order ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "kind", "reason"),
    [
        (ApiCall(type="frobnicate"), "refused", "type"),
        (ApiCall(needed_in_cycle=True), "refused", "in_cycle"),
        (ApiCall(deadline=0.5), "expired", "deadline"),
        (ApiCall(type="frobnicate", needed_in_cycle=True, deadline=0.5), "refused", "type"),
        (ApiCall(needed_in_cycle=True, deadline=0.5), "refused", "in_cycle"),
    ],
)
def test_refused_at_submit(call, kind, reason):
    tape = Tape()
    tape.tell(1.0, tape.submit(1.0, call), kind, reason=reason)
    tape.settled(10.0)
    good(tape)
    tape = Tape()
    tape.submit(1.0, call)
    tape.start(1.0, "s0")
    bad(tape)
    tape = Tape()
    tape.tell(1.0, tape.submit(1.0, call), "refused", reason="capacity")
    bad(tape)


def test_closed_comes_first():
    tape = Tape()
    tape.close(0.0)
    tape.closed(0.0)
    tape.tell(0.0, tape.submit(0.0, ApiCall(type="frobnicate")), "closed")
    tape.settled(1.0)
    good(tape)
    tape = Tape()
    tape.close(0.0)
    tape.tell(0.0, tape.submit(0.0, ApiCall(type="frobnicate")), "refused", reason="type")
    bad(tape, "closed")


def test_a_call_that_need_not_be_refused_is_not():
    tape = Tape()
    tape.tell(0.0, tape.submit(0.0, PATCH), "refused", reason="capacity")
    bad(tape)


# -- bounds and drops --------------------------------------------------------------------------------------------------


def full(*calls, capacity=2, **config):
    tape = Tape(QueueConfig(capacity=capacity, workers=1, **config))
    for call in calls:
        tape.submit(0.0, call)
    return tape


def other(n, **fields):
    return ApiCall(uid=f"uid-{n}", name=f"pod-{n}", **fields)


def test_the_least_call_is_dropped():
    tape = full(other(1), other(2, priority=1))
    tape.start(0.0, "s0")
    tape.submit(0.0, other(3, priority=5))
    tape.tell(0.0, "s1", "dropped")
    tape.settled(0.001)
    good(tape)


def test_a_drop_that_nobody_is_told_of():
    tape = full(other(1), other(2, priority=1))
    tape.start(0.0, "s0")
    tape.submit(0.0, other(3, priority=5))
    tape.settled(1.0)
    bad(tape, "dropped")


def test_the_wrong_call_is_dropped():
    tape = full(other(1), other(2, priority=3), other(3, priority=1), capacity=3)
    tape.start(0.0, "s0")
    tape.submit(0.0, other(4, priority=5))
    tape.tell(0.0, "s1", "dropped")
    bad(tape)


@pytest.mark.parametrize("fields", [{"droppable": False}, {"prerequisite_of": "uid-9"}, {"priority": 5}])
def test_what_is_not_dropped(fields):
    tape = full(other(1), other(2, **fields))
    tape.start(0.0, "s0")
    tape.tell(0.0, tape.submit(0.0, other(3, priority=5)), "refused", reason="capacity")
    tape.settled(0.001)
    good(tape)
    tape = full(other(1), other(2, **fields))
    tape.start(0.0, "s0")
    tape.submit(0.0, other(3, priority=5))
    tape.tell(0.0, "s1", "dropped")
    bad(tape)


def test_ties_of_priority_are_broken_by_deadline_and_cost():
    for low, high in (({"deadline": 50.0}, {"deadline": 40.0}), ({"rebuild_cost": 1.0}, {"rebuild_cost": 2.0})):
        calls = (other(1), other(2, **high), other(3, **low))
        tape = full(*calls, capacity=3)
        tape.start(0.0, "s0")
        tape.submit(0.0, other(4, priority=5, deadline=45.0))
        tape.tell(0.0, "s2", "dropped")
        good(tape)
        tape = full(*calls, capacity=3)
        tape.start(0.0, "s0")
        tape.submit(0.0, other(4, priority=5, deadline=45.0))
        tape.tell(0.0, "s1", "dropped")
        bad(tape)


def test_the_live_share():
    config = QueueConfig(shares={"default": (1, 1)})
    tape = Tape(config)
    tape.submit(0.0, other(1))
    tape.start(0.0, "s0")
    tape.tell(0.0, tape.submit(0.0, other(2)), "refused", reason="share")
    good(tape)
    tape = Tape(config)
    tape.submit(0.0, other(1))
    tape.start(0.0, "s0")
    tape.submit(0.0, other(2))
    tape.settled(1.0)
    bad(tape, "refused")


def test_the_executing_share():
    tape = Tape(QueueConfig(shares={"default": (5, 1)}))
    tape.submit(0.0, other(1))
    tape.submit(0.0, other(2))
    tape.start(0.0, "s0")
    good(tape)
    tape.start(0.0, "s1")
    bad(tape, "execute already")


def test_workers():
    tape = Tape(QueueConfig(workers=1))
    tape.submit(0.0, other(1))
    tape.submit(0.0, other(2))
    tape.start(0.0, "s0")
    good(tape)
    tape.start(0.0, "s1")
    bad(tape, "workers are busy")


# -- twins -------------------------------------------------------------------------------------------------------------


def test_twins_share_an_attempt():
    tape = Tape()
    tape.submit(0.0, PATCH)
    tape.submit(0.0, PATCH, "o0")
    run(tape, 0.0, "s0")
    tape.tell(0.0, "s1", "merged", "applied")
    tape.settled(10.0)
    good(tape)


def test_a_joiner_gets_the_real_outcome():
    tape = Tape()
    tape.submit(0.0, PATCH)
    tape.submit(0.0, PATCH, "o0")
    run(tape, 0.0, "s0", 422, kind="failed")
    tape.tell(0.0, "s1", "merged", "applied")
    bad(tape)


def test_a_joiner_gets_no_early_success():
    tape = Tape()
    tape.submit(0.0, PATCH)
    tape.submit(0.0, PATCH, "o0")
    tape.tell(0.0, "s1", "merged", "applied")
    bad(tape)


@pytest.mark.parametrize(
    "change",
    [{"target": "spec"}, {"context": "context-2"}, {"key": "k2"}, {"precondition": Precondition(resource_version=2)}],
)
def test_no_twins(change):
    tape = Tape()
    tape.submit(0.0, PATCH)
    tape.submit(0.0, ApiCall(**change), "o0")
    run(tape, 0.0, "s0")
    tape.tell(0.0, "s1", "merged", "applied")
    bad(tape)


def test_one_key_with_two_payloads():
    tape = Tape()
    tape.submit(0.0, ApiCall(key="k"))
    tape.tell(0.0, tape.submit(0.0, ApiCall(key="k", payload={"x": 1})), "refused", reason="key_payload")
    tape.start(0.0, "s0")
    good(tape)
    tape.settled(0.0)
    tape = Tape()
    tape.submit(0.0, ApiCall(key="k"))
    tape.submit(0.0, ApiCall(key="k", payload={"x": 1}))
    tape.start(0.0, "s0")
    tape.settled(1.0)
    bad(tape, "refused")


def parked(key=None):
    tape = Tape()
    tape.submit(0.0, ApiCall(key=key))
    attempt = tape.start(0.0, "s0")
    tape.submit(1.0, ApiCall(key=key), "o0")
    return tape, attempt


def test_a_parked_twin_is_merged():
    tape, attempt = parked()
    tape.effect(2.0, attempt)
    tape.end(2.0, attempt, 200)
    tape.tell(2.0, "s0", "applied")
    tape.tell(2.0, "s1", "merged", "applied")
    tape.settled(9.0)
    good(tape)
    tape, attempt = parked()
    tape.end(2.0, attempt, 200)
    tape.tell(2.0, "s0", "applied")
    tape.start(2.0, "s1")
    bad(tape)


def test_a_parked_twin_runs_if_the_first_surely_did_not():
    tape, attempt = parked()
    tape.end(2.0, attempt, 422)
    tape.tell(2.0, "s0", "failed")
    run(tape, 2.0, "s1")
    tape.settled(9.0)
    good(tape)
    tape, attempt = parked()
    tape.end(2.0, attempt, 422)
    tape.tell(2.0, "s0", "failed")
    tape.tell(2.0, "s1", "failed")
    bad(tape)


def test_a_parked_twin_of_an_unknown_one():
    tape, attempt = parked()
    tape.end(2.0, attempt, None)
    tape.tell(2.0, "s0", "unknown")
    tape.tell(2.0, "s1", "unknown")
    good(tape)
    tape, attempt = parked()
    tape.end(2.0, attempt, None)
    tape.tell(2.0, "s0", "unknown")
    tape.start(2.0, "s1")
    bad(tape)


# -- superseding and order ---------------------------------------------------------------------------------------------


def test_superseded_only_once_the_survivor_has_applied():
    tape = Tape()
    tape.submit(0.0, PATCH)
    tape.submit(0.0, DELETE)
    attempt = tape.start(0.0, "s1")
    tape.effect(1.0, attempt)
    tape.end(1.0, attempt, 200)
    tape.tell(1.0, "s1", "applied")
    tape.tell(1.0, "s0", "superseded")
    tape.settled(9.0)
    good(tape)
    tape = Tape()
    tape.submit(0.0, PATCH)
    tape.submit(0.0, DELETE)
    tape.start(0.0, "s1")
    tape.tell(0.0, "s0", "superseded")
    bad(tape)


def test_pending_again_when_the_survivor_has_not():
    tape = Tape()
    tape.submit(0.0, PATCH)
    tape.submit(0.0, DELETE)
    run(tape, 0.0, "s1", 422, kind="failed", lasts=1.0)
    run(tape, 1.0, "s0")
    tape.settled(9.0)
    good(tape)


def test_failed_when_nobody_knows():
    tape = Tape()
    tape.submit(0.0, PATCH)
    tape.submit(0.0, DELETE)
    run(tape, 0.0, "s1", None, kind="unknown", lasts=1.0)
    tape.tell(1.0, "s0", "failed", reason="survivor")
    tape.settled(9.0)
    good(tape)


def test_a_withheld_call_does_not_run():
    tape = Tape()
    tape.submit(0.0, DELETE)
    tape.submit(0.0, PATCH)
    tape.start(0.0, "s1")
    bad(tape, "withheld")


def test_an_older_generation_is_withheld_and_passed_on():
    old = ApiCall(precondition=Precondition(generation=(1, 0)))
    new = ApiCall(precondition=Precondition(generation=(1, 1)))
    tape = Tape()
    tape.submit(0.0, old)
    tape.submit(0.0, new)
    tape.submit(0.0, BIND)
    run(tape, 0.0, "s2")
    tape.tell(0.0, "s1", "superseded")
    tape.tell(0.0, "s0", "superseded")
    tape.settled(9.0)
    good(tape)
    tape = Tape()
    tape.submit(0.0, old)
    tape.submit(0.0, new)
    tape.start(0.0, "s0")
    good(tape)  # it may have been taken for a worker before the newer one came
    tape = Tape()
    tape.submit(0.0, old)
    tape.start(0.0, "s0")
    tape.submit(1.0, new)
    tape.start(1.0, "s1")
    bad(tape, "executes on the same object")


def test_a_bind_does_not_supersede_its_prerequisites():
    tape = Tape()
    tape.submit(0.0, ApiCall(prerequisite_of="uid-1"))
    tape.submit(0.0, BIND)
    run(tape, 0.0, "s0")
    run(tape, 0.0, "s1")
    tape.settled(9.0)
    good(tape)
    tape = Tape()
    tape.submit(0.0, other(2, prerequisite_of="uid-1"))
    tape.submit(0.0, BIND)
    tape.start(0.0, "s1")
    bad(tape, "prerequisite")


@pytest.mark.parametrize(("status", "kind"), [(422, "failed"), (None, "unknown")])
def test_a_bind_fails_with_its_prerequisite(status, kind):
    tape = Tape()
    tape.submit(0.0, other(2, prerequisite_of="uid-1"))
    tape.submit(0.0, BIND)
    run(tape, 0.0, "s0", status, kind=kind)
    tape.tell(0.0, "s1", "failed", reason="prerequisite")
    tape.settled(9.0)
    good(tape)


def test_a_second_bind():
    second = ApiCall(type="bind", target="node-2")
    tape = Tape()
    tape.submit(0.0, BIND)
    tape.tell(0.0, tape.submit(0.0, second), "refused", reason="second_bind")
    run(tape, 0.0, "s0")
    tape.tell(1.0, tape.submit(1.0, second), "refused", reason="second_bind")
    tape.settled(9.0)
    good(tape)
    tape = Tape()
    run(tape, 0.0, tape.submit(0.0, BIND), 422, kind="failed")
    run(tape, 1.0, tape.submit(1.0, second))
    tape.settled(9.0)
    good(tape)
    tape = Tape()
    run(tape, 0.0, tape.submit(0.0, BIND))
    tape.submit(1.0, second)
    tape.start(1.0, "s1")
    bad(tape)


def test_submit_order_on_an_object():
    later = ApiCall(target="spec", priority=9)
    tape = Tape()
    tape.submit(0.0, PATCH)
    tape.submit(0.0, later)
    tape.start(0.0, "s1")
    bad(tape, "earlier")
    tape = Tape()
    tape.submit(0.0, PATCH)
    tape.submit(0.0, later)
    run(tape, 0.0, "s0")
    run(tape, 0.0, "s1")
    tape.settled(9.0)
    good(tape)


def test_reads_hold_nothing():
    tape = Tape()
    tape.submit(0.0, GET)
    tape.submit(0.0, PATCH)
    tape.start(0.0, "s0")
    run(tape, 0.0, "s1")
    good(tape)


def test_a_backoff_holds_nothing_against_a_more_relevant_call():
    tape = Tape()
    run(tape, 0.0, tape.submit(0.0, PATCH), 503, kind="", retry_after=60.0)
    run(tape, 1.0, tape.submit(1.0, DELETE))
    tape.tell(1.0, "s0", "superseded")
    tape.settled(100.0)
    good(tape)


# -- who runs first ----------------------------------------------------------------------------------------------------


def test_the_best_eligible_call():
    tape = Tape(QueueConfig(workers=1))
    for call in (other(1), other(2), other(3, priority=5)):
        tape.submit(0.0, call)
    attempt = tape.start(0.0, "s0")
    good(tape)
    tape.end(1.0, attempt, 200)
    tape.tell(1.0, "s0", "applied")
    tape.start(1.0, "s1")
    bad(tape, "s2 was eligible and comes first")


def test_age_counts():
    tape = Tape(QueueConfig(workers=1))
    tape.submit(0.0, other(1))
    attempt = tape.start(0.0, "s0")
    tape.submit(0.0, other(2))
    tape.submit(4.0, other(3, priority=3))
    tape.end(5.0, attempt, 200)
    tape.tell(5.0, "s0", "applied")
    tape.start(5.0, "s2")
    bad(tape, "s1 was eligible and comes first")


def test_a_loan():
    tape = Tape(QueueConfig(workers=1))
    tape.submit(0.0, other(1))
    attempt = tape.start(0.0, "s0")
    tape.submit(0.0, other(2))
    tape.submit(0.0, other(2, target="spec", priority=9))
    tape.submit(0.0, other(3, priority=5))
    tape.end(5.0, attempt, 200)
    tape.tell(5.0, "s0", "applied")
    tape.start(5.0, "s1")
    good(tape)


def test_tokens():
    tape = Tape(QueueConfig(qps=1.0, burst=1, workers=5))
    for number in range(2):
        tape.submit(0.0, other(number))
    tape.start(0.0, "s0")
    tape.start(0.5, "s1")
    bad(tape, "no token")
    tape = Tape(QueueConfig(qps=1.0, burst=1, workers=5))
    for number in range(2):
        tape.submit(0.0, other(number))
    tape.start(0.0, "s0")
    tape.start(1.0, "s1")
    good(tape)
    tape = Tape(QueueConfig(qps=1.0, burst=1, workers=5))
    for number in range(2):
        tape.submit(0.0, other(number))
    tape.start(0.0, "s0")
    tape.settled(2.0)
    bad(tape, "nothing was started")


# -- deadlines, cancellation, close ------------------------------------------------------------------------------------


def test_expired():
    tape = Tape(QueueConfig(workers=1))
    tape.submit(0.0, other(1))
    tape.start(0.0, "s0")
    tape.submit(0.0, other(2, deadline=2.0))
    tape.tell(2.0, "s1", "expired")
    good(tape)
    tape = Tape(QueueConfig(workers=1))
    tape.submit(0.0, other(1))
    tape.start(0.0, "s0")
    tape.submit(0.0, other(2, deadline=2.0))
    tape.settled(3.0)
    bad(tape, "deadline")
    tape = Tape(QueueConfig(workers=1))
    tape.submit(0.0, other(1))
    tape.start(0.0, "s0")
    tape.submit(0.0, other(2, deadline=2.0))
    tape.tell(1.0, "s1", "expired")
    bad(tape)


def test_in_flight_at_the_deadline():
    for kind, fits in (("unknown", True), ("expired", False)):
        tape = Tape()
        tape.submit(0.0, ApiCall(deadline=2.0))
        attempt = tape.start(0.0, "s0")
        tape.tell(2.0, "s0", kind)
        tape.end(3.0, attempt, 200)
        tape.settled(9.0)
        (good if fits else bad)(tape)


def test_no_attempt_after_the_deadline():
    tape = Tape()
    tape.submit(0.0, ApiCall(deadline=2.0))
    attempt = tape.start(0.0, "s0")
    tape.end(1.9, attempt, 503)
    tape.start(2.3, "s0")
    bad(tape)


def test_cancelled_unsent():
    tape = Tape(QueueConfig(workers=1))
    tape.submit(0.0, other(1))
    tape.start(0.0, "s0")
    tape.submit(0.0, other(2))
    tape.cancel(1.0, "s1")
    tape.tell(1.0, "s1", "cancelled")
    good(tape)
    tape = Tape()
    tape.submit(0.0, PATCH)
    tape.cancel(0.0, "s0")
    tape.start(0.0, "s0")
    bad(tape)


def test_cancelled_in_flight():
    for kind, fits in (("stale", True), ("applied", False), ("cancelled", False)):
        tape = Tape()
        tape.submit(0.0, PATCH)
        attempt = tape.start(0.0, "s0")
        tape.cancel(1.0, "s0")
        tape.end(2.0, attempt, 200)
        tape.tell(2.0, "s0", kind)
        (good if fits else bad)(tape)


def test_a_cancel_may_overtake_an_answer_of_the_same_instant():
    for kind in ("stale", "applied"):
        tape = Tape()
        tape.submit(0.0, PATCH)
        attempt = tape.start(0.0, "s0")
        tape.end(2.0, attempt, 200)
        tape.cancel(2.0, "s0")
        tape.tell(2.0, "s0", kind)
        good(tape)


def test_end_of_context_and_deletion():
    for how in ("end_context", "delete"):
        tape = Tape(QueueConfig(workers=1))
        tape.submit(0.0, other(9, context="context-9"))
        tape.start(0.0, "s0")
        tape.submit(0.0, BIND)
        getattr(tape, how)(1.0)
        tape.tell(1.0, "s1", "cancelled")
        good(tape)
        tape.start(1.0, "s1")
        bad(tape)


def test_one_joiner_leaves():
    tape = Tape(QueueConfig(workers=1))
    tape.submit(0.0, other(1))
    attempt = tape.start(0.0, "s0")
    tape.submit(0.0, other(2))
    tape.submit(0.0, other(2), "o1")
    tape.cancel(1.0, "s1")
    tape.tell(1.0, "s1", "cancelled")
    tape.end(2.0, attempt, 200)
    tape.tell(2.0, "s0", "applied")
    run(tape, 2.0, "s2")
    tape.settled(9.0)
    good(tape)


def test_close():
    tape = Tape(QueueConfig(workers=1))
    tape.submit(0.0, other(1))
    attempt = tape.start(0.0, "s0")
    tape.submit(0.0, other(2))
    tape.close(1.0)
    tape.tell(1.0, "s0", "unknown")
    tape.tell(1.0, "s1", "closed")
    tape.closed(1.0)
    tape.end(3.0, attempt, 200)
    tape.settled(9.0)
    good(tape)
    tape = Tape()
    tape.submit(0.0, other(1))
    tape.close(0.0)
    tape.start(0.0, "s0")
    bad(tape, "closed")
    tape = Tape(QueueConfig(workers=1))
    tape.submit(0.0, other(1))
    tape.start(0.0, "s0")
    tape.close(1.0)
    tape.closed(1.0)
    tape.settled(9.0)
    bad(tape, "unknown")


# -- retries and ambiguity ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("at", "fits"), [(0.2, False), (0.25, True), (0.5, True), (0.9, False)])
def test_the_first_pause(at, fits):
    tape = Tape()
    run(tape, 0.0, tape.submit(0.0, PATCH), 503, kind="")
    run(tape, at, "s0")
    (good if fits else bad)(tape)


@pytest.mark.parametrize(("at", "fits"), [(2.9, False), (3.0, True), (3.5, False)])
def test_a_hint(at, fits):
    tape = Tape()
    run(tape, 0.0, tape.submit(0.0, PATCH), 429, kind="", retry_after=3.0)
    run(tape, at, "s0")
    (good if fits else bad)(tape)


def test_attempts():
    tape = Tape(QueueConfig(attempts=2))
    run(tape, 0.0, tape.submit(0.0, PATCH), 503, kind="")
    run(tape, 0.5, "s0", 503, kind="exhausted")
    good(tape)
    tape = Tape(QueueConfig(attempts=2))
    run(tape, 0.0, tape.submit(0.0, PATCH), 503, kind="")
    run(tape, 0.5, "s0", 503, kind="")
    tape.start(1.4, "s0")
    bad(tape)


def test_permanent_errors_are_not_tried_again():
    tape = Tape()
    run(tape, 0.0, tape.submit(0.0, PATCH), 422, kind="")
    tape.start(0.4, "s0")
    bad(tape)


@pytest.mark.parametrize("kind", ["applied", "failed", "exhausted"])
def test_an_unguarded_write_without_an_answer(kind):
    tape = Tape()
    run(tape, 0.0, tape.submit(0.0, PATCH), None, kind="unknown")
    good(tape)
    tape = Tape()
    run(tape, 0.0, tape.submit(0.0, PATCH), None, kind="")
    tape.start(0.4, "s0")
    bad(tape, "does not guard it")
    tape = Tape()
    run(tape, 0.0, tape.submit(0.0, PATCH), None, kind=kind)
    bad(tape)


def test_a_guarded_one_is_sent_again():
    tape = Tape()
    run(tape, 0.0, tape.submit(0.0, ApiCall(key="k")), 502, kind="")
    run(tape, 0.4, "s0")
    good(tape)
    tape = Tape()
    run(tape, 0.0, tape.submit(0.0, ApiCall(key="k")), 502, kind="unknown")
    bad(tape)


def test_read_back():
    for landed in (True, False):
        tape = Tape()
        tape.submit(0.0, PATCH)
        attempt = tape.start(0.0, "s0")
        if landed:
            tape.effect(1.0, attempt)
        tape.end(1.0, attempt, None)
        look = tape.start(1.0, "s0", read=True)
        tape.end(1.5, look, 200)
        tape.tell(1.5, "s0", "applied")
        (good if landed else bad)(tape)


def test_a_conflict_after_an_ambiguous_attempt_is_read_back():
    guarded = ApiCall(precondition=Precondition(resource_version=1))
    tape = Tape()
    tape.submit(0.0, guarded)
    attempt = tape.start(0.0, "s0")
    tape.effect(0.0, attempt)
    tape.end(0.0, attempt, None)
    run(tape, 0.4, "s0", 409, kind="")
    assert not [word for word in follow(tape.history).model.allowed(follow(tape.history).states[0]) if "failed" in word]
    tape.end(0.5, tape.start(0.5, "s0", read=True), 200)
    tape.tell(0.5, "s0", "applied")
    tape.settled(9.0)
    good(tape)
    tape = Tape()
    run(tape, 0.0, tape.submit(0.0, guarded), None, kind="")
    run(tape, 0.4, "s0", 409, kind="failed")
    bad(tape)


def test_a_successor_waits_for_an_unanswered_call():
    tape = Tape()
    run(tape, 0.0, tape.submit(0.0, ApiCall(key="k")), None, kind="")
    tape.submit(0.1, DELETE)
    tape.start(0.1, "s1")
    bad(tape, "unanswered")
    tape = Tape()
    run(tape, 0.0, tape.submit(0.0, PATCH), None, kind="unknown")
    run(tape, 0.1, tape.submit(0.1, DELETE))
    good(tape)


def test_guards_move_along_an_unbroken_chain():
    first = ApiCall(precondition=Precondition(resource_version=1))
    second = ApiCall(target="spec", precondition=Precondition(resource_version=1))
    for before, fits in ((1, True), (2, False)):
        tape = Tape()
        tape.submit(0.0, first)
        tape.submit(0.0, second)
        attempt = tape.start(0.0, "s0")
        tape.effect(0.0, attempt, before=before)
        tape.end(0.0, attempt, 200)
        tape.tell(0.0, "s0", "applied")
        tape.start(0.0, "s1", precondition={"uid": None, "resource_version": before + 1})
        (good if fits else bad)(tape)


def test_another_payload_than_at_the_submit():
    tape = Tape()
    tape.submit(0.0, PATCH)
    tape.start(0.0, "s0", payload={"operation": "o0", "changed": True})
    bad(tape, "payload")
    tape = Tape(dialect=QueueDialect(snapshots=False))
    tape.submit(0.0, PATCH)
    tape.start(0.0, "s0", payload={"operation": "o0", "changed": True})
    good(tape)


# -- breaker -----------------------------------------------------------------------------------------------------------


def broken():
    tape = Tape(QueueConfig(breaker_failures=2, breaker_open=10.0))
    run(tape, 0.0, tape.submit(0.0, other(1)), 503, kind="")
    run(tape, 0.1, tape.submit(0.1, other(2)), 503, kind="")
    return tape


def test_an_open_breaker():
    tape = broken()
    tape.tell(1.0, tape.submit(1.0, other(3)), "breaker_open")
    attempt = tape.start(10.1, "s0")
    tape.end(10.2, attempt, 200)
    tape.tell(10.2, "s0", "applied")
    tape.start(10.2, "s1")
    good(tape)
    tape = broken()
    tape.start(0.5, "s0")
    bad(tape, "breaker is open")
    tape = broken()
    tape.submit(1.0, other(3))
    tape.settled(2.0)
    bad(tape, "breaker_open")


def test_probes_are_leased():
    tape = broken()
    tape.start(10.1, "s0")
    good(tape)
    tape.start(10.1, "s1")
    bad(tape, "probes are out")


# -- dialects ----------------------------------------------------------------------------------------------------------


def test_a_plain_queue():
    plain = QueueDialect(
        order="fifo", coalescing="none", supersedes=False, serialises=False, when_full="unbounded", retries=False,
        deadlines=False, contexts=False, cancels=False, prerequisites=False, shares=False, rate=False, breaker=False,
        read_back=False, ambiguous="give_up", close="drain",
    )  # fmt: skip
    tape = Tape(QueueConfig(workers=1), plain, ("answers_at_once", "order", "progress", "close", "reference"))
    tape.submit(0.0, PATCH)
    tape.submit(0.0, DELETE)
    tape.submit(0.0, PATCH, "o0")
    run(tape, 0.0, "s0", 503, kind="failed")
    run(tape, 0.0, "s1")
    tape.close(0.0)
    run(tape, 0.0, "s2")
    tape.closed(1.0)
    tape.settled(2.0)
    good(tape)
    tape = Tape(QueueConfig(workers=1), plain, ("order",))
    tape.submit(0.0, PATCH)
    attempt = tape.start(0.0, "s0")
    tape.submit(0.0, other(2))
    tape.submit(0.0, other(3))
    tape.end(1.0, attempt, 200)
    tape.tell(1.0, "s0", "applied")
    tape.start(1.0, "s2")
    bad(tape, "comes first")
