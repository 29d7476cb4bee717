"""Searching the zoo: every seeded bug must be caught, from nothing, by the invariant that is named for it.

A bug is searched in the one suite that can judge its invariant, by that invariant alone, until the first violation. Bugs that need a
rare thing (a 501 among the error statuses, a timeout above 15 minutes) are met late, so a bug gets up to :data:`ROUNDS` searches of the
profile's size, each from a seed of its own; the examples of all of them are counted. Found plans are written to ``plans/`` in the result
directory, from where :func:`store_plans` takes them into the zoo.
"""

from __future__ import annotations

import dataclasses
import functools
import multiprocessing
import platform
import shlex
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ..faults.zoo import all_bugs
from ..faults.zoo.bug import Bug
from ..harness.campaign import judge, search
from ..harness.jsonable import Json, dumps
from ..harness.loading import version_of
from ..harness.naming import near
from ..harness.profiles import Profile
from ..harness.results import ResultWriter, RunInfo, ZooRow
from ..harness.results.merge import EXIT_INTERRUPTED, EXIT_OK, EXIT_VIOLATED
from ..harness.results.writer import write_whole
from ..harness.suite import Subject
from .progress import Reporter
from .session import versions
from .suites import all_suites, chosen

ROUNDS = 10
"""Searches of the profile's size that a bug gets before it counts as missed."""


class UnknownBugError(ValueError):
    """There is no seeded bug of this name; the message lists those there are."""


@dataclass(frozen=True, kw_only=True)
class Hunted:
    """What became of one bug: its row, and the shrunk plan that caught it."""

    row: ZooRow
    plan: Json = None


def subjects() -> list[Subject]:
    """Every seeded bug as a subject: ``waitproof.properties.zoo:subjects#zoo:NAME`` loads one, for ``run`` and in replay tokens."""
    return [bug.subject() for bug in all_bugs().values()]


def wanted_bugs(names: Sequence[str], suites: Sequence[str] = ()) -> list[Bug]:
    """The bugs of these names (all, if there is none) that are searched in one of these suites (any, if there is none).

    Raises :class:`UnknownBugError` for a name that no bug has, and for a choice that leaves no bug.
    """
    bugs = all_bugs()
    unknown = [name for name in names if name not in bugs]
    if unknown:
        meant = "".join(near(name, bugs) for name in unknown) or ";"
        raise UnknownBugError(
            f"there is no seeded bug {', '.join(map(repr, unknown))}{meant} `waitproof list bugs` has all {len(bugs)}"
        )
    allowed = {suite.name for suite in chosen(suites)}
    picked = [bug for bug in bugs.values() if (not names or bug.name in names) and bug.suite in allowed]
    if not picked:
        searched = sorted({bug.suite for bug in bugs.values()})
        raise UnknownBugError(
            f"no bug is left by --suite {', '.join(suites)}; bugs are searched in {', '.join(searched)}"
        )
    return picked


def hunt(name: str, *, profile: Profile, seed: int, rounds: int = ROUNDS) -> Hunted:
    """Search one bug. The same seed finds the same plan after the same number of examples."""
    bug = all_bugs()[name]
    subject, whole = bug.subject(), all_suites()[bug.suite]
    suite = dataclasses.replace(whole, invariants=tuple(item for item in whole.invariants if item.id == bug.invariant))
    started, examples = time.perf_counter(), 0
    for number in range(rounds):
        found = search(suite, subject, profile, seed=seed + number, stop_at_first=True)
        if found.failures:
            break
        examples += found.stats.examples
        suite = dataclasses.replace(suite, corners=lambda _: ())  # they have been run
    row = ZooRow(
        bug=bug.name,
        summary=bug.summary,
        source=bug.source,
        invariant=bug.invariant,
        caught=bool(found.failures),
        examples=examples,
        wall_seconds=round(time.perf_counter() - started, 3),
        note=found.stats.note,
    )
    if not found.failures:
        return Hunted(row=row)
    failure = found.failures[0]
    judged = judge(whole, subject, whole.run(whole.format.from_json(failure.plan), subject))
    row = dataclasses.replace(
        row,
        caught_by=tuple(sorted(name for name, finding in judged.items() if finding.violated)),
        examples=examples + failure.found_after,
        items=failure.items,
        note=failure.cause,
    )
    return Hunted(row=row, plan=failure.plan)


