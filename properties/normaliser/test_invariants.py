"""Each invariant of normalisers on a history that holds, one that violates it and one in which its situation never came about.

The histories are made by a puppet: a normaliser that answers each envelope with the reading that the test gives it.
"""

import copy
import dataclasses
from datetime import UTC, datetime, timedelta, timezone

import pytest

from waitproof.faults.envelope_plan import Body, EnvelopePlan, EnvelopeRelationPlan, JobListPlan, Member, body
from waitproof.faults.envelope_strategies import nested
from waitproof.faults.run_normaliser import run_envelope, run_envelope_relation, run_job_list
from waitproof.harness.history import History
from waitproof.harness.invariant import Invariant
from waitproof.harness.json_text import write_json
from waitproof.harness.normaliser_subject import JobReading, ListReading, NormaliserDialect, NormaliserSubject
from waitproof.models.invariants.normaliser import failure, fields, lists, payload, raw, relations, status, times, total

INVARIANTS = {
    item.id.removeprefix("normaliser."): item
    for module in (failure, fields, lists, payload, raw, relations, status, times, total)
    for item in module.INVARIANTS
}
TIME = "2026-01-02T03:04:05Z"
MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
HOUR = timedelta(hours=1)


class NoObject(Exception):
    """The puppet's documented error."""


@dataclasses.dataclass
class Puppet:
    """A job that says what the test wants."""

    said: dict


def puppet(dialect=None, **said):
    """A normaliser whose jobs say ``said``; the other parts are right for a well-known envelope."""

    def normalise(envelope, resource):
        if not isinstance(envelope, dict):
            raise NoObject
        kept = copy.deepcopy(envelope)
        word = envelope.get("status")
        known = word in ("pending", "processing", "completed", "failed", "cancelled")
        parts = {
            "job_id": envelope.get("job_id"),
            "status": word if known else "pending",
            "raw_status": word,
            "terminal": word in ("completed", "failed", "cancelled"),
            "result": copy.deepcopy(envelope.get("result")) if word == "completed" else None,
            "markdown": (envelope.get("result") or {}).get("markdown"),
            "raw": kept,
            "malformed": False,
        }
        return Puppet(
            {**parts, **{name: value(envelope, resource) if callable(value) else value for name, value in said.items()}}
        )

    return NormaliserSubject(
        name="puppet",
        normalise=normalise,
        view=lambda job: JobReading(**job.said),
        errors=(NoObject,),
        dialect=dialect or NormaliserDialect(),
    )


def raising(error, **said):
    """A puppet that raises for every envelope."""

    def normalise(envelope, resource):
        raise error

    return dataclasses.replace(puppet(**said), normalise=normalise)


def job(**values):
    """A plan of one envelope."""
    return EnvelopePlan(body=body({"job_id": "j", "status": "completed", **values}))


def deep():
    members = (
        Member(key="job_id", value='"j"'),
        Member(key="status", value='"done"'),
        Member(key="x", value=nested(2000)),
    )
    return EnvelopePlan(body=Body(members=members))


SHALLOW = puppet(raw=lambda envelope, _: dict(envelope))
DEEP = NormaliserSubject(name="deep", normalise=lambda envelope, _: envelope, view=lambda kept: JobReading(raw=kept))
ERROR = {"code": "E1", "message": "it broke"}
REASON = {"code": None, "message": "it broke"}
EMPTY = EnvelopePlan()


def popping(envelope, _):
    envelope.pop("data", None)
    return copy.deepcopy(envelope)


def wrong_raw(envelope, _):
    return {key: value for key, value in envelope.items() if value is not None}


def status_from_raw(envelope, _):
    return {**envelope, "status": "pending"}


