"""The invariant record: a sentence with an id, a level, a source, a claim that makes it apply, and a checker."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from .history import History
from .jsonable import safe_repr
from .verdicts import Finding, undecided

Checker: TypeAlias = Callable[[History], Finding]

_ID = re.compile(r"[a-z]+\.[a-z0-9_]+\Z")


class Level(StrEnum):
    """RFC 2119 words: breaking a MUST is a violation, breaking a SHOULD is reported as non-strict."""

    MUST = "MUST"
    SHOULD = "SHOULD"


@dataclass(frozen=True, kw_only=True)
class Invariant:
    """One thing that must be so in every history.

    ``id``: stable, ``family.name``. ``expectation``: one sentence. ``source``: where the rule comes from (SPEC section, public issue).
    ``claim``: it is judged only for subjects whose adapter claims this; ``None`` means that everyone is judged. ``safety``: it applies
    to everyone and can't be unclaimed (SPEC 5). ``check``: a pure function of a history. ``possible(dialect)``: whether the situation
    that it speaks of can come about at all in a dialect; where it can't, the invariant is not claimed rather than vacuous.
    """

    id: str
    level: Level
    expectation: str
    source: str
    check: Checker
    claim: str | None = None
    safety: bool = False
    possible: Callable[[Any], bool] = lambda _: True

    def __post_init__(self) -> None:
        if not _ID.match(self.id):
            raise ValueError(f"invariant id must look like 'family.name' in lower case, not {self.id!r}")
        if self.safety and self.claim is not None:
            raise ValueError(f"{self.id}: a safety invariant can't hang on the claim {self.claim!r}")
        if not self.safety and self.claim is None:
            raise ValueError(f"{self.id}: give the claim that makes it apply, or mark it safety=True")

    def applies_to(self, claims: Iterable[str], dialect: Any = None) -> bool:
        """True if a subject with these claims and this dialect (if it has one) is judged by this invariant."""
        return self.unclaimed(claims, dialect) == ""

    def unclaimed(self, claims: Iterable[str], dialect: Any = None) -> str:
        """Why a subject with these claims and this dialect is not judged by this invariant; empty if it is."""
        if self.claim is not None and self.claim not in set(claims):
            return f"it does not claim {self.claim!r}"
        if dialect is not None and not self.possible(dialect):
            return "its dialect rules the situation out"
        return ""

    def judge(self, history: History) -> Finding:
        """Run the checker. A checker that crashes answers *unknown*, never held; an empty history is never a pass."""
        if not len(history):
            return undecided("the history is empty: nothing was observed")
        try:
            return self.check(history)
        except Exception as error:  # noqa: BLE001 - a crashed checker must be told, whatever it was
            return undecided(f"the checker crashed: {safe_repr(error)}")
