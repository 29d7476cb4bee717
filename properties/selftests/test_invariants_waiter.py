"""Every waiter invariant on a history that holds, one that violates it, and one that never reaches its situation."""

import json
import math

import pytest

from waitproof.harness import events as ev
from waitproof.harness.dialect import WaiterDialect
from waitproof.harness.history import History
from waitproof.harness.protocols import WaitCall
from waitproof.models.claims import WAITER_CLAIMS
from waitproof.models.invariants import catalogue

PATH = "/v2/parse/jobs/job-1"

# -- small builders: a wait is a list of steps, a step is a list of events -----------------------------------------------


def ours():
    """The invariants of waiters; other kinds of subject have tests of their own."""
    return {name: item for name, item in catalogue().items() if name.startswith(("waiter.", "subject."))}


def job(word="processing", *, job_id="job-1", **more):
    return json.dumps({"job_id": job_id, "status": word, **more})


def fetch(
    at,
    word="processing",
    *,
    http=200,
    lasts=0.0,
    headers=None,
    error=None,
    ending=None,
    body=None,
    target=PATH,
    method="GET",
    arrived=None,
    **more,
):
    """A fetch at second ``at``; by default answered at once by a job with this status word."""
    end = at + lasts
    if ending is None:
        ending = "error" if error else "answer"
    data = {"ending": ending}
    if error:
        data["error"] = error
    elif ending == "answer":
        text = body if body is not None else job(word, **more) if http == 200 else ""
        data |= {"status": http, "headers": headers or {}, "body": text, "arrived": at if arrived is None else arrived}
    return [
        ("fetch", at, ev.FETCH_START, {"method": method, "target": target, "headers": {}}),
        ("fetch", end, ev.FETCH_END, data),
    ]


def sleep(at, seconds, *, slept=None, ending="woke"):
    slept = seconds if slept is None else slept
    data = {"seconds": seconds, "slept": slept, "late": slept - seconds, "ending": ending}
    return [("", at, ev.SLEEP_START, {"seconds": seconds, "by": "seam"}), ("", at + slept, ev.SLEEP_END, data)]


def cancel(at):
    return [("", at, ev.WAIT_CANCEL, {})]


def told(at, status="processing", raw="processing"):
    return [("", at, ev.POLL_CALLBACK, {"view": {"status": status, "raw_status": raw}})]


def jump(at, seconds):
    return [("", at, ev.WALL_JUMP, {"seconds": seconds})]


def returned(at, status="completed", **view):
    return [("", at, ev.WAIT_RETURN, {"view": {"status": status, **view}})]


def raised(at, category, **data):
    base = {
        "type": category.title(),
        "message": "",
        "builtin_timeout": category == "timeout",
        "carries": {},
        "cause": None,
    }
    return [("", at, ev.WAIT_RAISE, {"category": category, **base, **data})]


def gave_up(at, polls, *, job_seen=True, cause=None):
    """A timeout error that tells all that it should."""
    view = {"status": "processing", "raw_status": "processing"} if job_seen else None
    carries = {"view": view, "elapsed": at, "polls": polls, "raw_status": "processing" if job_seen else None}
    return raised(at, "timeout", carries=carries, cause=cause)


def stop(at, reason="budget"):
    return [("!", at, ev.BENCH_STOP, {"reason": reason, "detail": ""})]


def note(**data):
    return [("!", 0.0, ev.BENCH_NOTE, data)]


LANES = {
    "wait": ev.CALLER,
    "sleep": ev.CLOCK,
    "clock": ev.CLOCK,
    "fetch": ev.CLIENT,
    "bench": ev.BENCH,
    "server": ev.SERVER,
}


