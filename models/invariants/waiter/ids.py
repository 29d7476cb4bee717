"""Job ids in URLs: an id is one piece of a path, whatever letters it has (SPEC 2, identity)."""

from __future__ import annotations

from urllib.parse import quote, unquote, unquote_plus

from ....harness.invariant import Invariant, Level
from ....harness.verdicts import Finding, held
from ...trace import WaitTrace
from ._judging import breach, each_wait


def _names(target: str, job_id: str) -> bool:
    """The raw target holds exactly this id, as one segment of the path or as one value of the query."""
    path, _, query = target.partition("?")
    if any(unquote(segment) == job_id for segment in path.split("/")):
        return True
    values = [pair.partition("=")[2] for pair in query.split("&")]
    return any(job_id in (unquote(value), unquote_plus(value)) for value in values if value)


def _ids_escaped(wait: WaitTrace) -> Finding:
    job_id = str(wait.call.job_id)
    if not job_id.strip(". "):
        return held()  # dots alone are a path of their own, and no escape keeps them from it
    try:
        special = quote(job_id, safe="") != job_id
    except UnicodeEncodeError:
        return held()  # lone surrogates have no escape
    for fetch in wait.fetches:
        if not _names(fetch.target, job_id):
            return breach(
                wait, f"the request does not ask for job {job_id!r}", [fetch],
                expected=f"{quote(job_id, safe='')!r} as one segment of the path", observed=fetch.target,
            )  # fmt: skip
    return held([fetch.start.seq for fetch in wait.fetches] if special else [])


INVARIANTS = (
    Invariant(
        id="waiter.ids_escaped", level=Level.MUST, claim="ids_escaped", check=each_wait(_ids_escaped), source="SPEC 2 identity",
        expectation="Job ids are escaped in URLs: the server is asked for exactly the id that the caller gave.",
    ),
)  # fmt: skip
