"""Normalisers: envelopes of every kind, the same envelope changed in ways that must not matter, and lists of jobs."""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ...faults.envelope_plan import JOB_KEYS, Body, EnvelopePlan, EnvelopeRelationPlan, JobListPlan, Member, body
from ...faults.envelope_strategies import HUGE, envelope_plans, job_list_plans, nested, relation_plans
from ...faults.plan import plan_from_json, plan_to_json, simpler, size
from ...faults.run_normaliser import run_envelope, run_envelope_relation, run_job_list
from ...harness.history import History
from ...harness.invariant import Invariant
from ...harness.normaliser_subject import NormaliserSubject
from ...harness.suite import PlanFormat, Suite
from ...models.invariants import normaliser as family
from ...models.normaliser_view import first_parting

ENDS = "normaliser.ends"


def _invariants(*names: str, but: tuple[str, ...] = ()) -> tuple[Invariant, ...]:
    """The invariants of these files of the family, or of all but some; that calls end is judged everywhere."""
    files = names or tuple(item.name for item in pkgutil.iter_modules(family.__path__) if not item.name.startswith("_"))
    found = {
        item.id: item
        for name in sorted({*files, "total"} - set(but))
        for item in importlib.import_module(f"{family.__name__}.{name}").INVARIANTS
        if item.id == ENDS or name in files
    }
    return tuple(found.values())


def _format(cls: type[Any], bodies: Any) -> PlanFormat[Any]:
    return PlanFormat(
        to_json=plan_to_json,
        from_json=lambda data: plan_from_json(cls, data),
        words=lambda plan: plan.words(),
        size=size,
        simpler=simpler,
        reach=lambda plan: _reach(plan, bodies(plan)),
    )


def _reach(plan: Any, bodies: Sequence[Body]) -> Mapping[str, Mapping[str, int]]:
    keys: Counter[str] = Counter()
    for item in bodies:
        keys.update(member.key if member.key in JOB_KEYS else "other key" for member in item.members)
        keys.update(["no object"] if item.other else [])
    found: dict[str, Mapping[str, int]] = {"keys": dict(keys)}
    if isinstance(plan, EnvelopeRelationPlan):
        found["relations"] = {plan.relation: 1}
    return {name: counts for name, counts in found.items() if counts}


# -- corners -----------------------------------------------------------------------------------------------------------


def _job(**values: Any) -> Body:
    return body({"job_id": "job-1", "status": "completed", **values})


_FULL = {"result": {"markdown": "m", "metadata": {"pages": [1]}}, "created_at": "2026-01-02T03:04:05Z"}

BODIES: tuple[Body, ...] = (
    Body(),
    body("null"),
    body("[]"),
    body('"text"'),
    _job(**_FULL),
    _job(result={"markdown": "m"}, data={"markdown": "other"}),
    _job(data={"markdown": "m"}),
    _job(result=None, data={"markdown": "m"}),
    _job(result={}, data={"markdown": "m"}),
    _job(result="text", data={"markdown": "m"}),
    _job(result=[1]),
    _job(result={"markdown": 5}),
    body(job_id="job-1", status="processing", result={"markdown": "m"}),
    body(job_id="job-1", status="Timed-Out"),
    body(job_id="job-1", status="SUCCEEDED"),
    body(job_id="job-1", status="canceled"),
    body(job_id="job-1", status="IN PROGRESS"),
    body(job_id="job-1", status=" failed "),
    body(job_id="job-1", status="hibernating"),
    body(job_id="job-1", status="incomplete"),
    body(job_id="job-1", status=5),
    body(job_id="job-1"),
    body(status="completed"),
    body(job_id=None, status="failed", error={"code": "E1", "message": "it broke"}),
    body(job_id="job-1", status="failed", error={"code": 500, "message": "it broke"}),
    body(job_id="job-1", status="failed", failure_reason="it broke"),
    body(job_id="job-1", status="failed", error="it broke"),
    body(job_id="job-1", status="failed", error=["it broke", {"message": "and burnt"}]),
    body(job_id="job-1", status="failed", error={}, failure_reason="it broke"),
    body(job_id="job-1", status="failed", error=5, failure_reason="it broke"),
    body(job_id="job-1", status="failed", failure_reason={"message": "it broke"}),
    _job(error={"code": "E1", "message": "it broke"}),
    body(job_id="job-1", status="processing", failure_reason="it broke"),
    _job(created_at="2026-01-02T03:04:05+09:00", completed_at="2026-01-02"),
    _job(created_at="2026-01-02T03:04:05", completed_at="2026-01-02T03:04:05.5-05:00"),
    _job(created_at=1_700_000_000, completed_at=1_700_000_000_000),
    _job(created_at=1_700_000_000_000_000, completed_at=1_700_000_000_000_000_000),
    _job(created_at=1_700_000_000.5, completed_at=-1),
    _job(created_at=True, completed_at="1700000000"),
    _job(created_at="2026", completed_at=[1]),
    _job(received_at="2026-01-02T03:04:05Z"),
    _job(created_at="2026-01-02T03:04:05Z", received_at="2026-01-01T00:00:00Z", started_at=1_700_000_000),
    _job(created_at="soon", received_at="2026-01-02T03:04:05Z"),
    _job(progress=0.5),
    _job(progress=True),
    _job(progress=45),
    _job(progress="0.5"),
    Body(members=(Member(key="job_id", value='"job-1"'), Member(key="progress", value=HUGE))),
    Body(members=(Member(key="job_id", value='"job-1"'), Member(key="created_at", value=HUGE))),
    Body(members=(Member(key="job_id", value='"\\ud800"'), Member(key="\ud800", value='{"\\udfff":1e400}'))),
    Body(
        members=(
            Member(key="status", value='"failed"'),
            Member(key="status", value='"completed"'),
            Member(key="job_id", value='"job-1"'),
        )
    ),
    Body(members=(Member(key="job_id", value='"job-1"'), Member(key="x", value=nested(3000)))),
    Body(members=(*_job().members, Member(key="result", value=f'{{"markdown":"m","x":{nested(3000, kind="dict")}}}'))),
    Body(members=(*_job().members, Member(key="result", value='{"_fields_set":1,"self":2,"markdown":"m"}'))),
)
"""An envelope for each situation that an invariant speaks of."""