def history(*runs, dialect=None, claims=WAITER_CLAIMS):
    """A history of runs; a run is (prefix and name, call or call's fields, steps)."""
    made = History({"dialect": (dialect or WaiterDialect()).as_json(), "claims": sorted(claims)})
    for op, call, steps in runs:
        if call is not None:
            data = call if "op" in call else WaitCall(**call).as_json()
            made.append(at=0.0, kind=ev.WAIT_START, lane=ev.CALLER, op=op, data={"mode": "sync", "call": data})
        fetches = 0
        for step in steps:
            for mark, at, kind, data in step:
                where = "" if mark == "!" else f"{op}.f{fetches}" if mark == "fetch" else op
                fetches += kind == ev.FETCH_END
                made.append(at=at, kind=kind, lane=LANES[kind.partition(".")[0]], op=where, data=data)
    return made


def wait(*steps, dialect=None, claims=WAITER_CLAIMS, **call):
    """A history of one wait."""
    return history(("w0", call, steps), dialect=dialect, claims=claims)


def post(at, key, *, http=200, error=None, path="/v2/parse/jobs", body="", headers=None):
    end = (
        {"ending": "error", "error": error}
        if error
        else {"ending": "answer", "status": http, "headers": headers or {}, "body": body}
    )
    headers = {} if key is None else {"idempotency-key": key}
    return [
        ("fetch", at, ev.FETCH_START, {"method": "POST", "target": path, "headers": headers}),
        ("fetch", at, ev.FETCH_END, end),
    ]


def created(job_id, operation="o1"):
    return [("!", 0.0, ev.SERVER_EFFECT, {"operation": operation, "job": job_id, "what": "created"})]


def client(*steps, op="create", name="c0"):
    return history((name, {"op": op, "resource": "parse_jobs", "operation": "o1"}, steps))


def pair(one, other, left="base", right="changed", relation=None, call=None, other_call=None, amount=1.0):
    runs = [(f"{left}/w0", call or {}, one), (f"{right}/w0", other_call or call or {}, other)]
    if relation:
        runs.insert(0, ("", None, [note(what="relation", relation=relation, amount=amount)]))
    return history(*runs)


DONE = wait(fetch(0, "completed"), returned(0))
TWO = (fetch(0), sleep(0, 1.0), fetch(1, "completed"), returned(1.0))
LATER = (fetch(0), sleep(0, 1.5), fetch(1.5, "completed"), returned(1.5))
TIMED_OUT = (fetch(0), sleep(0, 1.0), fetch(1), sleep(1, 1.0), fetch(2))
TELLS = {
    "view": {"status": "processing", "raw_status": "processing"},
    "elapsed": 2.0,
    "polls": 3,
    "raw_status": "processing",
}
HINT = {"retry-after": "7"}


def dated(seconds):
    return {"date": "Tue, 14 Nov 2023 22:13:20 GMT", "retry-after": f"Tue, 14 Nov 2023 22:13:{20 + seconds:02d} GMT"}


def hinted(pause, headers, *, http=429, **call):
    return wait(
        fetch(0, http=http, headers=headers), sleep(0, pause), fetch(pause, "completed"), returned(pause), **call
    )


def grown(kept):
    return history(
        ("", None, [note(what="memory", fetches=10, bodies_kept=1), note(what="memory", fetches=500, bodies_kept=kept)])
    )


def many(count):
    steps = [step for at in range(count) for step in (fetch(at), sleep(at, 1.0))]
    return [*steps, fetch(count, "completed")]


# -- id: (holds, violates, vacuous) --------------------------------------------------------------------------------------

