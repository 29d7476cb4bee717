"""The built-in waiter's decision core: every sentence of SPEC section 2 that needs no I/O, as arithmetic."""

import itertools
import math
import pickle
import random
from datetime import UTC, datetime

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from waitproof.harness.subjects.error_table import ErrorClass, classify, classify_status
from waitproof.harness.subjects.normaliser import Job, JobStatus, normalise_job
from waitproof.harness.subjects.waiter import (
    Answer,
    Fetch,
    JobFailedError,
    JobWaitTimeoutError,
    Outcome,
    Raise,
    Return,
    Sleep,
    WaitCore,
    WaitPolicy,
    pacing_hint,
    read_outcome,
)


def job(status="processing", **more):
    return normalise_job({"job_id": "j", "status": status, **more}, resource="parse_jobs")


RUNNING = Outcome(job=job())
DONE = Outcome(job=job("completed"))


def no_wall():
    pytest.fail("the wall clock was read")


def status_error(code, headers=()):
    request = httpx.Request("GET", "http://h/")
    return httpx.HTTPStatusError("", request=request, response=httpx.Response(code, headers=headers, request=request))


def failure(error, hint=None):
    return Outcome(error=error, hint=hint)


def play(policy, script, *, start=0.0, resolution=0.001, fetch_takes=0.0, wakes=None):
    """Play a wait in exact time; return (fetch times, sleeps asked for, last step). The last of `script` repeats."""
    core, now = WaitCore(policy, resolution=resolution), start
    fetches, sleeps, step = [], [], core.start(start)
    for _ in range(100_000):
        match step:
            case Fetch():
                outcome = script[min(len(fetches), len(script) - 1)]
                fetches.append(now)
                now += fetch_takes
                step = core.fetched(outcome, arrival=now, now=now)
            case Sleep(seconds=seconds):
                sleeps.append(seconds)
                now += seconds if wakes is None else wakes(seconds)
                step = core.slept(now)
            case _:
                return fetches, sleeps, step
    pytest.fail("the wait did not end")


def test_defaults_give_65_fetches_and_64_sleeps():
    """With instant answers and the defaults there are 65 fetches, the last at the deadline, and 64 sleeps."""
    fetches, sleeps, step = play(WaitPolicy(), [RUNNING])
    assert (len(fetches), len(sleeps)) == (65, 64)
    assert sleeps[:7] == [1.0, 1.5, 2.25, 3.375, 5.0625, 7.59375, 10.0]
    assert fetches[-1] == 600.0
    assert isinstance(step, Raise)
    assert isinstance(step.error, JobWaitTimeoutError)
    assert (step.error.polls, step.error.elapsed, step.error.raw_status) == (65, 600.0, "processing")


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
def test_a_terminal_job_ends_the_wait_at_once(status):
    """A terminal status is returned after one fetch, without a sleep."""
    fetches, sleeps, step = play(WaitPolicy(), [Outcome(job=job(status))])
    assert (fetches, sleeps) == ([0.0], [])
    assert step == Return(job=job(status))


def test_an_unknown_status_goes_on_and_stays_readable():
    """An unknown status word is waited for until the deadline, and named in the timeout."""
    *_, step = play(WaitPolicy(timeout=5.0), [Outcome(job=job("Hibernating"))])
    assert step.error.raw_status == "Hibernating"
    assert "Hibernating" in str(step.error)


def test_timeout_zero_fetches_once():
    """A timeout of 0 makes one fetch and no sleep."""
    fetches, sleeps, step = play(WaitPolicy(timeout=0.0), [RUNNING])
    assert (fetches, sleeps) == ([0.0], [])
    assert isinstance(step.error, JobWaitTimeoutError)


def test_a_terminal_answer_after_the_deadline_is_returned():
    """What the final fetch brings counts, even if it arrives after the deadline."""
    *_, step = play(WaitPolicy(timeout=1.0), [RUNNING, DONE], fetch_takes=0.9)
    assert step == Return(job=DONE.job)


def test_delay_follows_its_recurrence_whatever_was_slept():
    """A hint replaces one wait; the delays after it are what they would have been."""
    hinted = Outcome(job=job(), hint=30.0)
    _, sleeps, _ = play(WaitPolicy(), [RUNNING, hinted, RUNNING, DONE])
    assert sleeps == [1.0, 30.0, 2.25]


def test_poll_interval_is_fixed_and_ignores_the_cap():
    """`poll_interval` turns the backoff off, and may be above the cap."""
    _, sleeps, _ = play(WaitPolicy(timeout=100.0, poll_interval=30.0), [RUNNING])
    assert sleeps == [30.0, 30.0, 30.0, 10.0]


