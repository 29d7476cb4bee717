"""``landingai-ade`` (PyPI, Apache-2.0), unmodified: the ``Job`` that its ``get`` makes of an envelope, and the ``JobList`` of its ``list``.

The resources' own methods run; only the request beneath them is replaced by the decoded body. Dialect and claims are read from its
documentation and the comments beside its code: one normalised job shape across parse and extract; ``raw`` is "the unmodified API envelope"
and is where an unknown status word stays readable; "unexpected upstream drift doesn't fail construction" and an unknown status doesn't
"crash the whole normalizer"; newer envelopes carry the payload under ``result``, older ones of parse under ``data``, "accept either"; ``result``
is "populated on completion"; times come as "both epoch ints and ISO strings", with a watershed of its own at 2e10; ``has_more`` of a list is a
boolean or False.

Not promised, and so not claimed: synonyms of status words; that a wrong or empty new key yields to the old one; failures as text or list; codes that are
no text;
aware times for naive text; anything about a body that is no object, about bad items or about slices of a list.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ..adapter import Adapter
from ..normaliser_subject import JOB_FIELDS, JobReading, ListReading, NormaliserDialect, NormaliserSubject

PACKAGE = "landingai-ade"

CLAIMS = frozenset(
    """
    total raw unaliased idempotent families resources drift words status unknown_status terminal new_keys old_keys result result_completed errors
    error_kept iso epochs time_types progress odd_fields list_total list_items list_flags
    """.split()
)

DIALECT = NormaliserDialect(
    words="enum",
    result_form="typed",
    old_keys="family",
    epoch_bounds=(2e10, 2e13, 2e16),
    fields=JOB_FIELDS - {"raw_status", "started_at", "malformed"},
    list_fields={
        "parse_jobs": frozenset({"has_more", "org_id", "page", "page_size"}),
        "extract_jobs": frozenset({"has_more", "page", "page_size"}),
        "build_schema_jobs": frozenset({"has_more", "page", "page_size"}),
    },
)


def view(job: Any) -> JobReading:
    """What its ``Job`` says."""
    return JobReading(
        job_id=job.job_id,
        status=job.status.value,
        progress=job.progress,
        result=_payload(job.result),
        markdown=getattr(job.result, "markdown", None),
        error=None if job.error is None else {"code": job.error.code, "message": job.error.message},
        created_at=job.created_at,
        completed_at=job.completed_at,
        raw=job.raw,
        terminal=job.is_terminal,
    )


def _payload(result: Any) -> Any:
    """A typed result as plain data: the fields that were set, and the extra ones. Its own ``to_dict`` may raise for odd values."""
    if hasattr(result, "model_fields_set"):
        # Which fields were set is itself made of the payload in 1.18.1, and then no set.
        known = result.model_fields_set if isinstance(result.model_fields_set, set) else set(vars(result))
        named = {name: vars(result)[name] for name in sorted(known & set(vars(result)))}
        return {name: _payload(value) for name, value in {**named, **(result.model_extra or {})}.items()}
    if isinstance(result, list):
        return [_payload(item) for item in result]
    return result


def list_view(jobs: Any) -> ListReading:
    """What its ``JobList`` says."""
    return ListReading(has_more=jobs.has_more, org_id=jobs.org_id, page=jobs.page, page_size=jobs.page_size)


def load() -> Sequence[NormaliserSubject]:
    """Import the package and build its one subject."""
    # Its models are otherwise built at their first use, which would be inside the first example.
    os.environ.setdefault("DEFER_PYDANTIC_BUILD", "false")
    import landingai_ade
    from landingai_ade.resources.v2 import build_schema, extract, parse

    client = landingai_ade.LandingAIADE(apikey="key", v2_base_url="http://api.invalid")
    kinds = {
        "parse_jobs": parse.ParseJobsResource,
        "extract_jobs": extract.ExtractJobsResource,
        "build_schema_jobs": build_schema.BuildSchemaJobsResource,
    }

    def answered(resource: str, body: Any) -> Any:
        jobs: Any = kinds[resource](client)
        jobs._get = lambda *_, **__: body  # noqa: SLF001 - the request; what is made of its answer is the package's own
        return jobs

    return [
        NormaliserSubject(
            name="landingai-ade-normaliser",
            family=PACKAGE,
            package=PACKAGE,
            summary="LandingAI ADE SDK: the Job of get, the JobList of list (v2)",
            normalise=lambda envelope, resource: answered(resource, envelope).get("job-1"),
            normalise_list=lambda body, resource: answered(resource, body).list(),
            view=view,
            list_view=list_view,
            dialect=DIALECT,
            claims=CLAIMS,
        )
    ]


ADAPTER = Adapter(
    name="landingai-ade-normaliser",
    provides=("landingai-ade-normaliser",),
    group="real",
    load=load,
    package=PACKAGE,
    summary="LandingAI ADE SDK (v2): how it reads envelopes and lists of jobs",
    kind="normaliser",
)
