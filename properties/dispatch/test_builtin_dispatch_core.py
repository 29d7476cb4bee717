"""The core of the built-in queue by script: checks of a submit, outcomes, twins, superseding, loans, drops, ambiguity, close."""

import gc
import math
import random
import weakref

import httpx
import pytest

from waitproof.harness.calls import OUTCOMES, ApiAnswer, ApiCall, Precondition
from waitproof.harness.queue_protocols import QueueConfig
from waitproof.harness.subjects.dispatch import DispatchCore, Failed, Reevaluate, check_config
from waitproof.harness.subjects.dispatch.breaker import Breaker
from waitproof.harness.subjects.dispatch.rate import Bucket
from waitproof.harness.subjects.dispatch.retry import Backoff
from waitproof.harness.subjects.dispatch.snapshots import payload_mark

OK = ApiAnswer(status=200, body={"changed": True})
BUSY = ApiAnswer(status=503)


def made(**config):
    options = {name: config.pop(name) for name in ("holds", "gate", "relevance", "reads") if name in config}
    return DispatchCore(QueueConfig(**config), now=0.0, debug=True, **options)


def pod(n=1, **fields):
    return ApiCall(uid=f"uid-{n}", name=f"pod-{n}", **fields)


def bind(n=1, target="node-1", **fields):
    return pod(n, type="bind", target=target, **fields)


def patch(n=1, target="status", **fields):
    return pod(n, type="patch", target=target, **fields)


def delete(n=1, **fields):
    return pod(n, type="delete", target=f"pod-{n}", **fields)


def kind(ticket):
    return None if ticket.outcome is None else ticket.outcome.kind


def told(ticket):
    view = ticket.outcome
    return None if view is None else (view.kind, view.own or view.reason)


def run(core, now=0.0, answer=OK):
    """Start one attempt and answer it; the answer is the attempt."""
    attempt = core.next(now)
    assert attempt is not None
    core.answered(attempt, answer, now)
    return attempt


# -- submit ------------------------------------------------------------------------------------------------------------


def test_the_checks_of_a_submit_come_in_their_order():
    """Each call would also fail every later check; the earliest one is told."""
    core = made(
        capacity=1, shares={"p": (1, 1)}, breaker_failures=1, gate=lambda call: "gate" if call.plugin == "g" else None
    )
    busy = core.submit(pod(9, plugin="p"), 0)
    core.answered(core.next(0), BUSY, 0)
    assert kind(busy) is None
    bad = {"deadline": 0, "plugin": "g"}
    assert told(core.submit(pod(type="odd", needed_in_cycle=True, **bad), 0)) == ("refused", "type")
    assert told(core.submit(pod(needed_in_cycle=True, **bad), 0)) == ("refused", "in_cycle")
    assert told(core.submit(pod(**bad), 0)) == ("refused", "gate")
    assert told(core.submit(pod(deadline=0, plugin="p"), 0)) == ("expired", "deadline")
    assert told(core.submit(pod(plugin="p"), 0)) == ("breaker_open", "breaker")
    assert told(core.submit(pod(plugin="p"), 20)) == ("refused", "share")
    assert told(core.submit(pod(), 20)) == ("refused", "capacity")
    core.close(20)
    assert told(core.submit(pod(type="odd"), 20)) == ("closed", "closed")


def test_backpressure_comes_with_a_hint():
    core = made(capacity=1, breaker_failures=1)
    core.submit(pod(1), 0)
    assert core.submit(pod(2), 0).outcome.retry_after > 0
    core.answered(core.next(0), BUSY, 0)
    assert core.submit(pod(3), 4).outcome.retry_after == 6


def test_a_refused_submit_changes_nothing():
    core = made(capacity=2)
    first = core.submit(patch(1, priority=50), 0)
    core.submit(patch(2, priority=50), 0)
    assert told(core.submit(delete(1, priority=0), 0)) == ("refused", "capacity")
    assert run(core).call.uid == "uid-1"
    assert kind(first) == "applied"


@pytest.mark.parametrize("field", [{"type": []}, {"uid": {}}, {"priority": math.nan}, {"effect": "ODD"}])
def test_what_no_queue_can_read_is_refused_not_raised(field):
    assert told(made().submit(ApiCall(**field), 0)) == ("refused", "type")


def test_a_payload_that_can_not_be_copied_is_refused():
    assert told(made().submit(pod(payload={"lock": (x for x in ())}), 0)) == ("refused", "type")


def test_payloads_need_neither_order_nor_hash():
    core = made(workers=9)
    tickets = [core.submit(pod(n, payload={"x": [{}, {1, 2}, object()]}), 0) for n in range(5)]
    assert [run(core).call.uid for _ in tickets] == [f"uid-{n}" for n in range(5)]