CASES = {
    "subject.ends": (DONE, wait(fetch(0), stop(0, "deadlock")), None),
    "waiter.fetch_first": (
        DONE,
        wait(sleep(0, 1.0), fetch(1, "completed"), returned(1)),
        wait(cancel(0), raised(0, "cancelled")),
    ),
    "waiter.prompt_stop": (
        DONE,
        wait(fetch(0, "completed"), sleep(0, 1.0), returned(1)),
        wait(*TIMED_OUT, gave_up(2, 3), timeout=2.0),
    ),
    "waiter.only_reads": (
        DONE,
        wait(fetch(0), cancel(0), fetch(0, method="DELETE"), raised(0, "cancelled")),
        wait(cancel(0), raised(0, "cancelled")),
    ),
    "waiter.exact_schedule": (wait(*TWO), wait(*LATER), DONE),
    "waiter.interval_fixed": (wait(*LATER, poll_interval=1.5), wait(*TWO, poll_interval=1.5), wait(*TWO)),
    "waiter.jitter_in_range": (
        wait(fetch(0), sleep(0, 0.7), fetch(0.7, "completed"), returned(0.7), jitter_seed=1),
        wait(fetch(0), sleep(0, 0.4), fetch(0.4, "completed"), returned(0.4), jitter_seed=1),
        wait(*TWO),
    ),
    "waiter.early_wake_no_fetch": (
        wait(fetch(0), sleep(0, 1.0, slept=0.4), sleep(0.4, 0.6), fetch(1, "completed"), returned(1)),
        wait(fetch(0), sleep(0, 1.0, slept=0.4), fetch(0.4, "completed"), returned(0.4)),
        wait(*TWO),
    ),
    "waiter.no_storm": (wait(*TWO), wait(fetch(0), sleep(0, 0.001), fetch(0.001), stop(0.001)), DONE),
    "waiter.no_sleep_past_deadline": (
        wait(*TIMED_OUT, timeout=2.0),
        wait(fetch(0), sleep(0, 5.0), fetch(5.0), timeout=2.0),
        wait(*TWO),
    ),
    "waiter.final_poll": (
        wait(*TIMED_OUT, gave_up(2, 3), timeout=2.0),
        wait(*TIMED_OUT[:4], raised(2, "timeout"), timeout=2.0),
        wait(*TWO),
    ),
    "waiter.gives_up_not_early": (
        wait(*TIMED_OUT, gave_up(2, 3), timeout=2.0),
        wait(fetch(0), sleep(0, 1.0), raised(1, "timeout"), timeout=2.0),
        wait(*TWO),
    ),
    "waiter.stops_at_deadline": (
        wait(*TIMED_OUT, gave_up(2, 3), timeout=2.0),
        wait(*TIMED_OUT, sleep(2, 1.0), raised(3, "timeout"), timeout=2.0),
        wait(*TWO),
    ),
    "waiter.total_time": (
        wait(*TIMED_OUT, gave_up(2, 3), timeout=2.0),
        wait(*TIMED_OUT, sleep(2, 3.0), fetch(5), raised(5, "timeout"), timeout=2.0),
        wait(*TWO),
    ),
    "waiter.fetch_bounded": (
        wait(fetch(0, error="ReadTimeout", lasts=2.0), fetch_timeout=2.0),
        wait(fetch(0, lasts=3.0), fetch_timeout=2.0),
        wait(*TWO),
    ),
    "waiter.fetch_patient": (
        wait(fetch(0, ending="cancelled", lasts=2.0), fetch_timeout=2.0),
        wait(fetch(0, ending="cancelled", lasts=1.0), fetch_timeout=2.0),
        wait(*TWO),
    ),
    "waiter.outcome_by_status": (
        DONE,
        wait(fetch(0), returned(0, "processing")),
        wait(fetch(0, http=403), raised(0, "transport")),
    ),
    "waiter.failure_raised": (
        wait(fetch(0, "failed"), raised(0, "failure", carries={"view": {"status": "failed"}}), raise_on_failure=True),
        wait(fetch(0, "failed"), returned(0, "failed"), raise_on_failure=True),
        DONE,
    ),
    "waiter.failure_returned": (
        wait(fetch(0, "failed"), returned(0, "failed")),
        wait(fetch(0, "failed"), raised(0, "failure")),
        DONE,
    ),
    "waiter.failure_without_error_object": (
        wait(fetch(0, "cancelled"), raised(0, "failure"), raise_on_failure=True),
        wait(fetch(0, "cancelled"), returned(0, "cancelled"), raise_on_failure=True),
        wait(fetch(0, "failed", failure_reason="unreadable"), raised(0, "failure"), raise_on_failure=True),
    ),
    "waiter.outcomes_disjoint": (
        wait(fetch(0, http=403), raised(0, "transport")),
        wait(fetch(0, http=403), raised(0, "transport", builtin_timeout=True)),
        DONE,
    ),
    "waiter.timeout_tells": (
        wait(*TIMED_OUT, gave_up(2, 3), timeout=2.0),
        wait(*TIMED_OUT, raised(2, "timeout", carries={**TELLS, "raw_status": "pending"}), timeout=2.0),
        DONE,
    ),
    "waiter.result_is_the_answer": (
        wait(fetch(0, "completed", result={"markdown": "# a"}), returned(0, result={"markdown": "# a"})),
        wait(fetch(0, "completed", result={"markdown": "# a"}), returned(0, result={"markdown": "# b"})),
        wait(fetch(0, http=403), raised(0, "transport")),
    ),
    "waiter.identity_of_answer": (
        wait(fetch(0, "completed", job_id="job-2"), raised(0, "transport")),
        wait(fetch(0, "completed", job_id="job-2"), returned(0)),
        DONE,
    ),
    "waiter.unknown_status_continues": (
        wait(fetch(0, "hibernating"), sleep(0, 1.0), fetch(1, "completed"), returned(1)),
        wait(fetch(0, "hibernating"), raised(0, "other")),
        wait(*TWO),
    ),
    "waiter.unknown_status_visible": (
        wait(
            fetch(0, "hibernating"),
            told(0, "pending", "hibernating"),
            sleep(0, 1.0),
            fetch(1, "completed"),
            returned(1),
        ),
        wait(fetch(0, "hibernating"), told(0, "pending", "pending"), sleep(0, 1.0), fetch(1, "completed"), returned(1)),
        wait(fetch(0), told(0), sleep(0, 1.0), fetch(1, "completed"), returned(1)),
    ),
    "waiter.retry_after_honoured": (hinted(7, HINT), hinted(1, HINT), hinted(1, {})),
    "waiter.retry_after_ms": (
        hinted(2.5, {"retry-after-ms": "2500", "retry-after": "9"}),
        hinted(9, {"retry-after-ms": "2500", "retry-after": "9"}),
        hinted(7, HINT),
    ),
    "waiter.retry_after_date": (hinted(5, dated(5)), hinted(1, dated(5)), hinted(7, HINT)),
    "waiter.retry_after_on_success": (hinted(7, HINT, http=200), hinted(1, HINT, http=200), hinted(7, HINT)),
    "waiter.retry_after_each_response": (
        wait(
            fetch(0, http=429, headers=HINT),
            sleep(0, 7.0),
            fetch(7),
            sleep(7, 1.5),
            fetch(8.5, "completed"),
            returned(8.5),
        ),
        wait(
            fetch(0, http=429, headers=HINT),
            sleep(0, 7.0),
            fetch(7),
            sleep(7, 7.0),
            fetch(14, "completed"),
            returned(14),
        ),
        hinted(7, HINT),
    ),
    "waiter.retry_after_clipped": (
        wait(
            fetch(0, http=429, headers=HINT),
            sleep(0, 4.0),
            gave_up(4, 1, job_seen=False, cause="RateLimited"),
            timeout=4.0,
        ),
        wait(fetch(0, http=429, headers=HINT), sleep(0, 4.0), fetch(4), raised(4, "timeout"), timeout=4.0),
        hinted(7, HINT),
    ),
    "waiter.retry_after_garbage_ignored": (
        hinted(1, {"retry-after": "-5"}),
        hinted(5, {"retry-after": "-5"}),
        hinted(7, HINT),
    ),
    "waiter.transient_tolerated": (
        wait(fetch(0, http=503), sleep(0, 1.0), fetch(1, "completed"), returned(1)),
        wait(fetch(0, http=503), raised(0, "transport")),
        wait(*TWO),
    ),
    "waiter.permanent_surfaced": (
        wait(fetch(0, http=403), raised(0, "transport")),
        wait(fetch(0, http=403), sleep(0, 1.0), fetch(1, "completed"), returned(1)),
        wait(*TWO),
    ),
    "waiter.not_found_grace": (
        wait(fetch(0, http=404), sleep(0, 1.0), fetch(1, "completed"), returned(1), not_found_grace=3.0),
        wait(fetch(0, http=404), sleep(0, 1.0), fetch(1, "completed"), returned(1)),
        wait(*TWO),
    ),
    "waiter.cancel_stops": (
        wait(fetch(0), cancel(0.5), raised(0.5, "cancelled")),
        wait(fetch(0), cancel(0.5), fetch(1), raised(1, "cancelled")),
        DONE,
    ),
    "waiter.cancel_prompt": (
        wait(fetch(0), cancel(0.5), raised(0.5, "cancelled")),
        wait(fetch(0), cancel(0.5), raised(0.9, "cancelled")),
        DONE,
    ),
    "waiter.cancel_original": (
        wait(fetch(0), cancel(0.5), raised(0.5, "cancelled")),
        wait(fetch(0), cancel(0.5), raised(0.5, "timeout")),
        DONE,
    ),
    "waiter.overflow_safe": (
        wait(*many(1030), returned(1030), first_delay=1.0, cap=1.0, timeout=2000.0),
        wait(*many(1030), raised(1030, "other", type="OverflowError"), first_delay=1.0, cap=1.0, timeout=2000.0),
        wait(*TWO),
    ),
    "waiter.sleep_is_a_time": (wait(*TWO), wait(fetch(0), sleep(0, -1.0), stop(0)), DONE),
    "waiter.bad_parameters_refused": (
        wait(raised(0, "value"), timeout=-1.0),
        wait(fetch(0, "completed"), returned(0), timeout=-1.0),
        DONE,
    ),
    "waiter.good_parameters_accepted": (
        wait(fetch(0, "completed"), returned(0), timeout=math.inf),
        wait(raised(0, "value"), timeout=math.inf),
        DONE,
    ),
    "waiter.bounded_memory": (grown(2), grown(500), DONE),
    "waiter.ids_escaped": (
        wait(fetch(0, "completed", target="/v2/parse/jobs/a%2Fb", job_id="a/b"), returned(0), job_id="a/b"),
        wait(fetch(0, "completed", target="/v2/parse/jobs/a/b"), returned(0), job_id="a/b"),
        DONE,
    ),
    "waiter.progress_callback": (
        wait(fetch(0), told(0), sleep(0, 1.0), fetch(1, "completed"), returned(1)),
        wait(fetch(0), told(0), told(0), sleep(0, 1.0), fetch(1, "completed"), returned(1)),
        DONE,
    ),
    "waiter.create_not_doubled": (
        client(post(0, "k", error="ReadError"), created("a"), post(1, "k")),
        client(post(0, "k", error="ReadError"), created("a"), created("b"), post(1, "l")),
        client(post(0, "k"), created("a")),
    ),
    "waiter.create_key_stable": (
        client(post(0, "k", error="ReadError"), post(1, "k")),
        client(post(0, "k", error="ReadError"), post(1, "l")),
        client(post(0, "k")),
    ),
    "waiter.submit_told": (
        client(post(0, "k", body='{"job_id": "job-7"}'), returned(0, "pending", job_id="job-7")),
        client(post(0, "k", http=503), raised(0, "other", type="TypeError")),
        client(post(0, "k")),
    ),
    "waiter.submit_retried": (
        client(post(0, "k", http=503), post(1, "k")),
        client(post(0, "k", error="ReadError"), raised(0, "transport")),
        client(post(0, "k")),
    ),
    "waiter.submit_permanent_surfaced": (
        client(post(0, "k", http=422), raised(0, "transport")),
        client(post(0, "k", http=422), post(1, "k")),
        client(post(0, "k", http=503), post(1, "k")),
    ),
    "waiter.submit_paced": (
        client(post(0, "k", http=429, headers={"retry-after": "3"}), post(3, "k")),
        client(post(0, "k", http=429, headers={"retry-after": "3"}), post(1, "k")),
        client(post(0, "k")),
    ),
    "waiter.direct_504": (
        client(
            post(0, None, http=504, path="/v2/parse"),
            raised(0, "timeout", message="use client.parse_jobs"),
            op="direct",
        ),
        client(
            post(0, None, http=504, path="/v2/parse"),
            post(1, None),
            raised(1, "timeout", message="use client.parse_jobs"),
            op="direct",
        ),
        client(post(0, None, path="/v2/parse"), returned(0), op="direct"),
    ),
    "waiter.twins_agree": (pair(TWO, TWO, "sync", "trio"), pair(TWO, LATER, "sync", "trio"), wait(*TWO)),
    "waiter.waits_independent": (
        pair(TWO, TWO, "alone", "together"),
        pair(TWO, LATER, "alone", "together"),
        wait(*TWO),
    ),
    "waiter.clock_origin_irrelevant": (
        pair(TWO, TWO, relation="origin"),
        pair(TWO, LATER, relation="origin"),
        wait(*TWO),
    ),
    "waiter.wall_clock_ignored": (pair(TWO, TWO, relation="wall"), pair(TWO, LATER, relation="wall"), wait(*TWO)),
    "waiter.wall_jump_harmless": (
        wait(fetch(0), jump(0, 3600.0), *TIMED_OUT[1:], gave_up(2, 3), timeout=2.0),
        wait(fetch(0), jump(0, 3600.0), raised(0, "timeout"), timeout=2.0),
        wait(*TWO),
    ),
    "waiter.time_scale_irrelevant": (
        pair(
            TWO,
            (fetch(0), sleep(0, 2.0), fetch(2, "completed"), returned(2)),
            relation="scale",
            amount=2.0,
            other_call={"first_delay": 2.0},
        ),
        pair(TWO, TWO, relation="scale", amount=2.0),
        wait(*TWO),
    ),
    "waiter.resources_agree": (pair(TWO, TWO, relation="resource"), pair(TWO, LATER, relation="resource"), wait(*TWO)),
    "waiter.pending_inserted_monotone": (
        pair((fetch(0, "completed"), returned(0)), TWO, relation="pending"),
        pair(TWO, (fetch(0), returned(0, "processing")), relation="pending"),
        wait(*TWO),
    ),
    "waiter.follows_model": (
        wait(*TIMED_OUT, gave_up(2, 3), timeout=2.0),
        wait(*TIMED_OUT[:4], raised(2, "timeout"), timeout=2.0),
        wait(fetch(0), cancel(0.5), raised(0.5, "cancelled")),
    ),
}


