"""Lists: a page of jobs survives a bad item, coerces nothing, and keeps its envelope (SPEC 3, JobList)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....harness import normaliser_events as events
from ....harness.history import History
from ....harness.invariant import Checker, Invariant, Level
from ....harness.json_text import depth_of, write_json
from ....harness.verdicts import Finding, first_bad, held, violated
from ...normaliser import Wanted, wanted
from ...normaliser_trace import DEEP, ListCall, trace_of
from ._judging import short
from .raw import TOLD, first_difference


def _each(judge: Callable[[ListCall], Finding]) -> Checker:
    def check(history: History) -> Finding:
        return first_bad(
            [
                judge(page)
                for page in trace_of(history).lists
                if page.outcome is not None and isinstance(page.body, dict)
            ]
        )

    return check


def _breach(page: ListCall, cause: str, *, expected: object, observed: object, more: tuple[int, ...] = ()) -> Finding:
    return violated(cause, events=(*page.shown, *more), expected=short(expected), observed=short(observed))


def _how(page: ListCall) -> str:
    assert page.outcome is not None
    return f"raised {page.outcome.data.get('type')}: {short(page.outcome.data.get('message'))}"


def _bad_items(page: ListCall) -> bool:
    return isinstance(page.jobs, list) and any(not isinstance(item, dict) for item in page.jobs)


def _total(page: ListCall) -> Finding:
    if _bad_items(page) or depth_of(page.body, most=DEEP + 1) > DEEP:
        return held()
    if page.items is None:
        return _breach(page, "a JSON object made the list raise", expected="a list of jobs", observed=_how(page))
    if not isinstance(page.jobs, list) and page.items:
        return _breach(
            page, "`jobs` is no list, but there are jobs", expected="no jobs", observed=f"{len(page.items)} jobs"
        )
    return held(page.shown[-1:])


def _survives(page: ListCall) -> Finding:
    if not _bad_items(page):
        return held()
    if page.items is None:
        return _breach(
            page, "a bad item made the list raise", expected="the item kept in its place, flagged", observed=_how(page)
        )
    if len(page.items) != len(page.jobs):
        return _breach(
            page, "items of the list are lost", expected=f"{len(page.jobs)} jobs", observed=f"{len(page.items)} jobs"
        )
    for index, (item, reading) in enumerate(zip(page.jobs, page.items, strict=True)):
        bad = not isinstance(item, dict)
        if reading.get("malformed") != write_json(bad):
            what = "a bad item is not flagged" if bad else "a good item is flagged as bad"
            return _breach(page, f"{what}, at {index}", expected=write_json(bad), observed=reading.get("malformed"))
        if bad and reading.get("raw") != write_json(item):
            return _breach(
                page, f"a bad item is not kept, at {index}", expected=write_json(item), observed=reading.get("raw")
            )
    return held(page.shown[-1:])


def _as_alone(page: ListCall) -> Finding:
    if page.items is None or not isinstance(page.jobs, list) or len(page.items) != len(page.jobs):
        return held()
    seen = []
    for index, (item, reading) in enumerate(zip(page.jobs, page.items, strict=True)):
        alone = page.alone.get(index)
        if not isinstance(item, dict) or alone is None or alone.reading is None:
            continue
        part = first_difference(alone.reading, reading, ("raw", *TOLD))
        if part:
            return _breach(
                page, f"item {index} has another {part} than alone", expected=alone.reading.get(part), observed=reading.get(part), more=alone.shown
            )  # fmt: skip
        seen.append(alone.shown[-1])
    return held(seen)


def envelope_of(page: ListCall) -> dict[str, Wanted | None]:
    """What the parts of a list's envelope may say. A value of another type becomes None (for ``has_more``: None or false)."""
    body: dict[str, Any] = page.body
    more, org = body.get("has_more"), body.get("org_id")
    found: dict[str, Wanted | None] = {
        "has_more": wanted(more) if isinstance(more, bool) else wanted(None, False),
        "page": _integer(body.get("page")),
        "page_size": _integer(body.get("page_size")) if body.get("pageSize") is None else None,
        "org_id": wanted(None),
    }
    if isinstance(org, str):
        found["org_id"] = wanted(org) if org else wanted(org, None)
    elif isinstance(org, int) and not isinstance(org, bool):
        found["org_id"] = wanted(None, write_json(org))
    return found


def _integer(value: Any) -> Wanted:
    return wanted(value) if isinstance(value, int) and not isinstance(value, bool) else wanted(None)


def _flags(page: ListCall) -> Finding:
    if page.items is None or page.outcome is None:
        return held()
    seen = False
    for name, want in envelope_of(page).items():
        if name not in page.fields or want is None:
            continue
        said = page.outcome.data.get(name)
        if not want.admits(said):
            return _breach(
                page, f"{name} is not what came, read without coercion", expected=want.words(), observed=said
            )
        seen = seen or name in page.body
    return held(page.shown[-1:] if seen else [])


def _slices(page: ListCall) -> Finding:
    if page.outcome is None or page.outcome.kind != events.LIST_RETURN:
        return held()
    seen = []
    for event in page.slices:
        if not event.data["same_type"]:
            return _breach(
                page,
                "a slice is a plain list: its envelope is lost",
                expected="a list of jobs",
                observed=event.data["type"],
                more=(event.seq,),
            )
        for name in sorted(page.fields):
            if event.data.get(name) != page.outcome.data.get(name):
                return _breach(
                    page, f"a slice has another {name}", expected=page.outcome.data.get(name), observed=event.data.get(name), more=(event.seq,)
                )  # fmt: skip
        seen.append(event.seq)
    return held(seen)


INVARIANTS = (
    Invariant(
        id="normaliser.list_total", level=Level.MUST, claim="list_total", check=_each(_total), source="SPEC 3 JobList",
        expectation="No JSON object makes a list raise; where `jobs` is no list there are no jobs.",
    ),
    Invariant(
        id="normaliser.list_survives_bad_item", level=Level.MUST, claim="list_bad_items", check=_each(_survives), source="SPEC 3 JobList",
        expectation="An item that is no object is kept in its place and flagged, and the others stay.",
    ),
    Invariant(
        id="normaliser.list_items_as_alone", level=Level.MUST, claim="list_items", check=_each(_as_alone), source="SPEC 3 JobList",
        expectation="Each good item of a list is the job that it is alone.",
    ),
    Invariant(
        id="normaliser.list_no_coercion", level=Level.MUST, claim="list_flags", check=_each(_flags), source="SPEC 3 JobList; W70",
        expectation='has_more, org_id, page and page_size are what came: "false" is no boolean, true is no page number.',
    ),
    Invariant(
        id="normaliser.list_keeps_envelope_when_sliced", level=Level.MUST, claim="list_slices", check=_each(_slices), source="SPEC 3 JobList",
        expectation="A slice of a list is a list of jobs with the same envelope.",
    ),
)  # fmt: skip