@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_raise_on_failure_is_keyed_on_the_status(status):
    """A failed or cancelled job raises, whether or not an error object came along."""
    for outcome in (job(status), job(status, error={"code": 7, "message": "boom"})):
        *_, step = play(WaitPolicy(raise_on_failure=True), [Outcome(job=outcome)])
        assert isinstance(step.error, JobFailedError)
        assert (step.error.job, step.error.error) == (outcome, outcome.error)
    *_, step = play(WaitPolicy(raise_on_failure=True), [Outcome(job=job("completed", error="odd"))])
    assert isinstance(step, Return)


def test_timeout_failure_and_transport_error_are_disjoint():
    """No error type of the waiter is a subtype of another, or of a transport error."""
    kinds = [JobWaitTimeoutError, JobFailedError, httpx.TransportError]
    assert all(not issubclass(a, b) for a in kinds for b in kinds if a is not b)
    assert issubclass(JobWaitTimeoutError, TimeoutError)
    assert not issubclass(JobFailedError, TimeoutError)


def test_errors_survive_pickling():
    """The errors can cross a process boundary with what they carry."""
    timeout = pickle.loads(pickle.dumps(JobWaitTimeoutError(job=job(), elapsed=1.5, polls=3)))
    assert (timeout.job, timeout.elapsed, timeout.polls) == (job(), 1.5, 3)
    assert pickle.loads(pickle.dumps(JobFailedError(job=job("failed")))).job == job("failed")


def test_an_early_wake_sleeps_its_remainder_without_a_fetch():
    """A sleep that wakes early sleeps what is missing."""
    fetches, sleeps, _ = play(WaitPolicy(timeout=1.0), [RUNNING], wakes=lambda seconds: seconds / 2)
    assert fetches == [0.0, pytest.approx(1.0, abs=0.001)]
    assert sleeps[:3] == [1.0, 0.5, 0.25]


def test_within_one_resolution_a_sleep_is_done_and_the_deadline_reached():
    """A sleep that ends one resolution early is done; the fetch there is the last."""
    fetches, sleeps, step = play(WaitPolicy(timeout=1.0), [RUNNING], resolution=1 / 128, wakes=lambda s: s - 1 / 128)
    assert (len(fetches), len(sleeps)) == (2, 1)
    assert isinstance(step.error, JobWaitTimeoutError)


def test_a_clock_that_stands_still_is_given_up_after_1000_remainders():
    """At most 1,000 remainder sleeps a delay, then the wait goes on."""
    fetches, sleeps, _ = play(WaitPolicy(), [RUNNING, DONE], wakes=lambda _: 0.0)
    assert (len(fetches), len(sleeps)) == (2, 1001)


def test_a_late_wake_still_makes_the_final_fetch():
    """However late the clock wakes, the fetch at the deadline is made."""
    fetches, sleeps, step = play(WaitPolicy(timeout=10.0), [RUNNING, DONE], wakes=lambda s: s + 100.0)
    assert (fetches, sleeps) == ([0.0, 101.0], [1.0])
    assert isinstance(step, Return)


def test_transient_failures_are_retried_on_the_schedule():
    """A transient failure changes neither schedule nor deadline, and is the cause of the timeout if it was last."""
    error = httpx.ReadTimeout("slow")
    fetches, sleeps, step = play(WaitPolicy(), [failure(error)])
    assert (len(fetches), len(sleeps)) == (65, 64)
    assert step.error.job is None
    assert step.error.raw_status is None
    assert step.error.__cause__ is error


def test_only_the_last_fetch_can_be_the_cause():
    """A failure that was followed by a good answer is not the cause of the timeout."""
    *_, step = play(WaitPolicy(timeout=5.0), [failure(TimeoutError()), RUNNING])
    assert step.error.__cause__ is None
    assert step.error.job == RUNNING.job


@pytest.mark.parametrize(
    "error", [ValueError("x"), status_error(403), status_error(501), httpx.UnsupportedProtocol("")]
)
def test_permanent_failures_are_raised_at_once(error):
    """Anything the table does not call transient is raised as it is, after one fetch."""
    fetches, sleeps, step = play(WaitPolicy(), [failure(error)])
    assert (fetches, sleeps) == ([0.0], [])
    assert step.error is error


