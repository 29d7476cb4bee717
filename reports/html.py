"""The HTML report: one offline file, under 500 KB whatever the results hold.

Everything is escaped by jinja2's autoescape, and a content security policy lets only this page's own style and script run, so text of
subjects and servers stays text. When a page would be too large it leaves out, in this order, raw histories, tables, pictures, then
parts of long lists, and says so in each place.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup, escape

from . import timeline
from .bounds import bound_lines
from .doubts import doubts
from .evidence import Evidence, Numbered
from .exploration import walks
from .matrix import Cell, Matrix, build_matrices
from .operations import read_history
from .queue_reading import is_queue
from .queue_timeline import queue_picture
from .statistics import reach, suite_lines, warmth
from .text import clip, many, number, one_line, printable, seconds
from .twin import SCHEMA, summary
from .verdict import MEANINGS, SIGNS, overall, sign, subject_verdict

LIMIT = 490_000
"""The size of a page in bytes; the promise is 500 KB."""

EXITS = {
    0: "all that is claimed held",
    1: "a violation",
    2: "usage or harness error, or a named subject could not run",
    3: "undecided",
    130: "interrupted",
}

_KEY = (
    "Bars run from start to end; a dashed bar ended badly, a bar with an arrow to the right has an outcome that is not known. Dashed vertical "
    "lines are deadlines. Ringed, numbered and joined: the events that show the violation. Hover for the whole event."
)
_QUEUE_KEY = (
    "The caller: ▽ a submit, △ an outcome that was told, × a cancellation, ◆ a context or an object that is over. Workers: attempts, as many rows as "
    "were in flight. The server: its answers, and ◆ effects, hollow ones late, ■ by somebody else. Objects: each submit up to its outcome; a dashed "
    "bar is one that was not applied, one with an arrow to the right has an outcome that is not known, and one of dash and dot is stale or late. "
    "Dashed vertical lines are deadlines. Ringed, numbered and joined: the events that show the violation. What the bench does after "
    "that to bring the run to its end is not drawn. Hover for the whole event."
)
_RAW_LINES, _RAW_WIDTH = 120, 600


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much a page holds.

    ``full``: failures with a section. ``brief``: failures in the list. ``items``: of one doubt. ``zoo``: seeded bugs. ``lines``: of
    statistics. ``matrix`` and ``details``: all, notable or none. ``reduced``: less than a page of usual size has.
    """

    full: int = 60
    brief: int = 300
    items: int = 40
    zoo: int = 200
    lines: int = 200
    matrix: str = "all"
    details: str = "all"
    reduced: bool = False


STEPS = (
    Limits(),
    Limits(details="notable", reduced=True),
    Limits(full=30, brief=200, items=20, zoo=100, lines=100, details="notable", reduced=True),
    Limits(full=15, brief=100, items=10, zoo=60, lines=60, matrix="notable", details="none", reduced=True),
    Limits(full=5, brief=40, items=5, zoo=30, lines=30, matrix="none", details="none", reduced=True),
    Limits(full=0, brief=20, items=3, zoo=10, lines=10, matrix="none", details="none", reduced=True),
)
"""From a page of usual size to the smallest one; the first that fits is written."""


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The heavy parts of one failure's section as markup, each with the note that stands in its place if it is left out."""

    events: int = 0
    picture: str = ""
    picture_note: str = ""
    table: str = ""
    table_note: str = ""
    raw: str = ""
    raw_note: str = ""


def render(evidence: Evidence) -> str:
    """The page. Same evidence, same bytes."""
    made: dict[int, Parts] = {}
    for limits in STEPS:
        shown = evidence.failures[: limits.full]
        bare = {item.number: _left_out(item) for item in shown}
        spare = LIMIT - len(_page(evidence, limits, bare).encode())
        if spare >= 0:
            for item in shown:
                made.setdefault(item.number, _parts(item))
            return _page(evidence, limits, _fill(bare, made, spare))
    return _page(evidence, STEPS[-1], {})


def _fill(bare: dict[int, Parts], made: dict[int, Parts], spare: int) -> dict[int, Parts]:
    """Put in what fits: pictures first, then tables, then raw histories, each in the order of the failures."""
    parts = dict(bare)
    for field in ("picture", "table", "raw"):
        for key, whole in made.items():
            if key not in parts:
                continue
            text = str(getattr(whole, field))
            # 120: what the section adds around a part (its <details> and summary).
            cost = len(text.encode()) + 120
            if not text:
                parts[key] = _with(parts[key], **{f"{field}_note": getattr(whole, f"{field}_note")})
            elif cost <= spare:
                spare -= cost
                parts[key] = _with(parts[key], **{field: _trusted(text), "events": whole.events})
    return parts


def _with(parts: Parts, **changes: Any) -> Parts:
    return replace(parts, **changes)


def _left_out(item: Numbered) -> Parts:
    place = f"the result file {one_line(item.path, 160)}" if item.path else "the result files"
    return Parts(
        picture_note=f"The timeline is left out, to keep this file under 500 KB. The history is in {place}.",
        table_note=f"The table of events is left out, to keep this file under 500 KB. The history is in {place}.",
        raw_note=f"The raw history is left out, to keep this file under 500 KB. It is in {place}.",
    )


