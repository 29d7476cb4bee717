"""Result directories to report on: realistic, hostile and huge ones, written by the same writer that a run uses.

Nothing here is random: two calls write the same bytes.
"""  # noqa: INP001 - test folders are no packages

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from waitproof.harness.results import (
    Failure,
    InvariantInfo,
    ResultWriter,
    Row,
    RunInfo,
    SubjectInfo,
    SuiteInfo,
    SuiteStats,
    ZooRow,
)

HOSTILE = "</script><script>alert(1)</script><!--<b onmouseover=alert(2)>\u202e\x1b[31m\ud800&amp;\"'"
"""Text as a hostile subject or server would send it: markup, an end of script, a bidi override, an escape sequence, a lone surrogate."""

NAMES = (
    ("poll_before_sleep", "MUST", "The first thing that a wait does is to fetch the job."),
    (
        "exact_schedule",
        "MUST",
        "Each sleep is as long as the schedule says: first delay, times the factor, up to the cap.",
    ),
    ("no_sleep_across_deadline", "MUST", "No sleep is asked for that would end after the deadline."),
    ("final_poll", "MUST", "A last fetch happens at the deadline before the wait gives up."),
    ("prompt_stop", "MUST", "After a terminal answer there is neither a fetch nor a sleep."),
    ("disjoint_errors", "MUST", "Timeout, failure and transport error are three types, none a kind of another."),
    ("outcome_by_status", "MUST", "What the wait returns or raises follows from the last status that the server gave."),
    ("unknown_status_visible", "SHOULD", "A status word that is not known goes on, and stays readable in raw_status."),
    ("no_storm", "MUST", "Two fetches are never less than 5 ms apart, the one at the deadline excepted."),
    ("pacing_honoured", "MUST", "After 429 or 503 the next fetch comes no sooner than Retry-After says."),
    ("pacing_clipped", "MUST", "A hint never makes a wait longer than its deadline."),
    ("pacing_per_response", "SHOULD", "A hint speaks of one wait, not of all later ones."),
    ("transient_tolerated", "MUST", "A transient failure is retried on the same schedule."),
    ("permanent_surfaced", "MUST", "A permanent failure is raised at once."),
    ("total_time", "MUST", "A wait ends within its limit, one bounded fetch and the lateness of the clock."),
    (
        "cancel_clean",
        "MUST",
        "No fetch starts after the cancelled task has ended, and the original cancellation comes out.",
    ),
    ("sync_is_async", "MUST", "The synchronous and the asynchronous waiter take the same decisions in the same order."),
    ("overflow_safe", "MUST", "No accepted parameter makes the schedule overflow."),
    ("bounded_memory", "SHOULD", "Memory does not grow with the number of polls."),
    ("waits_share_nothing", "MUST", "Two waits at the same time do not change each other's schedule."),
    ("bad_parameters_refused", "MUST", "A bad parameter raises ValueError before the first fetch."),
    ("answer_identity", "MUST", "An answer for another job is an error, not a result."),
    ("ids_escaped", "MUST", "A job id is one path segment, whatever stands in it."),
    ("resources_alike", "SHOULD", "The three resources behave the same."),
    ("submit_not_doubled", "MUST", "One submit has one effect."),
    ("direct_504", "MUST", "A 504 on the direct path names the job resource and is never retried."),
    ("fetch_bounded", "MUST", "A fetch ends within the fetch timeout, however slowly bytes drip."),
    ("early_wake", "SHOULD", "A sleep that wakes early sleeps its remainder without a fetch."),
    ("wall_clock_ignored", "MUST", "A jump of the wall clock changes nothing."),
    (
        "error_carries_job",
        "SHOULD",
        "The timeout error carries the last job, the raw status word, elapsed time and number of polls.",
    ),
)
SUITES = ("backoff", "deadline", "transport", "pacing", "cancellation")


def events(*rows: tuple[float, str, str, str, dict[str, object]]) -> str:
    """A history in JSON Lines from rows of (at, kind, lane, op, data)."""
    lines = [json.dumps({"schema": "waitproof.history/1", "header": {"suite": "deadline"}})]
    for seq, (at, kind, lane, op, data) in enumerate(rows):
        lines.append(
            json.dumps({"seq": seq, "at": at, "kind": kind, "lane": lane, "op": op, "data": data}, sort_keys=True)
        )
    return "\n".join(lines) + "\n"