def test_a_404_is_tolerated_only_within_the_grace():
    """A 404 counts by the start of its request; the grace itself is outside."""
    error = status_error(404)
    fetches, _, step = play(WaitPolicy(not_found_grace=2.5), [failure(error)])
    assert fetches == [0.0, 1.0, 2.5]
    assert step.error is error
    fetches, *_ = play(WaitPolicy(), [failure(error)])
    assert fetches == [0.0]
    # A request that started in time is tolerated however long it took.
    fetches, *_ = play(WaitPolicy(not_found_grace=0.1), [failure(error), DONE], fetch_takes=5.0)
    assert len(fetches) == 2


@pytest.mark.parametrize(
    ("code", "kind"),
    [(404, "not_found"), *[(c, "transient") for c in (408, 425, 429, 500, 502, 503, 504, 599)]]
    + [(c, "permanent") for c in (200, 301, 400, 401, 403, 409, 410, 422, 499, 501, 505, 600, 0)],
)
def test_the_error_table_by_status(code, kind):
    """408, 425, 429 and 5xx but 501 and 505 are transient."""
    assert classify_status(code) == kind
    assert classify(status_error(code)) == kind


def test_the_error_table_by_exception():
    """Every httpx transport error is transient but the two that speak of our own request."""
    own = {httpx.UnsupportedProtocol, httpx.LocalProtocolError}

    def leaves(kind):
        yield kind
        for sub in kind.__subclasses__():
            yield from leaves(sub)

    for kind in set(leaves(httpx.TransportError)):
        assert classify(kind("")) is (ErrorClass.PERMANENT if kind in own else ErrorClass.TRANSIENT)
    assert classify(TimeoutError()) is ErrorClass.TRANSIENT
    assert classify(ConnectionResetError()) is ErrorClass.TRANSIENT
    assert classify(httpx.DecodingError("")) is ErrorClass.PERMANENT
    assert classify(KeyError()) is ErrorClass.PERMANENT


def test_a_fetch_that_returns_nonsense_is_an_error():
    """A fetch function must return a job or an answer."""
    outcome = read_outcome("done", None, no_wall)
    assert isinstance(outcome.error, TypeError)
    assert classify(outcome.error) is ErrorClass.PERMANENT


# Pacing.


@pytest.mark.parametrize("code", [429, 503])
def test_a_hint_on_429_and_503_lengthens_the_wait_and_never_shortens_it(code):
    """On 429 and 503 the wait is the longer of delay and hint."""
    for hint, slept in ((5.0, 5.0), (0.2, 1.0), (0.0, 1.0)):
        _, sleeps, _ = play(WaitPolicy(), [failure(status_error(code), hint), DONE])
        assert sleeps == [slept]


@pytest.mark.parametrize(("hint", "slept"), [(9.0, 9.0), (0.5, 0.5), (0.0, 0.01), (0.003, 0.01)])
def test_a_hint_on_2xx_replaces_the_wait(hint, slept):
    """On a 2xx the hint replaces that one wait, with at least 0.01 s."""
    _, sleeps, _ = play(WaitPolicy(jitter=random.Random(1)), [Outcome(job=job(), hint=hint), DONE])
    assert sleeps == [slept]


def test_every_answer_has_its_own_hint():
    """Hints of 1, 9 and 3 seconds give sleeps of 1, 9 and 3 seconds."""
    _, sleeps, _ = play(WaitPolicy(), [*(Outcome(job=job(), hint=h) for h in (1.0, 9.0, 3.0)), DONE])
    assert sleeps == [1.0, 9.0, 3.0]


def test_a_hint_counts_from_the_arrival():
    """What happened since the arrival is taken off a hint, and not off a delay."""
    core = WaitCore(WaitPolicy(), resolution=0.001)
    core.start(0.0)
    assert core.fetched(Outcome(job=job(), hint=5.0), arrival=1.0, now=3.0) == Sleep(seconds=3.0)
    core = WaitCore(WaitPolicy(), resolution=0.001)
    core.start(0.0)
    assert core.fetched(RUNNING, arrival=1.0, now=3.0) == Sleep(seconds=1.0)


def test_a_hint_past_the_deadline_on_429_means_no_final_fetch():
    """Only a hint on 429 or 503 strictly past the deadline does away with the final fetch."""
    limited = status_error(429)
    fetches, sleeps, step = play(WaitPolicy(timeout=10.0), [failure(limited, 10.5)])
    assert (fetches, sleeps) == ([0.0], [10.0])
    assert step.error.__cause__ is limited
    assert step.error.elapsed == 10.0
    # At the deadline is not past it; a 2xx hint past it is clipped; a delay past it is clipped.
    for outcome in (failure(limited, 10.0), Outcome(job=job(), hint=11.0)):
        fetches, sleeps, _ = play(WaitPolicy(timeout=10.0), [outcome])
        assert (fetches, sleeps) == ([0.0, 10.0], [10.0])
    fetches, *_ = play(WaitPolicy(timeout=0.5), [failure(limited, 0.2)])
    assert fetches == [0.0, 0.5]


