"""Operations: a history's lines read as moments, joined into bars (from start to end) and marks, and told in words.

Pairs are found by the shape of the kind (``x.start`` … ``x.end``, ``x.return``, ``x.raise``; ``server.request`` … ``server.answer``), so
a kind of event that this file has never heard of is still drawn.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .queue_words import TELL as QUEUE_TELL
from .text import number, one_line

LANES = ("caller", "client", "worker", "server", "clock", "fault", "bench")
"""The order of the lanes in a picture; others come behind these."""

_CLOSING = {"end", "return", "raise", "answer"}
_OPENING = {"start", "request"}


@dataclass(frozen=True, kw_only=True)
class Moment:
    """One event of a history. ``run``: which of several runs in one history it belongs to (``sync`` of ``sync/w0``), empty if one."""

    seq: int
    at: float
    kind: str
    lane: str
    op: str
    run: str
    data: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Bar:
    """An operation from its first event to its last; ``last`` is None if it never ended.

    ``ending``: ok, bad (it ended, and not well) or open (its outcome is not known: it never ended, or it may have had an effect
    although the client saw no answer).
    """

    first: Moment
    last: Moment | None
    ending: str


def read_history(text: str) -> tuple[list[Moment], int]:
    """The moments of a history in JSON Lines, and how many lines could not be read. The header and anything without a time is left out."""
    moments: list[Moment] = []
    broken, run = 0, ""
    for line in text.splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            broken += 1
            continue
        if isinstance(row, dict) and "schema" in row:
            continue
        at = row.get("at") if isinstance(row, dict) else None
        if not isinstance(at, int | float) or isinstance(at, bool):
            broken += 1
            continue
        op, data = str(row.get("op", "")), row.get("data")
        # Events without an operation (a jump of the wall clock) belong to the run that is under way.
        run = op.rpartition("/")[0] if op else run
        moments.append(
            Moment(
                seq=row["seq"] if isinstance(row.get("seq"), int) else len(moments),
                at=float(at),
                kind=str(row.get("kind", "?")),
                lane=str(row.get("lane", "?")),
                op=op,
                run=run,
                data=data if isinstance(data, dict) else {},
            )
        )
    return moments, broken


def pair(moments: Sequence[Moment]) -> tuple[list[Bar], list[Moment]]:
    """The bars, in order of their start, and the moments that are part of no bar."""
    waiting: dict[tuple[str, str], list[int]] = {}
    bars: list[Bar | None] = []
    firsts: list[Moment] = []
    marks: list[Moment] = []
    for moment in moments:
        family, _, verb = moment.kind.rpartition(".")
        if verb in _OPENING:
            waiting.setdefault((family, moment.op), []).append(len(firsts))
            firsts.append(moment)
            bars.append(None)
        elif verb in _CLOSING and waiting.get((family, moment.op)):
            slot = waiting[family, moment.op].pop(0)
            bars[slot] = Bar(first=firsts[slot], last=moment, ending=_ending(firsts[slot], moment))
        else:
            marks.append(moment)
    whole = [bar or Bar(first=first, last=None, ending="open") for first, bar in zip(firsts, bars, strict=True)]
    return whole, marks


def _ending(first: Moment, last: Moment) -> str:
    if last.kind.endswith(".raise"):
        return "bad"
    ending = last.data.get("ending")
    if ending in ("error", "cancelled", "closed"):
        # A request that changes something and got no answer may have had its effect: its outcome is open.
        return "open" if str(first.data.get("method", "GET")).upper() not in ("GET", "HEAD", "OPTIONS") else "bad"
    status = last.data.get("status")
    return "bad" if isinstance(status, int) and status >= 400 else "ok"


def deadlines(moments: Sequence[Moment]) -> list[tuple[float, str]]:
    """When each wait must be over (its start plus its timeout) and what to call that; waits without a finite timeout have none."""
    found = []
    for moment in moments:
        call = moment.data.get("call")
        timeout = call.get("timeout") if moment.kind == "wait.start" and isinstance(call, dict) else None
        if isinstance(timeout, int | float) and not isinstance(timeout, bool):
            found.append((moment.at + float(timeout), f"deadline {moment.op}"))
    return found


def labels(bar: Bar) -> tuple[str, ...]:
    """What may be written on a bar, from the fullest to the shortest: the operation, and how it ended."""
    name = bar.first.op.rpartition("/")[2].rpartition(".")[2] or bar.first.kind
    data = bar.last.data if bar.last else {}
    if bar.first.kind == "sleep.start":
        asked = _seconds(bar.first.data.get("seconds"))
        return f"sleep {asked}", asked
    if bar.first.kind == "wait.start":
        outcome = data.get("category") or (_of(data.get("view"), "status") if bar.last else "never ended")
        return f"wait {name}: {outcome or 'returned'}", name
    if bar.first.kind == "fetch.start":
        return f"{name} {data.get('status') or data.get('error') or data.get('ending') or '?'}", name
    return f"{name} {data['kind']}" if data.get("kind") else name, name


def _of(value: object, key: str) -> object:
    return value.get(key) if isinstance(value, dict) else None


def _seconds(value: object) -> str:
    if isinstance(value, dict) and "$float" in value:
        return f"{value['$float']} s"
    return _exact(float(value)) if isinstance(value, int | float) else "?"


def _exact(value: float) -> str:
    """Seconds without rounding: a violation may hang on a microsecond."""
    return f"{number(value)} s"


def words(moment: Moment, limit: int = 200) -> str:
    """What happened, in one line."""
    data = moment.data
    tell = _TELL.get(moment.kind)
    try:
        text = tell(data) if tell else _plain(data)
    except (TypeError, ValueError, KeyError, AttributeError):
        text = _plain(data)
    return one_line(text, limit)


def _plain(data: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{key}={value if isinstance(value, str) else json.dumps(value, sort_keys=True)}" for key, value in data.items()
    )


def _call(data: Mapping[str, Any]) -> str:
    call = data["call"]
    known = (
        "timeout",
        "poll_interval",
        "raise_on_failure",
        "fetch_timeout",
        "not_found_grace",
        "attempts",
        "jitter_seed",
    )
    given = [f"{key}={_value(call[key])}" for key in known if call.get(key) not in (None, False, 0.0)]
    return f"calls wait({call.get('job_id')!r}) on {call.get('resource')}, {data.get('mode', '?')}: {', '.join(given)}"


def _value(value: object) -> str:
    if isinstance(value, dict) and "$float" in value:
        return str(value["$float"])
    return number(value) if isinstance(value, int | float) and not isinstance(value, bool) else json.dumps(value)


def _view(data: Mapping[str, Any]) -> str:
    view = data["view"]
    kept = [
        f"{key}={value!r}"
        for key, value in view.items()
        if value is not None and key not in ("raw", "result", "status")
    ]
    return f"{view.get('status')}" + (f" ({', '.join(kept)})" if kept else "")


def _slept(data: Mapping[str, Any]) -> str:
    late = data.get("late") or 0.0
    aside = f", {_exact(late)} late" if late > 0 else f", {_exact(-late)} early" if late < 0 else ""
    return f"{data.get('ending', 'woke')} after {_exact(data['slept'])}{aside}"


def _answered(data: Mapping[str, Any]) -> str:
    if data.get("ending") != "answer":
        return f"{data.get('ending')}: {data.get('error', '')}".rstrip(": ")
    hints = [f"{key}: {value}" for key, value in (data.get("headers") or {}).items() if key != "content-type"]
    return f"HTTP {data.get('status')}" + (f" [{', '.join(hints)}]" if hints else "") + f" {data.get('body', '')}"


def _raised(data: Mapping[str, Any]) -> str:
    cause = f", caused by {data['cause']}" if data.get("cause") else ""
    return f"raises {data.get('type')} ({data.get('category')}){cause}: {data.get('message', '')}"


_TELL: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "wait.start": _call,
    "wait.cancel": lambda _: "asks for cancellation",
    "wait.return": lambda data: f"returns {_view(data)}",
    "wait.raise": _raised,
    "wait.on_poll": lambda data: f"on_poll: {_view(data)}",
    "sleep.start": lambda data: f"asks to sleep {_seconds(data['seconds'])} (by {data.get('by', '?')})",
    "sleep.end": _slept,
    "clock.jump": lambda data: f"the wall clock jumps by {_seconds(data['seconds'])}",
    "fetch.start": lambda data: f"{data['method']} {data['target']}",
    "fetch.end": _answered,
    "server.request": lambda data: f"{data['method']} {data['target']} (job {data.get('job')!r})",
    "server.answer": lambda data: str(data.get("words") or data["kind"]),
    "server.effect": lambda data: f"effect: {data.get('what')} {data.get('operation')} {data.get('job') or ''}",
    "bench.stop": lambda data: f"the bench ended the run: {data['reason']}: {data.get('detail', '')}",
    **QUEUE_TELL,
}
"""How each kind of event is told; a kind that is not here shows its data."""
