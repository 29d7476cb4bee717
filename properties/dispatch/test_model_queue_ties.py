"""What happens within one instant may be seen in another order than it was decided: the reference model follows all of these."""

from waitproof.harness.calls import ApiCall, Precondition
from waitproof.harness.queue_protocols import QueueConfig
from waitproof.models.queue_following import follow, followed
from waitproof.models.queue_tape import Tape


def tape(mode="asyncio", **config):
    return Tape(QueueConfig(**config), mode=mode)


def call(kind="patch", pod=1, **fields):
    usual = {"bind": "node-1", "get": "pod"}.get(kind, "status")
    effect = "READ" if kind == "get" else "IDEMPOTENT_WRITE"
    return ApiCall(type=kind, effect=effect, uid=f"uid-{pod}", name=f"pod-{pod}", target=usual, **fields)


def parting(made):
    found = follow(made.history)
    assert not found.stopped
    return str(found.breach or "")


def test_an_object_is_deleted_with_a_bind_and_what_it_waits_for():
    made = tape()
    made.submit(0.0, call(prerequisite_of="uid-1"))
    made.submit(0.0, call("bind"))
    made.delete(0.0)
    made.tell(0.0, "s1", "cancelled")
    made.tell(0.0, "s0", "cancelled")
    assert parting(made) == ""


def test_a_bind_whose_prerequisite_alone_is_cancelled_has_failed():
    made = tape()
    made.submit(0.0, call(prerequisite_of="uid-1"))
    made.submit(0.0, call("bind"))
    made.cancel(0.0, "s0")
    made.tell(0.0, "s0", "cancelled")
    made.tell(0.0, "s1", "cancelled")
    assert "s1 may be told failed" in parting(made)


def test_a_deadline_may_be_seen_to_pass_before_the_submit_of_its_instant():
    made = tape()
    made.submit(0.0, call("bind", deadline=1.0))
    attempt = made.start(0.0, "s0")
    made.submit(1.0, call())
    made.tell(1.0, "s0", "unknown")
    made.end(1.0, attempt, None, error="")
    made.start(1.0, "s1")
    assert parting(made) == ""


def test_a_deadline_may_pass_before_the_answer_of_its_instant():
    for at, allowed in ((1.0, True), (0.5, False)):
        made = tape()
        made.submit(0.0, call(deadline=1.0))
        attempt = made.start(0.0, "s0")
        made.effect(0.0, attempt)
        made.end(at, attempt, 200)
        made.tell(at, "s0", "unknown")
        assert (parting(made) == "") is allowed


def test_a_read_without_an_answer_is_expired_or_unknown():
    for word, allowed in (("unknown", True), ("expired", True), ("cancelled", False)):
        made = tape()
        for _ in range(2):
            made.submit(0.0, call("get", deadline=5.0), "o0")
        attempt = made.start(0.0, "s0")
        made.end(5.0, attempt, None)
        made.tell(5.0, "s0", word)
        made.tell(5.0, "s1", word)
        assert (parting(made) == "") is allowed


def test_on_threads_an_attempt_may_be_taken_just_before_close_is_called():
    for mode, allowed in (("threads", True), ("asyncio", False)):
        made = tape(mode)
        made.submit(0.0, call())
        made.close(0.0)
        made.start(0.0, "s0")
        assert (parting(made) == "") is allowed


def test_on_threads_a_call_in_the_hands_of_a_worker_may_be_told_unknown():
    for mode, allowed in (("threads", True), ("asyncio", False)):
        made = tape(mode)
        made.submit(0.0, call())
        made.close(0.0)
        made.tell(0.0, "s0", "unknown")
        assert (parting(made) == "") is allowed


def test_a_joiner_makes_the_call_a_prerequisite():
    for word, allowed in (("unknown", True), ("applied", False)):
        made = tape()
        made.submit(0.0, call())
        made.submit(0.0, call(prerequisite_of="uid-1"), "o0")
        made.submit(0.0, call("bind"))
        attempt = made.start(0.0, "s0")
        if word == "applied":
            made.effect(0.0, attempt)
        made.end(0.0, attempt, 200 if word == "applied" else 500)
        made.tell(0.0, "s0", word)
        made.tell(0.0, "s1", "merged", word)
        made.tell(0.0, "s2", "failed", None, "prerequisite")
        assert (parting(made) == "") is allowed


def test_a_result_of_an_earlier_epoch_does_not_count_against_the_breaker():
    for began, allowed in ((0.9, True), (1.1, False)):
        made = tape(breaker_failures=1, breaker_open=1.0, breaker_probes=2)
        made.submit(0.0, call(key="a"))
        made.submit(0.0, call(pod=2, key="b"))
        made.end(0.0, made.start(0.0, "s0"), 503)
        probe = made.start(1.0, "s0")
        late = made.start(1.0, "s1") if began < 1 else None
        made.effect(1.01, probe)
        made.end(1.01, probe, 200)
        made.tell(1.01, "s0", "applied")
        late = late or made.start(1.1, "s1")
        made.end(1.2, late, 503)
        made.start(1.75, "s1")
        assert (parting(made) == "") is allowed


def test_the_quota_changes_in_the_instant_of_an_attempt():
    made = tape()
    made.submit(0.0, call())
    made.submit(0.0, call(pod=2))
    made.rate(0.0, 0.2, 1)
    made.start(0.0, "s0")
    made.start(0.0, "s1")
    assert parting(made) == ""
    made.submit(1.0, call(pod=3))
    made.submit(1.0, call(pod=4))
    made.start(1.0, "s2")
    assert "no attempt of s2 may start" in parting(made)


def test_a_history_is_followed_once():
    made = tape()
    made.submit(0.0, call())
    first = followed(made.history)
    assert followed(made.history) is first
    made.start(0.0, "s0")
    assert followed(made.history).steps > first.steps


def test_on_threads_a_cancel_may_take_effect_after_the_answer_of_its_instant():
    for mode, allowed in (("threads", True), ("asyncio", False)):
        made = tape(mode)
        made.submit(0.0, call())
        attempt = made.start(0.0, "s0")
        made.cancel(0.0, "s0")
        made.effect(0.0, attempt)
        made.end(0.0, attempt, 200)
        made.tell(0.0, "s0", "applied")
        assert (parting(made) == "") is allowed


def test_on_threads_a_cancel_and_a_close_of_one_instant_come_in_either_order():
    for mode, allowed in (("threads", True), ("asyncio", False)):
        made = tape(mode)
        made.submit(0.0, call())
        made.close(0.0)
        made.cancel(0.0, "s0")
        made.tell(0.0, "s0", "cancelled")
        assert (parting(made) == "") is allowed


def test_a_conflict_may_end_unknown_when_the_read_back_has_failed():
    for status, allowed in ((500, True), (None, True)):
        made = tape()
        made.submit(0.0, call(precondition=Precondition(resource_version=1)))
        made.end(0.0, made.start(0.0, "s0"), None)
        made.end(0.5, made.start(0.5, "s0"), 409)
        made.end(0.5, made.start(0.5, "s0", read=True), status)
        made.tell(0.5, "s0", "unknown")
        assert (parting(made) == "") is allowed
