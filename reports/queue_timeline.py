"""Timelines of dispatch queues (laid out here, drawn by ``templates/queue_timeline.svg.j2``).

Lanes: the caller (submits, outcomes, cancellations, close), the workers (attempts, packed into as many rows as were in flight), the server
(its answers and its effects), and each object (the life of each of its submits, to its outcome). Beneath are small plots. What is not
known is open to the right; deadlines are vertical lines; the events that show the violation are ringed, numbered and joined.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from . import plots
from .operations import Bar, Moment, words
from .packing import LETTER, Item, pack_bars, pack_marks
from .plots import Plot
from .queue_reading import DONE, QUIET, Life, Reading, read
from .queue_words import real, told
from .text import number, one_line
from .timeline import GUTTER, PAD, RIGHT, ROW, THICK, TOP, WIDTH, Lane, Line, Picture, Ring, Shape, select
from .timeline import _merge_lines as merge_lines
from .timeline import _ticks as ticks_of
from .timescale import TimeScale

MOST_OBJECTS = 14


@dataclass(frozen=True, kw_only=True)
class Piece(Shape):
    """A shape whose label stands where ``label_x`` and ``anchor`` say. ``tail``: a dashed line to the right edge: it may still happen."""

    label_x: float = 0.0
    anchor: str = "start"
    tail: bool = False


@dataclass(frozen=True, kw_only=True)
class QueuePicture(Picture):
    """A laid-out timeline of a queue, with its plots. ``hidden``: objects that have no lane."""

    plots: tuple[Plot, ...] = ()
    hidden: int = 0
    lanes_end: float = 0.0


@dataclass(kw_only=True, eq=False)
class _Drawn:
    """Something to draw: its place in its lane, how it looks, and which events it stands for."""

    item: Item
    style: str
    title: str
    seq: int
    events: tuple[Moment, ...]
    tail: bool = False


def queue_picture(moments: Sequence[Moment], important: Sequence[int], *, cap: int = 140) -> QueuePicture | None:
    """Lay out the history of a queue; None if there is nothing to draw."""
    whole = read(moments, important)
    telling = [moment for moment in moments if moment.seq in important or moment.kind not in QUIET]
    if not telling:
        return None
    kept = {moment.seq for moment in select(_until_settled(telling, important), important, cap)}
    shown = _cut(whole, kept)
    moments_drawn = _moments(shown)
    if not moments_drawn:
        return None
    limits = [
        (life.deadline, f"deadline {life.submit.op}")
        for life in shown.lives
        if math.isfinite(life.deadline) and life.deadline >= 0
    ]
    times = [moment.at for moment in moments_drawn]
    scale = TimeScale([0.0, *times, *(at for at, _ in limits)], left=GUTTER + 10, right=RIGHT - 26)
    layout = _Layout(scale, whole, important)
    layout.caller(shown)
    layout.bars("workers", shown.attempts, "fetch", _attempt_labels)
    layout.server(shown)
    hidden = layout.objects(shown)
    layout.rest(shown)
    top = layout.top + 6
    drawn = _plots(whole, top, scale, scale.times[-1])
    bottom = top + len(drawn) * plots.HEIGHT + 4
    rings = [
        Ring(number=count, seq=seq, x=layout.places[seq][0], y=layout.places[seq][1])
        for count, seq in enumerate(important, start=1)
        if seq in layout.places
    ]
    urgent = [moment.at for moment in moments_drawn if moment.seq in important]
    return QueuePicture(
        height=bottom + 26,
        lanes=tuple(layout.lanes),
        shapes=tuple(layout.pieces),
        deadlines=_apart(merge_lines(limits, scale)),
        ticks=ticks_of([*urgent, *(at for at, _ in limits), 0.0, *scale.times], scale),
        gaps=tuple(gap for gap in scale.gaps if gap.right - gap.left > 12),
        rings=tuple(rings),
        left_out=len({moment.seq for moment in telling} - {moment.seq for moment in moments_drawn}),
        plots=tuple(drawn),
        hidden=hidden,
        lanes_end=layout.top,
    )


def _until_settled(moments: Sequence[Moment], important: Sequence[int]) -> list[Moment]:
    """Without what the bench does to bring a run to its end, if the violation lies before: it would squeeze the rest together."""
    found = list(moments)
    for kind in ("bench.settled", "bench.healed"):
        seq = next((moment.seq for moment in moments if moment.kind == kind), None)
        if seq is None or any(one >= seq for one in important) or not important:
            continue
        found = [moment for moment in found if moment.seq < seq or (kind == "bench.healed" and moment.kind != kind)]
        while kind == "bench.healed" and found and found[-1].kind.startswith("bench."):
            found.pop()
    return found


def _cut(whole: Reading, kept: set[int]) -> Reading:
    """What touches an event that is kept."""

    def bars(all_bars: Sequence[Bar]) -> list[Bar]:
        return [bar for bar in all_bars if bar.first.seq in kept or (bar.last is not None and bar.last.seq in kept)]

    return replace(
        whole,
        lives=[
            life
            for life in whole.lives
            if life.submit.seq in kept or (life.outcome is not None and life.outcome.seq in kept)
        ],
        attempts=bars(whole.attempts),
        answers=bars(whole.answers),
        closes=bars(whole.closes),
        effects=[moment for moment in whole.effects if moment.seq in kept],
        caller=[moment for moment in whole.caller if moment.seq in kept],
        rest=[moment for moment in whole.rest if moment.seq in kept],
    )


def _moments(shown: Reading) -> list[Moment]:
    found = [*shown.effects, *shown.caller, *shown.rest]
    for life in shown.lives:
        found += [life.submit, *([life.outcome] if life.outcome else [])]
    for bar in (*shown.attempts, *shown.answers, *shown.closes):
        found += [bar.first, *([bar.last] if bar.last else [])]
    return found


class _Layout:
    """Lanes from top to bottom."""

    def __init__(self, scale: TimeScale, whole: Reading, important: Sequence[int]) -> None:
        self.scale, self.whole, self.important = scale, whole, important
        self.top = float(TOP)
        self.lanes: list[Lane] = []
        self.pieces: list[Piece] = []
        self.places: dict[int, tuple[float, float]] = {}

    # -- lanes ---------------------------------------------------------------------------------------------------------

    def caller(self, shown: Reading) -> None:
        """Submits, outcomes and whatever else the caller does, as labelled marks; a close is a bar."""
        marks = [
            self._mark(moment, _CALLER.get(moment.kind, "mark"), self._caller_words(moment)) for moment in shown.caller
        ]
        rows = pack_marks([one.item for one in marks], WIDTH)
        closes = [self._bar(bar, "other", lambda bar: (f"close {bar.first.op}", "close")) for bar in shown.closes]
        more = pack_bars([one.item for one in closes], WIDTH) if closes else 0
        for one in closes:
            one.item.row += rows
        self._lane("caller", [*marks, *closes], rows + more, places=False)

    def bars(self, name: str, bars: Sequence[Bar], style: str, labels: Callable[[Bar], tuple[str, ...]]) -> None:
        """A lane of bars; none if there are no bars."""
        drawn = [self._bar(bar, style, labels) for bar in bars]
        if drawn:
            self._lane(name, drawn, pack_bars([one.item for one in drawn], WIDTH))

    def server(self, shown: Reading) -> None:
        """Answers as bars, effects as diamonds beneath them."""
        answers = [self._bar(bar, "other", _answer_labels) for bar in shown.answers]
        rows = pack_bars([one.item for one in answers], WIDTH) if answers else 0
        effects = [self._effect(moment) for moment in shown.effects]
        more = pack_marks([one.item for one in effects], WIDTH) if effects else 0
        for one in effects:
            one.item.row += rows
        if answers or effects:
            self._lane("server", [*answers, *effects], rows + more)

    def objects(self, shown: Reading) -> int:
        """A lane an object: its submits, each from the call to its outcome. The answer is how many objects have no lane."""
        by_uid: dict[str, list[Life]] = {}
        for life in shown.lives:
            by_uid.setdefault(life.uid, []).append(life)
        wanted = {
            uid
            for uid, lives in by_uid.items()
            if any(
                life.submit.seq in self.important or (life.outcome and life.outcome.seq in self.important)
                for life in lives
            )
        }
        room = max(0, MOST_OBJECTS - len(wanted))
        others = [uid for uid in by_uid if uid not in wanted][:room]
        for uid, lives in by_uid.items():
            if uid in wanted or uid in others:
                drawn = [self._life(life) for life in lives]
                self._lane(uid, drawn, pack_bars([one.item for one in drawn], WIDTH), places=True)
        return len(by_uid) - len(wanted) - len(others)

    def rest(self, shown: Reading) -> None:
        """Whatever has no lane of its own."""
        by_lane: dict[str, list[_Drawn]] = {}
        for moment in shown.rest:
            style = "stop" if moment.kind == "bench.stop" else "mark"
            label = moment.kind.rpartition(".")[2] if moment.lane == "bench" else ""
            by_lane.setdefault(moment.lane, []).append(self._mark(moment, style, label))
        for lane, marks in by_lane.items():
            name = "caller (plugin)" if lane == "caller" else lane
            self._lane(name, marks, pack_marks([one.item for one in marks], WIDTH))

    def _lane(self, name: str, drawn: Sequence[_Drawn], rows: int, *, places: bool = True) -> None:
        for one in drawn:
            self._place(one, places=places)
        height = 2 * PAD + max(1, rows) * ROW - (ROW - THICK)
        self.lanes.append(Lane(name=one_line(name, 17), top=self.top, height=height))
        self.top += height

    # -- what is in them -----------------------------------------------------------------------------------------------

    def _mark(self, moment: Moment, style: str, label: str) -> _Drawn:
        x = self.scale(moment.at)
        text = one_line(label, 34)
        item = Item(left=x, right=x, begins=moment.seq, ends=moment.seq, labels=(text,) if text else ())
        return _Drawn(item=item, style=style, title=_story(moment), seq=moment.seq, events=(moment,))

    def _bar(self, bar: Bar, style: str, labels: Callable[[Bar], tuple[str, ...]]) -> _Drawn:
        late = self.whole.late.get(bar.last.seq, "") if bar.last else ""
        said = [one_line(f"{late} {label}".strip(), 48) for label in labels(bar)]
        story = _story(bar.first) + (
            f"\n{_story(bar.last)}" if bar.last else "\nno end was seen: its outcome is not known"
        )
        if late:
            story += "\nstale: its deadline had passed, or its context or object was gone" if late == "stale" else (
                "\nlate: its submitter had been told before"
            )  # fmt: skip
        return self._span(bar.first, bar.last, f"{style} {_ending(bar, late)}", said, story)

    def _life(self, life: Life) -> _Drawn:
        outcome = told(_view(life.outcome)) if life.outcome else "no outcome"
        name = f"{life.submit.op.rpartition('/')[2]} {life.what}"
        said = [one_line(text, 48) for text in (f"{name} → {outcome}", outcome)]
        unknown = life.outcome is None or life.final == "unknown"
        ending = "open" if unknown else "stale" if life.final == "stale" else "ok" if life.final in DONE else "bad"
        story = _story(life.submit) + (f"\n{_story(life.outcome)}" if life.outcome else "\nwas never told an outcome")
        drawn = self._span(life.submit, life.outcome, f"wait {ending}", said, story)
        drawn.tail = life.outcome is not None and unknown
        if drawn.tail:
            drawn.item.ends = math.inf
        return drawn

    def _span(self, first: Moment, last: Moment | None, style: str, said: Sequence[str], story: str) -> _Drawn:
        left = self.scale(first.at)
        right = RIGHT - 12.0 if last is None else max(self.scale(last.at), left + 4)
        ringed = first.seq in self.important and right - left > 40
        item = Item(
            left=left, right=right, begins=first.seq, ends=math.inf if last is None else last.seq, labels=tuple(said)
        )
        style = f"{style.partition(' ')[0]} ringed {style.partition(' ')[2]}" if ringed else style
        events = (first,) if last is None else (first, last)
        return _Drawn(item=item, style=style, title=story, seq=first.seq, events=events)

    def _effect(self, moment: Moment) -> _Drawn:
        late = self.whole.late.get(moment.seq, "")
        outside = moment.data.get("by") == "external"
        style = "external" if outside else "effect-late" if late else "effect"
        who = "somebody else" if outside else moment.op.rpartition("/")[2]
        what = f"{late} {who}: {moment.data.get('type') or 'write'} {moment.data.get('uid')}".strip()
        drawn = self._mark(moment, style, what)
        drawn.title += "\nlate: its attempt was over, or its submitter had been told" if late else ""
        return drawn

    @staticmethod
    def _caller_words(moment: Moment) -> str:
        op = moment.op.rpartition("/")[2]
        match moment.kind:
            case "call.outcome":
                return f"{op} {told(_view(moment))}"
            case "call.submit":
                return op
            case "context.end" | "object.deleted":
                return words(moment, 34)
            case "queue.rate":
                return f"quota {number(real(moment.data.get('qps')))}/s"
            case _:
                return (
                    f"{op} {moment.kind.rpartition('.')[2] if moment.kind != 'waiter.cancel' else 'waiter cancelled'}"
                )

    def _place(self, one: _Drawn, *, places: bool) -> None:
        item, y = one.item, self.top + PAD + one.item.row * ROW
        wide = item.right - item.left > 0.5
        self.pieces.append(
            Piece(
                seq=one.seq,
                x=item.left,
                y=y if wide else y + THICK / 2,
                width=item.right - item.left if wide else 0,
                style=one.style,
                label=item.label,
                title=one.title,
                label_x=item.label_x + (9 if "ringed" in one.style and item.label_x < item.right else 0),
                anchor=item.anchor,
                tail=one.tail,
            )
        )
        for index, moment in enumerate(one.events):
            place = (item.right if index else item.left, y + THICK / 2)
            if places or moment.seq not in self.places:
                self.places[moment.seq] = place


_CALLER = {
    "call.submit": "submit",
    "call.outcome": "told",
    "call.cancel": "strike",
    "waiter.cancel": "strike",
    "context.end": "stop",
    "object.deleted": "stop",
}
"""The style of the caller's marks."""


