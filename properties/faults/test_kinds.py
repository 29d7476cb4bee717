"""Every fault kind, whichever there are: its data travels, its words read well, its effect can be computed."""

from __future__ import annotations

import dataclasses
import importlib
import json
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from waitproof.faults import kinds as kinds_package
from waitproof.faults.api_script import ApiScript
from waitproof.faults.kind import Kind
from waitproof.faults.kinds import all_kinds, kind_named
from waitproof.faults.plan import Answer, Fault, WaitPlan, answer, plan_from_json, plan_to_json
from waitproof.faults.queue_plan import Planned, QueuePlan
from waitproof.faults.reply import Asked, Reply
from waitproof.harness.jsonable import dumps, loads
from waitproof.harness.protocols import RESOURCES

EVERY = sorted(all_kinds())


def reply_of(given: Answer, **asked) -> Reply:
    return kind_named(given.kind).reply(given.data, Asked(**{"job_id": "job-1", **asked}))


def plan_with(item, place):
    """A plan that holds one thing of a place."""
    if place == "api":
        return QueuePlan(answers=(Planned(answer=item),))
    if place == "step":
        return QueuePlan(steps=(item,))
    return WaitPlan(**{{"answer": "answers", "wake": "wakes"}.get(place, place): (item,)})


@pytest.mark.parametrize("name", EVERY)
def test_drawn_data_travels_through_json_and_has_words(name):
    """What is drawn comes back from a plan's JSON as it was, and is told in one line."""
    kind = kind_named(name)

    @settings(max_examples=40, deadline=None, database=None)
    @given(kind.strategy())
    def check(data):
        assert isinstance(data, kind.data)
        item = (Answer if kind.place in ("answer", "api") else Fault)(kind=name, data=data)
        plan = plan_with(item, kind.place)
        text = dumps(plan_to_json(plan))
        assert dumps(plan_to_json(plan_from_json(type(plan), loads(text)))) == text
        words = item.words()
        assert words
        assert "\n" not in words
        assert words == words.strip()
        assert not words.endswith(".")

    check()


@pytest.mark.parametrize("name", EVERY)
def test_the_default_is_the_plainest_case_and_works(name):
    """Each field has a default, and the data made of defaults has an effect."""
    kind = kind_named(name)
    data = kind.data()
    assert dataclasses.is_dataclass(data)
    if kind.reply is not None:
        assert isinstance(kind.reply(data, Asked(job_id="job-1")), Reply)
    if kind.adjust is not None:
        assert kind.adjust(data, 1.0) >= 0
    if kind.at is not None:
        assert kind.at(data) >= 0
    if kind.script is not None:
        assert isinstance(kind.script(data), ApiScript)


@pytest.mark.parametrize("name", [name for name in EVERY if kind_named(name).place == "answer"])
def test_replies_work_for_any_data_id_and_resource(name):
    """A reply is made for whatever is drawn, of bytes and plain header text."""
    kind = kind_named(name)

    @settings(max_examples=40, deadline=None, database=None)
    @given(kind.strategy(), st.sampled_from(RESOURCES), st.booleans(), st.sampled_from(["job-1", "a/b", "完", '"']))
    def check(data, resource, old_keys, job_id):
        asked = Asked(job_id=job_id, resource=resource, old_keys=old_keys)
        reply = kind.reply(data, asked)
        assert isinstance(reply.body, bytes)
        assert 200 <= reply.status <= 599
        assert all(isinstance(part, str) for pair in reply.headers for part in pair)
        assert kind.reply(data, asked) == reply

    check()


@pytest.mark.parametrize("name", [name for name in EVERY if kind_named(name).place == "wake"])
def test_no_sleep_takes_less_than_nothing(name):
    """However early it wakes."""
    kind = kind_named(name)

    @settings(max_examples=40, deadline=None, database=None)
    @given(kind.strategy(), st.sampled_from([0.0, 0.001, 1.0, 600.0]))
    def check(data, asked):
        assert kind.adjust(data, asked) >= 0

    check()


