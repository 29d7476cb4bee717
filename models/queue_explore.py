"""Exhaustive exploration of the reference queue: every event at every state, over the table of call configurations.

``python -m waitproof.models.queue_explore`` prints the counts, and every pair of a named state and an event: how often it was met, or
why it can't be. The walk is breadth-first; two paths that lead to the same state are one, so it ends. At every state the model's own
laws are checked; every way to an end becomes a history in the bench's vocabulary, which is followed by
:mod:`~waitproof.models.queue_following` and judged by the invariants of dispatch queues, which were written apart.
"""

from __future__ import annotations

import dataclasses
import sys
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias, cast

from ..harness.history import History
from ..harness.invariant import Invariant
from ..harness.jsonable import Json
from . import queue_rules as rules
from .queue import QueueModel, Setup, State
from .queue_following import describe, follow
from .queue_state import ABSTRACT, Entry
from .queue_steps import EVENTS, Move, Node, Step, Steps, World
from .queue_table import TABLE, Row
from .queue_tape import Tape
from .queue_telling import named
from .queue_unreachable import unreachable

_NO_EFFECT: Final = frozenset({"refused", "dropped", "expired", "closed", "breaker_open", "superseded"})


MOST_STEPS: Final = 1_000_000
"""Events of the walk over one row, after which it is given up, and told to be incomplete."""


NIGHTLY_STEPS: Final = 60_000
"""As :data:`MOST_STEPS`, for each row of the nightly walk."""