CASES = {
    # name: (a plan and a subject that hold), (… that violate), (… in which nothing is exercised)
    "ends": ((job(), puppet()), (job(), raising(SystemExit(1))), None),
    "total": ((job(), puppet()), (job(result={"x": 1}), raising(KeyError("x"))), (EMPTY, puppet())),
    "missing_fields_survived": ((EMPTY, puppet()), (EMPTY, raising(KeyError("job_id"))), (job(), raising(KeyError("x")))),
    "retyped_fields_survived": ((job(progress=45), puppet()), (job(progress=45), raising(OverflowError())), (job(), raising(KeyError()))),
    "deep_nesting": ((deep(), DEEP), (deep(), raising(RecursionError())), (job(), raising(RecursionError()))),
    "one_error_for_non_objects": (
        (EnvelopePlan(body=body("[]")), puppet()), (EnvelopePlan(body=body("[]")), raising(TypeError())), (job(), puppet()),
    ),
    "lossless_raw": ((job(x=None), puppet()), (job(x=None), puppet(raw=wrong_raw)), (EnvelopePlan(body=body("5")), puppet())),
    "input_untouched": ((job(data={}), puppet()), (job(data={}), puppet(raw=popping)), (EMPTY, puppet(raw=popping))),
    "raw_unaliased": ((job(x=[1]), puppet()), (job(x=[1]), SHALLOW), (EMPTY, SHALLOW)),
    "idempotent_on_raw": ((job(), puppet()), (job(), puppet(raw=status_from_raw)), (EnvelopePlan(body=body("5")), puppet())),
    "status_words": ((job(), puppet()), (job(), puppet(status="pending")), (job(status="hibernating"), puppet(status="failed"))),
    "unknown_status_pending": ((job(status="odd"), puppet()), (job(status="odd"), puppet(status="failed")), (job(), puppet())),
    "status_closed": ((job(), puppet()), (job(), puppet(status="done")), (EnvelopePlan(body=body("5")), puppet())),
    "raw_status_readable": ((job(), puppet()), (job(status=" odd"), puppet(raw_status="odd")), (job(status=5), puppet(raw_status="5"))),
    "terminal_flag": ((job(), puppet()), (job(), puppet(terminal=False)), (job(), puppet(status="done"))),
    "new_key_wins": (
        (job(result={"a": 1}, data={"b": 2}), puppet()), (job(result={"a": 1}, data={"b": 2}), puppet(result={"b": 2})), (job(result={"a": 1}), puppet()),
    ),
    "old_key_falls_back": (
        (job(data={"b": 2}), puppet(result={"b": 2})), (job(data={"b": 2}), puppet()), (job(result={"a": 1}, data={"b": 2}), puppet()),
    ),
    "odd_new_key_yields": (
        (job(result={}, data={"b": 2}), puppet(result={"b": 2})), (job(result={}, data={"b": 2}), puppet()), (job(data={"b": 2}), puppet()),
    ),
    "result_only_when_completed": (
        (job(status="failed", result={"a": 1}), puppet()), (job(status="failed", result={"a": 1}), puppet(result={"a": 1})), (job(result={"a": 1}), puppet()),
    ),
    "result_typed": (
        (job(result={"markdown": "m"}), puppet()), (job(result={"markdown": "m"}), puppet(markdown=None)), (job(status="failed", result={"a": 1}), puppet()),
    ),
    "error_read": ((job(error=ERROR), puppet(error=ERROR)), (job(error=ERROR), puppet(error=REASON)), (job(error="it broke"), puppet())),
    "error_forms": ((job(error="it broke"), puppet(error=REASON)), (job(error=["it broke"]), puppet()), (job(error=ERROR), puppet())),
    "unreadable_error_yields": (
        (job(error={}, failure_reason="it broke"), puppet(error=REASON)), (job(error=5, failure_reason="it broke"), puppet()), (job(failure_reason="x"), puppet()),
    ),
    "error_kept_whatever_status": ((job(error=ERROR), puppet(error=ERROR)), (job(error=ERROR), puppet()), (job(status="failed", error=ERROR), puppet())),
    "error_code_text": (
        (job(error={"code": 5}), puppet(error={"code": "5"})), (job(error={"code": 5}), puppet(error={"code": None})), (job(error=ERROR), puppet()),
    ),
    "no_error_made_up": ((job(), puppet()), (job(), puppet(error=ERROR)), (job(error=5), puppet(error=ERROR))),
    "times_iso": (
        (job(created_at=TIME), puppet(created_at=MOMENT)), (job(created_at=TIME), puppet(created_at=MOMENT + HOUR)), (job(created_at=5), puppet()),
    ),
    "times_epoch_magnitudes": (
        (job(started_at=1_767_323_045_000), puppet(started_at=MOMENT)),
        (job(started_at=1_767_323_045_000), puppet(started_at=datetime(1970, 1, 21, tzinfo=UTC))),
        (job(started_at=TIME), puppet()),
    ),
    "times_not_coerced": (
        (job(created_at="5"), puppet()), (job(created_at=True), puppet(created_at=datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC))), (job(created_at=TIME), puppet()),
    ),
    "times_aware_utc": (
        (job(), puppet(created_at=MOMENT)), (job(), puppet(created_at=MOMENT.astimezone(timezone(HOUR)))), (job(), puppet()),
    ),
    "created_at_wins": (
        (job(created_at=TIME, received_at=5), puppet(created_at=MOMENT)), (job(created_at=TIME, received_at=5), puppet(created_at=MOMENT + HOUR)),
        (job(created_at=TIME), puppet()),
    ),
    "received_at_falls_back": (
        (job(received_at=TIME), puppet(created_at=MOMENT)), (job(received_at=TIME), puppet()), (job(created_at=TIME, received_at=5), puppet()),
    ),
    "unreadable_created_at_yields": (
        (job(created_at="soon", received_at=TIME), puppet(created_at=MOMENT)), (job(created_at="soon", received_at=TIME), puppet()),
        (job(received_at=TIME), puppet()),
    ),
    "progress_range": ((job(progress=0.5), puppet(progress=0.5)), (job(progress=True), puppet(progress=1.0)), (EnvelopePlan(body=body("5")), puppet())),
    "odd_field_none": (
        (job(job_id=None), puppet(job_id=None)), (job(job_id=None), puppet(job_id="None")), (EnvelopePlan(body=body("5")), puppet()),
    ),
}  # fmt: skip