def test_the_snapshot_is_what_is_sent_and_it_is_let_go():
    class Big(dict):
        pass

    core = made()
    payload = {"value": [1], "big": Big()}
    ticket = core.submit(pod(payload=payload), 0)
    payload["value"].append(2)
    attempt = core.next(0)
    assert attempt.call.payload["value"] == [1]
    kept = weakref.ref(attempt.call.payload["big"])
    core.answered(attempt, OK, 0)
    core.take()
    del attempt
    gc.collect()
    assert kept() is None
    assert ticket.call is None


def test_a_payload_that_holds_itself_can_be_sent():
    payload = {}
    payload["me"] = payload
    core = made()
    core.submit(pod(payload=payload), 0)
    assert core.next(0).call.payload["me"]["me"] is not payload


# -- twins -------------------------------------------------------------------------------------------------------------


def test_twins_share_one_attempt_and_its_outcome():
    core = made()
    one, two = core.submit(pod(key="k", payload={"a": 1}), 0), core.submit(pod(key="k", payload={"a": 1}), 0)
    run(core)
    assert (told(one), told(two)) == (("applied", ""), ("merged", "applied"))
    assert core.next(0) is None


@pytest.mark.parametrize(
    "other",
    [
        {"uid": "uid-2"}, {"target": "other"}, {"key": "k2"}, {"context": "c2"},
        {"precondition": Precondition(resource_version=2)}, {"precondition": Precondition(generation=(1, 2))},
    ],
)  # fmt: skip
def test_others_are_never_merged(other):
    core = made(workers=5)
    core.submit(ApiCall(key="k", payload={"a": 1}), 0)
    core.submit(ApiCall(**{"key": "k", "payload": {"a": 1}, **other}), 0)
    run(core)
    run(core)


def test_one_key_with_two_payloads_is_refused():
    core = made()
    core.submit(pod(key="k", payload={"a": 1}), 0)
    assert told(core.submit(pod(key="k", payload={"a": True}), 0)) == ("refused", "key_payload")
    assert told(core.submit(pod(2, key="k", payload={"a": 2}), 0)) == ("refused", "key_payload")


def test_calls_without_a_key_and_with_different_payloads_are_no_twins():
    core = made()
    core.submit(pod(payload=1), 0), core.submit(pod(payload=2), 0)
    assert [run(core).call.payload, run(core).call.payload] == [1, 2]


def test_a_failed_call_fails_its_joiners():
    core = made()
    tickets = [core.submit(pod(), 0) for _ in range(3)]
    run(core, answer=ApiAnswer(status=422))
    assert [told(ticket) for ticket in tickets] == [("failed", "permanent")] * 3


def test_a_call_lives_while_one_joiner_lives():
    core = made()
    one, two = core.submit(pod(priority=9), 0), core.submit(pod(), 0)
    core.cancel(one, 0)
    assert kind(one) == "cancelled"
    run(core)
    assert told(two) == ("applied", "")


def test_each_joiner_keeps_its_own_deadline():
    core = made(qps=0)
    core.next(0)
    short, long = core.submit(pod(deadline=5), 0), core.submit(pod(deadline=9), 0)
    assert core.wake_at(0) in (0, 5)
    core.tick(5)
    assert (kind(short), kind(long)) == ("expired", None)
    core.tick(9)
    assert kind(long) == "expired"


@pytest.mark.parametrize(
    ("answer", "key", "expected"),
    [
        (OK, None, ("merged", "applied")),
        (ApiAnswer(status=422), None, None),
        (ApiAnswer(status=500), None, ("unknown", "ambiguous")),
        (ApiAnswer(status=500), "k", None),
    ],
)
def test_a_write_submitted_while_its_twin_executes_is_parked(answer, key, expected):
    core = made(attempts=1, reads=False)
    core.submit(pod(key=key), 0)
    attempt = core.next(0)
    parked = core.submit(pod(key=key), 0)
    assert core.next(0) is None
    core.answered(attempt, answer, 0)
    assert told(parked) == expected
    if expected is None:
        run(core)
        assert told(parked) == ("applied", "")


def test_twins_find_each_other_among_others_of_their_kind():
    """A call that differs in its payload alone does not stand between two that are alike."""
    core = made()
    odd, first, second = (core.submit(pod(payload={"value": value, "more": [1]}), 0) for value in (1, 2, 2))
    run(core)
    run(core)
    assert core.next(0) is None
    assert [kind(odd), kind(first), kind(second)] == ["applied", "applied", "merged"]


