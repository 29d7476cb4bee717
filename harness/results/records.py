"""The records of a result directory, as frozen values ↔ JSON. The published schema is these classes' fields, with the names in ``SCHEMAS``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import cattrs

from ..jsonable import Json, plain, revive

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class InvariantInfo:
    """An invariant as the report needs it: without its checker."""

    id: str
    level: str
    expectation: str
    source: str
    claim: str | None = None
    safety: bool = False


@dataclass(frozen=True, kw_only=True)
class SuiteInfo:
    """A suite: its name, one sentence, and the invariants that it judges."""

    name: str
    summary: str
    invariants: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class SubjectInfo:
    """A subject of a run. ``status``: ran, not installed, unusable, died, hung, interrupted, harness error; ``reason`` says more.

    ``named``: the user named it (a named subject that can't run is an error; a group's member that is not installed is only listed).
    """

    name: str
    kind: str = "waiter"
    mode: str = ""
    family: str = ""
    package: str = ""
    version: str = ""
    summary: str = ""
    claims: tuple[str, ...] = ()
    dialect: dict[str, Any] = field(default_factory=dict)
    status: str = "ran"
    reason: str = ""
    named: bool = True
    output: str = ""


@dataclass(frozen=True, kw_only=True)
class RunInfo:
    """What was run. Times of day are ISO 8601 text in UTC; ``exit`` is None while it runs."""

    waitproof: str
    python: str
    seed: int
    profile: str
    level: str = "sim"
    command: str = ""
    packages: dict[str, str] = field(default_factory=dict)
    started: str = ""
    ended: str = ""
    wall_seconds: float = 0.0
    exit: int | None = None
    interrupted: bool = False
    subjects: tuple[SubjectInfo, ...] = ()
    suites: tuple[SuiteInfo, ...] = ()
    invariants: tuple[InvariantInfo, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Row:
    """The verdict on one invariant of one subject in one suite.

    ``evaluated``: histories judged. ``exercised``: histories with at least one witness. ``witnesses``: how many in all.
    ``failure``: the file with the counterexample, relative to the result directory.
    """

    subject: str
    suite: str
    invariant: str
    verdict: str
    level: str = "MUST"
    evaluated: int = 0
    exercised: int = 0
    witnesses: int = 0
    violations: int = 0
    undecided: int = 0
    cause: str = ""
    failure: str = ""


@dataclass(frozen=True, kw_only=True)
class FigureStats:
    """A figure (:class:`~waitproof.harness.figures.Figure`) over the runs of a suite.

    ``runs``: those that had it; ``bounded``: those of them for which the subject printed a finite bound. ``worst``, ``worst_bound``: the run with
    the greatest value. ``closest``, ``closest_bound``, ``why``: the run that used up most of its bound, and the bound's derivation there.
    """

    name: str
    unit: str = ""
    runs: int = 0
    bounded: int = 0
    worst: float = 0.0
    worst_bound: float = math.inf
    closest: float = 0.0
    closest_bound: float = math.inf
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class SuiteStats:
    """What one suite reached on one subject. ``reach``: how often each thing happened, by group (answers, wakes, outcomes, events).

    ``distinct``: distinct histories. ``status``: complete, interrupted, died, hung. ``determinism_failed``: failing examples whose
    second run gave another history. ``stops``: why the bench ended runs, with counts; ``stop_details``: of each reason the first that
    was told. ``figures``: the printed bounds beside the worst that was seen.
    """

    subject: str
    suite: str
    examples: int = 0
    distinct: int = 0
    events: int = 0
    virtual_seconds: float = 0.0
    wall_seconds: float = 0.0
    reach: dict[str, dict[str, int]] = field(default_factory=dict)
    stops: dict[str, int] = field(default_factory=dict)
    stop_details: dict[str, str] = field(default_factory=dict)
    determinism_checked: int = 0
    determinism_failed: int = 0
    figures: tuple[FigureStats, ...] = ()
    status: str = "complete"
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A shrunk counterexample.

    ``words``: the plan as sentences. ``items``: its non-default items. ``events``: sequence numbers that show the violation, for most
    the violating pair. ``history``: the whole history as JSON Lines. ``digest``: its SHA-256. ``deterministic``: a second run gave the
    same bytes. ``token``: replays it. ``found_after``: how many examples had been judged when it was first violated, that one included.
    ``model``, ``model_observed``, ``model_state``: what the reference model allowed at the first place where the history parts from it,
    what was seen there, and where the model stood (:class:`~waitproof.harness.parting.Parting`); empty if it does not part, or can't say.
    """

    subject: str
    suite: str
    invariant: str
    level: str
    cause: str
    expected: str
    observed: str
    events: tuple[int, ...]
    plan: Any
    words: tuple[str, ...]
    items: int
    token: str
    command: str
    history: str
    digest: str
    deterministic: bool
    shrink_runs: int = 0
    model: str = ""
    model_observed: str = ""
    model_state: str = ""
    found_after: int = 0


@dataclass(frozen=True, kw_only=True)
class ZooRow:
    """A seeded bug and whether the invariant named for it caught it. ``examples``: how many it took; ``items``: of the shrunk plan."""

    bug: str
    summary: str
    source: str
    invariant: str
    caught: bool
    caught_by: tuple[str, ...] = ()
    examples: int = 0
    items: int = 0
    wall_seconds: float = 0.0
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class ExplorationInfo:
    """How far a reference model was walked exhaustively.

    ``scope``: of the walk, in words. ``states``: distinct ones; ``steps``: events at them (0: not counted); ``histories``, ``events``: what was judged.
    ``visited``: how often each pair of a named state and an event was met, as ``state / event``; ``unreachable``: why others can't be;
    ``missing``: those that were neither met nor are known to be unreachable. ``broken``: the law that was broken, which ended the walk.
    """

    model: str
    scope: str
    states: int = 0
    steps: int = 0
    histories: int = 0
    events: int = 0
    visited: dict[str, int] = field(default_factory=dict)
    unreachable: dict[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    broken: str = ""


SCHEMAS: Mapping[type, str] = {
    RunInfo: "waitproof.run/1",
    SubjectInfo: "waitproof.subject/1",
    Row: "waitproof.result/1",
    SuiteStats: "waitproof.suite/1",
    Failure: "waitproof.failure/1",
    ZooRow: "waitproof.zoo/1",
    ExplorationInfo: "waitproof.exploration/1",
}

_converter = cattrs.Converter(detailed_validation=True)


def record_to_json(record: object) -> dict[str, Json]:
    """A record as plain data with its schema."""
    data = cast("dict[str, Json]", plain(_converter.unstructure(record)))
    return {"schema": SCHEMAS[type(record)], **data}


def record_from_json(cls: type[T], data: Json) -> T:
    """Read what :func:`record_to_json` wrote. Raises ``ValueError`` that names the field; fields it does not know are ignored."""
    schema = SCHEMAS[cls]
    if not isinstance(data, dict) or data.get("schema") != schema:
        found = data.get("schema") if isinstance(data, dict) else type(data).__name__
        raise ValueError(f"expected schema {schema!r}, found {found!r}")
    try:
        return _converter.structure(revive(data), cls)
    except cattrs.BaseValidationError as error:
        raise ValueError("; ".join(cattrs.transform_error(error, path=schema))) from error