def test_an_early_wake_before_the_deadline_sleeps_on_also_without_a_final_fetch():
    """The sleep to the deadline after an overlong hint is slept to its end too."""
    fetches, sleeps, _ = play(WaitPolicy(timeout=10.0), [failure(status_error(503), 99.0)], wakes=lambda s: s / 2)
    assert len(fetches) == 1
    assert sum(s / 2 for s in sleeps) == pytest.approx(10.0, abs=0.001)


def test_hints_on_other_statuses_are_not_read():
    """A hint on a 500 or a 404 is ignored; on 429 and 503 it is read."""
    for code, hint in ((500, None), (404, None), (429, 7.0), (503, 7.0)):
        assert read_outcome(None, status_error(code, {"Retry-After": "7"}), no_wall).hint == hint
    assert read_outcome(Answer(job=job(), headers={"Retry-After": "7"}), None, no_wall).hint == 7.0


DATE = "Wed, 21 Oct 2015 07:28:00 GMT"
LATER = "Wed, 21 Oct 2015 07:28:30 GMT"


@pytest.mark.parametrize(
    ("headers", "hint"),
    [
        ({}, None),
        ({"Retry-After": "5"}, 5.0),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"RETRY-AFTER": "0"}, 0.0),
        ({"Retry-After": "-0"}, 0.0),
        ({"Retry-After": "86401"}, 86_400.0),
        ({"Retry-After": "2147483648"}, 86_400.0),
        ({"Retry-After": "1" + "0" * 400}, 86_400.0),
        ({"Retry-After": "-5"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": "1_0"}, None),
        ({"Retry-After": "٣"}, None),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": ""}, None),
        ({"Retry-After": "5, 6"}, None),
        ({"retry-after-ms": "1500", "Retry-After": "9"}, 1.5),
        ({"retry-after-ms": "nan", "Retry-After": "9"}, 9.0),
        ({"retry-after-ms": "100000000000"}, 86_400.0),
        ({"Retry-After": LATER, "Date": DATE}, 30.0),
        ({"Retry-After": DATE, "Date": DATE}, 0.0),
        ({"Retry-After": DATE, "Date": LATER}, None),
        ({"Retry-After": "Wednesday, 21-Oct-15 07:28:30 GMT", "Date": DATE}, 30.0),
        ({"Retry-After": "Wed Oct 21 07:28:30 2015", "Date": DATE}, 30.0),
        ({"Retry-After": "Wed, 21 Oct 99999 07:28:00 GMT", "Date": DATE}, None),
    ],
)
def test_pacing_headers(headers, hint):
    """Retry-After in seconds or as a date, retry-after-ms before it; what is no number of 0 or more is ignored."""
    assert pacing_hint(headers, no_wall) == hint


def test_a_date_without_the_answers_own_date_counts_from_the_wall_clock():
    """Only then is the wall clock read, and its fraction is kept."""
    wall = datetime(2015, 10, 21, 7, 28, 28, 100_000, tzinfo=UTC).timestamp
    assert pacing_hint({"Retry-After": LATER}, wall) == pytest.approx(1.9)
    assert pacing_hint({"Retry-After": LATER, "Date": "rubbish"}, wall) == pytest.approx(1.9)
    assert pacing_hint({"Retry-After": LATER}, lambda: math.nan) is None


# Jitter, floors and extremes.


@given(st.integers(0, 2**32), st.floats(0.01, 100.0))
def test_jitter_draws_from_the_upper_half_of_the_delay(seed, delay):
    """A jittered wait lies in [delay/2, delay], the same for the same seed."""
    policy = WaitPolicy(poll_interval=delay, jitter=random.Random(seed), timeout=math.inf)
    _, sleeps, _ = play(policy, [RUNNING, RUNNING, RUNNING, DONE])
    assert all(delay / 2 <= s <= delay for s in sleeps)
    policy = WaitPolicy(poll_interval=delay, jitter=random.Random(seed), timeout=math.inf)
    assert play(policy, [RUNNING, RUNNING, RUNNING, DONE])[1] == sleeps


def test_jitter_never_goes_below_a_hint():
    """A 429 with a hint waits at least the hint, jitter or not."""
    for seed in range(50):
        policy = WaitPolicy(poll_interval=10.0, jitter=random.Random(seed))
        _, sleeps, _ = play(policy, [failure(status_error(429), 8.0), DONE])
        assert sleeps[0] >= 8.0