@pytest.mark.parametrize(
    "payload", [None, 1, 1.0, "a", {"a": 1, "b": [1, {"c": None}]}, [], (1, [2]), {1: {2}}, object(), [[[]]]]
)
def test_equal_payloads_have_one_mark(payload):
    """Whatever the order of their keys."""
    turned = dict(reversed(payload.items())) if isinstance(payload, dict) else payload
    assert payload_mark(payload) == payload_mark(turned)


def test_a_parked_joiner_is_told_how_the_call_was_done():
    """A no-op is no application for those who joined it either."""
    core = made()
    core.submit(pod(), 0)
    attempt = core.next(0)
    parked = core.submit(pod(), 0)
    core.answered(attempt, ApiAnswer(status=200, body={"changed": False}), 1)
    assert parked.outcome.kind == "merged"
    assert parked.outcome.own == "noop"


def test_a_parked_joiner_keeps_its_twin_alive():
    core = made()
    first = core.submit(pod(), 0)
    attempt = core.next(0)
    parked = core.submit(pod(), 0)
    core.cancel(first, 0)
    core.answered(attempt, OK, 0)
    assert (kind(first), told(parked)) == ("stale", ("merged", "applied"))


# -- superseding -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [True, False])
def test_the_less_relevant_is_withheld_whichever_came_first(first):
    core = made()
    if first:
        low, high = core.submit(patch(), 0), core.submit(bind(), 0)
    else:
        high, low = core.submit(bind(), 0), core.submit(patch(), 0)
    attempt = core.next(0)
    assert attempt.call.type == "bind"
    assert core.next(0) is None
    assert kind(low) is None
    core.answered(attempt, OK, 0)
    assert (kind(high), kind(low)) == ("applied", "superseded")


def test_the_withheld_is_pending_again_when_the_survivor_surely_failed():
    core = made()
    low, high = core.submit(patch(), 0), core.submit(bind(), 0)
    run(core, answer=ApiAnswer(status=422))
    run(core)
    assert (kind(high), kind(low)) == ("failed", "applied")


def test_the_withheld_fails_when_the_survivor_is_unknown():
    core = made(reads=False)
    low, high = core.submit(patch(), 0), core.submit(bind(), 0)
    run(core, answer=ApiAnswer(status=504))
    assert (told(high), told(low)) == (("unknown", "ambiguous"), ("failed", "survivor"))


def test_a_survivor_that_is_superseded_passes_its_withheld_on():
    core = made()
    low, middle, high = core.submit(patch(), 0), core.submit(bind(), 0), core.submit(delete(), 0)
    assert run(core).call.type == "delete"
    assert [kind(low), kind(middle), kind(high)] == ["superseded", "superseded", "applied"]


def test_a_newer_generation_supersedes_an_older_one_of_the_same_target():
    core = made()
    old = core.submit(patch(precondition=Precondition(generation=(1, 1))), 0)
    other = core.submit(patch(target="other", precondition=Precondition(generation=(1, 1))), 0)
    core.submit(patch(precondition=Precondition(generation=(1, 2))), 0)
    run(core), run(core)
    assert (kind(old), kind(other)) == ("superseded", "applied")


def test_reads_and_creates_are_never_superseded():
    core = made(workers=5)
    tickets = [core.submit(pod(type="get", effect="READ"), 0), core.submit(pod(type="create", effect="CREATE"), 0)]
    core.submit(delete(), 0)
    for _ in range(3):
        run(core)
    assert [kind(ticket) for ticket in tickets] == ["applied", "applied"]


def test_a_second_bind_to_another_node_is_refused():
    core = made()
    core.submit(bind(), 0)
    assert told(core.submit(bind(target="node-2"), 0)) == ("refused", "second_bind")
    run(core)
    assert told(core.submit(bind(target="node-2"), 0)) == ("refused", "second_bind")
    assert kind(core.submit(bind(target="node-2", context="c2"), 0)) is None
    core.end_context("context-1", 0)
    assert kind(core.submit(bind(target="node-2"), 0)) is None


def test_a_second_bind_is_fine_once_the_first_surely_failed():
    core = made()
    core.submit(bind(), 0)
    run(core, answer=ApiAnswer(status=422))
    assert kind(core.submit(bind(target="node-2"), 0)) is None


def test_a_backoff_does_not_hold_the_object_against_a_more_relevant_call():
    core = made()
    low = core.submit(patch(), 0)
    run(core, answer=BUSY)
    high = core.submit(delete(), 0)
    run(core)
    assert (kind(low), kind(high)) == ("superseded", "applied")