class ExplorationError(AssertionError):
    """The model breaks one of its laws, or an invariant: the message says which, why, and by what path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exploration:
    """What was walked.

    ``rows``, ``disruptions``: the scope: configurations, and how many disruptions a path may hold. ``states``, ``steps``, ``histories``,
    ``events``: distinct states, events at them, ends that were judged, events in those histories. ``visited``: how often each pair of a
    named state and an event was met; ``missing``: pairs that were neither met nor are known to be unreachable. ``unreachable``: why
    the others can't be. ``exercised``: how often each invariant was. ``walked``: by row, the disruptions that a path might hold, whether the
    walk came to its end, its states and events.
    """

    rows: int
    disruptions: int
    states: int
    steps: int
    histories: int
    events: int
    visited: Mapping[tuple[str, str], int] = field(default_factory=dict)
    unreachable: Mapping[tuple[str, str], str] = field(default_factory=dict)
    missing: tuple[tuple[str, str], ...] = ()
    exercised: Mapping[str, int] = field(default_factory=dict)
    walked: Mapping[str, tuple[int, bool, int, int]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Json]:
        """The counts as plain data; pairs as ``state / event``."""
        data = {name: getattr(self, name) for name in ("rows", "disruptions", "states", "steps", "histories", "events")}
        return {
            **data,
            "pairs": len(self.visited),
            "visited": {f"{state} / {event}": count for (state, event), count in sorted(self.visited.items())},
            "unreachable": {f"{state} / {event}": why for (state, event), why in sorted(self.unreachable.items())},
            "missing": [f"{state} / {event}" for state, event in self.missing],
            "walked": {
                name: {"disruptions": limit, "complete": complete, "states": states, "steps": steps}
                for name, (limit, complete, states, steps) in self.walked.items()
            },
            "exercised": cast("Json", dict(self.exercised)),
        }


def explore(
    *,
    rows: Sequence[Row] = TABLE,
    disruptions: int = 1,
    invariants: Sequence[Invariant] = (),
    judged: int = 100,
    full: bool = False,
    most: int = MOST_STEPS,
    follows: bool = True,
) -> Exploration:
    """Walk every row. Raises :class:`ExplorationError` at the first state or history that breaks a law.

    ``full``: every answer of each row, not the few of a quick walk. ``disruptions``: how many a path may hold; the walk grows by about ten times with each. ``judged``: how many of the ends of a row, evenly spread,
    become histories that are followed (``follows``) and judged by ``invariants``. ``most``: events of the walk over one row.
    """
    visited: dict[tuple[str, str], int] = {}
    walked: dict[str, tuple[int, bool, int, int]] = {}
    exercised = dict.fromkeys((one.id for one in invariants), 0)
    states = steps = histories = events = 0
    for row in rows:
        limit = min(disruptions, row.scope)
        walk = Walk(row if full else dataclasses.replace(row, answers=row.few), limit, most)
        walk.run()
        walked[row.name] = (limit + row.more, walk.complete, len(walk.nodes), walk.steps)
        states, steps = states + len(walk.nodes), steps + walk.steps
        for pair, count in walk.visited.items():
            visited[pair] = visited.get(pair, 0) + count
        for history in walk.histories(judged):
            histories, events = histories + 1, events + len(history)
            walk.judge(history, invariants, exercised, follows=follows)
    impossible = unreachable()
    pairs = [(state, event) for state in ABSTRACT for event in EVENTS]
    return Exploration(
        rows=len(rows),
        disruptions=disruptions,
        states=states,
        steps=steps,
        histories=histories,
        events=events,
        visited=visited,
        unreachable=impossible,
        missing=tuple(pair for pair in pairs if pair not in visited and pair not in impossible),
        exercised=exercised,
        walked=walked,
    )


def explored() -> dict[str, Json]:
    """The counts of a walk over the whole published table, as data for a report. Takes minutes."""
    return explore(most=NIGHTLY_STEPS).as_json()


class Walk:
    """The breadth-first walk over one row."""

    def __init__(self, row: Row, disruptions: int, most: int = MOST_STEPS) -> None:
        self.row, self.most, self.complete = row, most, True
        self.model = QueueModel(setup=Setup(config=row.config))
        self.all = Steps(self.model, row)
        self.nodes: dict[Mark, int] = {}
        self.ways: list[tuple[int, tuple[Move, ...], float]] = []
        self.edges: list[list[int]] = []
        self.ends: list[int] = []
        self.finishes: list[tuple[int, tuple[Move, ...], float]] = []
        self.visited: dict[tuple[str, str], int] = {}
        self.steps = 0
        self.begin = Node(self.model.start(), World(left=disruptions + row.more))

    def run(self) -> None:
        """Walk to the end."""
        queue = deque([(self._add(self.begin, -1, ()), self.begin)])
        while queue:
            if self.steps > self.most:
                self.complete = False
                return  # what can be reached from a border that was not walked is not known
            number, node = queue.popleft()
            names = self._names(node)
            for step in self.all.from_(node):
                self.steps += 1
                self._count(step, names)
                if not step.node.state.conserved:
                    raise ExplorationError(self._report(number, f"not conserved after {step.event}"))
                mark = canonical(step.node, self.row)
                known = self.nodes.get(mark)
                if known is None:
                    known = self._add(step.node, number, step.moves, mark)
                    self._check(step.node, known)
                    queue.append((known, step.node))
                self.edges[number].append(known)
                after = step.node.state
                if not after.submits and after.submitted == len(self.row.calls) and node.state.submits:
                    self.finishes.append((number, step.moves, after.now))
            if not self.edges[number]:
                self.ends.append(number)
                if node.state.submits:
                    raise ExplorationError(self._report(number, f"wedged: {describe(self.model, node.state)}"))
        self._never_wedged()

    def _add(self, node: Node, before: int, moves: tuple[Move, ...], mark: Mark | None = None) -> int:
        number = len(self.ways)
        self.nodes[mark or canonical(node, self.row)] = number
        self.ways.append((before, moves, node.state.now))
        self.edges.append([])
        return number

    def _names(self, node: Node) -> dict[int, str]:
        names = {index: "settled" for index, _ in node.world.told}
        names.update({one.index: named(self.model.setup, node.state, one) for one in node.state.submits})
        return names

    def _count(self, step: Step, names: Mapping[int, str]) -> None:
        for index, name in names.items():
            if step.concerns is None or index in step.concerns:
                pair = (name, step.event)
                self.visited[pair] = self.visited.get(pair, 0) + 1

    def _never_wedged(self) -> None:
        """From every state some end can be reached."""
        back: list[list[int]] = [[] for _ in self.edges]
        for number, targets in enumerate(self.edges):
            for target in targets:
                back[target].append(number)
        reached, queue = set(self.ends), deque(self.ends)
        while queue:
            for before in back[queue.popleft()]:
                if before not in reached:
                    reached.add(before)
                    queue.append(before)
        lost = [number for number in range(len(self.ways)) if number not in reached]
        if lost:
            raise ExplorationError(self._report(lost[0], "no end can be reached from here"))

    # -- laws --------------------------------------------------------------------------------------------------------

    def _check(self, node: Node, number: int) -> None:
        for law in _broken(self.model, self.row, node):
            raise ExplorationError(self._report(number, law))

    def _report(self, number: int, what: str) -> str:
        lines = [f"row {self.row.name!r}: {what}"]
        lines += [f"  {event.at:9.3f} {event.kind} {event.op} {dict(event.data)}" for event in self.history(number)]
        return "\n".join(lines)

    # -- histories ---------------------------------------------------------------------------------------------------

    def history(self, number: int) -> History:
        """The way to this node as the bench would have recorded it."""
        return self._told([], number)

    def _told(self, path: list[tuple[tuple[Move, ...], float]], number: int) -> History:
        while number >= 0:
            before, moves, now = self.ways[number]
            path.append((moves, now))
            number = before
        tape = Tape(self.row.config)
        for moves, _ in reversed(path):
            for move in moves:
                getattr(tape, move.method)(*move.arguments, **dict(move.named))
        tape.settled(path[0][1])
        return tape.history

    def histories(self, most: int) -> Iterator[History]:
        """The ways to at most so many ends, evenly spread."""
        stride = max(1, len(self.finishes) // most) if most else len(self.finishes) + 1
        for number, moves, now in self.finishes[::stride][:most]:
            yield self._told([(moves, now)], number)

    def judge(
        self, history: History, invariants: Sequence[Invariant], exercised: dict[str, int], *, follows: bool
    ) -> None:
        """Follow it, and let every invariant judge it."""
        if follows:
            found = follow(history)
            if found.breach is not None or found.stopped:
                raise ExplorationError(
                    _lines(self.row, f"it is not followed: {found.breach or found.stopped}", history)
                )
        for one in invariants:
            finding = one.judge(history)
            if finding.violated:
                words = f"{one.id}: {finding.cause}; expected {finding.expected}, observed {finding.observed}"
                raise ExplorationError(_lines(self.row, words, history))
            exercised[one.id] += bool(finding.witnesses)


def _lines(row: Row, what: str, history: History) -> str:
    lines = [f"row {row.name!r}: {what}"]
    lines += [f"  {event.seq:3} {event.at:9.3f} {event.kind} {event.op} {dict(event.data)}" for event in history]
    return "\n".join(lines)


def _broken(model: QueueModel, row: Row, node: Node) -> Iterator[str]:
    """The laws that this state breaks."""
    state, config = node.state, model.setup.config
    if not state.conserved or state.submitted != len(state.submits) + len(node.world.told):
        yield f"submitted {state.submitted} is not live {len(state.submits)} and told {node.world.told}"
    if sum(one.in_flight for one in state.entries) > config.workers:
        yield "more attempts than workers"
    if sum(not one.due for one in state.submits) > config.capacity:
        yield "more live submits than the capacity"
    writers = [one for one in state.entries if one.live and one.flying and rules.on_object(one.call)]
    if len({one.call.uid for one in writers}) < len(writers):
        yield "two writes of one object execute at once"
    effects, told = dict(node.world.effects), dict(node.world.told)
    for index, word in told.items():
        call, operation = row.calls[index]
        alone = sum(other == operation for _, other in row.calls[: state.submitted]) == 1
        if alone and word in _NO_EFFECT and effects.get(operation, 0):
            yield f"s{index} was told {word}, and its effect is there"
        if rules.is_write(call) and word in ("applied", "merged:applied") and not effects.get(operation, 0):
            yield f"s{index} was told {word}, and there is no effect"
    for index, (call, operation) in enumerate(row.calls[: state.submitted]):
        sent = {name for name, _ in node.world.sent}
        single = sum(other == operation for _, other in row.calls) == 1
        if (single or call.key is not None) and effects.get(operation, 0) > 1:
            yield f"the effect of s{index} is there twice"
        if call.type == "bind" and operation in sent:
            yield from _unconfirmed(row, state, index)


def _unconfirmed(row: Row, state: State, bind: int) -> Iterator[str]:
    for one in state.submits:
        if one.index < bind and not one.due and not one.parked and rules.is_prerequisite(one.call, row.calls[bind][0]):
            yield f"bind s{bind} was sent before its prerequisite {one.op} was confirmed"


Mark: TypeAlias = tuple[object, ...]


def canonical(node: Node, row: Row) -> Mark:
    """What tells this node from others: times are counted from now, and what can't matter any more is left out."""
    state, world = node.state, node.world
    now, over = state.now, state.submitted >= len(row.calls)
    until = min((one.call.deadline for one in state.submits), default=float("inf"))
    guards = any(one.call.precondition.resource_version is not None for one in state.submits)
    bucket: Mark = ()
    if state.bucket.qps != float("inf"):
        full = min(state.bucket.burst, state.bucket.tokens + (now - state.bucket.at) * state.bucket.qps)
        bucket = (state.bucket.qps, state.bucket.burst, round(full, 6), round(max(-9.0, state.bucket.last - now), 6))
    open_ = {one.index for one in state.entries} | {index for _, index in world.late}
    busy = {operation for _, operation in row.calls[state.submitted :]}
    busy |= {row.calls[one.index][1] for one in state.submits} | {one.operation for one in state.entries}
    busy |= {op.partition(".")[0] for op, _ in world.late}
    breaker = state.breaker
    opened = None if breaker.opened is None else round(breaker.opened - now, 6)
    return (
        tuple(_entry(one, now) for one in state.entries),
        state.submits,
        state.submitted,
        0.0 if until == float("inf") else round(now, 6),
        state.closing,
        state.closed,
        bucket,
        (breaker.least, breaker.most, opened, breaker.doubt is None),
        () if over else (state.ended, state.keys, state.binds),
        world.left,
        tuple(index for _, index in world.late),
        frozenset(one for one in world.looked if one[0] in open_),
        tuple((submit, home) for submit, home in world.homes if home in open_),
        tuple((index, _class(word)) for index, word in world.told if row.calls[index][1] in busy),
        tuple((operation, min(count, 2)) for operation, count in world.effects if operation in busy),
        tuple(operation for operation, _ in world.sent if operation in busy),
        world.versions if guards or not over else (),
    )


