"""The commands of this room: ``run``, ``list``, ``replay``, ``zoo``. :func:`add_commands` is what the front door calls."""

from __future__ import annotations

import argparse
import os
import secrets
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from ..harness.loading import GROUPS, UnknownSubjectError, UnusableSubjectError, adapters, version_of, wanted
from ..harness.profiles import PROFILES, profile_named
from ..harness.results.merge import EXIT_ERROR, EXIT_INTERRUPTED
from ..models.claims import WAITER_CLAIMS
from ..models.dispatch_claims import DISPATCH_CLAIMS
from ..models.invariants import catalogue
from ..models.normaliser_claims import NORMALISER_CLAIMS
from . import child, dialects
from .replay import ReplayError, replay
from .session import Order
from .session import run as run_order
from .suites import UnknownSuiteError, all_suites, chosen

After: TypeAlias = Callable[[Path, bool], None]
"""What the front door does with a finished result directory: it prints the summary, or (True) all of it as JSON."""

WHAT = ("subjects", "suites", "invariants", "claims", "dialect", "faults", "bugs")


def fail(message: str) -> int:
    """Print an error to standard error and answer the exit status for it."""
    print(f"waitproof: {message}", file=sys.stderr)
    return EXIT_ERROR


def add_commands(commands: Any, after: After) -> None:
    """Add this room's commands to an ``argparse`` sub-parser action. Each sets ``run``, a function of the parsed arguments."""
    run = commands.add_parser("run", help="search the suites on one or more subjects")
    run.add_argument(
        "subjects", nargs="*", metavar="SUBJECT", help="a name, a group (builtin, real) or package.module:attribute"
    )
    _add_search_options(run)
    run.add_argument(
        "--fail-fast", action="store_true", help="no further suite for a subject that has broken something"
    )
    run.add_argument("--shrink-runs", type=int, metavar="N", help="runs spent on making one counterexample simpler")
    run.add_argument(
        "--hang-seconds", type=float, metavar="S", help="stop a subject after S real seconds without a finished example"
    )
    run.add_argument("--level", choices=["sim"], default="sim", help="level of reality: simulated")
    run.add_argument("--quiet", action="store_true", help="print nothing but errors")
    run.set_defaults(run=lambda arguments: _run(arguments, after))

    show = commands.add_parser("list", help="list what there is")
    show.add_argument("what", choices=WHAT)
    show.set_defaults(run=lambda arguments: _list(arguments.what))

    again = commands.add_parser("replay", help="run a counterexample again")
    again.add_argument("token", metavar="TOKEN-OR-FILE")
    again.add_argument("--jsonl", action="store_true", help="print the history as JSON Lines and nothing else")
    again.set_defaults(run=_replay)

    zoo = commands.add_parser("zoo", help="search every seeded bug from nothing; a miss is a failure")
    zoo.add_argument("bugs", nargs="*", metavar="BUG", help="names of seeded bugs (default: all)")
    _add_search_options(zoo)
    zoo.add_argument("--quiet", action="store_true", help="print nothing but errors")
    zoo.set_defaults(run=lambda arguments: _zoo(arguments, after))

    hidden = commands.add_parser("child")
    hidden.add_argument("job")
    hidden.set_defaults(run=lambda arguments: child.main(arguments.job))


def _add_search_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--suite", action="append", default=[], metavar="NAME", help="only this suite (repeatable; a prefix will do)"
    )
    parser.add_argument(
        "--profile",
        default="default",
        metavar="NAME",
        help=f"how much to spend: {', '.join(PROFILES)} (default: default)",
    )
    parser.add_argument("--examples", type=int, metavar="N", help="examples a suite, instead of the profile's")
    parser.add_argument(
        "--seed", type=int, metavar="N", help="decides every plan (default: a fresh one, which is printed)"
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="result directory (default: a new one under waitproof-results)"
    )
    parser.add_argument("--json", action="store_true", help="print the results as JSON instead of a summary")
    parser.add_argument(
        "--jobs", type=int, default=min(2, os.cpu_count() or 1), metavar="N", help="subjects run at the same time"
    )


def fresh_out(given: Path | None) -> Path:
    """The result directory: the one given, if it holds no results yet, or the next free one. Raises ``FileExistsError``."""
    if given is None:
        number = 1
        while (path := Path("waitproof-results") / f"run-{number:04d}").exists():
            number += 1
        return path
    if given.exists() and (not given.is_dir() or any(given.iterdir())):
        raise FileExistsError(
            f"--out {given}: there is something already; name a new directory, nothing is overwritten"
        )
    return given