def test_a_more_relevant_call_that_waited_goes_first_after_the_failed_attempt():
    core = made()
    core.submit(patch(), 0)
    attempt = core.next(0)
    core.submit(delete(), 0)
    assert core.next(0) is None
    core.answered(attempt, BUSY, 0)
    assert core.next(0).call.type == "delete"


# -- order, prerequisites, loans -----------------------------------------------------------------------------------------


def test_writes_of_an_object_run_one_at_a_time_in_submit_order():
    core = made(workers=9)
    for target in "abc":
        core.submit(patch(target=target, priority=ord(target)), 0)
    order = []
    while (attempt := core.next(0)) is not None:
        assert core.next(0) is None
        order.append(attempt.call.target)
        core.answered(attempt, OK, 0)
    assert order == ["a", "b", "c"]


def test_priority_goes_first_and_age_catches_up():
    core = made(workers=1, aging=1)
    core.submit(patch(1, priority=10), 0)
    core.submit(patch(2, priority=11), 0)
    core.submit(patch(3, priority=15), 10)
    core.submit(patch(4, priority=20), 10)
    assert [run(core, 10).call.uid for _ in range(4)] == ["uid-2", "uid-1", "uid-4", "uid-3"]


@pytest.mark.parametrize("first", [True, False])
def test_a_bind_waits_for_its_prerequisites(first):
    core = made(workers=5)
    calls = [bind(), patch(2, prerequisite_of="uid-1"), patch(prerequisite_of="uid-1")]
    for call in calls if first else reversed(calls):
        core.submit(call, 0)
    assert {run(core).call.type, run(core).call.type} == {"patch"}
    assert run(core).call.type == "bind"


@pytest.mark.parametrize("answer", [ApiAnswer(status=422), ApiAnswer(status=500)])
def test_a_bind_fails_with_its_prerequisite(answer):
    core = made(reads=False)
    ticket = core.submit(bind(), 0)
    core.submit(patch(2, prerequisite_of="uid-1"), 0)
    run(core, answer=answer)
    assert told(ticket) == ("failed", "prerequisite")


def test_a_waiting_call_lends_its_priority_to_the_holder_and_to_prerequisites():
    core = made(workers=1, aging=0)
    core.submit(patch(1, target="a", priority=1), 0)
    core.submit(patch(2, target="a", priority=50), 0)
    urgent = core.submit(patch(1, target="b", priority=90), 0)
    assert core._parts.ready.top().call.uid == "uid-1"
    core.cancel(urgent, 0)
    assert core._parts.ready.top().call.uid == "uid-2"
    core.submit(bind(1, priority=95, key="x", context="c"), 0)
    core.submit(patch(3, priority=0, prerequisite_of="uid-1"), 0)
    assert core._parts.ready.top().call.uid == "uid-3"


def test_a_loan_lifts_the_executing_share():
    core = made(workers=9, shares={"p": (9, 1)})
    core.submit(patch(1, plugin="p"), 0), core.submit(patch(2, target="a", plugin="p"), 0)
    assert core.next(0).call.uid == "uid-1"
    assert core.next(0) is None
    core.submit(patch(2, target="b", priority=50), 0)
    assert core.next(0).call.target == "a"


def test_a_plugin_at_its_executing_share_does_not_hold_up_others():
    core = made(workers=9, shares={"p": (9, 1)})
    for n in range(3):
        core.submit(patch(n, plugin="p", priority=50), 0)
    core.submit(patch(7), 0)
    assert [core.next(0).call.uid, core.next(0).call.uid, core.next(0)] == ["uid-0", "uid-7", None]


# -- room --------------------------------------------------------------------------------------------------------------


def test_the_least_call_is_dropped_for_a_better_one():
    core = made(capacity=3)
    victim = core.submit(patch(1, priority=5, deadline=100), 0)
    core.submit(patch(2, priority=5, deadline=99), 0), core.submit(patch(3, priority=6), 0)
    core.submit(patch(4, priority=7), 0)
    assert told(victim) == ("dropped", "room")


def test_on_a_tie_the_newcomer_is_refused():
    core = made(capacity=1)
    core.submit(patch(1), 0)
    assert told(core.submit(patch(2), 0)) == ("refused", "capacity")


@pytest.mark.parametrize("safe", [{"droppable": False}, {"prerequisite_of": "uid-9"}])
def test_what_must_not_be_dropped_is_not(safe):
    core = made(capacity=1)
    core.submit(patch(1, **safe), 0)
    assert told(core.submit(patch(2, priority=99), 0)) == ("refused", "capacity")