@given(st.floats(0.0, 0.5), st.floats(0.0, 1.0), st.integers(0, 99))
def test_no_storm_for_any_clock(resolution, early, seed):
    """Two fetches are 5 ms apart or more, but for the one at the deadline, however coarse or early the clock."""
    policy = WaitPolicy(first_delay=0.01, factor=1.0, cap=0.01, timeout=0.5, jitter=random.Random(seed))
    fetches, *_ = play(policy, [RUNNING], resolution=resolution, wakes=lambda s: s * (1 - early / 2))
    gaps = [b - a for a, b in itertools.pairwise(fetches)]
    assert all(gap >= 0.005 - 1e-9 for gap in gaps[:-1])


@pytest.mark.parametrize("polls", [1, 64, 1023, 1024, 1025, 10_000])
def test_the_schedule_does_not_overflow(polls):
    """After ten thousand polls with a huge factor the delay is the cap."""
    policy = WaitPolicy(factor=1e300, cap=7.0, timeout=math.inf)
    fetches, sleeps, _ = play(policy, [RUNNING] * polls + [DONE])
    assert len(fetches) == polls + 1
    assert sleeps[-1] == (1.0 if polls == 1 else 7.0)


def test_extreme_times_do_not_overflow():
    """Huge timeouts, intervals and clock readings are plain floats."""
    fetches, *_ = play(WaitPolicy(timeout=1e308, poll_interval=1e307), [RUNNING, RUNNING, DONE])
    assert fetches == [0.0, 1e307, 2e307]
    play(WaitPolicy(timeout=10.0), [RUNNING], start=1e12)
    play(WaitPolicy(timeout=10.0), [RUNNING], start=-1e6)


@given(
    timeout=st.floats(0.0, 50.0),
    first=st.floats(0.01, 5.0),
    factor=st.floats(1.0, 3.0),
    takes=st.sampled_from([0.0, 0.25, 3.0]),
    start=st.floats(-1e6, 1e6),
)
def test_no_sleep_crosses_the_deadline_and_the_last_fetch_is_there(timeout, first, factor, takes, start):
    """For any parameters: every sleep is above 0, ends by the deadline, and unless a fetch ran past it one is at it."""
    policy = WaitPolicy(timeout=timeout, first_delay=first, factor=factor, cap=10.0)
    fetches, sleeps, step = play(policy, [RUNNING], start=start, fetch_takes=takes)
    assert all(s > 0 for s in sleeps)
    assert all(f <= start + timeout + 1e-6 for f in fetches)
    assert fetches[-1] + takes >= start + timeout - 0.001 - 1e-6
    assert step.error.elapsed <= timeout + takes + 1e-6


# Parameters.

BAD = {
    "timeout": [-1.0, -1e-9, math.nan, -math.inf, None, "5", True],
    "poll_interval": [0.0, 0.009, -1.0, math.nan, math.inf, True, "1"],
    "first_delay": [0.0, 0.009, math.nan, math.inf, True, None, 10**400],
    "factor": [0.99, 0.0, -2.0, math.nan, math.inf, True, 10**400],
    "cap": [0.5, 0.0, math.nan, math.inf, True],
    "fetch_timeout": [0.0, -1.0, math.nan, math.inf, True, None],
    "not_found_grace": [-0.1, math.nan, math.inf, True, False],
    "raise_on_failure": [1, 0, "false", None],
    "jitter": [True, 0.5, random],
    "on_poll": [True, "print"],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BAD.items() for value in values])
def test_bad_parameters_are_refused(name, value):
    """Every bad parameter is a ValueError that names it."""
    with pytest.raises(ValueError, match=name):
        WaitPolicy(**{name: value})


def test_good_extremes_are_accepted():
    """Limits themselves are allowed, and integers are numbers."""
    WaitPolicy(timeout=math.inf, first_delay=0.01, cap=0.01, factor=1, fetch_timeout=1e-9, not_found_grace=0)
    WaitPolicy(poll_interval=1, first_delay=20.0, cap=10.0)
    with pytest.raises(ValueError, match="cap"):
        WaitPolicy(poll_interval=1, cap=math.nan)


def test_the_status_words_are_the_published_ones():
    """The status enumeration spells as the specification does."""
    assert [s.value for s in JobStatus] == ["pending", "processing", "completed", "failed", "cancelled"]
    assert Job(job_id=None, status=JobStatus.FAILED, raw_status=None).is_terminal
