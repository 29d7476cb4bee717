"""Plans for normalisers: an envelope as JSON *text*, member by member, and what is done with it.

The text is the truth of a plan: only so can it say duplicate keys, lone surrogates, huge integers, ``1`` beside ``1.0``, and nesting without
end. A member keeps its value as text, so that a shrink drops members and the JSON stays JSON.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from ..harness.json_text import read_json, write_json
from ..harness.protocols import RESOURCES
from ..models.normaliser import KNOWN, OLD
from ..models.normaliser_times import is_plain_iso, moment_of

Relation = Literal["order", "extra", "payload", "family", "epoch", "zone", "resource"]
RELATIONS: Final[tuple[Relation, ...]] = ("order", "extra", "payload", "family", "epoch", "zone", "resource")

ZONES: Final = ("JST-9", "EST5EDT,M3.2.0,M11.1.0", "<+1345>-13:45", "<-12>12", "<+0530>-5:30", "UTC0")
"""POSIX time zones: they need no tables of the system."""

JOB_KEYS: Final = (
    "job_id", "status", "result", "data", "error", "failure_reason", "created_at", "received_at", "started_at", "completed_at", "progress",
)  # fmt: skip
"""The keys of a job's envelope, of both families."""

EXTRA_KEYS: Final = (
    "x_trace", "Status", "STATUS", "status_v2", "state", "resultUrl", "data2", "errors", "", "raw", "self", "cls", "class", "_fields_set",
    "model_config", "__class__", "words", "resource", "updated_at", "kind", "1",
)  # fmt: skip
"""Keys of no meaning; some look like one that has, some are called like a parameter of a constructor."""
EXTRA_VALUES: Final = ('"failed"', "true", "1", "null", '{"status":"failed"}', "[1,[2]]", '"2026-01-01"')

PAYLOAD_KEYS: Final = (
    "_fields_set",
    "self",
    "_BaseModel__cls",
    "cls",
    "values",
    "__class__",
    "model_fields",
    "payload",
    "kind",
    "extra",
)
"""Keys of a payload that a constructor, called with the payload's keys as its arguments, could take for its own."""


@dataclass(frozen=True, kw_only=True)
class Member:
    """One member of a JSON object: its key, and its value as JSON text. A key may stand twice; a key may hold a lone surrogate."""

    key: str
    value: str = "null"

    def text(self) -> str:
        """The member as JSON text."""
        return f"{json.dumps(self.key)}:{self.value}"

    def words(self) -> str:
        """The member as a phrase."""
        shown = self.value if len(self.value) <= 80 else f"{self.value[:60]}… ({len(self.value)} characters)"
        return f"{json.dumps(self.key)}: {shown}"


@dataclass(frozen=True, kw_only=True)
class Body:
    """A body: an object of ``members``, or, if ``other`` is not empty, that JSON text, whatever it is."""

    members: tuple[Member, ...] = ()
    other: str = ""

    def text(self) -> str:
        """The body as JSON text."""
        return self.other or "{" + ",".join(member.text() for member in self.members) + "}"

    def words(self) -> list[str]:
        """The body as phrases, one a member."""
        if self.other:
            return [f"the body is {Member(key='', value=self.other).words()[4:]}"]
        return [member.words() for member in self.members] or ["an empty object"]


def body(text_or_values: str | Mapping[str, Any] | None = None, **values: Any) -> Body:
    """A body of JSON text that is no object, or of members with these values: ``body(status="completed", result={"markdown": "m"})``."""
    if isinstance(text_or_values, str):
        return Body(other=text_or_values)
    members = {**(text_or_values or {}), **values}
    return Body(members=tuple(Member(key=key, value=write_json(value, sort=False)) for key, value in members.items()))


@dataclass(frozen=True, kw_only=True)
class EnvelopePlan:
    """One envelope, normalised under one time zone of the process."""

    resource: str = "parse_jobs"
    body: Body = field(default_factory=Body)
    zone: str = "UTC0"

    def words(self) -> list[str]:
        """The plan as sentences, one an item, leaving out whatever is as by default."""
        zone = [f"the process runs under TZ={self.zone}"] if self.zone != "UTC0" else []
        return [f"normalise an envelope of {self.resource}", *zone, *self.body.words()]


@dataclass(frozen=True, kw_only=True)
class EnvelopeRelationPlan:
    """One envelope and what is changed the second time.

    ``order``: keys in another order. ``extra``: an unknown key is added. ``payload``: an unknown key is added to the payloads. ``family``: the
    new keys are spelled in the old way. ``epoch``: ISO times are told as epoch numbers, in the unit that ``amount`` picks. ``zone``: another
    TZ of the process. ``resource``: another of the three resources. ``amount`` picks among the ways there are.
    """

    plan: EnvelopePlan = field(default_factory=EnvelopePlan)
    relation: Relation = "order"
    amount: int = 0

    def changed(self) -> EnvelopePlan:
        """The plan of the second run; the same one if there is nothing to change."""
        plan = self.plan
        if self.relation == "zone":
            return dataclasses.replace(plan, zone=ZONES[self.amount % len(ZONES)])
        if self.relation == "resource":
            others = [name for name in RESOURCES if name != plan.resource]
            return dataclasses.replace(plan, resource=others[self.amount % len(others)])
        if plan.body.other:
            return plan
        change = {"order": _reordered, "extra": _extended, "payload": _payload, "family": _old_keys, "epoch": _epochs}[
            self.relation
        ]
        return dataclasses.replace(plan, body=Body(members=change(plan.body.members, self.amount)))

    def words(self) -> list[str]:
        """The plan as sentences, one an item."""
        changed = self.changed()
        change = {
            "order": f"its keys in another order ({self.amount})",
            "extra": f"with {changed.body.members[-1].words() if changed.body.members else 'nothing'} added",
            "payload": f"with the key {_payload_key(self.amount)!r} in its payloads",
            "family": "in the old keys",
            "epoch": f"its ISO times as epoch numbers of {_UNIT_WORDS[self.amount % 4]}",
            "zone": f"under TZ={changed.zone}",
            "resource": f"as one of {changed.resource}",
        }[self.relation]
        return [*self.plan.words(), f"and once more, {change}"]


