"""The command of this room, ``report``, and what a run prints at its end. :func:`add_commands` is what the front door calls."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from ..harness.results import ResultFormatError, read_results
from . import twin
from .cli import build_report
from .evidence import gather
from .terminal import print_summary

_EXIT_ERROR = 2


def add_commands(commands: Any) -> None:
    """Add ``report`` to an ``argparse`` sub-parser action."""
    report = commands.add_parser("report", help="write the HTML report of result directories")
    report.add_argument("results", nargs="+", type=Path, metavar="RESULT-DIR")
    report.add_argument(
        "-o", "--output", type=Path, metavar="FILE.html", help="default: report.html in the first directory"
    )
    report.set_defaults(run=_report)


def _report(arguments: argparse.Namespace) -> int:
    output = arguments.output or arguments.results[0] / "report.html"
    try:
        print(build_report(arguments.results, output))
    except (ResultFormatError, ValueError, OSError) as error:
        print(f"waitproof: {error}", file=sys.stderr)
        return _EXIT_ERROR
    return 0


def conclude(results: Path, as_json: bool) -> None:
    """Print where the results of a run are, and their summary, whose last line replays the first counterexample; or all as JSON."""
    if as_json:
        sys.stdout.write(twin.render(gather([read_results(results)])))
        return
    found = read_results(results)
    print(f"seed {found.run.seed}; results in {results}; as a page: waitproof report {results}")
    print_summary([results])
