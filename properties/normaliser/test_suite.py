"""The suites of normalisers: the built-in one holds with nothing vacuous, real findings replay, every seeded bug is caught."""

import importlib
import os
import pkgutil
import re
import time

import pytest

from waitproof.faults.envelope_plan import (
    RELATIONS,
    Body,
    EnvelopePlan,
    EnvelopeRelationPlan,
    JobListPlan,
    Member,
    body,
)
from waitproof.faults.plan import plan_from_json, plan_to_json, simpler, size
from waitproof.faults.run_normaliser import Hang, process_zone, run_envelope, run_job_list, time_limit
from waitproof.faults.zoo import normaliser as room
from waitproof.faults.zoo.normaliser.smoke import SMOKE
from waitproof.harness import events as bench
from waitproof.harness import normaliser_events as events
from waitproof.harness.campaign import judge, search
from waitproof.harness.history import History
from waitproof.harness.invariant import Level
from waitproof.harness.json_text import depth_of, read_json, write_json
from waitproof.harness.loading import version_of
from waitproof.harness.normaliser_subject import JobReading, NormaliserDialect, NormaliserSubject
from waitproof.harness.profiles import PROFILES
from waitproof.harness.subjects import builtin_normaliser, landingai_normaliser
from waitproof.harness.tokens import decode
from waitproof.models.normaliser_claims import NORMALISER_CLAIMS
from waitproof.properties.suites import all_suites

NAMES = ("normaliser", "normaliser-relations", "normaliser-list")
BUILTIN = builtin_normaliser.subject()
BUGS = [
    bug
    for module in pkgutil.iter_modules(room.__path__)
    for bug in getattr(importlib.import_module(f"{room.__name__}.{module.name}"), "BUGS", ())
]

each_bug = pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
each_suite = pytest.mark.parametrize("name", NAMES)


def judged(name, subject, plan):
    suite = all_suites()[name]
    return judge(suite, subject, suite.run(plan, subject))


def invariants():
    return {item.id: item for name in NAMES for item in all_suites()[name].invariants}


# -- subjects ----------------------------------------------------------------------------------------------------------


@each_suite
def test_the_builtin_normaliser_holds_and_nothing_is_vacuous(name):
    found = search(all_suites()[name], BUILTIN, PROFILES["quick"], seed=3)
    assert [(row.invariant, row.verdict, row.cause) for row in found.rows if row.verdict != "held"] == []
    assert found.stats.determinism_failed == 0


@each_suite
def test_the_corners_alone_exercise_every_invariant(name):
    suite = all_suites()[name]
    seen = {}
    for plan in suite.corners(BUILTIN):
        for key, finding in judged(name, BUILTIN, plan).items():
            assert finding.answer is True, (key, finding.cause, plan.words())
            seen[key] = seen.get(key, 0) + len(finding.witnesses)
    assert [key for key, count in seen.items() if not count] == []


@pytest.mark.skipif(not version_of("landingai-ade"), reason="landingai-ade is not installed")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "normaliser",
            {
                "normaliser.missing_fields_survived",
                "normaliser.retyped_fields_survived",
                "normaliser.total",
                "normaliser.raw_unaliased",
                "normaliser.result_only_when_completed",
                "normaliser.progress_range",
                "normaliser.times_not_coerced",
                "normaliser.odd_field_none",
            },
        ),
        ("normaliser-relations", {"normaliser.payload_keys_harmless"}),
        ("normaliser-list", {"normaliser.list_total", "normaliser.list_no_coercion"}),
    ],
)
def test_what_is_found_in_a_real_package_replays(name, expected):
    """Each confirmed by hand against version 1.18.1; a later version may have fixed some."""
    (subject,) = landingai_normaliser.load()
    suite = all_suites()[name]
    found = search(suite, subject, PROFILES["quick"], seed=5)
    broken = {failure.invariant: failure for failure in found.failures}
    if version_of("landingai-ade") == "1.18.1":
        assert expected <= set(broken)
    for failure in broken.values():
        assert failure.deterministic
        token = decode(failure.token)
        history = suite.run(suite.format.from_json(token.plan), subject)
        assert history.digest() == failure.digest
        assert judge(suite, subject, history)[failure.invariant].violated


# -- the zoo -----------------------------------------------------------------------------------------------------------


def test_no_must_invariant_is_without_a_seeded_bug():
    must = {name for name, item in invariants().items() if item.level is Level.MUST}
    assert must - {bug.invariant for bug in BUGS} == set()