def test_what_was_sent_is_not_dropped():
    core = made(capacity=1)
    core.submit(patch(1), 0)
    run(core, answer=BUSY)
    assert told(core.submit(patch(2, priority=99), 0)) == ("refused", "capacity")


def test_joiners_count_in_capacity_and_share():
    core = made(capacity=2, shares={"p": (1, 1)})
    core.submit(pod(plugin="p"), 0)
    assert told(core.submit(pod(plugin="p"), 0)) == ("refused", "share")
    core.submit(pod(), 0)
    assert told(core.submit(pod(), 0)) == ("refused", "capacity")


# -- ends --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["cancel", "end_context", "delete_object"])
def test_ends_unsent_and_in_flight(how):
    def end(core, ticket, now):
        {"cancel": lambda: core.cancel(ticket, now), "end_context": lambda: core.end_context("context-1", now),
         "delete_object": lambda: core.delete_object("uid-1", now)}[how]()  # fmt: skip

    core = made()
    ticket = core.submit(pod(), 0)
    end(core, ticket, 0)
    assert (kind(ticket), core.next(0)) == ("cancelled", None)
    for answer, expected in ((OK, "stale"), (BUSY, "stale"), (ApiAnswer(status=500), "unknown")):
        ticket = core.submit(pod(key="k"), 0)
        attempt = core.next(0)
        end(core, ticket, 0)
        assert kind(ticket) is None
        core.take()
        core.answered(attempt, answer, 0)
        assert kind(ticket) == expected
        assert [deed for deed in core.take() if isinstance(deed, (Failed, Reevaluate))] == []
        assert core.next(100) is None


def test_deadline_unsent_answered_and_unanswered():
    core = made(workers=3, backoff_first=50, backoff_cap=50)
    unsent = core.submit(patch(1, target="b", deadline=10), 0)
    sent = core.submit(patch(2, deadline=10), 0)
    run(core)
    attempt = core.next(0)
    answered = core.submit(patch(3, deadline=10), 0)
    run(core, answer=BUSY)
    waiting = core.submit(patch(2, target="later", deadline=10), 0)
    core.tick(9.99)
    assert [kind(t) for t in (sent, answered, waiting)] == [None] * 3
    core.tick(10)
    assert [kind(t) for t in (unsent, sent, answered, waiting)] == ["applied", "unknown", "expired", "expired"]
    core.answered(attempt, OK, 11)
    assert core.stats(11)["audited"] == 1


def test_an_attempt_may_take_no_longer_than_the_deadline():
    core = made(attempt_timeout=5)
    core.submit(pod(deadline=3), 0)
    assert core.next(1).timeout == 2


@pytest.mark.parametrize("sent", [False, True])
def test_close_tells_everybody_and_starts_nothing_more(sent):
    core = made(workers=1)
    first = core.submit(patch(target="a"), 0)
    rest = [
        core.submit(patch(target="b"), 0),
        core.submit(delete(3), 0),
        core.submit(bind(2), 0),
        core.submit(patch(2), 0),
    ]
    if sent:
        attempt = core.next(0)
        rest.append(core.submit(patch(target="a"), 0))
    core.close(0)
    core.close(0)
    if sent:
        assert attempt.call.uid in ("uid-1", "uid-3")
        core.answered(attempt, OK, 0)
    assert {kind(ticket) for ticket in [first, *rest]} == ({"closed", "unknown"} if sent else {"closed"})
    assert core.next(99) is None
    assert core.wake_at(99) == math.inf
    assert core.stats(0)["executing"] == 0


# -- retries, rate, breaker ----------------------------------------------------------------------------------------------


def test_retries_back_off_and_end_exhausted():
    core = made(attempts=3, backoff_first=1, backoff_factor=2, backoff_cap=9)
    ticket = core.submit(pod(), 0)
    now, pauses = 0.0, []
    for _ in range(2):
        run(core, now, BUSY)
        assert core.next(now) is None
        pauses.append(core.wake_at(now) - now)
        now = core.wake_at(now)
    run(core, now, BUSY)
    assert told(ticket) == ("exhausted", "attempts")
    assert 0.5 <= pauses[0] <= 1 <= pauses[1] <= 2


def test_a_hint_is_obeyed():
    core = made()
    core.submit(pod(), 0)
    run(core, 0, ApiAnswer(status=429, headers={"retry-after": "30"}))
    assert core.wake_at(0) == 30


def test_backoff_is_safe_at_a_million_attempts():
    backoff = Backoff(QueueConfig(backoff_first=1e-9, backoff_factor=1.0000001, backoff_cap=1e9))
    assert 0 <= backoff.pause(10**6, None) <= 1e9
    assert Backoff(QueueConfig(backoff_factor=1e300)).pause(10**6, 5.0) >= 5