def wait_history(*, timeout: object = 5.0, polls: int = 5, job: str = "job-1", ends: bool = True, run: str = "") -> str:
    """A wait with backoff that crosses its deadline: fetches, server answers, sleeps, a late wake and a wrong last sleep."""
    w = f"{run}/w0" if run else "w0"
    rows: list[tuple[float, str, str, str, dict[str, object]]] = []
    call = {
        "job_id": job,
        "resource": "parse_jobs",
        "timeout": timeout,
        "poll_interval": None,
        "fetch_timeout": 10.0,
        "raise_on_failure": False,
    }
    rows.append((0.0, "wait.start", "caller", w, {"mode": "sync", "call": call}))
    now, delay = 0.0, 1.0
    for index in range(polls):
        op, late = f"{w}.f{index}", 0.25 if index == 1 else 0.0
        target = "/v1/parse_jobs/" + job
        rows.append((now, "fetch.start", "client", op, {"method": "GET", "target": target, "headers": {}}))
        rows.append(
            (now + 0.04, "server.request", "server", op, {"method": "GET", "target": target, "job": job, "key": None})
        )
        if index == 2:
            rows.append((now + 0.04, "fault.reset", "fault", op, {"what": "connection reset before the answer"}))
            rows.append((now + 0.3, "fetch.end", "client", op, {"ending": "error", "error": "ReadError"}))
            now += 0.3
        else:
            rows.append(
                (
                    now + 0.1,
                    "server.answer",
                    "server",
                    op,
                    {"kind": "status", "words": "says 'processing'", "index": index},
                )
            )
            body = json.dumps({"job_id": job, "status": "processing", "progress": index / 10})
            rows.append(
                (
                    now + 0.12,
                    "fetch.end",
                    "client",
                    op,
                    {
                        "ending": "answer",
                        "status": 200,
                        "headers": {"retry-after": "1"},
                        "body": body,
                        "arrived": now + 0.1,
                    },
                )
            )
            now += 0.12
        rows.append((now, "sleep.start", "clock", w, {"seconds": delay, "by": "seam"}))
        now += delay + late
        rows.append(
            (now, "sleep.end", "clock", w, {"seconds": delay, "slept": delay + late, "late": late, "ending": "woke"})
        )
        if index == 3:
            rows.append((now, "clock.jump", "clock", "", {"seconds": -3600.0}))
        delay = min(delay * 1.5, 10.0)
    if ends:
        rows.append(
            (
                now,
                "wait.raise",
                "caller",
                w,
                {
                    "category": "timeout",
                    "type": "JobWaitTimeoutError",
                    "message": f"job {job} is still processing",
                    "builtin_timeout": True,
                    "carries": {},
                    "cause": None,
                },
            )
        )
    else:
        rows.append(
            (
                now,
                "fetch.start",
                "client",
                f"{w}.f{polls}",
                {"method": "POST", "target": "/v1/parse_jobs", "headers": {}},
            )
        )
        rows.append(
            (now + 400.0, "bench.stop", "bench", "", {"reason": "deadlock", "detail": "nothing is left to happen"})
        )
    return events(*rows)


def failure(
    subject: str,
    suite: str,
    invariant: str,
    *,
    level: str = "MUST",
    text: str = "",
    history: str | None = None,
    deterministic: bool = True,
) -> Failure:
    """A counterexample of one wait; ``text`` is put wherever text of a subject or server may stand."""
    told = wait_history(job="job-1" + text) if history is None else history
    rows = [json.loads(line) for line in told.splitlines()[1:]]
    across = [
        row for row in rows if row["kind"] == "sleep.start" and row["at"] < 5 < row["at"] + row["data"]["seconds"]
    ][:1]
    pair = [
        row["seq"]
        for row in rows
        if across and row["kind"].startswith("sleep") and across[0]["seq"] <= row["seq"] <= across[0]["seq"] + 1
    ]
    return Failure(
        subject=subject,
        suite=suite,
        invariant=invariant,
        level=level,
        cause="asked to sleep 2.25 s although the deadline was 1.71 s away" + text,
        expected="a sleep of at most 1.71 s, to the deadline at 5 s" + text,
        observed="a sleep of 2.25 s that ended at 5.54 s" + text,
        events=tuple(pair),
        plan={"schema": "waitproof.plan/1", "plan": {"timeout": 5.0, "text": text, "never": {"$float": "inf"}}},
        words=(
            f"wait for parse_jobs 'job-1{text}', timeout=5.0",
            "fetch 1: says 'processing', 0.1 s after it was asked",
            "fetch 3: the connection is reset before the answer",
            "then always: says 'processing'",
            "sleep 2 wakes 0.25 s late",
        ),
        items=4,
        token="wp1." + hashlib.sha256(invariant.encode()).hexdigest() * 4,
        command=f"waitproof replay wp1.{hashlib.sha256(invariant.encode()).hexdigest() * 4}",
        history=told,
        digest=hashlib.sha256(told.encode()).hexdigest(),
        deterministic=deterministic,
        shrink_runs=214,
        model="a sleep that ends from 3.29 s to 5 s" + text,
        model_observed="a sleep of 2.25 s at 3.29 s" + text,
        model_state="w0: answered at 3.29 s, 4 polls done, next poll due at 5 s, deadline at 5 s" + text,
    )