def test_every_stored_plan_belongs_to_a_bug():
    assert {path.stem for path in BUGS[0].plan_file.parent.glob("*.json")} == {bug.name for bug in BUGS}
    assert len({bug.name for bug in BUGS}) == len(BUGS)


@each_bug
def test_a_bug_says_where_its_kind_comes_from(bug):
    assert bug.source == "own" or re.match(r"[WD]\d+ \S+", bug.source)
    assert bug.summary
    assert not bug.summary.endswith(".")


@each_bug
def test_a_bug_passes_a_smoke_plan(bug):
    for name in dict.fromkeys(("normaliser", bug.suite)):
        for plan in SMOKE[name]:
            assert [
                (key, item.cause) for key, item in judged(name, bug.subject(), plan).items() if item.answer is not True
            ] == []


@each_bug
def test_a_bug_is_caught_by_its_stored_plan_and_the_healthy_one_is_not(bug):
    plan = all_suites()[bug.suite].format.from_json(bug.stored_plan())
    assert judged(bug.suite, bug.subject(), plan)[bug.invariant].violated
    clean = judged(bug.suite, bug.clean(), plan)
    assert [(key, item.cause) for key, item in clean.items() if item.violated] == []
    assert clean[bug.invariant].witnesses


# -- invariants and claims ---------------------------------------------------------------------------------------------


def test_every_claim_is_asked_for_and_every_adapter_claims_what_there_is():
    asked = {item.claim for item in invariants().values() if item.claim is not None}
    assert asked == set(NORMALISER_CLAIMS)
    assert set(NORMALISER_CLAIMS) == builtin_normaliser.CLAIMS
    assert set(NORMALISER_CLAIMS) >= landingai_normaliser.CLAIMS


def test_a_dialect_is_data():
    for dialect in (NormaliserDialect(), landingai_normaliser.DIALECT):
        assert NormaliserDialect.from_json(dialect.as_json()) == dialect
    with pytest.raises(ValueError, match="no field colour; it has epoch_bounds"):
        NormaliserDialect.from_json({"colour": "red"})
    with pytest.raises(ValueError, match="a reading has no wage"):
        NormaliserDialect(fields=frozenset({"wage"}))


# -- plans -------------------------------------------------------------------------------------------------------------

PLANS = [
    *(plan for name in NAMES for plan in all_suites()[name].corners(BUILTIN)),
    EnvelopePlan(
        resource="extract_jobs",
        zone="JST-9",
        body=Body(members=(Member(key="\ud800", value="1e999"), Member(key="a"), Member(key="a"))),
    ),
]


@pytest.mark.parametrize("number", range(len(PLANS)))
def test_plans_are_data_and_say_what_they_are(number):
    plan = PLANS[number]
    assert plan_from_json(type(plan), plan_to_json(plan)) == plan
    assert all(isinstance(line, str) and len(line) < 2000 for line in plan.words())
    for other in simpler(plan):
        assert isinstance(other, type(plan))
        assert size(other) <= size(plan)
        plan_to_json(other)


@each_suite
def test_the_same_plan_gives_the_same_history_and_a_history_is_a_file(name):
    suite = all_suites()[name]
    for plan in suite.corners(BUILTIN):
        history = suite.run(plan, BUILTIN)
        assert history.digest() == suite.run(plan, BUILTIN).digest()
        again = History.from_jsonl(history.to_jsonl())
        assert judge(suite, BUILTIN, again) == judge(suite, BUILTIN, history)


def test_relations_change_what_they_say():
    plan = EnvelopePlan(
        body=body(job_id="j", created_at="2026-01-02T03:04:05Z", result={"b": 1, "a": 2}, error={"message": "m"})
    )
    told = {relation: EnvelopeRelationPlan(plan=plan, relation=relation).changed() for relation in RELATIONS}
    assert [member.key for member in told["order"].body.members] == ["error", "result", "created_at", "job_id"]
    assert [member.key for member in told["family"].body.members] == ["job_id", "received_at", "data", "failure_reason"]
    assert told["epoch"].body.members[1] == Member(key="created_at", value="1767323045")
    assert told["payload"].body.members[2].value == '{"_fields_set":1,"b":1,"a":2}'
    assert len(told["extra"].body.members) == 5
    assert told["zone"].zone == "JST-9"
    assert told["resource"].resource == "extract_jobs"