RELATED = EnvelopePlan(body=body(job_id="j", status="completed", created_at=TIME, result={"markdown": "m"}))


def related(relation, amount=0):
    return EnvelopeRelationPlan(plan=RELATED, relation=relation, amount=amount)


NEW = puppet(result=lambda envelope, _: envelope.get("result") or envelope.get("data"), markdown="m")
WITH_KEYS = puppet(progress=lambda envelope, _: len(envelope) / 100, markdown=None)
FIRST_KEY = puppet(raw_status=lambda envelope, _: next(iter(envelope)))
BY_RESOURCE = puppet(job_id=lambda _, resource: resource)
READS = puppet(created_at=MOMENT)
BY_TYPE = puppet(created_at=lambda envelope, _: MOMENT if isinstance(envelope["created_at"], str) else None)
LOCAL = puppet(created_at=lambda *_: datetime(2026, 1, 2, 3, 4, 5).astimezone(UTC))
LEAKS = puppet(progress=lambda envelope, _: len(envelope["result"]) / 10)

RELATIONS = {
    "families_agree": (related("family"), NEW, puppet()),
    "resources_agree": (related("resource"), puppet(), BY_RESOURCE),
    "key_order_irrelevant": (related("order"), puppet(), FIRST_KEY),
    "unknown_keys_harmless": (related("extra"), puppet(), WITH_KEYS),
    "payload_keys_harmless": (related("payload"), puppet(), LEAKS),
    "epoch_equals_iso": (related("epoch", 1), READS, BY_TYPE),
    "tz_irrelevant": (related("zone"), puppet(), LOCAL),
}

ITEM = body(job_id="j", status="completed")


class Page(list):
    """A list with an envelope, whose slices keep it."""

    envelope = ListReading()

    def __getitem__(self, index):
        found = super().__getitem__(index)
        if isinstance(index, slice):
            found = type(self)(found)
            found.envelope = self.envelope
        return found


class Forgetful(Page):
    """One whose slices are plain lists."""

    __getitem__ = list.__getitem__


def lists_of(make, kind=Page, envelope=None, **said):
    """A puppet that makes lists: ``make(body, normalise)`` gives the jobs."""
    single = puppet(**said)

    def normalise_list(found, resource):
        if not isinstance(found, dict):
            raise NoObject
        page = kind(make(found, lambda item: single.normalise(item, resource)))
        page.envelope = ListReading(**envelope) if envelope else ListReading(has_more=found.get("has_more"))
        return page

    return dataclasses.replace(single, normalise_list=normalise_list, list_view=lambda page: page.envelope)


def flagged(item, normalise):
    return normalise(item) if isinstance(item, dict) else Puppet({"status": "pending", "raw": item, "malformed": True})


def good(found, normalise):
    jobs = found.get("jobs")
    return [flagged(item, normalise) for item in (jobs if isinstance(jobs, list) else [])]


def fragile(found, normalise):
    return [normalise(item) for item in found.get("jobs", [])]


def dropping(found, normalise):
    return [normalise(item) for item in found["jobs"] if isinstance(item, dict)]


def renaming(found, normalise):
    made = good(found, normalise)
    for item in made:
        item.said["job_id"] = "other"
    return made