def infos() -> tuple[InvariantInfo, ...]:
    """The catalogue of the sample: thirty waiter invariants and ten of the normaliser."""
    waiter = [
        InvariantInfo(id=f"waiter.{name}", level=level, expectation=said, source="SPEC 2", claim=name)
        for name, level, said in NAMES
    ]
    lesser = [
        InvariantInfo(
            id=f"normaliser.{name}",
            level="MUST",
            expectation=f"The normaliser is {name}.",
            source="SPEC 3",
            safety=True,
        )
        for name in (
            "total",
            "lossless",
            "idempotent",
            "drift_tolerant",
            "uncoercing",
            "families_agree",
            "times_right",
            "lists_survive",
            "raw_unaliased",
            "words_folded",
        )
    ]
    return (*waiter, *lesser)


def verdict_of(subject: int, suite: int, invariant: int, level: str) -> str:
    """A mix with a few findings; the first subject is clean but for what it never reached."""
    if subject == 0:
        return "vacuous" if invariant == 16 else "held"
    if (subject, invariant) == (1, 20):
        return "unknown"
    mark = (subject * 7 + suite * 3 + invariant * 5) % 41
    if subject == 1 and invariant in (2, 9) and suite < 2:
        return "violated"
    if mark == 7:
        return "unknown"
    if mark == 11 and level == "SHOULD":
        return "non-strict"
    return "not claimed" if mark in (3, 19, 23) else "vacuous" if mark == 30 else "held"