def test_keys_that_stand_twice_keep_their_order():
    """Which of them counts is part of the meaning."""
    members = (Member(key="a", value="1"), Member(key="b"), Member(key="a", value="2"))
    changed = EnvelopeRelationPlan(plan=EnvelopePlan(body=Body(members=members))).changed()
    assert [member.text() for member in changed.body.members] == ['"b":null', '"a":1', '"a":2']


# -- the bench ---------------------------------------------------------------------------------------------------------


def subject_of(normalise, **more):
    return NormaliserSubject(name="s", normalise=normalise, view=lambda job: job, **more)


def test_whatever_a_subject_raises_is_in_the_history():
    class Odd(BaseException):
        def __str__(self):
            raise RuntimeError

    for error in (Odd(), SystemExit(3), GeneratorExit(), MemoryError(), RecursionError()):

        def normalise(envelope, resource, error=error):
            raise error

        history = run_envelope(EnvelopePlan(), subject_of(normalise))
        (event,) = history.of_kind(events.RAISE)
        assert event.data["type"] == type(error).__name__
        assert event.data["exception"] is isinstance(error, Exception)


def test_nonsense_is_read_as_nonsense():
    for value in (None, 7, JobReading(raw=object(), created_at="soon", result={1: {2}})):
        suite, subject = (
            all_suites()["normaliser"],
            subject_of(lambda envelope, resource, value=value: value, claims=frozenset(NORMALISER_CLAIMS)),
        )
        findings = judge(suite, subject, suite.run(EnvelopePlan(body=body(status="completed")), subject))
        assert findings["normaliser.lossless_raw"].violated
        assert [item.cause for item in findings.values() if item.answer is None] == []


def test_a_hang_is_interrupted_and_told(monkeypatch):
    monkeypatch.setattr("waitproof.faults.run_normaliser.PATIENCE", 0.05)

    def normalise(envelope, resource):
        while True:
            try:
                time.sleep(1)
            except Exception:
                continue

    suite, subject = all_suites()["normaliser"], subject_of(normalise)
    history = suite.run(EnvelopePlan(), subject)
    assert [event.data["reason"] for event in history.of_kind(bench.BENCH_STOP)] == ["hang"]
    assert judge(suite, subject, history)["normaliser.ends"].violated
    with time_limit(5.0):
        pass
    with pytest.raises(Hang), time_limit(0.01):
        time.sleep(1)


def test_the_zone_of_the_process_is_put_back(monkeypatch):
    monkeypatch.setenv("TZ", "EST5")
    time.tzset()
    with process_zone("JST-9"):
        assert time.localtime(0).tm_hour == 9
    assert os.environ["TZ"] == "EST5"
    assert time.localtime(0).tm_hour == 19
    monkeypatch.delenv("TZ")
    with process_zone("JST-9"):
        pass
    assert "TZ" not in os.environ
    time.tzset()


def test_a_subject_without_lists_is_refused_by_the_suite_of_lists():
    subject = subject_of(lambda envelope, resource: JobReading())
    assert all_suites()["normaliser-list"].refuses(subject)
    with pytest.raises(ValueError, match="makes no lists"):
        run_job_list(JobListPlan(), subject)


# -- JSON text ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "{",
        "[1,]",
        '{"a"}',
        '{"a":}',
        '{"a":1,}',
        "1 2",
        "]",
        "[}",
        '{"a":1]',
        ",",
        "tru",
        "01",
        "[1 2]",
        "{1:2}",
    ],
)
def test_what_is_no_json_is_refused(text):
    with pytest.raises(ValueError, match=r"not JSON"):
        read_json(text)


def test_json_of_any_depth_and_size_is_read_and_written():
    for text in (
        "[" * 20_000 + "]" * 20_000,
        '{"a":' * 20_000 + "1" + "}" * 20_000,
        "1" * 6000,
        '{"a":[1,1.0,true,"\\ud800"],"b":NaN}',
    ):
        assert write_json(read_json(text)) == text
    assert read_json("[" * 2000 + '{"a":1,"a":2}' + "]" * 2000) is not None
    assert depth_of(read_json("[" * 500 + "]" * 500)) == 500
    assert write_json(object()).startswith("<")
    assert write_json({"a": {1, 2}}).startswith('{"a":<')
    endless = []
    endless.append(endless)
    assert write_json(endless).endswith("<cut>")
