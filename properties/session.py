"""A run of the command: which subjects, one child process each, their endings turned into findings, and the files it leaves."""

from __future__ import annotations

import dataclasses
import datetime as dt
import platform
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from ..harness.isolation import Ending, run_child
from ..harness.jsonable import Json, dumps, loads
from ..harness.loading import Wanted, version_of
from ..harness.profiles import Profile
from ..harness.results import Failure, InvariantInfo, ResultWriter, Row, RunInfo, SubjectInfo, SuiteInfo, read_results
from ..harness.results.merge import exit_status
from ..harness.results.records import record_from_json
from ..harness.suite import AnySuite
from ..harness.tokens import Token, encode
from .interrupts import noted_interrupts
from .progress import Reporter

ENDINGS = (".ends", ".one_outcome")
"""How the invariants are called that a subject breaks which hangs, ends the interpreter, or never lets a run end."""

PACKAGES = ("anyio", "hypothesis", "httpcore", "httpx", "freezegun", "trio")


@dataclass(frozen=True, kw_only=True)
class Order:
    """What the user asked for."""

    wanted: Sequence[Wanted]
    suites: Sequence[AnySuite]
    suite_names: Sequence[str]
    profile: Profile
    seed: int
    out: Path
    command: str
    jobs: int = 1
    quiet: bool = False
    fail_fast: bool = False


@dataclass(kw_only=True)
class _Seen:
    """What was seen of one subject's child."""

    infos: list[SubjectInfo] = field(default_factory=list)
    reason: str = ""
    broken: str = ""
    suite: str = ""


def versions() -> dict[str, str]:
    """The versions that decide what a run does."""
    return {"waitproof": version_of("waitproof"), **{name: version_of(name) for name in PACKAGES}}


def run(order: Order) -> int:
    """Carry out an order; the answer is the exit status. Results are in ``order.out`` as soon as they are known."""
    writer = ResultWriter(order.out)
    started = time.monotonic()
    info = RunInfo(
        waitproof=version_of("waitproof"),
        python=platform.python_version(),
        seed=order.seed,
        profile=order.profile.name,
        command=order.command,
        packages={name: version for name, version in versions().items() if name != "waitproof"},
        started=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        subjects=tuple(_listed(item) for item in order.wanted),
        suites=tuple(_suite_info(suite) for suite in order.suites),
        invariants=_invariant_infos(order.suites),
    )
    writer.run(info)
    with Reporter(quiet=order.quiet) as reporter:
        subjects, interrupted = _run_children(order, writer, reporter)
        info = dataclasses.replace(
            info,
            subjects=tuple(subjects),
            interrupted=interrupted,
            ended=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            wall_seconds=round(time.monotonic() - started, 3),
        )
        writer.run(info)
        for subject in subjects:
            if subject.status != "ran":
                reporter.line(f"{subject.name}: {subject.status}: {subject.reason}")
    status = exit_status(read_results(order.out))
    writer.run(dataclasses.replace(info, exit=status))
    return status


def _run_children(order: Order, writer: ResultWriter, reporter: Reporter) -> tuple[list[SubjectInfo], bool]:
    stop = threading.Event()
    found: dict[str, list[SubjectInfo]] = {}
    interrupted = False
    runnable = [item for item in order.wanted if not item.missing]
    with noted_interrupts() as was_interrupted, ThreadPoolExecutor(max_workers=order.jobs) as pool:
        futures: dict[Future[list[SubjectInfo]], Wanted] = {
            pool.submit(_run_one, item, order, writer, reporter, stop): item for item in runnable
        }
        pending = set(futures)
        while pending:
            _, pending = wait(pending, timeout=0.2, return_when=FIRST_COMPLETED)
            if was_interrupted() and not interrupted:
                interrupted = True
                reporter.line("interrupted: keeping what there is")
                stop.set()
                for future in futures:
                    future.cancel()
        for future, item in futures.items():
            if future.cancelled():
                found[item.spec] = [dataclasses.replace(_listed(item), status="interrupted", reason="not started")]
            else:
                found[item.spec] = future.result()
    for item in order.wanted:
        found.setdefault(item.spec, [_listed(item)])
    return [info for item in order.wanted for info in found[item.spec]], interrupted


def _listed(item: Wanted) -> SubjectInfo:
    """A subject before it has run. One that is not installed stays so."""
    reason = f"the distribution {item.missing!r} is not installed" if item.missing else ""
    return SubjectInfo(
        name=item.spec,
        package=item.package,
        version=version_of(item.package),
        summary=item.summary,
        status="not installed" if item.missing else "not run",
        reason=reason,
        named=item.named,
    )


def _run_one(
    item: Wanted, order: Order, writer: ResultWriter, reporter: Reporter, stop: threading.Event
) -> list[SubjectInfo]:
    seen = _Seen()

    def on_event(event: dict[str, Json]) -> None:
        kind = event.get("event")
        if kind == "subject":
            seen.infos.append(record_from_json(SubjectInfo, event["info"]))
        elif kind == "unusable":
            seen.reason = str(event["reason"])
        elif kind == "unfit":
            reporter.line(f"{event['subject']}: {event['reason']}")
        elif kind == "broken":
            seen.broken = seen.broken or str(event["reason"])
        elif kind == "begin":
            seen.suite = str(event["suite"])
        reporter.event(item.spec, event)

    job = {
        "spec": item.spec,
        "out": str(order.out),
        "suites": list(order.suite_names),
        "profile": order.profile.name,
        "examples": order.profile.examples,
        "shrink_runs": order.profile.shrink_runs,
        "fail_fast": order.fail_fast,
        "seed": order.seed,
        "versions": versions(),
    }
    ending = run_child(
        ["-m", "waitproof", "child", dumps(job)],
        on_event=on_event,
        hang_seconds=order.profile.hang_seconds,
        stop=stop,
    )
    return _ended(item, seen, ending, order, writer)


