"""The summary for a terminal: one line a subject, the first counterexample in about ten lines, the command that replays it last.

On a terminal it is a table with colours; elsewhere plain lines. ``NO_COLOR`` (https://no-color.org) takes the colours away.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..harness.results import Failure, read_results
from .doubts import doubts
from .evidence import Evidence, Numbered, gather
from .text import many, one_line, printable
from .verdict import SIGNS, Overall, SubjectVerdict, overall, subject_verdict

_STYLES = {
    "PASS": "bold green",
    "FAIL": "bold red",
    "UNDECIDED": "bold magenta",
    "INTERRUPTED": "bold magenta",
    "COULD NOT RUN": "bold yellow",
    "NOT INSTALLED": "dim",
    "held": "green",
    "violated": "bold red",
    "non-strict": "yellow",
    "vacuous": "cyan",
    "unknown": "magenta",
    "not claimed": "dim",
}
_HEADS = {"non-strict": f"{SIGNS['non-strict']} non-\nstrict", "not claimed": f"{SIGNS['not claimed']} not\nclaimed"}
"""Headings on two lines, so that all fit into 80 columns."""
_COLUMNS = ("held", "violated", "non-strict", "vacuous", "unknown", "not claimed")


def print_summary(result_dirs: Sequence[Path], *, file: TextIO | None = None, width: int | None = None) -> None:
    """Print the summary of result directories to ``file`` (standard output if None); ``width`` in columns, found out if None.

    Raises :class:`~waitproof.harness.results.ResultFormatError` if one can't be read.
    """
    target = sys.stdout if file is None else file
    evidence = gather([read_results(path) for path in result_dirs])
    if target.isatty():
        _table(evidence, target, width)
    else:
        target.write("\n".join(plain_lines(evidence)) + "\n")


def plain_lines(evidence: Evidence) -> list[str]:
    """The summary as lines without colours or frames."""
    verdicts = [subject_verdict(column) for column in evidence.columns]
    name_width = min(40, max((len(_name(verdict)) for verdict in verdicts), default=0))
    lines = [
        f"{_name(item):<{name_width}}  {item.word}: {_counts(item) or one_line(item.sentence, 200)}"
        for item in verdicts
    ]
    lines += ["", *_counterexample(evidence)] if evidence.failures else []
    return [*lines, "", *_doubt_lines(evidence), _closing(overall(evidence)), *_replay(evidence)]


def _table(evidence: Evidence, file: TextIO, width: int | None) -> None:
    console = Console(
        file=file,
        width=width,
        highlight=False,
        markup=False,
        emoji=False,
        no_color=bool(os.environ.get("NO_COLOR")) or None,
    )
    verdicts = [subject_verdict(column) for column in evidence.columns]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column("subject", overflow="fold", ratio=None)
    table.add_column(
        "verdict", no_wrap=True, min_width=max(len(f"? {item.word}") for item in verdicts) if verdicts else 0
    )
    for verdict in _COLUMNS:
        head = _HEADS.get(verdict, f"{SIGNS[verdict]}\n{verdict}")
        table.add_column(head, justify="right", no_wrap=True, min_width=max(map(len, head.split("\n"))))
    for item in verdicts:
        cells = [
            Text(
                str(item.counts[verdict]) if item.counts[verdict] else "·",
                style=_STYLES[verdict] if item.counts[verdict] else "dim",
            )
            for verdict in _COLUMNS
        ]
        table.add_row(Text(_name(item)), Text(f"{item.sign} {item.word}", style=_STYLES[item.word]), *cells)
    console.print(table)
    if evidence.failures:
        console.print()
        head, *rest = _counterexample(evidence)
        console.print(Text(head, style="bold"))
        for line in rest:
            console.print(Text(line))
    console.print()
    for line in _doubt_lines(evidence):
        console.print(Text(line, style="dim"))
    judged = overall(evidence)
    console.print(Text(_closing(judged), style=_STYLES[judged.word]))
    for line in _replay(evidence):
        # A command that the console wraps can't be copied: the terminal itself may fold it.
        console.print(Text(line), soft_wrap=True)


def _name(item: SubjectVerdict) -> str:
    return one_line(item.label, 40)


def _counts(item: SubjectVerdict) -> str:
    return ", ".join(f"{item.counts[verdict]} {verdict}" for verdict in _COLUMNS if item.counts[verdict])


def _counterexample(evidence: Evidence) -> list[str]:
    """The first failure in about ten lines."""
    item = evidence.failures[0]
    failure, shown = item.failure, 3
    more = len(failure.words) - shown
    word = "non-strict" if failure.level == "SHOULD" else "violated"
    subject = one_line(evidence.columns[item.column].label, 60)
    lines = [
        f"{word}: {one_line(failure.invariant, 80)} ({failure.level}) by {subject} in {one_line(failure.suite, 60)}",
        f"  {one_line(failure.cause, 200)}",
        f"  expected  {one_line(failure.expected, 200)}",
        f"  observed  {one_line(failure.observed, 200)}",
        *_model_lines(failure),
        f"  plan      {many(failure.items, 'item that is not as by default', 'items that are not as by default')}",
    ]
    lines += [f"    {one_line(line, 200)}" for line in failure.words[:shown]]
    lines += [f"    and {more} more"] if more > 0 else []
    lines += [] if failure.deterministic else ["  not deterministic: a second run gave other bytes"]
    return [*lines, *_further(evidence)]


def _model_lines(failure: Failure) -> list[str]:
    """The reference model beside what was seen; of views with several lines only those that differ."""
    if not failure.model:
        return []
    allowed, seen = failure.model.splitlines(), failure.model_observed.splitlines()
    if len(allowed) == len(seen) > 1:
        pairs = [(left, right) for left, right in zip(allowed, seen, strict=True) if left != right]
        marked = [pair for pair in pairs if pair[1].endswith("≠")] or pairs
        left, right = marked[0]
        allowed, seen = [left], [right.removesuffix("≠").rstrip()]
    where = [f"            but there was {one_line(', '.join(seen), 200)}"] if seen else []
    return [f"  model     allows {one_line(', '.join(allowed), 200)}", *where]


_LISTED = 12
"""Further failures that are named, a line each."""


def _further(evidence: Evidence) -> list[str]:
    """The other failures by name, so that nobody has to open a file to see what they are about."""
    rest = evidence.failures[1:]
    if not rest:
        return []
    lines = ["", f"and {many(len(rest), 'further failure')}:"]
    for item in rest[:_LISTED]:
        subject = one_line(evidence.columns[item.column].label, 40)
        lines.append(f"  {one_line(item.failure.invariant, 60)} by {subject}: {one_line(item.failure.cause, 120)}")
    return [*lines, *([f"  and {len(rest) - _LISTED} more, in the report"] if len(rest) > _LISTED else [])]


def _doubt_lines(evidence: Evidence) -> list[str]:
    found = [f"{doubt.title} ({len(doubt.items)})" for doubt in doubts(evidence) if doubt.items and doubt.serious]
    head = "What this run could not show" if overall(evidence).word == "FAIL" else "Before believing a pass"
    return [*_refused_lines(evidence), *([f"{head}: {'; '.join(found)}."] if found else [])]


def _refused_lines(evidence: Evidence) -> list[str]:
    """For each subject that asked for real time, threads or sockets: what it was, and how an adapter sees to it."""
    lines = []
    for column in evidence.columns:
        runs = sum(stats.stops.get("refused", 0) for stats in column.suites)
        details = [stats.stop_details["refused"] for stats in column.suites if stats.stop_details.get("refused")]
        if runs:
            what = f": {one_line(details[0], 160)}" if details else ""
            lines.append(f"{one_line(column.label, 40)}: {many(runs, 'run')} refused by the bench{what}.")
            lines.append(
                '  If it takes its time from its own module, its adapter must name that module: patch=("its.module",).'
            )
    return lines


def _closing(judged: Overall) -> str:
    return f"{judged.sign} {judged.word}: {one_line(judged.sentence, 300)}"


def _replay(evidence: Evidence) -> list[str]:
    if not evidence.failures:
        return []
    first: Numbered = evidence.failures[0]
    return [f"replay: {printable(' '.join(first.failure.command.split()))}"]