def test_every_invariant_has_its_three_histories():
    assert set(CASES) == set(ours())
    # subject.ends is about how any run ends: there is no run of a subject that does not exercise it
    assert [name for name, case in CASES.items() if None in case] == ["subject.ends"]


def test_claims_are_those_that_are_told():
    used = {item.claim for item in ours().values() if item.claim is not None}
    assert used == set(WAITER_CLAIMS)


@pytest.mark.parametrize("name", sorted(CASES))
def test_holds(name):
    finding = ours()[name].judge(CASES[name][0])
    assert (finding.answer, bool(finding.witnesses)) == (True, True), finding


@pytest.mark.parametrize("name", sorted(CASES))
def test_violates(name):
    finding = ours()[name].judge(CASES[name][1])
    assert finding.violated, finding
    assert finding.cause and finding.events and finding.expected and finding.observed, finding


@pytest.mark.parametrize("name", sorted(name for name, case in CASES.items() if case[2] is not None))
def test_vacuous(name):
    assert ours()[name].judge(CASES[name][2]).vacuous


@pytest.mark.parametrize("name", sorted(CASES))
def test_what_holds_breaks_nothing_else(name):
    """The history that holds is that of a right waiter: no other invariant of one wait may find fault with it (but for the callback)."""
    for other in ours().values():
        finding = other.judge(CASES[name][0])
        assert other.claim == "on_poll" or not finding.violated, (other.id, finding)