def test_no_window_has_more_than_burst_and_rate():
    rng = random.Random(5)
    bucket, now, starts = Bucket(3.0, 4, 0.0), 0.0, []
    for _ in range(2_000):
        now += rng.choice([0, 0, 0.1, 0.33, 2])
        while bucket.ready(now):
            bucket.take(now)
            starts.append(now)
    for i, begin in enumerate(starts):
        for j in range(i, min(i + 40, len(starts))):
            assert j - i + 1 <= 4 + 3 * (starts[j] - begin) + 1e-6


def test_retries_and_read_backs_take_tokens_and_an_unstarted_attempt_gives_its_own_back():
    core = made(qps=1, burst=1)
    core.submit(pod(), 0)
    core.unstarted(core.next(0), 0)
    attempt = core.next(0)
    assert attempt is not None
    core.answered(attempt, ApiAnswer(status=500), 0)
    assert core.next(0) is None
    assert core.wake_at(0) == 1
    assert core.next(1).read


def test_the_breaker_opens_half_opens_and_closes():
    core = made(workers=9, attempts=1, breaker_failures=2, breaker_open=10, capacity=50)
    for n in range(2):
        core.submit(pod(n), 0)
        run(core, 0, BUSY)
    assert kind(core.submit(pod(5), 0)) == "breaker_open"
    core.submit(pod(6), 10), core.submit(pod(7), 10)
    probe = core.next(10)
    assert core.next(10) is None
    core.answered(probe, OK, 11)
    assert core.next(11) is not None


def test_results_of_an_earlier_epoch_say_nothing():
    core = made(workers=9, attempts=1, breaker_failures=1, breaker_open=10)
    core.submit(pod(1), 0), core.submit(pod(2), 0)
    early, late = core.next(0), core.next(0)
    core.answered(early, BUSY, 0)
    core.answered(late, OK, 1)
    assert core.stats(1)["breaker"] == "open"


@pytest.mark.parametrize("lost", ["abandoned", "never told"])
def test_a_lost_probe_gives_its_lease_back(lost):
    core = made(workers=9, attempts=1, breaker_failures=1, breaker_open=10, attempt_timeout=5)
    core.submit(pod(1), 0)
    run(core, 0, BUSY)
    core.submit(pod(2), 10), core.submit(pod(3), 10)
    probe = core.next(10)
    if lost == "abandoned":
        core.abandoned(probe, 11)
        assert core.next(11) is not None
    else:
        assert core.next(29) is None
        assert core.wake_at(29) == 30
        assert core.next(30) is not None


def test_a_breaker_without_failures_never_opens():
    breaker = Breaker(0, 1, 1, 1)
    for _ in range(99):
        breaker.end(0, None, False, 0)
    assert breaker.admits(0)


# -- ambiguity -----------------------------------------------------------------------------------------------------------

LOST = [ApiAnswer(status=status) for status in (408, 500, 502, 504)] + [httpx.ReadTimeout("x"), OSError("x"), None]


@pytest.mark.parametrize("end", LOST)
@pytest.mark.parametrize("guard", ["none", "key", "version"])
@pytest.mark.parametrize("held", [True, False])
def test_ambiguity(end, guard, held):
    core = made(attempts=2, holds=lambda call, body: held)
    guards = {"none": {}, "key": {"key": "k"}, "version": {"precondition": Precondition(resource_version=4)}}
    ticket = core.submit(pod(**guards[guard]), 0)

    def lose(now):
        attempt = core.next(now)
        (core.failed if isinstance(end, Exception) else core.answered)(attempt, end, now)
        return attempt

    lose(0)
    now = core.wake_at(0)
    understood = end is not None and type(end) is not OSError  # another try of what nobody understands is no use
    if guard != "none" and understood:
        assert not core.next(now).read
        return
    back = core.next(now)
    assert back.read
    core.answered(back, OK, now)
    assert kind(ticket) == ("applied" if held else "unknown")


def test_a_conflict_after_an_ambiguous_attempt_is_read_back():
    for held, expected in ((True, "applied"), (False, "unknown")):
        core = made(holds=lambda call, body, held=held: held)
        ticket = core.submit(pod(precondition=Precondition(resource_version=4)), 0)
        run(core, 0, ApiAnswer(status=500))
        run(core, 9, ApiAnswer(status=409))
        assert run(core, 9).read
        assert kind(ticket) == expected


def test_a_plain_conflict_fails_at_once():
    core = made()
    ticket = core.submit(pod(), 0)
    run(core, 0, ApiAnswer(status=409))
    assert told(ticket) == ("failed", "conflict")


