"""Timelines: the picture of a history (laid out here, drawn by ``templates/timeline.svg.j2``) and the same as a table.

Lanes are who saw it; bars run from start to end; bars whose outcome is not known are open to the right; deadlines are vertical lines;
the events that show the violation are ringed, numbered and joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .operations import LANES, Bar, Moment, deadlines, labels, pair, words
from .text import number, one_line
from .timescale import Gap, TimeScale

WIDTH, GUTTER, RIGHT, TOP = 1000, 112, 978, 34
ROW, THICK, PAD = 20, 14, 7
_LETTER = 6.1
"""Width of a letter of a bar's label, in the picture's units."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A bar (``width`` > 0) or a mark (``width`` 0) at a place. ``title``: the whole story of it, shown on hover."""

    seq: int
    x: float
    y: float
    width: float
    style: str
    label: str
    title: str


@dataclass(frozen=True, kw_only=True)
class Lane:
    """A lane's name and its stretch of the picture."""

    name: str
    top: float
    height: float


@dataclass(frozen=True, kw_only=True)
class Line:
    """A vertical line or a tick at a time."""

    x: float
    label: str
    anchor: str = "middle"


@dataclass(frozen=True, kw_only=True)
class Ring:
    """A marked event: its number in the failure, and where it lies."""

    number: int
    seq: int
    x: float
    y: float


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A laid-out timeline. ``left_out``: events that it does not show."""

    height: float
    lanes: tuple[Lane, ...]
    shapes: tuple[Shape, ...]
    deadlines: tuple[Line, ...]
    ticks: tuple[Line, ...]
    gaps: tuple[Gap, ...]
    rings: tuple[Ring, ...]
    left_out: int

    @property
    def join(self) -> tuple[tuple[float, float], ...]:
        """The line through the rings; between two of one row it runs below them, so that it strikes no label through."""
        points: list[tuple[float, float]] = []
        for ring in self.rings:
            if points and points[-1][1] == ring.y:
                points += [(points[-1][0], ring.y + 12), (ring.x, ring.y + 12)]
            points.append((ring.x, ring.y))
        return tuple(points)

    @property
    def bottom(self) -> float:
        """Where the lanes end and the axis begins."""
        return self.height - 26


@dataclass(frozen=True, kw_only=True)
class TableRow:
    """An event as a row, or (``skipped`` > 0) a stretch of that many events that are not shown.

    ``marked``: its number among the events that show the violation, 0 if it is none of them.
    """

    seq: int = 0
    at: str = ""
    lane: str = ""
    op: str = ""
    kind: str = ""
    words: str = ""
    marked: int = 0
    skipped: int = 0


def select(moments: Sequence[Moment], important: Sequence[int], cap: int) -> list[Moment]:
    """At most ``cap`` moments in order: how it began, and those around the important ones (with none: around the end)."""
    if len(moments) <= cap:
        return list(moments)
    spots = [index for index, moment in enumerate(moments) if moment.seq in set(important)] or [len(moments) - 1]
    head = cap // 4
    near = sorted(range(head, len(moments)), key=lambda index: (min(abs(index - spot) for spot in spots), index))
    kept = {*range(head), *near[: cap - head]}
    return [moment for index, moment in enumerate(moments) if index in kept]


def table(moments: Sequence[Moment], important: Sequence[int], *, cap: int = 80) -> tuple[TableRow, ...]:
    """The history as rows, with a row for each stretch that was left out."""
    rows: list[TableRow] = []
    shown = select(moments, important, cap)
    place = {id(moment): index for index, moment in enumerate(moments)}
    after = 0
    for moment in shown:
        index = place[id(moment)]
        if index > after:
            rows.append(TableRow(skipped=index - after))
        after = index + 1
        rows.append(
            TableRow(
                seq=moment.seq,
                at=number(moment.at),
                lane=one_line(moment.lane, 20),
                op=one_line(moment.op, 40),
                kind=one_line(moment.kind, 40),
                words=words(moment),
                marked=important.index(moment.seq) + 1 if moment.seq in important else 0,
            )
        )
    if after < len(moments):
        rows.append(TableRow(skipped=len(moments) - after))
    return tuple(rows)


def picture(moments: Sequence[Moment], important: Sequence[int], *, cap: int = 140) -> Picture | None:
    """Lay out a history; None if there is nothing to draw."""
    if not moments:
        return None
    kept = {id(moment) for moment in select(moments, important, cap)}
    bars, marks = pair(moments)
    bars = [bar for bar in bars if id(bar.first) in kept or (bar.last is not None and id(bar.last) in kept)]
    marks = [mark for mark in marks if id(mark) in kept]
    drawn = [*marks, *(bar.first for bar in bars), *(bar.last for bar in bars if bar.last)]
    limits = [(at, label) for at, label in deadlines(drawn) if at >= 0]
    scale = TimeScale(
        [0.0, *(moment.at for moment in drawn), *(at for at, _ in limits)], left=GUTTER + 10, right=RIGHT - 8
    )
    lanes, rows = _lanes(bars, marks, scale)
    shapes: list[Shape] = []
    places: dict[int, tuple[float, float]] = {}
    for bar in bars:
        shapes.append(_bar(bar, rows[id(bar)], scale, ringed=bar.first.seq in important))
        places[bar.first.seq] = (scale(bar.first.at), rows[id(bar)] + THICK / 2)
        if bar.last:
            places[bar.last.seq] = (scale(bar.last.at), rows[id(bar)] + THICK / 2)
    for mark in marks:
        y = rows[id(mark)] + THICK / 2
        places[mark.seq] = (scale(mark.at), y)
        style = (
            "effect"
            if mark.kind.endswith(".effect")
            else "stop"
            if mark.kind.endswith((".stop", ".cancel"))
            else "mark"
        )
        shapes.append(Shape(seq=mark.seq, x=scale(mark.at), y=y, width=0, style=style, label="", title=_title(mark)))
    bottom = lanes[-1].top + lanes[-1].height
    rings = [
        Ring(number=count, seq=seq, x=places[seq][0], y=places[seq][1])
        for count, seq in enumerate(important, start=1)
        if seq in places
    ]
    urgent = [moment.at for moment in drawn if moment.seq in important]
    return Picture(
        height=bottom + 26,
        lanes=tuple(lanes),
        shapes=tuple(shapes),
        deadlines=_merge_lines(limits, scale),
        ticks=_ticks([*urgent, *(at for at, _ in limits), 0.0, *scale.times], scale),
        gaps=tuple(gap for gap in scale.gaps if gap.right - gap.left > 12),
        rings=tuple(rings),
        left_out=len(moments) - len(drawn),
    )


def _lanes(bars: Sequence[Bar], marks: Sequence[Moment], scale: TimeScale) -> tuple[list[Lane], dict[int, float]]:
    """The lanes from top to bottom, and the top of each bar's and mark's row; what overlaps in a lane gets rows of its own."""
    runs = list(dict.fromkeys([bar.first.run for bar in bars] + [mark.run for mark in marks]))
    found = {(bar.first.run, bar.first.lane) for bar in bars} | {(mark.run, mark.lane) for mark in marks}
    order = sorted(
        found, key=lambda key: (runs.index(key[0]), LANES.index(key[1]) if key[1] in LANES else len(LANES), key[1])
    )
    lanes: list[Lane] = []
    rows: dict[int, float] = {}
    top = float(TOP)
    for run, lane in order:
        ends: list[float] = []
        for bar in bars:
            if (bar.first.run, bar.first.lane) == (run, lane):
                left, right = _extent(bar, scale)
                free = next((index for index, end in enumerate(ends) if end <= left + 0.5), len(ends))
                ends[free : free + 1] = [right]
                rows[id(bar)] = top + PAD + free * ROW
        for mark in marks:
            if (mark.run, mark.lane) == (run, lane):
                rows[id(mark)] = top + PAD
        height = 2 * PAD + max(1, len(ends)) * ROW - (ROW - THICK)
        lanes.append(Lane(name=one_line(f"{run} {lane}".strip(), 18), top=top, height=height))
        top += height
    return lanes, rows


def _extent(bar: Bar, scale: TimeScale) -> tuple[float, float]:
    left = scale(bar.first.at)
    right = RIGHT if bar.last is None else scale(bar.last.at)
    return left, max(right, left + 4)


def _bar(bar: Bar, top: float, scale: TimeScale, *, ringed: bool) -> Shape:
    left, right = _extent(bar, scale)
    story = _title(bar.first) + ("\n" + _title(bar.last) if bar.last else "\nno end was seen: its outcome is not known")
    room = int((right - left - (16 if ringed else 8)) / _LETTER)
    fitting = [one_line(text, 60) for text in labels(bar) if len(text) <= room]
    kind = bar.first.kind.rpartition(".")[0]
    style = (
        f"{kind if kind in ('wait', 'fetch', 'sleep', 'server') else 'other'} {'ringed ' if ringed else ''}{bar.ending}"
    )
    return Shape(
        seq=bar.first.seq,
        x=left,
        y=top,
        width=right - left,
        style=style,
        label=fitting[0] if fitting else "",
        title=story,
    )


def _title(moment: Moment) -> str:
    return f"#{moment.seq} {number(moment.at)} s {moment.kind} {words(moment, 160)}"


def _merge_lines(limits: Sequence[tuple[float, str]], scale: TimeScale) -> tuple[Line, ...]:
    """Deadlines at one time are one line."""
    by_time: dict[float, list[str]] = {}
    for at, label in limits:
        by_time.setdefault(at, []).append(label)
    lines = []
    for at, names in sorted(by_time.items()):
        label = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
        x = scale(at)
        lines.append(
            Line(x=x, label=f"{one_line(label, 40)} = {number(at)} s", anchor="end" if x > WIDTH / 2 else "start")
        )
    return tuple(lines)


def _ticks(times: Sequence[float], scale: TimeScale) -> tuple[Line, ...]:
    """Labels of times, the important ones first, none over another."""
    ticks: list[tuple[float, float, str]] = []
    for time in times:
        label = number(time)
        x, half = scale(time), (len(label) + 2) * 3.2
        if all(abs(x - other) > half + wide for other, wide, _ in ticks):
            ticks.append((x, half, label))
    return tuple(Line(x=x, label=label) for x, _, label in sorted(ticks))