def _run(arguments: argparse.Namespace, after: After) -> int:
    try:
        items = wanted(arguments.subjects or ["builtin"])
        suites = chosen(arguments.suite)
        profile = profile_named(
            arguments.profile,
            examples=arguments.examples,
            hang_seconds=arguments.hang_seconds,
            shrink_runs=arguments.shrink_runs,
        )
        out = fresh_out(arguments.out)
    except (UnknownSubjectError, UnknownSuiteError, ValueError, FileExistsError) as error:
        return fail(str(error))
    if arguments.jobs < 1:
        return fail(f"--jobs must be at least 1, not {arguments.jobs}")
    seed = secrets.randbelow(2**32) if arguments.seed is None else arguments.seed
    command = f"waitproof run {shlex.join(item.spec for item in items)} --profile {profile.name} --seed {seed}"
    command += f" --examples {arguments.examples}" if arguments.examples else ""
    command += "".join(f" --suite {shlex.quote(name)}" for name in arguments.suite)
    order = Order(
        wanted=items,
        suites=suites,
        suite_names=arguments.suite,
        profile=profile,
        seed=seed,
        out=out,
        command=command,
        jobs=arguments.jobs,
        quiet=arguments.quiet,
        fail_fast=arguments.fail_fast,
    )
    status = run_order(order)
    if not arguments.quiet:
        _conclude(after, out, as_json=arguments.json)
    return status


def _conclude(after: After, out: Path, *, as_json: bool) -> None:
    """Print the summary. A reader that goes away in the middle of it (``head``) changes nothing about what was found."""
    try:
        after(out, as_json)
        sys.stdout.flush()
    except BrokenPipeError:
        drop_output()


def drop_output() -> None:
    """Nobody reads standard output any more: what is still to be written goes nowhere, and in silence."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _list(what: str) -> int:
    for line in _lines(what):
        print(line)
    return 0


def _lines(what: str) -> Sequence[str]:
    if what == "subjects":
        return [*_subject_lines(), "", f"groups: {', '.join(GROUPS)}; one of your own: package.module:attribute"]
    if what == "suites":
        return [f"{suite.name:24} {suite.summary}" for suite in all_suites().values()]
    if what == "invariants":
        return [f"{item.id:36} {item.level:6} {item.expectation}" for item in catalogue().values()]
    if what == "claims":
        return list(_claim_lines())
    if what == "dialect":
        return list(dialects.lines())
    if what == "faults":
        from ..faults.kinds import all_kinds

        return [f"{kind.name:16} {kind.place:8} e.g. {kind.words(kind.data())}" for kind in all_kinds().values()]
    from ..faults.zoo import all_bugs

    return [f"{bug.name:40} {bug.invariant:36} {bug.summary}" for bug in all_bugs().values()]


def _claim_lines() -> Iterator[str]:
    """A kind of subject at a time: two kinds may use one word, each for a promise of its own."""
    for kind, claims in (("waiter", WAITER_CLAIMS), ("normaliser", NORMALISER_CLAIMS), ("queue", DISPATCH_CLAIMS)):
        yield f"{kind}:"
        yield from (f"  {name:24} {says}" for name, says in claims.items())


def _subject_lines() -> list[str]:
    lines = []
    for adapter in adapters().values():
        state = f"{adapter.package} {version_of(adapter.package) or 'not installed'}" if adapter.package else "built in"
        lines.append(f"{adapter.name:24} {adapter.group:8} {state:28} {adapter.summary}")
        lines += [f"  {name}" for name in adapter.provides if name != adapter.name]
    return lines


def _replay(arguments: argparse.Namespace) -> int:
    try:
        return replay(arguments.token, jsonl=arguments.jsonl)
    except (ReplayError, UnknownSubjectError, UnusableSubjectError, UnknownSuiteError) as error:
        return fail(str(error))


def _zoo(arguments: argparse.Namespace, after: After) -> int:
    from .zoo import UnknownBugError, search_zoo

    try:
        profile = profile_named(arguments.profile, examples=arguments.examples)
        out = fresh_out(arguments.out)
        seed = secrets.randbelow(2**32) if arguments.seed is None else arguments.seed
        status = search_zoo(
            arguments.bugs,
            profile=profile,
            seed=seed,
            out=out,
            suites=arguments.suite,
            jobs=arguments.jobs,
            quiet=arguments.quiet,
        )
    except (UnknownBugError, UnknownSuiteError, ValueError, FileExistsError) as error:
        return fail(str(error))
    except KeyboardInterrupt:
        status = EXIT_INTERRUPTED
    if not arguments.quiet:
        _conclude(after, out, as_json=arguments.json)
    return status
