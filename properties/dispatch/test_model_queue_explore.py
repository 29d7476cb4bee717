"""The reference queue, walked to its end over the table of calls, breaks no law; and a model that is wrong is caught."""

import json

import pytest

from waitproof.models import queue, queue_limits, queue_ready, queue_submit, queue_telling
from waitproof.models.queue_explore import ExplorationError, explore
from waitproof.models.queue_state import ABSTRACT
from waitproof.models.queue_steps import EVENTS
from waitproof.models.queue_table import QUICK, TABLE
from waitproof.models.queue_unreachable import unreachable


def rows(*names):
    found = [row for row in TABLE if row.name in names]
    assert len(found) == len(names)
    return found


@pytest.mark.slow
def test_a_quick_walk():
    """Not every pair is met in these rows; ``python -m waitproof.models.queue_explore`` walks the whole table and lists what is missing."""
    found = explore(rows=rows(*QUICK), disruptions=1, judged=20)
    print(f"\n{found.states} states, {found.steps} steps, {found.histories} histories, {len(found.visited)} pairs")
    print("not met in these rows:", *found.missing)
    assert sorted(set(found.visited) & set(found.unreachable)) == []
    assert len(found.visited) + len(found.unreachable) + len(found.missing) == len(ABSTRACT) * len(EVENTS)
    assert found.states > 5_000
    assert found.histories > 20


def test_the_counts_as_data():
    found = explore(rows=rows("refusals"), disruptions=0)
    data = json.loads(json.dumps(found.as_json()))
    assert data["rows"] == 1
    assert data["states"] == found.states > 5
    assert data["visited"]["settled / submit"] > 0
    assert all(" / " in name for name in data["unreachable"])
    assert data["missing"]


def test_rows_have_names_of_their_own():
    assert len({row.name for row in TABLE}) == len(TABLE)
    assert all(len(row.calls) in (2, 3) for row in TABLE)
    assert all(row.config.workers <= 2 for row in TABLE)
    assert all(len({call.uid for call, _ in row.calls}) <= 2 for row in TABLE)


def test_reasons_name_states_and_events():
    for (state, event), why in unreachable().items():
        assert state in ABSTRACT
        assert event in EVENTS
        assert why


def nothing(*_, **__):
    return ""


MUTANTS = {
    "two writers": (queue_ready, "_object", nothing, "relevance", "two writes of one object"),
    "early bind": (queue_ready, "_prerequisites", nothing, "prerequisite", "before its prerequisite"),
    "too many workers": (queue_ready, "workers_free", lambda *_: 9, "full", "more attempts than workers"),
    "no capacity": (queue_submit, "_victims", lambda *_: iter(()), "full", "more live submits"),
    "expired in flight": (
        queue_telling,
        "_at_its_deadline",
        lambda *_: frozenset({"expired"}),
        "deadlines",
        "its effect is there",
    ),
    "nobody asks again": (queue_limits, "has_token", lambda *_: False, "order", "wedged"),
    "a lost end": (queue.QueueModel, "closed", lambda _, state: state, "order", "no end can be reached"),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_model_is_caught(monkeypatch, name):
    where, what, instead, row, words = MUTANTS[name]
    if name == "no capacity":
        monkeypatch.setattr(queue_submit, "checks", lambda *_: iter(()))
        monkeypatch.setattr(queue_submit, "_with_room", lambda _, state, __: iter((state,)))
    else:
        monkeypatch.setattr(where, what, instead)
    with pytest.raises(ExplorationError, match=words):
        explore(rows=rows(row), disruptions=1 if "end" in name else 0, judged=0)


def test_an_end_that_is_not_counted(monkeypatch):
    def told(draft, one, word):
        del draft.submits[one.index]

    monkeypatch.setattr(queue, "told", told)
    with pytest.raises(ExplorationError, match="not conserved"):
        explore(rows=rows("order"), disruptions=0, judged=0)
