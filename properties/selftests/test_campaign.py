"""The runner: counts are true, each violated invariant is shrunk on its own, the same seed gives the same, and a check can fail."""

import dataclasses

import pytest
from hypothesis import strategies as st

from waitproof.harness import events
from waitproof.harness.campaign import Hooks, search
from waitproof.harness.history import History
from waitproof.harness.invariant import Invariant, Level
from waitproof.harness.profiles import PROFILES, profile_named
from waitproof.harness.suite import PlanFormat, Suite
from waitproof.harness.tokens import decode
from waitproof.harness.verdicts import held, undecided, violated


@dataclasses.dataclass(frozen=True)
class Toy:
    name: str = "toy"
    kind: str = "toy"
    claims: frozenset = frozenset({"claimed"})


def run(plan, subject):
    """A history with one event a number of the plan."""
    made = History({"subject": subject.name})
    for number in plan:
        made.append(at=float(number), kind=events.BENCH_NOTE, lane=events.BENCH, data={"number": number})
    return made


def no_number(limit):
    def check(history):
        for event in history:
            if event.data["number"] >= limit:
                return violated(
                    "too large", events=(event.seq,), expected=f"below {limit}", observed=str(event.data["number"])
                )
        return held([event.seq for event in history])

    return check


def invariant(name, check, *, level=Level.MUST, claim="claimed"):
    return Invariant(id=f"toy.{name}", level=level, expectation="x", source="y", check=check, claim=claim)


FORMAT = PlanFormat(
    to_json=list,
    from_json=tuple,
    words=lambda plan: [f"number {number}" for number in plan],
    size=len,
    simpler=lambda plan: (plan[:index] + plan[index + 1 :] for index in range(len(plan))),
    reach=lambda plan: {"numbers": {"many": len(plan)}},
)

SUITE = Suite(
    name="toy",
    summary="numbers",
    kind="toy",
    format=FORMAT,
    run=run,
    strategy=lambda _: st.lists(st.integers(0, 100), min_size=1, max_size=8).map(tuple),
    invariants=(
        invariant("small", no_number(50)),
        invariant("smaller", no_number(20)),
        invariant("should", no_number(90), level=Level.SHOULD),
        invariant("holds", no_number(1000)),
        invariant("vacuous", lambda _: held()),
        invariant("unknown", lambda _: undecided("who knows")),
        invariant("unclaimed", no_number(0), claim="something else"),
    ),
)


def verdicts(result):
    return {row.invariant.removeprefix("toy."): row.verdict for row in result.rows}


def test_every_kind_of_verdict():
    """One search gives all six, and counts what it saw."""
    result = search(SUITE, Toy(), PROFILES["quick"], seed=1)
    assert verdicts(result) == {
        "small": "violated",
        "smaller": "violated",
        "should": "non-strict",
        "holds": "held",
        "vacuous": "vacuous",
        "unknown": "unknown",
        "unclaimed": "not claimed",
    }
    [row] = [row for row in result.rows if row.invariant == "toy.holds"]
    assert (row.evaluated, row.exercised) == (40, 40)
    assert result.stats.examples == 40


def test_each_is_shrunk_on_its_own():
    """Two invariants that are violated at one line each get their own smallest counterexample."""
    failures = {failure.invariant: failure for failure in search(SUITE, Toy(), PROFILES["quick"], seed=1).failures}
    assert failures["toy.small"].plan == [50]
    assert failures["toy.smaller"].plan == [20]
    assert failures["toy.should"].plan == [90]
    assert all(failure.deterministic and failure.items == 1 for failure in failures.values())
    assert decode(failures["toy.small"].token).plan == [50]


def test_the_same_seed_gives_the_same():
    """Rows, counterexamples and histories are equal; another seed draws other plans."""
    first, again, other = (search(SUITE, Toy(), PROFILES["quick"], seed=seed) for seed in (7, 7, 8))
    assert first.rows == again.rows
    assert first.failures == again.failures
    assert first.rows != other.rows


def test_a_subject_that_differs_from_run_to_run_is_told():
    """A failing example is run twice; another history the second time is not called deterministic."""
    count = iter(range(10_000_000))

    def fickle(plan, subject):
        made = run(plan, subject)
        made.append(at=0.0, kind=events.BENCH_NOTE, lane=events.BENCH, data={"number": 0, "run": next(count)})
        return made

    result = search(dataclasses.replace(SUITE, run=fickle), Toy(), PROFILES["quick"], seed=1)
    assert result.stats.determinism_failed == result.stats.determinism_checked > 0
    assert not any(failure.deterministic for failure in result.failures)


def test_corners_are_run_first_and_hooks_see_everything():
    """Explicit plans come before the drawn ones; each result is handed out as soon as it is there."""
    plans, rows, failures = [], [], []
    hooks = Hooks(
        plan=lambda _, plan: plans.append(plan),
        row=rows.append,
        failure=lambda failure: (failures.append(failure), "stored")[1],
    )
    suite = dataclasses.replace(SUITE, corners=lambda _: [(99,), (1,)])
    result = search(suite, Toy(), PROFILES["quick"], seed=1, hooks=hooks)
    assert plans[:2] == [(99,), (1,)]
    assert tuple(rows) == result.rows
    assert tuple(failures) == result.failures
    assert {row.failure for row in rows} == {"", "stored"}


def test_shrinking_gives_signs_of_life_where_nothing_is_run_again():
    """A rare violation: the second pass draws every plan of the first again, whose verdicts are known."""
    seen = []
    hooks = Hooks(plan=lambda *_: seen.append("plan"), alive=lambda: seen.append("alive"))
    result = search(SUITE, Toy(), PROFILES["quick"], seed=1, hooks=hooks)
    assert result.failures
    assert seen.count("alive") > len(result.failures)


def test_a_suite_needs_exactly_one_source_of_plans():
    """Neither none nor two, and something to judge."""
    for wrong in ({"strategy": None}, {"machine": lambda *_: None}, {"invariants": ()}):
        with pytest.raises(ValueError, match="suite 'toy'"):
            dataclasses.replace(SUITE, **wrong)


@pytest.mark.parametrize(
    "wrong", [{"name": "none"}, {"name": "quick", "examples": 0}, {"name": "quick", "hang_seconds": 0.0}]
)
def test_profiles_are_checked(wrong):
    """Unknown names and impossible numbers are refused."""
    with pytest.raises(ValueError, match=r"profile|examples|hang"):
        profile_named(**wrong)
