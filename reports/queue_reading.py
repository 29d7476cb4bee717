"""A dispatch queue's history read for a picture: the life of each submit, its attempts, the server's effects, and what came too late."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .operations import Bar, Moment, pair
from .queue_words import part, real

DONE = frozenset({"applied", "noop"})
"""Outcomes that say: the server holds it."""


def is_queue(moments: Sequence[Moment]) -> bool:
    """Whether this is the history of a dispatch queue."""
    return any(moment.kind in ("queue.open", "call.submit") for moment in moments)


@dataclass(kw_only=True, eq=False)
class Life:
    """A submit from the call to its (first) outcome, which may be missing."""

    submit: Moment
    operation: str
    uid: str
    what: str
    context: str
    deadline: float
    outcome: Moment | None = None

    @property
    def kind(self) -> str:
        """What it was told; empty if nothing."""
        return str(part(self.outcome.data, "view").get("kind", "?")) if self.outcome else ""

    @property
    def final(self) -> str:
        """As :attr:`kind`; for ``merged`` the outcome of the call that did the work."""
        own = part(self.outcome.data, "view").get("own") if self.outcome else None
        return str(own) if own and self.kind == "merged" else self.kind

    def told_by(self, seq: int) -> bool:
        """Whether its outcome was told before this event."""
        return self.outcome is not None and self.outcome.seq < seq


@dataclass(kw_only=True)
class Reading:
    """What a picture shows. ``attempts``, ``answers``: bars of the transport and of the server. ``late``: the sequence numbers of ends of attempts and
    of effects that came too late, with the word for it: ``stale`` (the deadline had passed, or the context or the object was gone) or
    ``late`` (its submitter had been told, or for an effect its attempt was over)."""

    lives: list[Life] = field(default_factory=list)
    attempts: list[Bar] = field(default_factory=list)
    answers: list[Bar] = field(default_factory=list)
    closes: list[Bar] = field(default_factory=list)
    effects: list[Moment] = field(default_factory=list)
    caller: list[Moment] = field(default_factory=list)
    rest: list[Moment] = field(default_factory=list)
    late: dict[int, str] = field(default_factory=dict)
    config: Mapping[str, object] = field(default_factory=dict)


_CALLER = frozenset(
    {
        "call.submit",
        "call.outcome",
        "call.cancel",
        "call.mutate",
        "waiter.cancel",
        "context.end",
        "object.deleted",
        "queue.rate",
    }
)
QUIET = frozenset({"queue.open", "queue.stats", "call.accepted", "bench.note", "sleep.start", "sleep.end"})
"""Kinds that a picture leaves out, unless they are among those that show the violation; the table has them."""


def read(moments: Sequence[Moment], important: Sequence[int]) -> Reading:
    """Read a whole history."""
    found = Reading()
    bars, _ = pair(moments)
    found.attempts = [bar for bar in bars if bar.first.kind == "attempt.start"]
    found.answers = [bar for bar in bars if bar.first.kind == "api.request"]
    in_bars = {bar.first.seq for bar in (*found.attempts, *found.answers)}
    in_bars |= {bar.last.seq for bar in (*found.attempts, *found.answers) if bar.last}
    lives: dict[str, Life] = {}
    closing: dict[str, Moment] = {}
    over: dict[str, Moment] = {}
    for moment in moments:
        kind = moment.kind
        if kind == "queue.open":
            found.config = found.config or part(moment.data, "config")
        if kind == "call.submit":
            lives.setdefault(moment.op, _life(moment))
        elif kind == "call.outcome" and moment.op in lives and lives[moment.op].outcome is None:
            lives[moment.op].outcome = moment
        elif kind in ("context.end", "object.deleted"):
            over.setdefault(str(moment.data.get("context") or moment.data.get("uid")), moment)
        if kind == "queue.close":
            closing[moment.op] = moment
            found.closes.append(Bar(first=moment, last=None, ending="open"))
        elif kind == "queue.closed" and moment.op in closing:
            first = closing.pop(moment.op)
            ending = "bad" if moment.data.get("raised") or moment.data.get("cancelled") else "ok"
            found.closes = [
                Bar(first=first, last=moment, ending=ending) if bar.first is first else bar for bar in found.closes
            ]
        elif kind == "api.effect":
            found.effects.append(moment)
        elif kind in _CALLER:
            found.caller.append(moment)
        elif moment.seq not in in_bars and (kind not in QUIET or moment.seq in important):
            found.rest.append(moment)
    found.lives = list(lives.values())
    _judge(found, over)
    return found


def _life(moment: Moment) -> Life:
    call = part(moment.data, "call")
    return Life(
        submit=moment,
        operation=str(moment.data.get("operation", "")),
        uid=str(call.get("uid", "?")),
        what=str(call.get("type", "?")),
        context=str(call.get("context", "")),
        deadline=real(call.get("deadline")),
    )


def _judge(found: Reading, over: Mapping[str, Moment]) -> None:
    """Find what came too late."""
    sharing: dict[str, list[Life]] = {}
    for life in found.lives:
        sharing.setdefault(life.operation, []).append(life)
    ends = {bar.first.op: bar.last for bar in found.attempts if bar.last}
    for bar in found.attempts:
        if bar.last is not None and bar.last.data.get("ending") == "answer":
            word = _too_late(sharing.get(str(bar.first.data.get("operation")), []), bar.first, bar.last, over)
            if word:
                found.late[bar.last.seq] = word
    for effect in found.effects:
        if effect.data.get("by") == "external":
            continue
        end = ends.get(effect.op)
        lives = [life for life in sharing.get(str(effect.data.get("operation")), []) if life.submit.seq < effect.seq]
        if (end is not None and end.seq < effect.seq) or (lives and all(life.told_by(effect.seq) for life in lives)):
            found.late[effect.seq] = "late"


def _too_late(lives: Sequence[Life], start: Moment, end: Moment, over: Mapping[str, Moment]) -> str:
    concerned = [life for life in lives if life.submit.seq < start.seq]
    if not concerned:
        return ""
    if all(_expired(life, start, end, over) for life in concerned):
        return "stale"
    return "late" if all(life.told_by(end.seq) for life in concerned) else ""


def _expired(life: Life, start: Moment, end: Moment, over: Mapping[str, Moment]) -> bool:
    gone = [over[key] for key in (life.context, life.uid) if key in over]
    return (math.isfinite(life.deadline) and end.at > life.deadline) or any(
        max(life.submit.seq, start.seq) < moment.seq < end.seq for moment in gone
    )