def _view(moment: Moment | None) -> dict[str, object]:
    view = moment.data.get("view") if moment else None
    return view if isinstance(view, dict) else {"kind": str(view)}


def _story(moment: Moment) -> str:
    return f"#{moment.seq} {number(moment.at)} s {moment.kind} {one_line(moment.op, 40)} {words(moment, 200)}"


def _ending(bar: Bar, late: str) -> str:
    """How an attempt ended. A write that may have had its effect although no answer was seen is open."""
    if bar.last is None:
        return "open"
    if late:
        return "stale"
    data = bar.last.data
    if bar.last.kind == "attempt.end" and data.get("ending") != "answer":
        return "bad" if bar.first.data.get("read") else "open"
    if data.get("sent") is False:
        return "bad"
    status = data.get("status")
    return (
        "bad" if isinstance(status, int) and status >= 400 else bar.ending if bar.first.kind == "queue.close" else "ok"
    )


def _attempt_labels(bar: Bar) -> tuple[str, ...]:
    op = bar.first.op.rpartition("/")[2]
    data = bar.last.data if bar.last else {}
    ended = data.get("status") or data.get("error") or data.get("ending") or "no end"
    what = f"{bar.first.data.get('type')} {bar.first.data.get('uid')}"
    return f"{op} {what}: {ended}", f"{op} {ended}", op