def search_zoo(
    names: Sequence[str],
    *,
    profile: Profile,
    seed: int,
    out: Path,
    suites: Sequence[str] = (),
    jobs: int = 1,
    quiet: bool = False,
) -> int:
    """Search bugs in ``jobs`` processes and write a result directory; the answer is the exit status.

    0: all were caught. 1: at least one was missed. 130: interrupted; what was known by then is kept. Rows are written as they come.
    Raises :class:`UnknownBugError`, ``UnknownSuiteError``, and ``ValueError`` if ``jobs`` is below 1.
    """
    if jobs < 1:
        raise ValueError(f"--jobs must be at least 1, not {jobs}")
    bugs = wanted_bugs(names, suites)
    writer, started = ResultWriter(out), time.monotonic()
    command = f"waitproof zoo {shlex.join(names)} --profile {profile.name} --examples {profile.examples} --seed {seed}"
    info = RunInfo(
        waitproof=version_of("waitproof"),
        python=platform.python_version(),
        seed=seed,
        profile=profile.name,
        command=command.replace("  ", " ") + "".join(f" --suite {shlex.quote(name)}" for name in suites),
        packages=versions(),
        started=_now(),
    )
    writer.run(info)
    missed, interrupted = 0, False
    with Reporter(quiet=quiet) as reporter:
        try:
            for hunted in _hunts([bug.name for bug in bugs], profile=profile, seed=seed, jobs=jobs):
                missed += not hunted.row.caught
                writer.zoo(hunted.row)
                if hunted.plan is not None:
                    write_whole(out / "plans" / f"{hunted.row.bug}.json", dumps(hunted.plan) + "\n")
                reporter.line(line_of(hunted.row))
        except KeyboardInterrupt:
            interrupted = True
            reporter.line("interrupted: keeping what there is")
        else:
            reporter.line(f"{len(bugs) - missed} of {len(bugs)} seeded bugs were caught")
    status = EXIT_INTERRUPTED if interrupted else EXIT_VIOLATED if missed else EXIT_OK
    writer.run(
        dataclasses.replace(
            info,
            interrupted=interrupted,
            ended=_now(),
            wall_seconds=round(time.monotonic() - started, 3),
            exit=status,
        )
    )
    return status


def line_of(row: ZooRow) -> str:
    """One bug as a line of text."""
    if not row.caught:
        return f"MISSED  {row.bug:38} {row.invariant:34} in {row.examples} examples, {row.wall_seconds:.1f} s {row.note}".rstrip()
    items = "1 item" if row.items == 1 else f"{row.items} items"
    return f"caught  {row.bug:38} {row.invariant:34} after {row.examples} examples, {items}, {row.wall_seconds:.1f} s"


def store_plans(results: Path) -> list[str]:
    """Take the plans that a search wrote into ``results`` as the stored plans of their bugs; the answer is the bugs' names."""
    stored = []
    for name, bug in all_bugs().items():
        found = results / "plans" / f"{name}.json"
        if found.is_file():
            write_whole(bug.plan_file, found.read_text(encoding="utf-8"))
            stored.append(name)
    return stored


def _hunts(names: Sequence[str], *, profile: Profile, seed: int, jobs: int) -> Iterator[Hunted]:
    """Hunt in processes of our own, which end with the iteration; the rows come as they are found."""
    one = functools.partial(_hunt_or_say_why, profile=profile, seed=seed)
    if jobs == 1 or len(names) == 1:
        yield from map(one, names)
        return
    with multiprocessing.get_context("spawn").Pool(min(jobs, len(names)), initializer=_ignore_interrupts) as pool:
        yield from pool.imap_unordered(one, names)


def _hunt_or_say_why(name: str, *, profile: Profile, seed: int) -> Hunted:
    """A search that breaks is a miss that says why, and the others go on."""
    try:
        return hunt(name, profile=profile, seed=seed)
    except Exception as error:  # noqa: BLE001 - whatever comes out of a search is a fault of the harness
        bug = all_bugs()[name]
        note = f"the search broke: {type(error).__name__}: {error}"
        return Hunted(
            row=ZooRow(
                bug=name, summary=bug.summary, source=bug.source, invariant=bug.invariant, caught=False, note=note
            )
        )


def _ignore_interrupts() -> None:
    """A Ctrl-C reaches every process of a terminal; the parent alone decides what follows from it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


__all__ = [
    "Hunted",
    "UnknownBugError",
    "hunt",
    "line_of",
    "search_zoo",
    "store_plans",
    "subjects",
    "wanted_bugs",
]
