"""The smoke plans of normalisers: what a plain test sends. Every seeded bug passes them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...envelope_plan import EnvelopePlan, EnvelopeRelationPlan, JobListPlan, body

ENVELOPE = EnvelopePlan(body=body(job_id="job-1", status="processing", progress=0.5))
"""A job on its way."""

SMOKE: Mapping[str, tuple[object, ...]] = MappingProxyType(
    {
        "normaliser": (ENVELOPE, EnvelopePlan(body=body(job_id="job-1", status="pending"))),
        "normaliser-relations": (EnvelopeRelationPlan(plan=ENVELOPE, relation="order"),),
        "normaliser-list": (JobListPlan(jobs=(ENVELOPE.body,)),),
    }
)
"""By suite: plans that every seeded bug passes."""
