"""The one campaign runner. The command and the pytest files both call :func:`search`, so the two can't differ.

A search of one suite on one subject goes in two passes. First every plan is run once and every invariant judges its history: nothing
stops at a failure, so the counts are true. Then each invariant that was violated is searched and shrunk on its own, with an exception
class of its own (Hypothesis merges failures of one type at one line), from the same seed; what Hypothesis leaves is finished by dropping
one item of the plan at a time. Each counterexample is run twice and the digests are compared.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hypothesis import given
from hypothesis import seed as with_seed
from hypothesis.errors import Flaky, HypothesisException
from hypothesis.stateful import run_state_machine_as_test

from . import events
from .figures import Figure
from .history import History
from .invariant import Invariant, Level
from .jsonable import dumps, safe_repr
from .outcomes import outcome_of
from .parting import Parting
from .profiles import Profile, hypothesis_settings
from .results.records import Failure, FigureStats, Row, SuiteStats
from .suite import OnCase, Subject, Suite
from .tokens import Token, encode
from .verdicts import Finding, Verdict

P = TypeVar("P")
S = TypeVar("S", bound=Subject)


class InvariantViolatedError(AssertionError):
    """Base of the exception classes that a search raises, one an invariant."""


class _Enough(BaseException):
    """Ends a pass early: its budget is used up, or it has found what it was for. Hypothesis takes no BaseException for a failure."""


@dataclass(frozen=True, kw_only=True)
class Hooks:
    """What a caller may watch. ``plan``: a plan is about to run. ``alive``: work goes on, and no plan is running. ``progress``: examples
    done, of how many. ``row``, ``failure``, ``stats``: a result is there. ``failure`` answers where it was stored (may be empty)."""

    plan: Callable[[str, Any], None] = lambda _suite, _plan: None
    alive: Callable[[], None] = lambda: None
    progress: Callable[[str, int, int], None] = lambda _suite, _done, _of: None
    row: Callable[[Row], None] = lambda _: None
    failure: Callable[[Failure], str] = lambda _: ""
    stats: Callable[[SuiteStats], None] = lambda _: None


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """All that one search found."""

    rows: tuple[Row, ...]
    failures: tuple[Failure, ...]
    stats: SuiteStats


@dataclass(kw_only=True)
class _Tally:
    evaluated: int = 0
    exercised: int = 0
    witnesses: int = 0
    violations: int = 0
    undecided: int = 0
    example: Any = None
    finding: Finding | None = None
    history: History | None = None
    found_after: int = 0
    unknown: str = ""

    def add(self, plan: object, history: History, finding: Finding) -> None:
        self.evaluated += 1
        self.exercised += bool(finding.witnesses)
        self.witnesses += len(finding.witnesses)
        if finding.violated:
            self.violations += 1
            if self.example is None:
                self.example, self.found_after = plan, self.evaluated
                self.finding, self.history = finding, history
        elif finding.answer is None:
            self.undecided += 1
            self.unknown = self.unknown or finding.cause


@dataclass(kw_only=True)
class _Reach:
    examples: int = 0
    events: int = 0
    virtual: float = 0.0
    digests: set[str] = field(default_factory=set)
    reach: dict[str, Counter[str]] = field(default_factory=dict)
    stops: Counter[str] = field(default_factory=Counter)
    stop_details: dict[str, str] = field(default_factory=dict)
    figures: dict[str, list[Figure]] = field(default_factory=dict)
    """By name the figure with the greatest value, and the one that came closest to its bound."""
    measured: Counter[tuple[str, bool]] = field(default_factory=Counter)
    """How many runs had a figure, by name and by whether its bound was finite."""

    def measure(self, figure: Figure) -> None:
        worst, closest = self.figures.setdefault(figure.name, [figure, figure])
        self.figures[figure.name] = [
            figure if figure.seen > worst.seen else worst,
            figure if (figure.share, -figure.bound) > (closest.share, -closest.bound) else closest,
        ]
        self.measured[figure.name, math.isfinite(figure.bound)] += 1

    def figure_stats(self) -> tuple[FigureStats, ...]:
        return tuple(
            FigureStats(
                name=name,
                unit=worst.unit,
                runs=self.measured[name, True] + self.measured[name, False],
                bounded=self.measured[name, True],
                worst=worst.seen,
                worst_bound=worst.bound,
                closest=closest.seen,
                closest_bound=closest.bound,
                why=closest.why,
            )
            for name, (worst, closest) in self.figures.items()
        )

    def add(self, plan_reach: dict[str, dict[str, int]], history: History, digest: str) -> None:
        self.examples += 1
        self.events += len(history)
        self.virtual += max((event.at for event in history), default=0.0)
        self.digests.add(digest)
        for group, counts in plan_reach.items():
            self.reach.setdefault(group, Counter()).update(counts)
        kinds = self.reach.setdefault("events", Counter())
        outcomes = self.reach.setdefault("outcomes", Counter())
        for event in history:
            kinds[event.kind] += 1
            if outcome := outcome_of(event):
                outcomes[outcome] += 1
            elif event.kind == events.BENCH_STOP:
                reason = str(event.data.get("reason"))
                self.stops[reason] += 1
                self.stop_details.setdefault(reason, str(event.data.get("detail", "")))


def judge(suite: Suite[P, S], subject: S, history: History) -> dict[str, Finding]:
    """What each applicable invariant says of one history, by id."""
    return {item.id: item.judge(history) for item in suite.applicable(subject)}


def search(
    suite: Suite[P, S],
    subject: S,
    profile: Profile,
    *,
    seed: int,
    hooks: Hooks | None = None,
    spec: str = "",
    versions: dict[str, str] | None = None,
    stop_at_first: bool = False,
) -> SearchResult:
    """Search one suite on one subject.

    ``seed`` decides every plan. ``spec``: how the subject is loaded again, for the replay token (default: its name).
    ``stop_at_first``: the first pass ends with the first violation of anything (for seeded bugs, where the counts do not matter).
    Whatever the subject does inside ``suite.run`` is in the history; an exception that comes out of here is a fault of the harness.
    """
    return _Search(
        suite,
        subject,
        profile,
        seed=seed,
        hooks=hooks or Hooks(),
        spec=spec or subject.name,
        versions=versions or {},
        stop_at_first=stop_at_first,
    ).run()


class _Search:
    def __init__(
        self,
        suite: Suite[Any, Any],
        subject: Any,
        profile: Profile,
        *,
        seed: int,
        hooks: Hooks,
        spec: str,
        versions: dict[str, str],
        stop_at_first: bool,
    ) -> None:
        self.suite, self.subject, self.profile, self.seed, self.hooks = suite, subject, profile, seed, hooks
        self.spec, self.versions, self.stop_at_first = spec, versions, stop_at_first
        self.invariants = suite.applicable(subject)
        self.tallies = {item.id: _Tally() for item in self.invariants}
        self.shrink_runs = profile.shrink_runs
        self.reach = _Reach()
        self.violated_by_plan: dict[str, frozenset[str]] = {}
        self.checked = self.flaky = 0
        self.notes: list[str] = []

    # -- first pass: look at everything --------------------------------------------------------------------------------

    def run(self) -> SearchResult:
        started = time.perf_counter()
        total = max(1, round(self.profile.examples * self.suite.share))

        def on_case(plan: Any, history: History | None) -> None:
            if history is not None:
                self.hooks.plan(self.suite.name, plan)
            self._collect(plan, self.execute(plan) if history is None else history)
            self.hooks.progress(self.suite.name, min(self.reach.examples, total), total)

        try:
            for corner in self.suite.corners(self.subject):
                for plan in self.suite.variants(corner):
                    self._collect(plan, self.execute(plan))
            if self.invariants:
                self._explore(on_case, shrink=False, name="collect")
        except _Enough:
            pass
        failures, rows = self._conclude()
        stats = SuiteStats(
            subject=self.subject.name,
            suite=self.suite.name,
            examples=self.reach.examples,
            distinct=len(self.reach.digests),
            events=self.reach.events,
            virtual_seconds=round(self.reach.virtual, 3),
            wall_seconds=round(time.perf_counter() - started, 3),
            reach={group: dict(sorted(counts.items())) for group, counts in sorted(self.reach.reach.items())},
            stops=dict(sorted(self.reach.stops.items())),
            stop_details=dict(sorted(self.reach.stop_details.items())),
            determinism_checked=self.checked,
            determinism_failed=self.flaky,
            figures=self.reach.figure_stats(),
            note="; ".join(self.notes),
        )
        self.hooks.stats(stats)
        return SearchResult(rows=tuple(rows), failures=tuple(failures), stats=stats)

    def execute(self, plan: Any) -> History:
        self.hooks.plan(self.suite.name, plan)
        return self.suite.run(plan, self.subject)

    def _collect(self, plan: Any, history: History) -> None:
        digest = history.digest()
        self.reach.add({key: dict(value) for key, value in self.suite.format.reach(plan).items()}, history, digest)
        self._measure(history)
        bad = set()
        for item in self.invariants:
            finding = item.judge(history)
            self.tallies[item.id].add(plan, history, finding)
            if finding.violated:
                bad.add(item.id)
        self.violated_by_plan[self.key(plan)] = frozenset(bad)
        if bad and self.stop_at_first:
            raise _Enough

    def _measure(self, history: History) -> None:
        """Figures are there to explain: should they break, the findings stand."""
        try:
            for figure in self.suite.figures(history):
                self.reach.measure(figure)
        except Exception as error:  # noqa: BLE001 - told as a note of the suite
            note = f"figures could not be read: {safe_repr(error)}"
            self.notes.extend([note] if note not in self.notes else [])

    def _explore(self, on_case: Callable[[Any, History | None], None], *, shrink: bool, name: str) -> None:
        settings = hypothesis_settings(self.profile, share=self.suite.share, shrink=shrink)
        if self.suite.machine is not None:
            machine = self.suite.machine(self.subject, on_case)
            run_state_machine_as_test(with_seed(self.seed)(machine), settings=settings)
            return
        assert self.suite.strategy is not None

        def case(plan: Any) -> None:
            for variant in self.suite.variants(plan):
                on_case(variant, None)

        case.__name__ = case.__qualname__ = f"{self.suite.name}_{name}".replace("-", "_")
        with_seed(self.seed)(settings(given(self.suite.strategy(self.subject))(case)))()

    def key(self, plan: Any) -> str:
        return dumps(self.suite.format.to_json(plan))

    # -- second pass: each violated invariant on its own ---------------------------------------------------------------

    def _conclude(self) -> tuple[list[Failure], list[Row]]:
        failures: list[Failure] = []
        rows: list[Row] = []
        for item in self.suite.invariants:
            tally = self.tallies.get(item.id)
            stored = ""
            failure = None
            if tally is not None and tally.example is not None:
                failure = self._counterexample(item, tally)
                failures.append(failure)
                stored = self.hooks.failure(failure)
            row = self._row(item, tally, failure, stored)
            rows.append(row)
            self.hooks.row(row)
        return failures, rows

    def _row(self, item: Invariant, tally: _Tally | None, failure: Failure | None, stored: str) -> Row:
        tally = tally or _Tally()
        if item.id not in self.tallies:
            verdict = Verdict.NOT_CLAIMED
            cause = item.unclaimed(self.subject.claims, getattr(self.subject, "dialect", None))
        elif failure is not None:
            verdict = Verdict.VIOLATED if item.level is Level.MUST else Verdict.NON_STRICT
            cause = failure.cause
        elif tally.exercised:
            # Undecided examples beside decided ones are shown by their count; only an invariant that was never decided is unknown.
            verdict, cause = (
                (Verdict.HELD, "") if tally.evaluated > tally.undecided else (Verdict.UNKNOWN, tally.unknown)
            )
        else:
            verdict, cause = (
                (Verdict.UNKNOWN, tally.unknown) if tally.undecided else (Verdict.VACUOUS, "never exercised")
            )
        return Row(
            subject=self.subject.name,
            suite=self.suite.name,
            invariant=item.id,
            verdict=str(verdict),
            level=str(item.level),
            evaluated=tally.evaluated,
            exercised=tally.exercised,
            witnesses=tally.witnesses,
            violations=tally.violations,
            undecided=tally.undecided,
            cause=cause,
            failure=stored,
        )

    def _counterexample(self, item: Invariant, tally: _Tally) -> Failure:
        plan, runs = self._shrink(item, tally.example)
        history, again = self.execute(plan), self.execute(plan)
        finding = item.judge(history)
        same = finding.violated and history.digest() == again.digest()
        self.checked += 1
        self.flaky += not same
        cause = finding.cause
        if not finding.violated and tally.finding is not None and tally.history is not None:
            # The subject does not do the same twice. It was seen to fail once, so that is the evidence.
            plan, history, finding = tally.example, tally.history, tally.finding
            cause = f"{finding.cause} (seen once; the same plan later gave another history)"
        token = Token(
            suite=self.suite.name,
            subject=self.spec,
            invariant=item.id,
            plan=self.suite.format.to_json(plan),
            digest=history.digest(),
            versions=self.versions,
        )
        word = encode(token)
        parting = self._parting(item, history)
        return Failure(
            subject=self.subject.name,
            suite=self.suite.name,
            invariant=item.id,
            level=str(item.level),
            cause=cause,
            expected=finding.expected,
            observed=finding.observed,
            events=finding.events,
            plan=token.plan,
            words=tuple(self.suite.format.words(plan)),
            items=self.suite.format.size(plan),
            token=word,
            command=f"waitproof replay {word}",
            history=history.to_jsonl(),
            digest=history.digest(),
            deterministic=same,
            shrink_runs=runs,
            found_after=tally.found_after,
            model=parting.allowed if parting else "",
            model_observed=parting.observed if parting else "",
            model_state=parting.state if parting else "",
        )

    def _parting(self, item: Invariant, history: History) -> Parting | None:
        """Where the reference model parts from a counterexample. It is there to explain: should it break, the finding stands."""
        try:
            return self.suite.model(history)
        except Exception as error:  # noqa: BLE001 - told as a note of the suite
            self.notes.append(f"{item.id}: the reference model could not follow: {safe_repr(error)}")
            return None

    def _shrink(self, item: Invariant, first: Any) -> tuple[Any, int]:
        if not self.shrink_runs:
            return first, 0
        shrinker = _Shrinker(self, item, first)
        try:
            self._explore(shrinker.on_case, shrink=True, name=f"shrink_{item.id.replace('.', '_')}")
        except (InvariantViolatedError, _Enough):
            pass
        except Flaky as error:
            self.notes.append(f"{item.id}: {type(error).__name__} while shrinking")
        except HypothesisException as error:
            self.notes.append(f"{item.id}: Hypothesis stopped shrinking: {safe_repr(error)}")
        shrinker.finish()
        return shrinker.best, shrinker.runs


class _Shrinker:
    """Holds the best counterexample of one invariant: fewest non-default items, then the shortest text, then its order."""

    def __init__(self, owner: _Search, item: Invariant, first: Any) -> None:
        self.owner, self.item = owner, item
        self.best = first
        self.rank = self._rank(first)
        self.runs = 0
        self.failed = type(f"Violated_{item.id.replace('.', '_')}", (InvariantViolatedError,), {})

    def _rank(self, plan: Any) -> tuple[int, int, str]:
        key = self.owner.key(plan)
        return self.owner.suite.format.size(plan), len(key), key

    def _violates(self, plan: Any, history: History | None = None) -> bool:
        key = self.owner.key(plan)
        known = self.owner.violated_by_plan.get(key)
        if known is None or history is not None:
            self.runs += 1
            bad = judge(self.owner.suite, self.owner.subject, self.owner.execute(plan) if history is None else history)
            known = frozenset(name for name, finding in bad.items() if finding.violated)
            self.owner.violated_by_plan[key] = known
        if self.item.id not in known:
            return False
        rank = self._rank(plan)
        if rank < self.rank:
            self.best, self.rank = plan, rank
        return True

    def on_case(self, plan: Any, history: History | None) -> None:
        self.owner.hooks.alive()  # thousands of plans may come whose verdict is known, and a machine's have run already
        if self.runs > self.owner.shrink_runs:
            raise _Enough
        if self._violates(plan, history):
            raise self.failed(self.item.id)

    def finish(self) -> None:
        """Drop one item at a time until none can be dropped, within the same budget again."""
        limit = self.runs + self.owner.shrink_runs
        progress = True
        while progress and self.runs < limit:
            progress = False
            for plan in self.owner.suite.format.simpler(self.best):
                if self.runs >= limit:
                    return
                if self._rank(plan) < self.rank and self._violates(plan):
                    progress = True
                    break


__all__ = ["Hooks", "InvariantViolatedError", "OnCase", "SearchResult", "judge", "search"]
