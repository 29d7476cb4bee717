"""The zoo of dispatch queues: each seeded bug passes its smoke plans, and is caught by the invariant that is named for it.

``waitproof zoo`` searches them from nothing; here their stored plans are replayed, on the bug and on the healthy queue.
"""

import re
import statistics

import pytest

from waitproof.faults.zoo import all_bugs
from waitproof.faults.zoo.dispatch._bug import QueueBug
from waitproof.faults.zoo.dispatch.smoke import SMOKE
from waitproof.harness.campaign import judge
from waitproof.harness.invariant import Level
from waitproof.models.invariants import catalogue
from waitproof.properties.suites import all_suites

BUGS = tuple(bug for bug in all_bugs().values() if isinstance(bug, QueueBug))

NO_BUG: dict[str, str] = {}
"""MUST invariants without a bug, and why."""

each_bug = pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)


def judged(bug, subject, plan):
    suite = all_suites()[bug.suite]
    return judge(suite, subject, suite.run(plan, subject))


def stored(bug):
    return all_suites()[bug.suite].format.from_json(bug.stored_plan())


# -- the catalogue of bugs ---------------------------------------------------------------------------------------------


def test_there_are_enough():
    assert len(BUGS) >= 50


def test_no_must_invariant_is_without_a_seeded_bug():
    must = {name for name, item in catalogue().items() if name.startswith("dispatch.") and item.level is Level.MUST}
    assert must - {bug.invariant for bug in BUGS} == set(NO_BUG)


def test_the_three_drivers_all_have_bugs():
    assert {bug.mode for bug in BUGS} == {"asyncio", "trio", "threads"}


@each_bug
def test_a_bug_says_where_its_kind_comes_from(bug):
    assert bug.source == "own" or re.match(r"D\d+ [\w.-]+/[\w.-]+[#!@]\w+", bug.source)
    assert bug.summary
    assert not bug.summary.endswith(".")


def test_every_stored_plan_belongs_to_a_bug_and_they_are_small():
    assert {path.stem for path in BUGS[0].plan_file.parent.glob("*.json")} == {bug.name for bug in BUGS}
    assert statistics.median(all_suites()[bug.suite].format.size(stored(bug)) for bug in BUGS) <= 8


# -- each bug ----------------------------------------------------------------------------------------------------------


@each_bug
def test_a_bug_passes_the_smoke_plans(bug):
    """A few calls, one after another: nothing that any invariant speaks of goes wrong."""
    for plan in SMOKE[bug.suite]:
        findings = judged(bug, bug.subject(), plan)
        assert [(key, found.cause) for key, found in findings.items() if found.answer is not True] == []


@each_bug
def test_a_bug_is_caught_by_its_stored_plan_and_the_healthy_queue_is_clean(bug):
    plan = stored(bug)
    assert judged(bug, bug.subject(), plan)[bug.invariant].violated
    findings = judged(bug, bug.clean(), plan)
    assert [(key, found.cause) for key, found in findings.items() if found.violated] == []
    assert findings[bug.invariant].answer is True


def test_a_bug_is_gone_when_its_run_is_over():
    """The names that a variant replaces are those of the built-in queue itself, so they must be put back."""
    bug = all_bugs()["an-unknown-type-is-ranked-lowest"]
    assert judged(bug, bug.subject(), stored(bug))[bug.invariant].violated
    assert not judged(bug, bug.clean(), stored(bug))[bug.invariant].violated