@pytest.mark.parametrize("name", sorted(name for name in CASES if name != "waiter.bounded_memory"))
def test_an_empty_history_is_never_a_pass(name):
    assert ours()[name].judge(History({})).answer is None


def test_histories_survive_being_written():
    for name, case in CASES.items():
        for made in case:
            if made is not None:
                again = History.from_jsonl(made.to_jsonl())
                assert ours()[name].judge(again) == ours()[name].judge(made), name


def test_a_wake_on_the_edge_of_a_resolution_may_fall_on_either_side():
    """One run took the sleep for done, the other slept the last millisecond: float noise of the clock's origin decided (seed 399836203)."""
    early = (fetch(0), sleep(0, 1.0, slept=0.999))
    one = (*early, fetch(0.999, "completed"), returned(0.999))
    other = (*early, sleep(0.999, 0.001), fetch(1.0, "completed"), returned(1.0))
    assert not ours()["waiter.clock_origin_irrelevant"].judge(pair(one, other, relation="origin", amount=5.0)).violated
    halfway = (fetch(0), sleep(0, 1.0, slept=0.5))
    left = (*halfway, fetch(0.5, "completed"), returned(0.5))
    right = (*halfway, sleep(0.5, 0.5), fetch(1.0, "completed"), returned(1.0))
    assert ours()["waiter.clock_origin_irrelevant"].judge(pair(left, right, relation="origin", amount=5.0)).violated