def _ended(item: Wanted, seen: _Seen, ending: Ending, order: Order, writer: ResultWriter) -> list[SubjectInfo]:
    output = ending.output if ending.status != "ran" or seen.broken else ""
    if seen.reason:
        return [dataclasses.replace(_listed(item), status="unusable", reason=seen.reason)]
    if not seen.infos:
        how = _how(ending, order)
        status = "interrupted" if ending.status == "interrupted" else "unusable"
        return [
            dataclasses.replace(
                _listed(item), status=status, reason=f"{how} before it was loaded: {_last_line(output)}", output=output
            )
        ]
    infos = [dataclasses.replace(info, named=item.named) for info in seen.infos]
    if ending.status == "ran" and seen.broken:
        infos[-1] = dataclasses.replace(infos[-1], status="harness error", reason=seen.broken, output=output)
    if ending.status == "ran":
        return infos
    last = infos[-1]
    reason = f"{_how(ending, order)} in suite {seen.suite}" if seen.suite else _how(ending, order)
    infos[-1] = dataclasses.replace(last, status=ending.status, reason=reason, output=output)
    if ending.status == "hung" and not (writer.subject_dir(last.name) / "current.json").exists():
        infos[-1] = dataclasses.replace(infos[-1], status="harness error", reason=f"{reason}, between two examples")
    elif ending.status in ("died", "hung"):
        _as_finding(last, reason, order, writer, suite_name=seen.suite)
    return infos


def _last_line(output: str) -> str:
    lines = output.strip().splitlines()
    return lines[-1] if lines else "it printed nothing"


def _how(ending: Ending, order: Order) -> str:
    if ending.status == "hung":
        return f"no example ended within {order.profile.hang_seconds:g} s: it was stopped"
    if ending.status == "interrupted":
        return "interrupted"
    if ending.returncode < 0:
        return f"the process was ended by signal {-ending.returncode}"
    return f"the process ended by itself with status {ending.returncode}"


def ends_of(suites: Sequence[AnySuite], kind: str, name: str = "") -> str:
    """The invariant of a suite (if none is named, of any for this kind of subject) which says that every run comes to its end.

    Raises ``LookupError`` if there is none: a suite that lets subjects hang unjudged is a mistake of its author.
    """
    asked = [suite for suite in suites if suite.name == name] or [suite for suite in suites if suite.kind == kind]
    found = (item.id for suite in asked for item in suite.invariants if item.id.endswith(ENDINGS))
    ending = next(found, "")
    if not ending:
        raise LookupError(f"no invariant of suite {name or kind!r} is called {' or '.join(ENDINGS)}")
    return ending


def _as_finding(info: SubjectInfo, reason: str, order: Order, writer: ResultWriter, *, suite_name: str) -> None:
    """A subject that took its process with it: a violation with the plan that it was running."""
    current = writer.subject_dir(info.name) / "current.json"
    ending = ends_of(order.suites, info.kind, suite_name)
    stored, suite = "", next((suite for suite in order.suites if suite.name == suite_name), None)
    try:
        doing = cast("Mapping[str, Json]", loads(current.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        doing = {}
    if suite is not None and doing.get("plan") is not None:
        plan = suite.format.from_json(doing["plan"])
        token = encode(
            Token(
                suite=suite.name,
                subject=str(doing["spec"]),
                invariant=ending,
                plan=doing["plan"],
                versions=versions(),
            )
        )
        stored = writer.failure(
            Failure(
                subject=info.name,
                suite=suite.name,
                invariant=ending,
                level="MUST",
                cause=reason,
                expected="every run ends, and the interpreter goes on",
                observed=reason,
                events=(),
                plan=doing["plan"],
                words=tuple(suite.format.words(plan)),
                items=suite.format.size(plan),
                token=token,
                command=f"waitproof replay {token}",
                history="",
                digest="",
                deterministic=False,
            )
        )
    writer.row(
        Row(
            subject=info.name,
            suite=suite_name,
            invariant=ending,
            verdict="violated",
            evaluated=1,
            exercised=1,
            witnesses=1,
            violations=1,
            cause=reason,
            failure=stored,
        )
    )


def _suite_info(suite: AnySuite) -> SuiteInfo:
    return SuiteInfo(name=suite.name, summary=suite.summary, invariants=tuple(item.id for item in suite.invariants))


def _invariant_infos(suites: Sequence[AnySuite]) -> tuple[InvariantInfo, ...]:
    found = {item.id: item for suite in suites for item in suite.invariants}
    return tuple(
        InvariantInfo(
            id=item.id,
            level=str(item.level),
            expectation=item.expectation,
            source=item.source,
            claim=item.claim,
            safety=item.safety,
        )
        for _, item in sorted(found.items())
    )
