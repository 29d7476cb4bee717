"""Walks the reference models and keeps the counts for the report.

``python -m waitproof.models.explored RESULT-DIR [waiter] [queue]`` writes ``explorations.jsonl`` into a result directory; ``waitproof report``
shows what it finds there. It takes some minutes. The exit status is 1 if a model broke one of its laws, or if a pair of a named state and an
event is neither met nor known to be unreachable.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from ..harness.results import ExplorationInfo, ResultWriter
from . import explore as waiters
from . import queue_explore as queues


def of_waiter(depth: int = 6) -> ExplorationInfo:
    """The waiter's model, to this many fetches, each history judged by the waiter's invariants."""
    scope = f"{len(waiters.CALLS)} configurations, {len(waiters.ANSWERS)} answers, up to {depth} fetches"
    try:
        found = waiters.explore(depth)
    except waiters.ExplorationError as error:
        return ExplorationInfo(model="waiter", scope=scope, broken=_first_line(error))
    return ExplorationInfo(
        model="waiter", scope=scope, states=found.states, histories=found.histories, events=found.events
    )


def of_queue(disruptions: int = 1) -> ExplorationInfo:
    """The queue's model over its whole table of calls."""
    return queue_info(lambda: queues.explore(disruptions=disruptions), disruptions)


def queue_info(walk: Callable[[], queues.Exploration], disruptions: int) -> ExplorationInfo:
    """A walk of the queue's model as a record."""
    try:
        found = walk()
    except queues.ExplorationError as error:
        return ExplorationInfo(model="dispatch queue", scope=_scope(0, disruptions), broken=_first_line(error))

    def named(pair: tuple[str, str]) -> str:
        return f"{pair[0]} / {pair[1]}"

    return ExplorationInfo(
        model="dispatch queue",
        scope=_scope(found.rows, found.disruptions),
        states=found.states,
        steps=found.steps,
        histories=found.histories,
        events=found.events,
        visited={named(pair): count for pair, count in sorted(found.visited.items())},
        unreachable={named(pair): why for pair, why in sorted(found.unreachable.items())},
        missing=tuple(named(pair) for pair in found.missing),
    )


def _scope(rows: int, disruptions: int) -> str:
    return f"{rows or 'all'} configurations of 2 or 3 calls, at most {disruptions} disruptions a path"


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


MODELS: Final[Mapping[str, Callable[[], ExplorationInfo]]] = {"waiter": of_waiter, "queue": of_queue}


def main(arguments: Sequence[str]) -> int:
    """Walk the models that are named, or all, and write the counts."""
    names = list(arguments[1:]) or list(MODELS)
    if not arguments or not set(names) <= set(MODELS):
        print(f"usage: python -m waitproof.models.explored RESULT-DIR [{'] ['.join(MODELS)}]", file=sys.stderr)
        return 2
    found = [MODELS[name]() for name in names]
    ResultWriter(Path(arguments[0])).explorations(found)
    for info in found:
        print(f"{info.model}: {info.scope}: " + (f"BROKEN: {info.broken}" if info.broken else _counts(info)))
    return int(any(info.broken or info.missing for info in found))


def _counts(info: ExplorationInfo) -> str:
    pairs = f", {len(info.visited)} pairs met, {len(info.unreachable)} unreachable, {len(info.missing)} missing"
    return f"{info.states} states, {info.histories} histories" + (pairs if info.visited else "")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