def _answer_labels(bar: Bar) -> tuple[str, ...]:
    op = bar.first.op.rpartition("/")[2]
    data = bar.last.data if bar.last else {}
    ended = (
        "never answered" if bar.last is None else f"{data.get('status')}" + ("" if data.get("sent", True) else " lost")
    )
    return f"{op}: {ended}", f"{ended}"


def _plots(whole: Reading, top: float, scale: TimeScale, end: float) -> list[Plot]:
    workers, capacity = real(whole.config.get("workers")), real(whole.config.get("capacity"))
    found = [
        plots.plot(
            "live", plots.live(whole.lives), top=top, scale=scale, end=end, limit=capacity, limit_name="capacity",
            title="submits without an outcome",
        ),
        plots.plot(
            "in flight", plots.in_flight(whole.attempts), top=top + plots.HEIGHT, scale=scale, end=end, limit=workers,
            limit_name="workers", title="attempts under way",
        ),
    ]  # fmt: skip
    changes = [moment for moment in whole.caller if moment.kind == "queue.rate"]
    level = plots.tokens(whole.attempts, changes, whole.config, end)
    where = top + 2 * plots.HEIGHT
    if level is None:
        made = plots.started(whole.attempts)
        found.append(plots.plot("started", made, top=where, scale=scale, end=end, title="attempts started"))
    else:
        title = (
            "tokens of the quota, were attempts all that takes them; below zero more were started than the quota allows"
        )
        burst = real(whole.config.get("burst"))
        found.append(
            plots.plot("tokens", level, top=where, scale=scale, end=end, limit=burst, limit_name="burst", title=title, broken_line=True)
        )  # fmt: skip
    return found


def _apart(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Labels of deadlines in two rows; one that would lie over another is left out (the line stays, and says it on hover)."""
    ends = [-math.inf, -math.inf]
    found = []
    for index, line in enumerate(sorted(lines, key=lambda one: one.x)):
        width = len(line.label) * LETTER + 8
        left = line.x - width if line.anchor == "end" else line.x
        row = index % 2
        if left < ends[row] or left < 0:
            found.append(replace(line, label=""))
        else:
            ends[row] = left + width
            found.append(line)
    return tuple(found)
