"""A suite: one frozen value that says which plans to draw, how to run one, and which invariants to judge its history by."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from hypothesis.stateful import RuleBasedStateMachine
from hypothesis.strategies import SearchStrategy

from .figures import Figure
from .history import History
from .invariant import Invariant
from .jsonable import Json
from .parting import Parting


class Subject(Protocol):
    """What every kind of subject has: a name, a kind, and what it claims."""

    @property
    def name(self) -> str:
        """Its name on the bench."""

    @property
    def kind(self) -> str:
        """``waiter``, …: which suites can run it."""

    @property
    def claims(self) -> frozenset[str]:
        """The claims that its adapter makes for it."""


P = TypeVar("P")
S = TypeVar("S", bound=Subject)

OnCase = Callable[[P, History], None]


@dataclass(frozen=True, kw_only=True)
class PlanFormat(Generic[P]):
    """How a suite's plans are written, read, told and made simpler.

    ``size``: the number of non-default items. ``simpler``: plans that are one step simpler, the boldest first. ``reach``: what a plan
    contains, as ``{group: {thing: count}}``, for the report.
    """

    to_json: Callable[[P], Json]
    from_json: Callable[[Json], P]
    words: Callable[[P], Sequence[str]]
    size: Callable[[P], int]
    simpler: Callable[[P], Iterator[P]]
    reach: Callable[[P], Mapping[str, Mapping[str, int]]]


@dataclass(frozen=True, kw_only=True)
class Suite(Generic[P, S]):
    """One suite.

    * ``run(plan, subject)``: run one plan and return its history; the same plan gives the same history.
    * ``strategy(subject)``: draws plans; or ``machine(subject, on_case)``: a Hypothesis state machine that makes a plan step by step and
      hands plan and history to ``on_case`` at its end. Exactly one of the two.
    * ``corners(subject)``: plans that are always run first.
    * ``refuses(subject)``: why this subject can't be run here, or ``""``.
    * ``model(history)``: where the reference model of the subject's dialect parts from a history, ``None`` if it does not, or if there
      is none. Shown beside a counterexample; it decides nothing.
    * ``figures(history)``: what a history says of the bounds that the subject prints; of each the worst, and the one that came closest to
      its bound, go into the report. They decide nothing either.
    * ``variants(plan)``: the plans that are run for one that was drawn (default: itself), mostly the same under several schedules; each is
      judged, shrunk and told as a plan of its own.
    * ``share``: the part of the profile's examples that this suite gets; dear suites take less.
    """

    name: str
    summary: str
    kind: str
    invariants: tuple[Invariant, ...]
    format: PlanFormat[P]
    run: Callable[[P, S], History]
    strategy: Callable[[S], SearchStrategy[P]] | None = None
    machine: Callable[[S, OnCase[P]], type[RuleBasedStateMachine]] | None = None
    corners: Callable[[S], Sequence[P]] = lambda _: ()
    refuses: Callable[[S], str] = lambda _: ""
    model: Callable[[History], Parting | None] = lambda _: None
    figures: Callable[[History], Sequence[Figure]] = lambda _: ()
    variants: Callable[[P], Sequence[P]] = lambda plan: (plan,)
    share: float = 1.0

    def __post_init__(self) -> None:
        if (self.strategy is None) == (self.machine is None):
            raise ValueError(f"suite {self.name!r} needs a strategy or a machine, and not both")
        if not self.invariants:
            raise ValueError(f"suite {self.name!r} judges nothing")

    def applicable(self, subject: S) -> list[Invariant]:
        """The invariants that judge this subject; the others are *not claimed*."""
        return [item for item in self.invariants if item.applies_to(subject.claims, getattr(subject, "dialect", None))]


AnySuite = Suite[Any, Any]
