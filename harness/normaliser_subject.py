"""The seam between the bench and a normaliser: what one is, what its adapter says of it, and how a job that it made is read."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from .jsonable import Json

JOB_FIELDS = frozenset(
    """
    job_id status raw_status progress result error created_at started_at completed_at raw terminal malformed markdown
    """.split()
)
LIST_FIELDS = frozenset({"has_more", "org_id", "page", "page_size"})
SPEC_BOUNDS = (1e11, 1e14, 1e17)
"""Below the first an epoch number counts seconds, below the second milliseconds, below the third microseconds, else nanoseconds."""


@dataclass(frozen=True, kw_only=True)
class NormaliserDialect:
    """The legitimate choices in which normalisers differ. The defaults are those of SPEC 3.

    * ``words``: which status words it knows: ``synonyms`` (SPEC 3's table, folded), ``folded`` (the five, in any case and spacing) or
      ``enum`` (the five, to the letter). ``more_words``: further words, each with the status that it means.
    * ``unknown``: the status that an unknown word becomes.
    * ``non_object``: a body that is no object raises, or is kept as a job of which nothing is known.
    * ``result``: the result is there only for a ``completed`` job, or for ``any`` job whose envelope brings one.
    * ``result_form``: the result shows the whole ``payload``, or is ``typed`` and may lack keys or add empty ones.
    * ``old_keys``: the old key of a field is read ``everywhere``, or only for the resources of the ``family`` that has it.
    * ``epoch_bounds``: the magnitudes at which an epoch number changes its unit.
    * ``fields``: which parts of a reading its jobs have. ``list_fields``: which parts of the envelope its lists have, by resource; a
      resource that is not there has them all.
    """

    words: Literal["synonyms", "folded", "enum"] = "synonyms"
    more_words: Mapping[str, str] = field(default_factory=dict)
    unknown: str = "pending"
    non_object: Literal["raise", "keep"] = "raise"
    result: Literal["completed", "any"] = "completed"
    result_form: Literal["payload", "typed"] = "payload"
    old_keys: Literal["everywhere", "family"] = "everywhere"
    epoch_bounds: tuple[float, float, float] = SPEC_BOUNDS
    fields: frozenset[str] = JOB_FIELDS
    list_fields: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        strange = sorted((self.fields - JOB_FIELDS) | frozenset().union(*self.list_fields.values()) - LIST_FIELDS)
        if strange:
            raise ValueError(
                f"a reading has no {', '.join(strange)}; there are {', '.join(sorted(JOB_FIELDS | LIST_FIELDS))}"
            )

    def as_json(self) -> dict[str, Json]:
        """The dialect as plain data (sets as sorted lists)."""
        return {
            "words": self.words,
            "more_words": dict(self.more_words),
            "unknown": self.unknown,
            "non_object": self.non_object,
            "result": self.result,
            "result_form": self.result_form,
            "old_keys": self.old_keys,
            "epoch_bounds": list(self.epoch_bounds),
            "fields": [*sorted(self.fields)],
            "list_fields": {resource: [*sorted(names)] for resource, names in sorted(self.list_fields.items())},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> NormaliserDialect:
        """Read what :meth:`as_json` wrote. Raises ``ValueError`` for a field that it does not have."""
        known = {item.name for item in dataclasses.fields(cls)}
        unknown = sorted(set(data) - known)
        if unknown:
            raise ValueError(
                f"a normaliser dialect has no field {', '.join(unknown)}; it has {', '.join(sorted(known))}"
            )
        values = cast("dict[str, Any]", dict(data))
        if "epoch_bounds" in values:
            values["epoch_bounds"] = tuple(float(bound) for bound in values["epoch_bounds"])
        if "fields" in values:
            values["fields"] = frozenset(values["fields"])
        if "list_fields" in values:
            values["list_fields"] = {name: frozenset(names) for name, names in values["list_fields"].items()}
        return cls(**values)


@dataclass(frozen=True, kw_only=True)
class JobReading:
    """What a job says, in the bench's words. The values are the subject's own; the bench writes them down.

    ``result``: the payload as JSON, ``None`` if there is none. ``markdown``: what the typed result of a parse says. ``error``: ``None``,
    or ``{"code": …, "message": …}``. Times: ``datetime`` or ``None``. ``raw``: the envelope that the job keeps, itself and not a copy
    (the bench changes it on purpose). ``malformed``: whether the job says of itself that it was no object.
    """

    job_id: object = None
    status: object = None
    raw_status: object = None
    progress: object = None
    result: object = None
    markdown: object = None
    error: object = None
    created_at: object = None
    started_at: object = None
    completed_at: object = None
    raw: object = None
    terminal: object = None
    malformed: object = None


@dataclass(frozen=True, kw_only=True)
class ListReading:
    """What a list of jobs says of its page."""

    has_more: object = None
    org_id: object = None
    page: object = None
    page_size: object = None


@dataclass(frozen=True, kw_only=True)
class NormaliserSubject:
    """A normaliser on the bench.

    * ``normalise(envelope, resource)``: the job that a decoded body describes.
    * ``normalise_list(body, resource)``: the list of jobs that a decoded body describes; ``None`` if it makes no lists.
    * ``view(job)``: read a job. ``list_view(jobs)``: read the envelope of a list.
    * ``errors``: the exception types that it documents for a body that is no object.
    * ``package``: the distribution whose version is reported; empty for code that is in no distribution.
    """

    name: str
    normalise: Callable[[Any, str], Any]
    view: Callable[[Any], JobReading]
    normalise_list: Callable[[Any, str], Any] | None = None
    list_view: Callable[[Any], ListReading] = lambda _: ListReading()
    dialect: NormaliserDialect = field(default_factory=NormaliserDialect)
    claims: frozenset[str] = frozenset()
    errors: tuple[type[BaseException], ...] = ()
    family: str = ""
    package: str = ""
    summary: str = ""
    kind: str = "normaliser"