ONE = JobListPlan(jobs=(ITEM,), envelope=body(has_more=True))
BAD = JobListPlan(jobs=(ITEM, body("5")))
NO_LIST = JobListPlan(jobs=None, envelope=body("[]"))

LISTS = {
    "list_total": ((JobListPlan(jobs=None, envelope=body(jobs=None)), lists_of(good)), (JobListPlan(jobs=None, envelope=body(jobs=None)), lists_of(fragile)), (BAD, lists_of(fragile))),
    "list_survives_bad_item": ((BAD, lists_of(good)), (BAD, lists_of(dropping)), (ONE, lists_of(good))),
    "list_items_as_alone": ((ONE, lists_of(good)), (ONE, lists_of(renaming)), (JobListPlan(), lists_of(good))),
    "list_no_coercion": ((ONE, lists_of(good)), (JobListPlan(jobs=(), envelope=body(has_more="false")), lists_of(good, envelope={"has_more": True})), (JobListPlan(), lists_of(good))),
    "list_keeps_envelope_when_sliced": ((ONE, lists_of(good)), (ONE, lists_of(good, kind=Forgetful)), (NO_LIST, lists_of(good))),
}  # fmt: skip


def finding(name, plan, subject):
    runs = {EnvelopePlan: run_envelope, EnvelopeRelationPlan: run_envelope_relation, JobListPlan: run_job_list}
    history = runs[type(plan)](plan, subject)
    found = INVARIANTS[name].judge(History.from_jsonl(history.to_jsonl()))
    assert found == INVARIANTS[name].judge(history)
    assert all(0 <= seq < len(history) for seq in (*found.witnesses, *found.events))
    return found


def test_every_invariant_has_its_cases():
    assert set(INVARIANTS) == set(CASES) | set(RELATIONS) | set(LISTS)
    assert len(INVARIANTS) >= 20
    assert all(isinstance(item, Invariant) and item.expectation.endswith(".") for item in INVARIANTS.values())


@pytest.mark.parametrize("name", [*CASES, *LISTS])
def test_a_history_that_holds(name):
    found = finding(name, *{**CASES, **LISTS}[name][0])
    assert (found.answer, found.cause) == (True, "")
    assert found.witnesses


@pytest.mark.parametrize("name", [*CASES, *LISTS])
def test_a_history_that_violates(name):
    found = finding(name, *{**CASES, **LISTS}[name][1])
    assert found.violated
    assert found.events
    assert found.cause
    assert found.expected
    assert found.observed


@pytest.mark.parametrize("name", [name for name, cases in {**CASES, **LISTS}.items() if cases[2] is not None])
def test_a_history_that_does_not_reach_it(name):
    assert finding(name, *{**CASES, **LISTS}[name][2]).vacuous


@pytest.mark.parametrize("name", list(RELATIONS))
def test_a_relation_that_holds_and_one_that_does_not_and_another_one(name):
    plan, fine, broken = RELATIONS[name]
    assert finding(name, plan, fine).witnesses
    assert finding(name, plan, fine).answer is True
    assert finding(name, plan, broken).violated
    other = related("order" if plan.relation != "order" else "extra")
    assert finding(name, other, fine).vacuous


def test_a_call_that_never_ended_is_undecided():
    history = run_envelope(job(), puppet())
    cut = History(history.header)
    first = next(iter(history))
    cut.append(at=first.at, kind=first.kind, lane=first.lane, op=first.op, data=first.data)
    assert INVARIANTS["ends"].judge(cut).answer is None
    assert INVARIANTS["total"].judge(cut).vacuous


def test_a_typed_result_may_lack_keys_and_add_empty_ones():
    typed = NormaliserDialect(result_form="typed")
    plan = job(result={"markdown": "m", "x": [1]}, data={"markdown": "other"})
    assert finding(
        "new_key_wins", plan, puppet(typed, result={"markdown": "m", "chunks": [], "meta": {"a": None}})
    ).witnesses
    for wrong in ({"markdown": "other"}, {"chunks": []}, {"markdown": "m", "y": 1}, None):
        assert finding("new_key_wins", plan, puppet(typed, result=wrong)).violated


def test_numbers_of_different_kind_are_different_in_raw():
    floats = puppet(raw=lambda envelope, _: {**envelope, "progress": float(envelope["progress"])})
    assert finding("lossless_raw", job(progress=1), floats).violated
    assert write_json({"a": 1}) != write_json({"a": 1.0}) != write_json({"a": True})
