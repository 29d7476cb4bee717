"""No false alarm: four small waiters that are right in their own way, written from a dialect alone, run without a violation.

They sleep first; count attempts and have no clock; do not clip; loop over plain dicts. Each declares what it does, claims what it
promises, and nothing more.
"""

import asyncio
import time

import pytest

from waitproof.harness.campaign import search
from waitproof.harness.dialect import WaiterDialect
from waitproof.harness.profiles import profile_named
from waitproof.harness.protocols import JobView, WaiterSubject
from waitproof.properties.suites import all_suites, suites_for

ENDED = ("completed", "failed", "cancelled")


class GaveUp(Exception):
    """The waiter's own limit was reached."""


class JobBroke(Exception):
    """The job failed."""


class FetchBroke(Exception):
    """No usable answer."""


def fetch(bench, call):
    """One fetch with every way to fail made one error."""
    try:
        job = bench.get_job(call.job_id, resource=call.resource, timeout=5.0)
    except Exception as error:
        raise FetchBroke(str(error)) from error
    return checked(job, call)


def checked(job, call):
    """The decoded body if it is the job that was asked for."""
    if not isinstance(job, dict) or str(job.get("job_id", call.job_id)) != call.job_id:
        raise FetchBroke("not the job that was asked for")
    return job


def view(job):
    """A dict as it came, in the bench's words; what is not known is pending."""
    word = job.get("status")
    known = word in ("pending", "processing", *ENDED)
    return JobView(
        job_id=job.get("job_id"),
        status=word if known else "pending",
        raw_status=word if isinstance(word, str) else None,
    )


ERRORS = {"timeout": (GaveUp,), "failure": (JobBroke,), "transport": (FetchBroke,)}


def sleeps_first(bench, call):
    """Sleep, then look; give up when looking after the limit. It never looks at once."""
    started = time.monotonic()
    while True:
        left = started + call.timeout - time.monotonic()
        time.sleep(max(0.0, min(2.0, left)))
        job = fetch(bench, call)
        if job.get("status") in ENDED:
            return job
        if time.monotonic() - started >= call.timeout - 0.001:
            raise GaveUp(call.job_id)


def counts_attempts(bench, call):
    """So many looks, a second apart. It has no clock and knows no time limit."""
    for number in range(call.attempts):
        if number:
            bench.clock.sleep(1.0)
        job = fetch(bench, call)
        if job.get("status") == "completed":
            return job
        if job.get("status") in ENDED:
            raise JobBroke(job["status"])
    raise GaveUp(call.job_id)


def does_not_clip(bench, call):
    """Looks every three seconds until a look comes after the limit: it may be a whole pause late, and says so."""
    started = time.monotonic()
    while True:
        job = fetch(bench, call)
        if job.get("status") in ENDED:
            if call.raise_on_failure and job["status"] != "completed":
                raise JobBroke(job["status"])
            return job
        if time.monotonic() - started >= call.timeout - 0.001:
            raise GaveUp(call.job_id)
        time.sleep(3.0)


async def loops_over_dicts(bench, call):
    """A retry loop of its own around dicts, on asyncio: fixed interval, whatever goes wrong on the way is tried again."""
    deadline = asyncio.get_running_loop().time() + call.timeout
    while True:
        try:
            job = checked(await bench.get_job_async(call.job_id, resource=call.resource, timeout=5.0), call)
        except Exception as error:
            raise FetchBroke(str(error)) from error
        if job.get("status") in ENDED:
            return job
        left = deadline - asyncio.get_running_loop().time()
        if left <= 0.001:
            raise GaveUp(call.job_id)
        await asyncio.sleep(min(call.poll_interval or 1.0, left))


FIXED = {"factor": 1.0, "cap": 100.0, "fetch_timeout": 5.0}
COMMON = {"words": "enum", "transient": "raise", "fetch_limit": "phase", "early_wake": "fetch"}

SUBJECTS = [
    WaiterSubject(
        name="sleeps-first",
        mode="sync",
        wait=sleeps_first,
        view=view,
        errors=ERRORS,
        patch=(__name__,),
        dialect=WaiterDialect(
            first="sleep",
            failure="return",
            parameters=frozenset({"timeout"}),
            defaults={**FIXED, "first_delay": 2.0},
            clock="module",
            **COMMON,
        ),
        claims=frozenset(
            "fetch_first schedule deadline final_poll prompt_stop only_reads failure disjoint unknown_status permanent cancel_prompt".split()
        ),
    ),
    WaiterSubject(
        name="counts-attempts",
        mode="sync",
        wait=counts_attempts,
        view=view,
        errors=ERRORS,
        dialect=WaiterDialect(
            limit="attempts",
            failure="raise",
            parameters=frozenset({"attempts"}),
            defaults={**FIXED, "first_delay": 1.0, "attempts": 10},
            **COMMON,
        ),
        claims=frozenset(
            "fetch_first schedule deadline prompt_stop only_reads failure disjoint unknown_status permanent monotonic".split()
        ),
    ),
    WaiterSubject(
        name="does-not-clip",
        mode="sync",
        wait=does_not_clip,
        view=view,
        errors=ERRORS,
        patch=(__name__,),
        dialect=WaiterDialect(
            clips=False,
            final_poll=False,
            parameters=frozenset({"timeout", "raise_on_failure"}),
            defaults={**FIXED, "first_delay": 3.0},
            clock="module",
            **COMMON,
        ),
        claims=frozenset(
            "fetch_first schedule prompt_stop only_reads failure disjoint unknown_status permanent monotonic independent".split()
        ),
    ),
    WaiterSubject(
        name="loops-over-dicts",
        mode="asyncio",
        wait=loops_over_dicts,
        view=view,
        errors=ERRORS,
        patch=(__name__,),
        dialect=WaiterDialect(
            failure="return",
            parameters=frozenset({"timeout", "poll_interval"}),
            defaults={**FIXED, "first_delay": 1.0},
            clock="loop",
            **COMMON,
        ),
        claims=frozenset(
            """fetch_first schedule deadline final_poll prompt_stop only_reads failure disjoint unknown_status permanent
            cancel_prompt cancel_original monotonic independent""".split()
        ),
    ),
]


@pytest.mark.parametrize("suite", all_suites())
@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_a_correct_waiter_of_another_make_raises_no_alarm(subject, suite):
    """Whatever is drawn, nothing that it claims and no safety invariant is violated."""
    fitting = {item.name: item for item in suites_for(subject, list(all_suites().values()))}
    if suite not in fitting:
        return
    result = search(fitting[suite], subject, profile_named("quick"), seed=20261201)
    assert [(row.invariant, row.cause) for row in result.rows if row.verdict in ("violated", "non-strict")] == []


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_what_they_claim_is_exercised(subject):
    """The bench does not let them off: most of what they claim is exercised by the plain suite."""
    result = search(all_suites()["waiter"], subject, profile_named("quick"), seed=20261201)
    held = [row.invariant for row in result.rows if row.verdict == "held"]
    assert len(held) >= 12, held