def test_reads_are_simply_tried_again():
    core = made(attempts=2)
    ticket = core.submit(pod(type="get", effect="READ"), 0)
    run(core, 0, ApiAnswer(status=500))
    run(core, 9, ApiAnswer(status=500))
    assert kind(ticket) == "exhausted"


def test_a_successor_waits_for_the_ambiguous_call():
    core = made(workers=9)
    core.submit(patch(target="a", key="k"), 0)
    core.submit(patch(target="b"), 0)
    run(core, 0, ApiAnswer(status=500))
    assert core.next(0) is None
    assert core.next(9).call.target == "a"


def test_a_more_relevant_call_may_pass_an_ambiguous_one_that_its_effect_shuts_out():
    core = made(workers=9)
    low = core.submit(patch(precondition=Precondition(resource_version=4)), 0)
    run(core, 0, ApiAnswer(status=500))
    core.submit(delete(precondition=Precondition(resource_version=4)), 0)
    run(core, 0)
    assert kind(low) == "superseded"


def test_guards_follow_own_writes_along_an_unbroken_chain_only():
    core = made()
    at = Precondition(resource_version=4)
    for target in "abc":
        core.submit(patch(target=target, precondition=at if target != "b" else Precondition()), 0)
    sent = [core.next(0)]
    core.answered(sent[0], ApiAnswer(status=200, body={"resourceVersion": 5}), 0)
    sent.append(core.next(0))
    core.answered(sent[1], ApiAnswer(status=200, body={"resourceVersion": 6}), 0)
    sent.append(core.next(0))
    assert [attempt.call.precondition.resource_version for attempt in sent] == [4, None, 5]


def test_a_noop_is_told_as_such():
    core = made()
    ticket = core.submit(pod(), 0)
    run(core, 0, ApiAnswer(status=200, body={"changed": False}))
    assert kind(ticket) == "noop"


def test_permanent_errors_reach_each_plugin_once():
    core = made()
    core.submit(pod(plugin="a"), 0), core.submit(pod(plugin="b"), 0), core.submit(pod(plugin="a"), 0)
    run(core, 0, ApiAnswer(status=422))
    deeds = core.take()
    assert [deed.call.plugin for deed in deeds if isinstance(deed, Failed)] == ["a", "b"]
    assert sum(isinstance(deed, Reevaluate) for deed in deeds) == 1


def test_what_was_taken_is_not_filled_any_more():
    """A thread that looked at an empty list after it let the lock go did what another one was to do, too."""
    core = made()
    taken = core.take()
    core.submit(pod(), 0, lambda view: None)
    run(core)
    assert taken == []
    assert len(core.take()) == 2


@pytest.mark.parametrize("end", ["cancel", "close"])
def test_an_attempt_that_was_taken_is_not_begun_for_a_call_that_ended_meanwhile(end):
    core = made(qps=1, burst=1)
    ticket = core.submit(pod(), 0)
    attempt = core.next(0)
    assert core.wanted(attempt)
    core.cancel(ticket, 0) if end == "cancel" else core.close(0)
    assert not core.wanted(attempt)
    core.unstarted(attempt, 0)
    assert kind(ticket) == {"cancel": "cancelled", "close": "unknown"}[end]
    assert core.stats(0)["executing"] == 0
    assert core.stats(0)["tokens"] == 1


# -- figures -----------------------------------------------------------------------------------------------------------


def test_huge_counters_and_a_clock_that_goes_back():
    core = made()
    core._parts.accounts.submitted = core._parts.accounts.outcomes["applied"] = 10**30
    tickets = [core.submit(pod(target=str(n)), 5 - n) for n in range(3)]
    assert [run(core, 0).call.target for _ in tickets] == ["0", "1", "2"]


@pytest.mark.parametrize(
    "bad",
    [
        {"workers": 0}, {"workers": True}, {"capacity": 1.5}, {"qps": -1}, {"qps": math.nan}, {"burst": 0}, {"attempts": 0},
        {"attempt_timeout": 0}, {"attempt_timeout": math.inf}, {"backoff_first": 9, "backoff_cap": 1}, {"backoff_factor": 0.5},
        {"priority_low": 5, "priority_high": 1}, {"aging": -1}, {"shares": {"p": (0, 1)}}, {"shares": {"p": 3}},
        {"breaker_failures": -1}, {"breaker_open": 0}, {"breaker_probes": 0}, {"jitter_seed": "x"},
    ],
)  # fmt: skip
def test_a_bad_configuration_is_refused(bad):
    with pytest.raises(ValueError, match=next(iter(bad)).split("_")[0].rstrip("s")):
        check_config(QueueConfig(**bad))