def test_adding_a_kind_is_one_file(tmp_path, monkeypatch):
    """A file in the folder that defines KINDS is found by itself."""
    (tmp_path / "zz_made_up.py").write_text(
        "from dataclasses import dataclass\n"
        "from hypothesis import strategies as st\n"
        "from waitproof.faults.kind import Kind\n"
        "from waitproof.faults.reply import Reply\n"
        "@dataclass(frozen=True, kw_only=True)\n"
        "class MadeUp:\n"
        "    teapot: bool = True\n"
        "KINDS = (Kind(name='made_up', place='answer', data=MadeUp, strategy=lambda: st.builds(MadeUp),\n"
        "              words=lambda data: 'the server is a teapot', reply=lambda data, asked: Reply(status=418)),)\n"
    )
    monkeypatch.setattr(kinds_package, "__path__", [*kinds_package.__path__, str(tmp_path)])
    all_kinds.cache_clear()
    try:
        assert set(all_kinds()) == {*EVERY, "made_up"}
        plan = WaitPlan(answers=(answer("made_up", teapot=False),))
        assert plan_from_json(WaitPlan, loads(dumps(plan_to_json(plan)))) == plan
    finally:
        monkeypatch.undo()
        all_kinds.cache_clear()
        sys.modules.pop(f"{kinds_package.__name__}.zz_made_up", None)
        importlib.invalidate_caches()


def test_an_unknown_kind_is_refused_with_the_names_there_are():
    with pytest.raises(ValueError, match=r"no fault kind 'nonsense'; there are .*status"):
        kind_named("nonsense")


def test_a_kind_must_say_how_it_acts():
    with pytest.raises(ValueError, match="acts at 'wake' but does not say how"):
        Kind(name="x", place="wake", data=dict, strategy=st.nothing, words=str)


def test_an_error_comes_along_exactly_when_the_word_means_failed():
    for word, present in (("failed", True), ("timed-out", True), ("completed", False), ("cancelled", False)):
        told = json.loads(reply_of(answer("status", word=word), resource="extract_jobs").body)
        assert ("error" in told) is present
    told = json.loads(reply_of(answer("status", word="failed", error="absent")).body)
    assert not {"error", "failure_reason"} & set(told)


def test_the_families_use_their_own_keys():
    completed = answer("status")
    parse = json.loads(reply_of(completed, resource="parse_jobs").body)
    old = json.loads(reply_of(completed, resource="parse_jobs", old_keys=True).body)
    extract = json.loads(reply_of(completed, resource="extract_jobs").body)
    assert ("result" in parse, "data" in old, "result" in old, "result" in extract) == (True, True, False, True)
    assert parse["result"]["markdown"]
    assert "received_at" in parse
    assert "created_at" in extract
    assert json.loads(reply_of(answer("status", word="failed")).body)["failure_reason"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"form": "none"}, {}),
        ({"form": "seconds", "seconds": 7.0}, {"retry-after": "7"}),
        ({"form": "ms", "seconds": 1.9}, {"retry-after-ms": "1900"}),
        ({"form": "both", "seconds": 2.0, "other": 9.0}, {"retry-after-ms": "2000", "retry-after": "9"}),
        ({"form": "date", "seconds": 10.0}, {"retry-after": "Tue, 14 Nov 2023 22:13:30 GMT"}),
        (
            {"form": "date", "seconds": 10.0, "own_date": True},
            {"retry-after": "Tue, 14 Nov 2023 22:13:30 GMT", "date": "Tue, 14 Nov 2023 22:13:20 GMT"},
        ),
        ({"form": "text", "text": "Fri, 31 Dec 99999 23:59:59 GMT"}, {"retry-after": "Fri, 31 Dec 99999 23:59:59 GMT"}),
    ],
)
def test_every_form_of_retry_after(data, expected):
    """The server's wall clock reads 2023-11-14 22:13:20 UTC."""
    for kind in ("rate_limit", "hint"):
        headers = dict(reply_of(answer(kind, **data)).headers)
        assert headers.pop("content-type") == "application/json"
        assert headers == expected


def test_a_number_that_no_json_writer_makes_reaches_the_wire():
    assert b'"progress":1e400' in reply_of(answer("huge", progress="1e400")).body
    assert b'"status":NaN' in reply_of(answer("odd_status", json="NaN")).body
    assert b"job_id" not in reply_of(answer("wrong_id", json="")).body
