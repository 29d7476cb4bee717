"""What a recorded fetch *says* to a waiter of a dialect: the bench's own reading of status, headers and body text (SPEC 2 and 3)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from ..harness.dialect import WaiterDialect
from ..harness.history import Event
from ..harness.jsonable import Json
from . import errors
from .pacing import Hint, has_header, hint_of
from .words import TERMINAL, UNCLEAR, UNKNOWN, status_of

Kind = Literal[
    "terminal",
    "running",
    "unknown",
    "transient",
    "permanent",
    "not_found",
    "wrong_id",
    "not_a_job",
    "aborted",
    "unclear",
]

JOB_KINDS: Final = frozenset({"terminal", "running", "unknown"})
SURFACING: Final = frozenset({"permanent", "wrong_id", "not_a_job"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Says:
    """The meaning of the end of one fetch.

    ``status``: the status by the dialect (only for a job). ``word``: the server's status word as sent, ``None`` if there is none.
    ``http``: the HTTP status, 0 without an answer. ``body``: the decoded body, if it is a JSON object. ``hint``: the pause asked for.
    ``paced``: a pacing header is there, garbage included. ``arrived``: virtual second at which the head of the answer was there.
    """

    kind: Kind
    status: str | None = None
    word: Json = None
    http: int = 0
    body: Mapping[str, Json] | None = None
    hint: Hint | None = None
    paced: bool = False
    arrived: float = 0.0

    @property
    def failed_fetch(self) -> bool:
        """The fetch brought no job."""
        return self.kind in ("transient", "permanent", "not_found", "wrong_id", "not_a_job")

    @property
    def terminal(self) -> bool:
        """The job has ended."""
        return self.kind == "terminal"


class _UnsettledError(ValueError):
    """JSON that readers take differently (a key twice, NaN)."""


def _pairs(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _UnsettledError("a key stands twice")
    return made


def _constant(name: str) -> Json:
    raise _UnsettledError(f"{name} is no JSON")


def read(end: Event, *, job_id: str, dialect: WaiterDialect, aborted: bool, gave_up: bool) -> Says:
    """Read a ``fetch.end`` event.

    ``aborted``: the caller had cancelled before. ``gave_up``: the fetch had lasted for its fetch timeout, or until the deadline, so that
    a fetch which the subject itself ended failed by a timeout.
    """
    data = end.data
    ending = str(data.get("ending", "answer"))
    raw_headers = data.get("headers")
    headers = {str(k).lower(): str(v) for k, v in raw_headers.items()} if isinstance(raw_headers, Mapping) else {}
    http = data.get("status")
    status = http if isinstance(http, int) and not isinstance(http, bool) else 0
    hint, paced = (hint_of(headers), has_header(headers)) if status else (None, False)
    arrived = data.get("arrived")
    at = float(arrived) if isinstance(arrived, int | float) else end.at

    def says(kind: Kind, **more: Any) -> Says:
        return Says(kind=kind, http=status, arrived=min(at, end.at), hint=hint, paced=paced, **more)

    if ending == "error":
        if aborted:
            return says("aborted")
        kind = errors.of_error(str(data.get("error", "")))
        return says(cast("Kind", kind))
    if ending in ("cancelled", "closed"):
        if aborted:
            return says("aborted")
        if ending == "closed" and status and errors.of_status(status) != errors.OK:
            return says(cast("Kind", errors.of_status(status, redirects="location" in headers)))
        return says("transient" if gave_up else "unclear")
    verdict = errors.of_status(status, redirects="location" in headers)
    if verdict != errors.OK:
        return says(cast("Kind", verdict))
    text = data.get("body")
    return _read_body(says, text if isinstance(text, str) else "", job_id, dialect)


def _read_body(make: Callable[..., Says], text: str, job_id: str, dialect: WaiterDialect) -> Says:
    if text.startswith("\ufeff"):
        return make(kind="unclear")
    try:
        body: Json = json.loads(text, object_pairs_hook=_pairs, parse_constant=_constant)
    except (_UnsettledError, RecursionError):
        return make(kind="unclear")
    except ValueError:
        return make(kind="not_a_job")
    if not isinstance(body, dict):
        return make(kind="not_a_job")
    named, other = body.get("job_id"), body.get("id")
    if named is None and "job_id" in body:
        return make(kind="unclear", body=body)  # missing, or present and of no job: SPEC 2 leaves it open
    if isinstance(named, bool | list | dict | float) or (named is None and other is not None and str(other) != job_id):
        return make(kind="unclear", body=body)
    if named is not None and str(named) != job_id:
        return make(kind="wrong_id", body=body)
    word = body.get("status")
    status = status_of(word, dialect)
    if status == UNCLEAR:
        return make(kind="unclear", body=body, word=word)
    if status == UNKNOWN:
        return make(kind="unknown", body=body, word=word, status="pending")
    return make(kind="terminal" if status in TERMINAL else "running", body=body, word=word, status=status)