CORNERS = (
    *(EnvelopePlan(body=item) for item in BODIES),
    EnvelopePlan(resource="extract_jobs", body=_job(result={"extraction": {"a": 1}})),
    EnvelopePlan(resource="build_schema_jobs", body=_job(data={"extraction_schema": "{}"})),
)

_OLD_TIMES = EnvelopePlan(body=body(job_id="job-1", status="pending", created_at="1990-01-01T00:00:00Z"))
_BASE = EnvelopePlan(body=_job(**_FULL, progress=0.5, completed_at="2026-01-02T04:00:00"))
_FAILED = EnvelopePlan(
    body=body(job_id="job-1", status="failed", error={"message": "it broke"}, created_at="2026-01-02T03:04:05Z")
)

RELATION_CORNERS = (
    EnvelopeRelationPlan(plan=_BASE, relation="order"),
    EnvelopeRelationPlan(plan=_BASE, relation="extra"),
    EnvelopeRelationPlan(plan=_BASE, relation="extra", amount=12),
    *(EnvelopeRelationPlan(plan=_BASE, relation="payload", amount=amount) for amount in range(10)),
    EnvelopeRelationPlan(plan=_BASE, relation="family"),
    EnvelopeRelationPlan(plan=_FAILED, relation="family"),
    *(EnvelopeRelationPlan(plan=_BASE, relation="epoch", amount=amount) for amount in range(4)),
    EnvelopeRelationPlan(plan=_OLD_TIMES, relation="epoch", amount=1),
    *(EnvelopeRelationPlan(plan=_BASE, relation="zone", amount=amount) for amount in range(2)),
    *(EnvelopeRelationPlan(plan=_BASE, relation="resource", amount=amount) for amount in range(2)),
)

_ITEM = _job(**_FULL)
LIST_CORNERS = (
    JobListPlan(jobs=(_ITEM, body(job_id="job-2", status="failed", failure_reason="it broke")), envelope=body(has_more=True, org_id="o", page=1, page_size=2)),
    JobListPlan(jobs=(_ITEM, body("null"), body("5"), _ITEM)),
    JobListPlan(jobs=(_ITEM,), envelope=body(has_more="false", org_id=5, page=True, page_size="2")),
    JobListPlan(jobs=(_ITEM, _ITEM, _ITEM), envelope=body(has_more=False, page=2), start=1, stop=2),
    JobListPlan(jobs=(body(status="completed"),)),
    JobListPlan(jobs=None),
    JobListPlan(jobs=None, envelope=body(jobs=None)),
    JobListPlan(jobs=None, envelope=body(jobs={"0": {}})),
    JobListPlan(jobs=None, envelope=body("[]")),
    JobListPlan(resource="extract_jobs", jobs=(_ITEM,), envelope=body(has_more=True, page=1, page_size=2)),
)  # fmt: skip


def _run(plan: EnvelopePlan, subject: NormaliserSubject) -> History:
    return run_envelope(plan, subject, suite="normaliser")


def _run_relation(plan: EnvelopeRelationPlan, subject: NormaliserSubject) -> History:
    return run_envelope_relation(plan, subject, suite="normaliser-relations")


def _run_list(plan: JobListPlan, subject: NormaliserSubject) -> History:
    return run_job_list(plan, subject, suite="normaliser-list")


SUITES = (
    Suite(
        name="normaliser",
        summary="one envelope of every kind, read and read again",
        kind="normaliser",
        invariants=_invariants(but=("relations", "lists")),
        format=_format(EnvelopePlan, lambda plan: [plan.body]),
        run=_run,
        model=first_parting,
        strategy=envelope_plans,
        corners=lambda _: CORNERS,
    ),
    Suite(
        name="normaliser-relations",
        summary="the same envelope twice, changed in a way that must not matter",
        kind="normaliser",
        invariants=_invariants("relations"),
        format=_format(EnvelopeRelationPlan, lambda plan: [plan.plan.body]),
        run=_run_relation,
        model=first_parting,
        strategy=lambda subject: relation_plans(subject.dialect),
        corners=lambda _: RELATION_CORNERS,
    ),
    Suite(
        name="normaliser-list",
        summary="lists of jobs with bad items and odd envelopes",
        kind="normaliser",
        invariants=_invariants("lists"),
        format=_format(JobListPlan, lambda plan: [*(plan.jobs or ()), plan.envelope]),
        run=_run_list,
        model=first_parting,
        strategy=job_list_plans,
        corners=lambda _: LIST_CORNERS,
        refuses=lambda subject: "" if subject.normalise_list is not None else "it makes no lists of jobs",
    ),
)
