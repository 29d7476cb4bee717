"""The zoo: each seeded bug is one that plain tests miss, and is caught by the invariant that is named for it.

``waitproof zoo`` searches them from nothing; here their stored plans are replayed, on the bug and on the healthy waiter.
"""

import dataclasses
import re

import pytest
from hypothesis import strategies as st

from waitproof.faults.plan import WaitPlan
from waitproof.faults.zoo import all_bugs
from waitproof.faults.zoo.bug import SeededBug
from waitproof.faults.zoo.waiter.smoke import SMOKE
from waitproof.harness.campaign import judge
from waitproof.harness.invariant import Level
from waitproof.harness.profiles import PROFILES
from waitproof.harness.results import read_results
from waitproof.models.invariants import catalogue
from waitproof.properties.suites import all_suites
from waitproof.properties.zoo import UnknownBugError, hunt, line_of, search_zoo, wanted_bugs

BUGS = tuple(bug for bug in all_bugs().values() if bug.suite in SMOKE)
"""The bugs of waiters and their clients: other rooms of the zoo have smoke plans of their own."""

each_bug = pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)


def judged(bug: SeededBug, subject, plan):
    suite = all_suites()[bug.suite]
    return judge(suite, subject, suite.run(plan, subject))


def stored(bug: SeededBug):
    return all_suites()[bug.suite].format.from_json(bug.stored_plan())


# -- the catalogue of bugs ---------------------------------------------------------------------------------------------


def test_no_must_invariant_is_without_a_seeded_bug():
    """A family is as good as its least tried invariant; one that has no bug at all is not in the zoo yet."""
    families = {bug.invariant.split(".")[0] for bug in BUGS}
    must = {item.id for item in catalogue().values() if item.level is Level.MUST and item.id.split(".")[0] in families}
    assert must - {bug.invariant for bug in BUGS} == set()
    assert {"subject", "waiter"} <= families


def test_the_three_modes_all_have_bugs():
    assert {bug.mode for bug in BUGS} == {"sync", "asyncio", "trio"}


@each_bug
def test_a_bug_says_where_its_kind_comes_from(bug):
    assert bug.source == "own" or re.match(r"[WD]\d+ \S+", bug.source)
    assert bug.summary
    assert not bug.summary.endswith(".")


@each_bug
def test_a_bug_is_searched_where_its_invariant_is_judged(bug):
    assert bug.invariant in {item.id for item in all_suites()[bug.suite].invariants}


def test_every_stored_plan_belongs_to_a_bug():
    folder = BUGS[0].plan_file.parent
    assert {path.stem for path in folder.glob("*.json")} == {bug.name for bug in BUGS}


# -- each bug ----------------------------------------------------------------------------------------------------------


@each_bug
def test_a_bug_passes_a_smoke_plan(bug):
    """A few pending answers, then completed: nothing that any invariant speaks of goes wrong."""
    for name in dict.fromkeys(("waiter", bug.suite)):
        suite, subject = all_suites()[name], bug.subject()
        for plan in SMOKE[name]:
            findings = judge(suite, subject, suite.run(plan, subject))
            assert [(key, found.cause) for key, found in findings.items() if found.answer is not True] == []


@each_bug
def test_a_bug_is_caught_by_its_stored_plan(bug):
    assert judged(bug, bug.subject(), stored(bug))[bug.invariant].violated


@each_bug
def test_the_healthy_waiter_is_clean_under_the_same_plan(bug):
    findings = judged(bug, bug.clean(), stored(bug))
    assert [(key, found.cause) for key, found in findings.items() if found.violated] == []
    assert findings[bug.invariant].answer is True


def test_a_bug_is_gone_when_its_run_is_over():
    """The names that a variant replaces are those of the built-in waiter itself, so they must be put back."""
    bug = all_bugs()["full-delay-near-the-end"]
    assert judged(bug, bug.subject(), stored(bug))[bug.invariant].violated
    assert not judged(bug, bug.clean(), stored(bug))[bug.invariant].violated


# -- the search --------------------------------------------------------------------------------------------------------


def test_the_search_catches_bugs_from_nothing_and_leaves_a_result_directory(tmp_path, capsys):
    names = ["full-delay-near-the-end", "hollow-result", "a-504-is-sent-again"]
    assert search_zoo(names, profile=PROFILES["quick"], seed=1, out=tmp_path, jobs=2) == 0
    results = read_results(tmp_path)
    assert results.warnings == ()
    assert results.run.exit == 0
    assert {row.bug for row in results.zoo} == set(names)
    for row in results.zoo:
        assert row.caught
        assert row.invariant in row.caught_by
        assert row.examples >= 1
        assert (tmp_path / "plans" / f"{row.bug}.json").is_file()
    assert "3 of 3 seeded bugs were caught" in capsys.readouterr().err


def test_the_search_is_the_same_for_the_same_seed():
    one, other = (hunt("no-last-look", profile=PROFILES["quick"], seed=5) for _ in range(2))
    assert (one.row.examples, one.row.items, one.plan) == (other.row.examples, other.row.items, other.plan)


def test_a_bug_that_is_missed_is_a_failure(tmp_path, monkeypatch):
    """Here: because nothing at all is tried."""
    monkeypatch.setattr(
        "waitproof.properties.zoo.hunt", lambda name, **_: hunt(name, profile=PROFILES["quick"], seed=0, rounds=1)
    )
    suite = all_suites()["waiter"]
    monkeypatch.setitem(all_suites(), "waiter", _without_search(suite))
    assert search_zoo(["hollow-result"], profile=PROFILES["quick"], seed=0, out=tmp_path, quiet=True) == 1
    (row,) = read_results(tmp_path).zoo
    assert not row.caught
    assert line_of(row).startswith("MISSED  hollow-result")


def _without_search(suite):
    return dataclasses.replace(suite, corners=lambda _: (), strategy=lambda _: st.just(WaitPlan()))


def test_an_unknown_bug_is_named_with_those_there_are():
    with pytest.raises(UnknownBugError, match="no seeded bug 'qqqq'"):
        wanted_bugs(["qqqq"])


def test_bugs_can_be_chosen_by_suite():
    assert {bug.suite for bug in wanted_bugs([], ["client"])} == {"client"}
    with pytest.raises(UnknownBugError, match="no bug is left by --suite client"):
        wanted_bugs(["hollow-result"], ["client"])