def _class(word: str) -> str:
    """An outcome as far as the laws tell it from others."""
    kind = word.rpartition(":")[2]
    return "done" if kind in ("applied", "noop") else "not" if word in _NO_EFFECT else "other"


def _entry(one: Entry, now: float) -> Mark:
    return (
        one.index,
        one.live,
        one.flying,
        one.reading,
        one.attempts,
        one.undecided,
        one.conflict,
        one.read,
        one.mute,
        max(0.0, round(one.low - now, 6)),
        max(0.0, round(one.high - now, 6)),
        one.waits,
        one.loose,
        one.free,
        one.since is None,
    )


def main(arguments: Sequence[str]) -> int:
    """Print the counts; an argument is the number of disruptions that a path may hold (1)."""
    found = explore(disruptions=int(arguments[0]) if arguments else 1, most=NIGHTLY_STEPS)
    for name, (limit, complete, states, steps) in found.walked.items():
        words = "complete" if complete else "NOT complete"
        print(f"{name:32} {words}, at most {limit} disruptions a path: {states} states, {steps} events")
    print(f"{found.rows} configurations, at most {found.disruptions} disruptions a path")
    print(
        f"{found.states} states, {found.steps} events at them, {found.histories} histories judged, {found.events} events"
    )
    print(
        f"{len(found.visited)} pairs of state and event met, {len(found.unreachable)} unreachable, {len(found.missing)} missing"
    )
    for state in ABSTRACT:
        print(f"\n{state}")
        for event in EVENTS:
            pair = (state, event)
            told = found.visited.get(pair)
            words = f"{told:9}" if told else f"        - {found.unreachable.get(pair, 'MISSING')}"
            print(f"  {event:24}{words}")
    return 1 if found.missing else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