def _parts(item: Numbered) -> Parts:
    moments, broken = read_history(item.failure.history)
    if not moments:
        return Parts(
            picture_note="The history is empty or can't be read: there is nothing to draw. This is evidence that is missing."
        )
    important = item.failure.events
    queue = is_queue(moments)
    found = queue_picture(moments, important) if queue else timeline.picture(moments, important)
    template, key = ("queue_timeline.svg.j2", _QUEUE_KEY) if queue else ("timeline.svg.j2", _KEY)
    name = f"Timeline of failure {item.number}: {one_line(item.failure.cause, 160)}"
    geometry = {"width": timeline.WIDTH, "gutter": timeline.GUTTER, "top": timeline.TOP, "thick": timeline.THICK}
    env = _environment()
    note = f" {many(broken, 'line')} of the history could not be read." if broken else ""
    return Parts(
        events=len(moments),
        picture=env.get_template(template).render(p=found, name=name, key=key + note, **geometry) if found else "",
        table=env.get_template("timeline_table.html.j2").render(rows=timeline.table(moments, important)),
        raw=_raw(item.failure.history),
    )


def _raw(history: str) -> str:
    lines = history.splitlines()
    text = "\n".join(clip(line, _RAW_WIDTH) for line in lines[:_RAW_LINES])
    more = len(lines) - _RAW_LINES
    note = f'<p class="soft small">{many(more, "line")} more, in the result file</p>' if more > 0 else ""
    return f'<pre tabindex="0">{escape(printable(text))}</pre>{note}'


def _page(evidence: Evidence, limits: Limits, parts: dict[int, Parts]) -> str:
    matrices = build_matrices(evidence)
    found = doubts(evidence)
    css, js = _asset("style.css"), _asset("script.js")
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            evidence=evidence,
            limits=limits,
            parts=parts,
            overall=overall(evidence),
            verdicts=[subject_verdict(column) for column in evidence.columns],
            doubts=found,
            serious=sum(1 for doubt in found if doubt.items and doubt.serious),
            matrices=matrices,
            anchors=_anchors(evidence, matrices, limits),
            reach=reach(evidence),
            lines=suite_lines(evidence),
            bounds=bound_lines(evidence)[: limits.lines],
            walks=walks(evidence),
            signs=SIGNS,
            meanings=MEANINGS,
            exits=EXITS,
            schema=SCHEMA,
            css=_trusted(css),
            js=_trusted(js),
            style_hash=_hash(css),
            script_hash=_hash(js),
            summary=embed(summary(evidence)),
        )
    )


def _anchors(evidence: Evidence, matrices: Sequence[Matrix], limits: Limits) -> frozenset[str]:
    """The anchors that this page will have: a link may lead only to one of these."""
    listed = limits.brief if len(evidence.failures) > 1 else limits.full
    failures = {item.anchor for item in evidence.failures[: max(limits.full, listed)]}
    every = (cell for matrix in matrices for row in matrix.rows for cell in row.cells)
    cells = {cell.anchor for cell in every if cell is not None and _detailed(cell, limits)}
    return frozenset(failures | cells)


def _detailed(cell: Cell, limits: Limits) -> bool:
    return limits.details == "all" or (limits.details == "notable" and cell.verdict not in ("held", "not claimed"))


def embed(data: object) -> Markup:
    """Data as JSON that can stand inside a script element: nothing in it can end the element or begin a comment."""
    text = json.dumps(data, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return _trusted(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def _trusted(text: str) -> Markup:
    """Text that goes into a page as it is: an asset of ours, output of an autoescaping template, or JSON with its markup escaped."""
    return Markup(text)  # noqa: S704 - the callers above are all there is


@cache
def _asset(name: str) -> str:
    return resources.files(__package__).joinpath("templates", name).read_text(encoding="utf-8").strip()


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _environment() -> jinja2.Environment:
    env = jinja2.Environment(
        loader=jinja2.FunctionLoader(_asset),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=_finalize,
    )
    env.filters |= {
        "slug": lambda word: str(word).lower().replace(" ", "-") if str(word) in _WORDS else "unknown",
        "sign": sign,
        "line": one_line,
        "clip": lambda text, limit: clip(printable(text), limit),
        "number": number,
        "seconds": seconds,
        "many": _many,
        "warmth": warmth,
        "place": lambda value: f"{value:.1f}".removesuffix(".0"),
        "breakable": _breakable,
    }
    return env


_WORDS = {*SIGNS, "PASS", "FAIL", "UNDECIDED", "COULD NOT RUN", "NOT INSTALLED", "INTERRUPTED"}
"""Words that may become part of a class name; anything else a result file holds does not."""


def _finalize(value: Any) -> Any:
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _many(value: Any, noun: str, plural: str = "") -> str:
    return many(value if isinstance(value, int) else len(value), noun, plural)


def _breakable(name: str) -> Markup:
    """A dotted or underscored name that may be broken after its dots and underscores."""
    return Markup("").join(Markup("{}<wbr>").format(mark) if mark in "._-" else mark for mark in one_line(name, 120))
