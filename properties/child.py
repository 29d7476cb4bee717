"""What runs in the child process of one subject: load it, search each suite, stream results to files and signs of life to the parent."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..harness import campaign
from ..harness.isolation import EVENTS_FD, show_where_on_request
from ..harness.jsonable import dumps
from ..harness.loading import UnknownSubjectError, UnusableSubjectError, load, version_of
from ..harness.profiles import profile_named
from ..harness.recorder import on_pulse
from ..harness.results import ResultWriter, Row, SubjectInfo, SuiteStats
from ..harness.results.records import record_to_json
from ..harness.results.writer import write_whole
from ..harness.suite import AnySuite, Subject
from .suites import chosen, suites_for

_QUIET = 0.2
"""Real seconds between two signs of life about progress: enough for a bar, too few to cost anything."""


def subject_info(subject: Subject, *, named: bool = True) -> SubjectInfo:
    """What the result files say of a subject."""
    dialect = getattr(subject, "dialect", None)
    package = str(getattr(subject, "package", ""))
    return SubjectInfo(
        name=subject.name,
        kind=subject.kind,
        mode=str(getattr(subject, "mode", "")),
        family=str(getattr(subject, "family", "")),
        package=package,
        version=version_of(package),
        summary=str(getattr(subject, "summary", "")),
        claims=tuple(sorted(subject.claims)),
        dialect=dialect.as_json() if dialect is not None else {},
        named=named,
    )


def unknown_claims(subject: Subject) -> str:
    """What is wrong with the claims of a subject: one that no invariant hangs on would silently judge nothing."""
    known = {
        item.claim for suite in chosen([]) if suite.kind == subject.kind for item in suite.invariants if item.claim
    }
    wrong = sorted(set(subject.claims) - known)
    return f"{subject.name} claims {', '.join(wrong)}; there are {', '.join(sorted(known))}" if wrong else ""


class _Parent:
    """The pipe to the parent; without one (run by hand) everything is dropped."""

    def __init__(self) -> None:
        number = os.environ.pop(EVENTS_FD, "")
        self._fd = int(number) if number.isdigit() else None
        self._last = 0.0

    def tell(self, event: str, **data: object) -> None:
        if self._fd is not None:
            os.write(self._fd, (dumps({"event": event, **data}) + "\n").encode())

    def progress(self, suite: str, done: int, total: int) -> None:
        if self._due() or done == total:
            self.tell("progress", suite=suite, done=done, total=total)

    def alive(self) -> None:
        if self._due():
            self.tell("alive")

    def _due(self) -> bool:
        now = time.monotonic()
        due = now - self._last > _QUIET
        if due:
            self._last = now
        return due


def main(job_text: str) -> int:
    """Run one job, given as JSON: ``spec``, ``out``, ``suites``, ``profile``, ``examples``, ``seed``. Returns 0 when it was carried out."""
    job: Mapping[str, Any] = json.loads(job_text)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends us; a KeyboardInterrupt in here is the subject's own
    show_where_on_request()
    parent = _Parent()
    on_pulse(parent.alive)
    if "" not in sys.path:
        sys.path.insert(0, "")  # package.module:attribute is looked for where the user stands
    try:
        subjects = load(job["spec"])
    except (UnknownSubjectError, UnusableSubjectError) as error:
        parent.tell("unusable", reason=str(error).removeprefix(f"{job['spec']}: "))
        parent.tell("done")
        return 0
    wrong = [said for subject in subjects if (said := unknown_claims(subject))]
    if wrong:
        parent.tell("unusable", reason="; ".join(wrong))
        parent.tell("done")
        return 0
    profile = profile_named(job["profile"], examples=job["examples"], shrink_runs=job["shrink_runs"])
    writer = ResultWriter(Path(job["out"]))
    for subject in subjects:
        parent.tell("subject", info=record_to_json(subject_info(subject)))
        spec = f"{job['spec']}#{subject.name}" if ":" in job["spec"] and "#" not in job["spec"] else job["spec"]
        fitting = suites_for(subject, chosen(job["suites"]))
        if not fitting:
            parent.tell("unfit", subject=subject.name, reason=_unfit(subject, job["suites"]))
        for suite in fitting:
            try:
                broken = _search(suite, subject, writer, parent, profile=profile, job=job, spec=spec)
            except Exception as error:  # noqa: BLE001 - whatever comes out of a search is a fault of ours, and must be told as one
                traceback.print_exc()
                parent.tell("broken", reason=f"suite {suite.name}: {type(error).__name__}: {error}")
                continue
            if broken and job["fail_fast"]:
                break
    parent.tell("done")
    return 0


def _unfit(subject: Subject, names: Sequence[str]) -> str:
    """Why none of the suites that were asked for can run a subject, and which could."""
    asked = ", ".join(
        suite.name
        + (f" ({why})" if suite.kind == subject.kind and (why := suite.refuses(subject)) else f" (for a {suite.kind})")
        for suite in chosen(names)
    )
    own = ", ".join(suite.name for suite in suites_for(subject, chosen([]))) or "none"
    return f"it is a {subject.kind}, and none of the suites asked for runs it: {asked}; its suites are {own}"


def _search(
    suite: AnySuite,
    subject: Subject,
    writer: ResultWriter,
    parent: _Parent,
    *,
    profile: Any,
    job: Mapping[str, Any],
    spec: str,
) -> bool:
    """Search one suite; the answer is whether something is violated."""
    current = writer.subject_dir(subject.name) / "current.json"

    def plan(name: str, value: Any) -> None:
        # Should the subject end the interpreter, the parent finds here what it was doing.
        write_whole(current, dumps({"suite": name, "plan": suite.format.to_json(value), "spec": spec}))
        parent.alive()

    def alive() -> None:
        current.unlink(missing_ok=True)  # no plan is in flight: whatever hangs now is not the subject
        parent.alive()

    def progress(name: str, done: int, total: int) -> None:
        current.unlink(missing_ok=True)
        parent.progress(name, done, total)

    def row(found: Row) -> None:
        writer.row(found)
        parent.tell("row", verdict=found.verdict)

    def stats(found: SuiteStats) -> None:
        writer.suite(found)
        parent.tell("suite", name=found.suite, examples=found.examples, seconds=found.wall_seconds)

    hooks = campaign.Hooks(plan=plan, alive=alive, progress=progress, row=row, failure=writer.failure, stats=stats)
    versions = {str(key): str(value) for key, value in job["versions"].items()}
    parent.tell("begin", suite=suite.name)
    result = campaign.search(suite, subject, profile, seed=job["seed"], hooks=hooks, spec=spec, versions=versions)
    current.unlink(missing_ok=True)
    return any(found.verdict == "violated" for found in result.rows)