def sample(
    root: Path,
    *,
    text: str = "",
    subjects: tuple[str, ...] = ("builtin-waiter", "naive-loop", "acme_sdk.jobs:wait_for_job"),
    clean: bool = False,
) -> Path:
    """Write a realistic result directory; ``text`` is appended to whatever a subject or server says. ``clean``: everything held."""
    writer, catalogue = ResultWriter(root), infos()
    people = [
        SubjectInfo(
            name=name + text,
            mode=("sync", "asyncio", "trio")[index % 3],
            family=name,
            package=f"{name.partition('.')[0]}{text}",
            version="1.4.2",
            summary="Waits for a job." + text,
            claims=("final_poll", "exact_schedule"),
            dialect={"clips": index == 0, "words": "synonyms"},
            output="polling…\n" + text if text else "",
        )
        for index, name in enumerate(subjects)
    ]
    listed = (
        []
        if clean
        else [
            SubjectInfo(
                name="other-sdk" + text, status="not installed", reason="no module named other_sdk" + text, named=False
            ),
            SubjectInfo(name="broken", status="unusable", reason="ImportError: cannot import name 'wait'", named=True),
        ]
    )
    for index, person in enumerate(people):
        for number, suite in enumerate(SUITES):
            for order, info in enumerate(catalogue):
                if (order + number) % 3 == 2:
                    continue
                verdict = "held" if clean else verdict_of(index, number, order, info.level)
                reached = 0 if verdict in ("vacuous", "not claimed") else 40 + order * 7 + number
                path = ""
                if verdict in ("violated", "non-strict"):
                    path = writer.failure(
                        failure(person.name, suite, info.id, level=info.level, text=text, deterministic=number == 0)
                    )
                cause = {
                    "held": "",
                    "unknown": "the history is empty: nothing was observed" + text,
                    "violated": "asked to sleep across the deadline",
                }.get(verdict, "")
                writer.row(
                    Row(
                        subject=person.name,
                        suite=suite,
                        invariant=info.id,
                        verdict=verdict,
                        level=info.level,
                        evaluated=400,
                        exercised=reached,
                        witnesses=reached * 3,
                        violations=int(verdict == "violated"),
                        undecided=int(verdict == "unknown"),
                        cause=cause,
                        failure=path,
                    )
                )
            died = index == 2 and number == 4 and not clean
            writer.suite(
                SuiteStats(
                    subject=person.name,
                    suite=suite,
                    examples=400,
                    distinct=371 - number,
                    events=18_400 + number,
                    virtual_seconds=86_000.0 * (number + 1),
                    wall_seconds=3.25,
                    reach={
                        "answers": {
                            "status": 1800,
                            "429": 120 * number + int(clean),
                            "503": 44,
                            "reset": 12 if number == 2 else int(clean),
                            "hang": 3,
                            "never-answered" + text: 0 if not clean else 1,
                        },
                        "wakes": {"on time": 2200, "late": 190, "early": 61},
                        "outcomes": {"returned": 211, "timeout": 150, "failure": 39},
                    },
                    stops={"budget": 2} if index == 1 and number == 0 and not clean else {},
                    determinism_checked=3,
                    determinism_failed=int(index == 1 and number == 1 and not clean),
                    status="died" if died else "complete",
                    note="exit status -11" + text if died else "",
                )
            )
    if not clean:
        for bug, caught in (("sleeps-past-deadline", True), ("forgets-final-poll", True), ("retries-504", False)):
            writer.zoo(
                ZooRow(
                    bug=bug + text,
                    summary="The last sleep is not clipped." + text,
                    source="SPEC 2.3",
                    invariant="waiter.no_sleep_across_deadline",
                    caught=caught,
                    caught_by=("waiter.no_sleep_across_deadline", "waiter.total_time") if caught else (),
                    examples=17,
                    items=1,
                    wall_seconds=0.4,
                )
            )
    writer.run(
        RunInfo(
            waitproof="0.3.0",
            python="3.11.8",
            seed=20240611,
            profile="default",
            command="waitproof run builtin --seed 20240611" + text,
            packages={"hypothesis": "6.100.0", "httpx": "0.28.1", "commit": "4f2c1e9"},
            started="2026-01-05T09:30:00Z",
            ended="2026-01-05T09:31:02Z",
            wall_seconds=62.4,
            exit=0 if clean else 1,
            subjects=(*people, *listed),
            suites=tuple(SuiteInfo(name=name, summary="", invariants=()) for name in SUITES),
            invariants=catalogue,
        )
    )
    return root


def huge(root: Path, *, failures: int = 600, subjects: int = 12, length: int = 60) -> Path:
    """Write a result directory with far more evidence than a page may hold."""
    writer = ResultWriter(root)
    catalogue = tuple(
        InvariantInfo(id=f"waiter.rule_{index}", level="MUST", expectation="A rule. " * 20, source="SPEC", safety=True)
        for index in range(failures // subjects + 1)
    )
    history = wait_history(polls=length)
    people = tuple(SubjectInfo(name=f"subject-{index}") for index in range(subjects))
    for index in range(failures):
        name, rule = people[index % subjects].name, catalogue[index // subjects].id
        path = writer.failure(failure(name, "deadline", rule, history=history, text=" word" * 40))
        writer.row(
            Row(
                subject=name,
                suite="deadline",
                invariant=rule,
                verdict="violated",
                evaluated=9,
                exercised=9,
                witnesses=9,
                violations=1,
                cause="long " * 60,
                failure=path,
            )
        )
    writer.run(
        RunInfo(
            waitproof="0.3.0", python="3.11.8", seed=1, profile="nightly", exit=1, subjects=people, invariants=catalogue
        )
    )
    return root


@pytest.fixture(scope="session")
def make_sample() -> Callable[..., Path]:
    """:func:`sample`: writes a realistic result directory."""
    return sample


@pytest.fixture(scope="session")
def make_huge() -> Callable[..., Path]:
    """:func:`huge`: writes a result directory that is far too large for a page."""
    return huge


@pytest.fixture(scope="session")
def make_failure() -> Callable[..., Failure]:
    """:func:`failure`: a counterexample as a value."""
    return failure


@pytest.fixture(scope="session")
def make_history() -> Callable[..., str]:
    """:func:`wait_history`: the history of one wait in JSON Lines."""
    return wait_history


@pytest.fixture(scope="session")
def hostile() -> str:
    """Text as a hostile subject or server would send it."""
    return HOSTILE
