"""How far the reference models were walked: named states against events, each pair met, unreachable or missing."""

from __future__ import annotations

from dataclasses import dataclass

from ..harness.results import ExplorationInfo
from .evidence import Evidence


@dataclass(frozen=True, kw_only=True)
class Walk:
    """One exploration as a table: ``rows``, a state and for each of ``events`` how often it was met there; None: unreachable; -1: missing."""

    info: ExplorationInfo
    events: tuple[str, ...]
    rows: tuple[tuple[str, tuple[int | None, ...]], ...]
    peak: int

    @property
    def reasons(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Why pairs can't be, each reason with its pairs."""
        found: dict[str, list[str]] = {}
        for pair, why in self.info.unreachable.items():
            found.setdefault(why, []).append(pair)
        return tuple((why, tuple(pairs)) for why, pairs in found.items())


def walks(evidence: Evidence) -> tuple[Walk, ...]:
    """Every exploration that a result directory holds."""
    return tuple(_walk(info) for found in evidence.runs for info in found.explorations)


def _walk(info: ExplorationInfo) -> Walk:
    pairs = [pair.partition(" / ") for pair in (*info.visited, *info.unreachable, *info.missing)]
    states, events = sorted({state for state, _, _ in pairs}), sorted({event for _, _, event in pairs})
    rows = tuple((state, tuple(_count(info, f"{state} / {event}") for event in events)) for state in states)
    return Walk(info=info, events=tuple(events), rows=rows, peak=max(info.visited.values(), default=0))


def _count(info: ExplorationInfo, pair: str) -> int | None:
    if pair in info.visited:
        return info.visited[pair]
    return None if pair in info.unreachable else -1