def test_jittered_waits_near_the_floor_are_not_scaled():
    """The floor of 5 ms between two fetches does not scale (seed 399836203)."""
    one = (fetch(0), sleep(0, 0.006), fetch(0.006, "completed"), returned(0.006))
    other = (fetch(0), sleep(0, 0.02), fetch(0.02, "completed"), returned(0.02))
    call = {"poll_interval": 0.01, "jitter_seed": 0}
    assert (
        ours()["waiter.time_scale_irrelevant"].judge(pair(one, other, relation="scale", amount=4.0, call=call)).vacuous
    )


def test_a_resolution_is_not_scaled():
    """What lies within one resolution of the deadline ends at once; four times as long it does not (seed 3917281772)."""
    one = (fetch(0), raised(0, "timeout", carries=TELLS))
    other = (fetch(0), sleep(0, 0.0016), fetch(0.0016), raised(0.0016, "timeout", carries=TELLS))
    made = pair(one, other, relation="scale", amount=4.0, call={"timeout": 0.0004}, other_call={"timeout": 0.0016})
    assert not ours()["waiter.time_scale_irrelevant"].judge(made).violated


def test_a_404_that_comes_later_may_come_after_its_grace():
    """One more pending answer moves the 404 past the grace (seed 3917281772)."""
    one = (fetch(0, http=404), sleep(0, 1.0), fetch(1.0, "completed"), returned(1.0))
    other = (fetch(0), sleep(0, 1.0), fetch(1.0, http=404), raised(1.0, "transport"))
    made = pair(one, other, relation="pending", amount=1.0, call={"not_found_grace": 0.5})
    assert not ours()["waiter.pending_inserted_monotone"].judge(made).violated


def test_an_answer_in_the_instant_of_a_fetch_timeout_may_be_taken_or_not():
    """Its hint counts for the twin that took it; the other retries on its own schedule (seed 1879813995)."""
    taken = (fetch(0, http=429, lasts=10.0, headers=HINT), sleep(10, 7.0), fetch(17, "completed"), returned(17))
    cut = (fetch(0, ending="cancelled", lasts=10.0), sleep(10, 1.0), fetch(11, "completed"), returned(11))
    assert not ours()["waiter.twins_agree"].judge(pair(taken, cut, left="sync", right="asyncio")).violated


def test_a_hint_that_may_be_ignored_binds_no_submit():
    """Whether "1_0" is a number depends on who reads it (seed 659460460)."""
    made = client(post(0, "k", http=429, headers={"retry-after": "1_0"}), post(1, "k"))
    assert not ours()["waiter.submit_paced"].judge(made).violated
