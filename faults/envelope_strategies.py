"""Hypothesis strategies for envelopes: biased to the places where normalisers part, and shrinking to few, plain members.

An envelope begins as a likely one of its family. Then it *drifts*: keys are renamed, retyped, dropped, doubled, added, moved. The values
of each key are drawn from those that are interesting there (times from the edges of units, words from near the table) and, now and then,
from all of JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Final

from hypothesis import strategies as st

from ..harness.json_text import write_json
from ..harness.normaliser_subject import NormaliserDialect, NormaliserSubject
from ..harness.protocols import RESOURCES
from ..models.words import STATUSES, SYNONYMS
from .envelope_plan import (
    EXTRA_KEYS,
    JOB_KEYS,
    PAYLOAD_KEYS,
    RELATIONS,
    ZONES,
    Body,
    EnvelopePlan,
    EnvelopeRelationPlan,
    JobListPlan,
    Member,
    Relation,
)

HUGE: Final = "1" + "0" * 5000
ODD: Final = (
    "null", "true", "false", "0", "1", "-1", "0.5", "1.5", "45", "NaN", "Infinity", "-Infinity", "1e400", "1e308", HUGE, f"-{HUGE}", str(2**63),
    '""', '" "', '"\\ud800"', '"\\u0000"', '"2026"', '"completed"', "[]", "{}", "[null]", "[[]]", '{"":null}', '["x"]', '{"a":{"b":[1]}}',
)  # fmt: skip
"""Values that stand where they should not."""

TABLE: Final = (*STATUSES, *sorted(SYNONYMS))
STRANGE: Final = (
    "hibernating", "incomplete", "not_completed", "completed_with_errors", "", " ", "complet", "done!", "unknown", "retrying", "un-done", "failedx",
)  # fmt: skip
"""Words that no table has; some hold a word that it has."""

ISO: Final = (
    "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.678901Z", "2026-01-02T03:04:05+09:00", "2026-01-02T23:30:00-05:00", "2026-01-02T03:04:05",
    "2026-01-02", "2026-06-30T12:00:00.5+05:30", "2024-02-29T00:00:00Z", "1969-12-31T23:59:59.999999Z", "2026-03-29T02:30:00", "2500-01-01T00:00:00Z",
    "3000-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2026-01-02 03:04:05", "2026-01-02T03:04", "2026-01-02T03:04:05.1234567Z",
)  # fmt: skip
NO_TIMES: Final = (
    "2026", "1700000000", "1700000000.5", "1e9", "yesterday", "2026-13-01", "2026-02-30", "2026-01-02T24:00:00Z", "2026-01-02T03:04:60Z", "", "NaN",
    "20260102", "2026-01-02T03:04:05+25:00", "0000-01-01",
)  # fmt: skip
EPOCHS: Final = (
    "0", "1", "1700000000", "1700000000000", "1700000000000000", "1700000000000000000", "1700000000.5", "1700000000123.456", "-1", "-86400.5",
    "99999999999", "100000000000", "99999999999999", "100000000000000", "99999999999999999", "100000000000000000", "20000000001", "32503680000",
    "253402300799", "253402300800", "-62135596800", "-62135596801", "-99999999999", "1e18", "1.7e9", "400000000000000000000", HUGE, "NaN", "Infinity", "true", "false",
)  # fmt: skip


def _one(values: Sequence[str]) -> st.SearchStrategy[str]:
    """One of these texts, the first being the plainest. Drawn by its place: a strategy that holds huge texts has a huge ``repr``."""
    return st.integers(0, len(values) - 1).map(lambda place: values[place])


_TEXTS = st.one_of(st.sampled_from(("m", "x", "\ud800", "", "# title\n")), st.text(st.characters(), max_size=6)).map(
    write_json
)


def nested(levels: int, *, kind: str = "list") -> str:
    """A JSON text that is nested this deeply."""
    return "[" * levels + "]" * levels if kind == "list" else '{"a":' * levels + "1" + "}" * levels


@cache
def json_texts() -> st.SearchStrategy[str]:
    """Any JSON value, as text; sometimes nested deeply."""
    scalars = st.one_of(
        _one(ODD),
        st.integers().map(str),
        st.floats().map(write_json),
        _TEXTS,
    )
    keys = st.one_of(
        st.sampled_from(("a", "code", "message", "markdown", "")), st.text(st.characters(), max_size=3)
    ).map(write_json)

    def around(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.one_of(
            st.lists(inner, max_size=3).map(lambda parts: f"[{','.join(parts)}]"),
            st.lists(st.tuples(keys, inner), max_size=3).map(
                lambda pairs: "{" + ",".join(f"{key}:{part}" for key, part in pairs) + "}"
            ),
        )

    return st.recursive(scalars, around, max_leaves=6)


@cache
def deep_texts() -> st.SearchStrategy[str]:
    """Values that are nested so deeply that whatever recurses breaks."""
    return _one((nested(2000), nested(2000, kind="dict"), nested(5000)))


def _quoted(words: Sequence[str]) -> st.SearchStrategy[str]:
    return st.sampled_from(words).map(write_json)


@cache
def _words() -> st.SearchStrategy[str]:
    """Status words: of the table, of the table in another spelling, and others."""
    spellings: tuple[Callable[[str], str], ...] = (
        str.upper,
        str.title,
        lambda word: f" {word} ",
        lambda word: word.replace("_", "-"),
        lambda word: word.replace("_", " ").upper(),
        lambda word: word.replace("_", " - "),
    )
    respelled = st.builds(lambda word, spelling: spellings[spelling](word), st.sampled_from(TABLE), st.integers(0, 5))
    two = st.builds(
        lambda word, spelling: spellings[spelling](word),
        st.sampled_from(("in_progress", "timed_out")),
        st.integers(0, 5),
    )
    return st.one_of(st.sampled_from(TABLE), respelled, two, st.sampled_from(STRANGE)).map(write_json)


@cache
def _times() -> st.SearchStrategy[str]:
    seconds = st.integers(-62_135_596_800, 253_402_300_799)
    scaled = st.builds(lambda second, unit: str(second * unit), seconds, st.sampled_from((1, 10**3, 10**6, 10**9)))
    dates = st.builds(
        lambda moment, offset: f"{moment.isoformat()}{offset}",
        st.datetimes(),
        st.sampled_from(("", "Z", "+00:00", "+09:00", "-05:00", "+13:45", "-00:30")),
    ).map(write_json)
    return st.one_of(_quoted(ISO), _one(EPOCHS), _quoted(NO_TIMES), dates, scaled)


@cache
def _agreed() -> st.SearchStrategy[str]:
    """ISO text of the years in which the magnitude of an epoch number tells its unit."""
    seconds = st.integers(157_766_400, 95_617_583_999)
    return seconds.map(lambda second: (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=second)).isoformat()).map(
        write_json
    )


@cache
def _failures() -> st.SearchStrategy[str]:
    forms = (
        '{"code":"E1","message":"it broke"}', '{"message":"it broke"}', '{"code":500,"message":"it broke"}', '{"code":500}', '{"code":"E1"}', '"it broke"',
        '["it broke"]', '[{"code":"E1","message":"it broke"},"and burnt"]', '[{"code":7,"message":"a"}]', "{}", "[]", '""', '" "',
        '{"code":null,"message":null}', '{"code":true,"message":1}', '{"code":"E1","message":"m","details":[1]}', '{"detail":"x"}', '{"code":0,"message":""}',
        f'{{"code":{HUGE}}}', '{"message":"\\ud800"}', '[["x"]]', "[null]", "false", "0",
    )  # fmt: skip
    return _one(forms)


@cache
def _payloads() -> st.SearchStrategy[str]:
    forms = (
        '{"markdown":"m"}', '{"markdown":"m","chunks":[],"metadata":{"page_count":1}}', '{"extraction":{"a":1}}', '{"extraction_schema":"{}","metadata":{}}',
        "{}", '{"x":1}', '{"markdown":"other"}', '{"markdown":null}', '{"markdown":5,"metadata":"x"}', '{"markdown":"a","markdown":"b"}', "[]", '"m"', "[1]",
    )  # fmt: skip
    colliding = st.sampled_from(PAYLOAD_KEYS).map(lambda key: f'{{{write_json(key)}:1,"markdown":"m"}}')
    return st.one_of(st.sampled_from(forms), colliding)


@cache
def _values(key: str) -> st.SearchStrategy[str]:
    """Interesting values of a key."""
    named: dict[str, st.SearchStrategy[str]] = {
        "job_id": _one(('"job-1"', '"7"', "7", '""', "null", "true", "1.5", '"\\ud800"', HUGE)),
        "status": _words(),
        "progress": st.sampled_from(
            (
                "0.5",
                "0",
                "1",
                "1.0",
                "0.0",
                "-0.0",
                "45",
                "1.0000001",
                "-1",
                "true",
                "false",
                '"0.5"',
                "NaN",
                "Infinity",
                HUGE,
            )
        ),
        "error": _failures(),
        "failure_reason": _failures(),
        "result": _payloads(),
        "data": _payloads(),
    }
    return named.get(key, _times())


@cache
def _value(key: str) -> st.SearchStrategy[str]:
    """Mostly an interesting value; sometimes an odd one, or any."""
    good = _values(key)
    return st.one_of(good, good, good, good, _one(ODD), json_texts())


FAMILIES: Final = (
    ("job_id", "status", "progress", "result", "error", "created_at", "completed_at"),
    ("job_id", "status", "progress", "data", "failure_reason", "received_at", "started_at"),
    JOB_KEYS,
)


@st.composite
def bodies(draw: st.DrawFn, /, *, deep: bool = True) -> Body:
    """Bodies that are objects. Members are drawn one by one, so that an envelope shrinks to the few that matter."""
    keys = draw(st.sampled_from(FAMILIES))
    chosen = draw(st.lists(st.sampled_from(keys), min_size=draw(st.sampled_from((0, 1, 2, 4))), max_size=len(keys) + 1))
    members = []
    if draw(st.integers(0, 3)):
        word = draw(st.sampled_from(("completed", "completed", "failed", "any", "any")))
        status = draw(_words()) if word == "any" else write_json(word)
        members = [Member(key="job_id", value='"job-1"'), Member(key="status", value=status)]
    taken = {member.key for member in members}
    for key in chosen:
        if key not in taken or draw(st.integers(0, 9)) == 9:
            taken.add(key)
            members.append(Member(key=key, value=draw(_value(key))))
    if draw(st.integers(0, 3)) == 3:
        name = draw(st.one_of(st.sampled_from(EXTRA_KEYS), st.text(st.characters(), max_size=3)))
        members.append(Member(key=name, value=draw(json_texts())))
    if deep and draw(st.integers(0, 24)) == 24:
        members.append(Member(key=draw(st.sampled_from((*keys, "x"))), value=draw(deep_texts())))
    return Body(members=tuple(members))


@cache
def others() -> st.SearchStrategy[Body]:
    """Bodies that are no objects."""
    texts = (
        "null",
        "true",
        "0",
        "1.5",
        '""',
        '"{}"',
        "[]",
        "[{}]",
        "NaN",
        HUGE,
        '[{"status":"completed"}]',
        nested(3000),
    )
    return _one(texts).map(lambda text: Body(other=text))


def envelope_plans(_: NormaliserSubject) -> st.SearchStrategy[EnvelopePlan]:
    """Plans of single envelopes; one in ten or so is no object."""
    anything = st.integers(0, 11).flatmap(lambda dice: others() if dice == 11 else bodies())
    return st.builds(EnvelopePlan, resource=st.sampled_from(RESOURCES), body=anything)


def relation_plans(dialect: NormaliserDialect) -> st.SearchStrategy[EnvelopeRelationPlan]:
    """Plans of every relation that can hold for this dialect."""

    def of(relation: Relation) -> st.SearchStrategy[EnvelopeRelationPlan]:
        resources: Sequence[str] = RESOURCES
        if relation == "family" and dialect.old_keys == "family":
            resources = ("parse_jobs",)
        # Whether another endpoint than a parse's knows the old name of a time is open.
        bodied = st.builds(EnvelopePlan, resource=st.sampled_from(resources), body=_related(relation))
        plans = bodied.map(_without_created_at) if relation == "family" else bodied
        amounts = (
            st.integers(0, len(EXTRA_KEYS) * 3)
            if relation == "extra"
            else st.integers(0, max(len(ZONES), len(PAYLOAD_KEYS)))
        )
        return st.builds(EnvelopeRelationPlan, plan=plans, relation=st.just(relation), amount=amounts)

    return st.sampled_from(RELATIONS).flatmap(of)


def _without_created_at(plan: EnvelopePlan) -> EnvelopePlan:
    if plan.resource == "parse_jobs":
        return plan
    kept = tuple(member for member in plan.body.members if member.key != "created_at")
    return EnvelopePlan(resource=plan.resource, body=Body(members=kept), zone=plan.zone)


@st.composite
def _related(draw: st.DrawFn, relation: Relation) -> Body:
    """A body in which the change of this relation has something to change."""
    drawn = draw(bodies(deep=False))
    needs: dict[Relation, tuple[tuple[str, st.SearchStrategy[str]], ...]] = {
        "epoch": (("created_at", st.one_of(_quoted(ISO), _agreed())),),
        "zone": (("completed_at", _times()),),
        "payload": (("result", st.just('{"markdown":"m"}')),),
        "family": (("result", _payloads()), ("error", st.just('{"message":"it broke"}')), ("created_at", _times())),
    }
    wanted = needs.get(relation, ())
    names = {name for name, _ in wanted}
    if relation == "family":
        names |= {"data", "failure_reason", "received_at"}
    kept = [member for member in drawn.members if member.key not in names]
    if relation == "family":
        kept = list({member.key: member for member in kept}.values())
    added = [Member(key=name, value=draw(values)) for name, values in wanted if len(wanted) == 1 or draw(st.booleans())]
    return Body(members=(*kept, *added))


def job_list_plans(_: NormaliserSubject) -> st.SearchStrategy[JobListPlan]:
    """Plans of lists: good items among bad ones, odd envelopes, and a slice."""
    item = st.one_of(bodies(deep=False), bodies(deep=False), bodies(deep=False), others())
    flags = {
        "has_more": ("true", "false", '"false"', '"true"', "0", "1", "null", "[]"),
        "org_id": ('"org-1"', "null", "5", "true", '""', "{}"),
        "page": ("1", "true", '"1"', "1.0", "null", "0", HUGE),
        "page_size": ("10", "false", '"10"', "2.5", "null"),
    }
    member = st.sampled_from(sorted(flags)).flatmap(
        lambda name: st.builds(Member, key=st.just(name), value=_one(flags[name]))
    )
    odd = st.builds(
        Member,
        key=st.just("jobs"),
        value=st.sampled_from(("null", "{}", '"x"', "5", "true", '{"0":{}}', '[{"status":"done"}]')),
    )
    envelope = st.lists(member, max_size=4, unique_by=lambda one: one.key).map(lambda found: Body(members=tuple(found)))
    page = st.builds(
        JobListPlan, resource=st.sampled_from(RESOURCES), jobs=st.lists(item, max_size=4).map(tuple), envelope=envelope,
        start=st.integers(0, 2), stop=st.integers(0, 4),
    )  # fmt: skip
    bare = st.builds(
        JobListPlan, resource=st.sampled_from(RESOURCES), jobs=st.none(),
        envelope=st.one_of(envelope, odd.map(lambda one: Body(members=(one,))), others()),
    )  # fmt: skip
    return st.one_of(page, page, page, page, bare)