def test_bounds_say_how_they_come_about():
    bounds = made(qps=10, capacity=10).bounds()
    assert 0 < bounds.wait < math.inf
    assert "W =" in bounds.why
    assert made(aging=0).bounds().wait == math.inf


# -- everything at once --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(60))
def test_any_course_of_events_keeps_the_law_and_ends(seed):
    """Random events; then everything is answered well, and nothing is left: no ticket, slot, lease, index or payload."""
    rng = random.Random(seed)
    core = made(
        workers=rng.choice([1, 2, 5]), capacity=rng.choice([3, 8, 30]), attempts=rng.choice([1, 2, 3]),
        qps=rng.choice([math.inf, 5.0]), breaker_failures=rng.choice([0, 0, 3]), aging=rng.choice([0, 1]),
        shares={"p": (4, 1)} if rng.random() < 0.5 else {}, holds=lambda call, body: rng.random() < 0.5,
    )  # fmt: skip
    now, out, tickets, running = 0.0, [], [], {}

    def settled_once(ticket):
        return ticket.outcome is None or ticket.outcome.kind in OUTCOMES

    def ended(attempt):
        if attempt.call.effect == "IDEMPOTENT_WRITE" and running.get(attempt.call.uid) is attempt:
            del running[attempt.call.uid]

    for _ in range(300):
        step = rng.random()
        now += rng.choice([0, 0, 0.1, 1])
        if step < 0.4:
            effect = rng.choice(["patch", "patch", "bind", "delete", "get", "create"])
            call = pod(
                rng.randint(1, 3), type=effect, target=rng.choice("ab"), key=rng.choice([None, "k1", "k2"]),
                effect={"get": "READ", "create": "CREATE"}.get(effect, "IDEMPOTENT_WRITE"),
                context=rng.choice(["c1", "c2"]), priority=rng.randint(0, 5), plugin=rng.choice("pq"),
                deadline=rng.choice([math.inf, now + 3]), prerequisite_of=rng.choice([None, None, "uid-1"]),
                precondition=Precondition(
                    resource_version=rng.choice([None, 1]), generation=rng.choice([None, (1, 1), (1, 2)])
                ),
            )  # fmt: skip
            tickets.append(core.submit(call, now))
        elif step < 0.6:
            attempt = core.next(now)
            if attempt is not None:
                out.append(attempt)
                uid, live = attempt.call.uid, running.get(attempt.call.uid)
                if attempt.call.effect == "IDEMPOTENT_WRITE":
                    assert live is None or live.entry.state == 6
                    running[uid] = attempt
        elif step < 0.85 and out:
            attempt = out.pop(rng.randrange(len(out)))
            ended(attempt)
            how = rng.choice([200, 200, 503, 500, 409, 422, 404, "lost", "gone", "never"])
            if how == "lost":
                core.failed(attempt, httpx.ReadTimeout("x"), now)
            elif how == "gone":
                core.abandoned(attempt, now)
            elif how == "never":
                core.unstarted(attempt, now)
            else:
                core.answered(attempt, ApiAnswer(status=how), now)
        elif step < 0.92 and tickets:
            core.cancel(rng.choice(tickets), now)
        elif step < 0.94:
            core.end_context(rng.choice(["c1", "c2"]), now)
        elif step < 0.95:
            core.delete_object(f"uid-{rng.randint(1, 3)}", now)
        core.take()
        parts = core._parts
        assert parts.executing == len(out)
        assert parts.accounts.live == sum(ticket.outcome is None for ticket in tickets) <= core.config.capacity
        assert parts.accounts.live == sum(entry.live for entry in parts.entries())
        assert all(settled_once(ticket) for ticket in tickets)
        for entry in parts.entries():
            assert entry.wanting == sum(not one.asked for one in entry.waiting())
            assert entry.live or entry.attempt is not None
    for _ in range(2_000):
        for attempt in out:
            core.answered(attempt, OK, now)
        out.clear()
        while (attempt := core.next(now)) is not None:
            core.answered(attempt, OK, now)
        if core.wake_at(now) == math.inf:
            break
        now = max(now, core.wake_at(now))
    parts = core._parts
    assert [ticket for ticket in tickets if ticket.outcome is None] == []
    assert (parts.executing, len(parts.breaker.leases)) == (0, 0)
    held = (parts.uids.held, parts.contexts.held, parts.objects.held, parts.needs.held, parts.binds.live.held)
    assert [len(one) for one in held] == [0] * 5
    assert not parts.twins.by_key and not parts.twins.payloads
