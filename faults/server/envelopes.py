"""Job envelopes as the two families of resources send them (SPEC 3).

The words and payloads here are the server's own: no table is shared with the subjects or the models, because a shared table would
hide its own mistakes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final, Literal

from ..reply import Asked

Means = Literal["pending", "processing", "completed", "failed", "cancelled"]
ErrorForm = Literal["auto", "absent", "family", "object", "text", "list"]

WORDS: Final[Mapping[Means, tuple[str, ...]]] = {
    "completed": ("completed", "complete", "succeeded", "success", "done", "finished"),
    "failed": ("failed", "failure", "error", "errored", "expired", "timed_out"),
    "cancelled": ("cancelled", "canceled", "aborted"),
    "processing": ("processing", "running", "in_progress", "started"),
    "pending": ("pending", "queued", "waiting", "created", "submitted"),
}
"""The words that this server may use, by what they mean."""

_MEANING: Final = {word: means for means, words in WORDS.items() for word in words}

CREATED_AT: Final = "2023-11-14T22:13:20Z"
STARTED_AT: Final = "2023-11-14T22:13:21Z"
COMPLETED_AT: Final = "2023-11-14T22:13:29Z"


class Raw(str):
    """JSON text that goes into an envelope as it is (``1e400`` and ``NaN`` are no Python values that survive a round trip)."""

    __slots__ = ()


def meaning(word: str) -> Means:
    """What this server means by a word: case, outer blanks and the kind of separator do not matter; unknown words mean pending."""
    return _MEANING.get(re.sub(r"[\s_-]+", "_", word.strip().lower()), "pending")


def payload(resource: str, name: str) -> dict[str, object]:
    """The result of one job, typed by its endpoint; ``name`` is found in it again, so that a mixed-up result shows."""
    metadata = {"job": name, "page_count": 1, "duration_ms": 8, "credit_usage": 1.0, "version": "dpt-2"}
    if resource == "parse_jobs":
        return {
            "markdown": f"# {name}",
            "chunks": [{"id": "c0", "type": "text", "markdown": f"# {name}", "grounding": {"page": 0}}],
            "splits": [],
            "metadata": metadata,
        }
    if resource == "extract_jobs":
        return {
            "extraction": {"name": name},
            "extraction_metadata": {"name": {"references": ["c0"]}},
            "metadata": metadata,
        }
    return {"extraction_schema": json.dumps({"type": "object", "title": name}), "metadata": metadata}


def envelope(
    asked: Asked,
    status: object,
    *,
    job_id: object = None,
    progress: object = None,
    error: ErrorForm = "auto",
    missing: tuple[str, ...] = (),
    extra: Mapping[str, object] | None = None,
) -> bytes:
    """One job as this resource's family writes it, as JSON bytes.

    ``status`` and ``progress`` may be :class:`Raw`. ``job_id``: ``None`` for the id that was asked for. ``error``: ``auto`` puts the
    family's own form there exactly when the status means failed. ``missing``: keys that are left out. ``extra``: keys that are added
    or replaced. Completed envelopes carry the result.
    """
    means = meaning(status) if isinstance(status, str) and not isinstance(status, Raw) else "pending"
    fields: dict[str, object] = {
        "job_id": asked.job_id if job_id is None else job_id,
        "status": status,
        "progress": progress,
    }
    parse = asked.resource == "parse_jobs"
    if parse:
        fields["received_at"] = CREATED_AT
        if means != "pending":
            fields["started_at"] = STARTED_AT
    else:
        fields["created_at"] = CREATED_AT
        if means in ("completed", "failed", "cancelled"):
            fields["completed_at"] = COMPLETED_AT
    if means == "completed":
        fields["data" if parse and asked.old_keys else "result"] = payload(asked.resource, asked.job_id)
    if error != "absent" and (error != "auto" or means == "failed"):
        fields.update(_failure(error, parse=parse))
    fields.update(extra or {})
    return dump({key: value for key, value in fields.items() if key not in missing})


def _failure(form: ErrorForm, *, parse: bool) -> dict[str, object]:
    if form == "text":
        return {"error": "the document could not be read"}
    if form == "list":
        return {"error": [{"code": 17, "message": "the document could not be read"}]}
    if parse and form != "object":
        return {"failure_reason": "the document could not be read"}
    return {"error": {"code": "unreadable", "message": "the document could not be read"}}


def dump(fields: Mapping[str, object]) -> bytes:
    """``fields`` as compact JSON, those that are :class:`Raw` as they are."""
    parts: list[str] = []
    marked: dict[str, object] = {}
    for key, value in fields.items():
        if isinstance(value, Raw):
            marked[key] = f"\x00{len(parts)}\x00"
            parts.append(str(value))
        else:
            marked[key] = value
    text = json.dumps(marked, separators=(",", ":"))
    for index, part in enumerate(parts):
        text = text.replace(f'"\\u0000{index}\\u0000"', part)
    return text.encode()