def _reordered(members: tuple[Member, ...], amount: int) -> tuple[Member, ...]:
    """Another order of the keys, in which those that stand twice keep theirs: which of them counts is part of the meaning."""
    keys = list(dict.fromkeys(member.key for member in members))
    turn = 1 + amount % max(len(keys) - 1, 1)
    keys = list(reversed(keys)) if amount == 0 else keys[turn:] + keys[:turn]
    return tuple(_inner_reversed(member) for key in keys for member in members if member.key == key)


def _inner_reversed(member: Member) -> Member:
    value = read_json(member.value)
    if not isinstance(value, dict) or len(value) < 2:
        return member
    return Member(key=member.key, value=write_json(dict(reversed(value.items())), sort=False))


def _extended(members: tuple[Member, ...], amount: int) -> tuple[Member, ...]:
    taken = {member.key for member in members} | KNOWN
    free = [key for key in EXTRA_KEYS if key not in taken]
    value = EXTRA_VALUES[amount // len(free) % len(EXTRA_VALUES)]
    return (*members, Member(key=free[amount % len(free)], value=value))


def _payload_key(amount: int) -> str:
    return PAYLOAD_KEYS[amount % len(PAYLOAD_KEYS)]


def _payload(members: tuple[Member, ...], amount: int) -> tuple[Member, ...]:
    def one(member: Member) -> Member:
        value = read_json(member.value) if member.key in ("result", "data") else None
        if not isinstance(value, dict) or not value:
            return member
        return Member(key=member.key, value=write_json({_payload_key(amount): 1, **value}, sort=False))

    return tuple(one(member) for member in members)


def _old_keys(members: tuple[Member, ...], _: int) -> tuple[Member, ...]:
    """The new keys in the old spelling. A key whose old name is taken stays, and so does a failure that no text can say."""
    taken = {member.key for member in members}
    twice = len(taken) != len(members)

    def one(member: Member) -> Member:
        old = OLD.get(member.key)
        if old is None or old in taken or twice:
            return member
        if member.key != "error":
            return Member(key=old, value=member.value)
        value = read_json(member.value)
        if (
            isinstance(value, dict)
            and set(value) == {"message"}
            and isinstance(value["message"], str)
            and value["message"].strip()
        ):
            return Member(key=old, value=write_json(value["message"]))
        return member

    return tuple(one(member) for member in members)


_UNIT_WORDS = ("seconds", "milliseconds", "microseconds", "nanoseconds")
_TIMES = ("created_at", "received_at", "started_at", "completed_at")
_FIRST, _LAST = 157_766_400_000_000, 95_617_584_000_000_000  # the years 1975 and 5000: there the units agree


def _epochs(members: tuple[Member, ...], amount: int) -> tuple[Member, ...]:
    def one(member: Member) -> Member:
        value = read_json(member.value) if member.key in _TIMES else None
        moment = moment_of(value) if is_plain_iso(value) else None
        if not isinstance(moment, int) or not _FIRST <= moment < _LAST:
            return member
        size = (10**6, 10**3, 1)[amount % 4] if amount % 4 < 3 else 0
        if not size:
            return Member(key=member.key, value=str(moment * 1000))
        if moment % size:
            return member  # no whole number of this unit: a fraction would be a float, and round
        return Member(key=member.key, value=str(moment // size))

    return tuple(one(member) for member in members)


@dataclass(frozen=True, kw_only=True)
class JobListPlan:
    """A page of jobs: the items under ``jobs``, and the other members of the body.

    ``jobs``: ``None`` if no list stands there (then ``envelope`` may hold the key itself). ``start`` and ``stop``: the slice that is taken.
    """

    resource: str = "parse_jobs"
    jobs: tuple[Body, ...] | None = ()
    envelope: Body = field(default_factory=Body)
    start: int = 0
    stop: int = 1

    def text(self) -> str:
        """The body as JSON text."""
        if self.envelope.other:
            return self.envelope.other
        jobs = [] if self.jobs is None else [f'"jobs":[{",".join(item.text() for item in self.jobs)}]']
        return "{" + ",".join([*jobs, *(member.text() for member in self.envelope.members)]) + "}"

    def words(self) -> list[str]:
        """The plan as sentences, one an item."""
        lines = [f"normalise a list of {self.resource}, and take [{self.start}:{self.stop}] of it"]
        for number, item in enumerate(self.jobs or ()):
            lines.append(f"item {number}: {'; '.join(item.words())}")
        return [*lines, *([] if self.envelope == Body() else self.envelope.words())]
