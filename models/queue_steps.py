"""One step of the exploration: every event that can happen at a state, with the server's ground truth and what the bench would record."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from ..harness.jsonable import dumps
from . import queue_limits as limits
from . import queue_rules as rules
from .queue import Arrival, NotAllowed, QueueModel, State
from .queue_state import Entry, Submit
from .queue_table import Row
from .queue_telling import choices

EVENTS: Final = (
    "submit",
    "attempt",
    "answered",
    "refused by the server",
    "try again",
    "no answer",
    "lands late",
    "read back",
    "read-back answered",
    "read-back lost",
    "time",
    "told",
    "cancel",
    "context ends",
    "object deleted",
    "rate",
    "close",
    "close returns",
)

_ANSWERED: Final = {
    "ok": ("answered", 200),
    "conflict": ("refused by the server", 409),
    "invalid": ("refused by the server", 422),
    "busy": ("try again", 503),
    "lost": ("no answer", None),
    "lost, landed": ("no answer", None),
    "lost, lands late": ("no answer", None),
}


@dataclass(frozen=True, slots=True)
class Move:
    """What the bench would record: a method of :class:`~waitproof.models.queue_tape.Tape` and its arguments."""

    method: str
    arguments: tuple[Any, ...]
    named: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class World:
    """The ground truth beside the queue's state.

    ``versions``: resourceVersion by uid. ``effects``: ledger entries by operation. ``late``: attempts whose effect is still to come.
    ``sent``: attempts begun by operation. ``flights``: the attempt in flight, by entry. ``homes``: the entry of each submit. ``told``:
    outcomes. ``looked``: entries that were read back (once each here, and once after a conflict). ``left``: disruptions that may still come.
    """

    left: int
    versions: tuple[tuple[str, int], ...] = ()
    effects: tuple[tuple[str, int], ...] = ()
    late: tuple[tuple[str, int], ...] = ()
    sent: tuple[tuple[str, int], ...] = ()
    flights: tuple[tuple[int, str], ...] = ()
    homes: tuple[tuple[int, int], ...] = ()
    told: tuple[tuple[int, str], ...] = ()
    looked: frozenset[tuple[int, bool]] = frozenset()


@dataclass(frozen=True, slots=True)
class Node:
    """A state of the queue in its world."""

    state: State
    world: World


@dataclass(frozen=True, slots=True)
class Step:
    """An event, the submits that it concerns (``None``: all), where it leads, and what is recorded."""

    event: str
    concerns: frozenset[int] | None
    node: Node
    moves: tuple[Move, ...]


def put(pairs: tuple[tuple[Any, Any], ...], key: Any, value: Any) -> tuple[tuple[Any, Any], ...]:
    """These pairs with one set."""
    return tuple(sorted({**dict(pairs), key: value}.items()))


@dataclass(frozen=True, slots=True)
class Steps:
    """Everything that can happen, over one row of the table."""

    model: QueueModel
    row: Row

    def from_(self, node: Node) -> Iterator[Step]:
        """Every event at this node. Outcomes that are due are told first, all at once."""
        due = [one for one in node.state.submits if one.due]
        if due:
            yield self._tell_all(node, due)
            return
        yield from self._submits(node)
        for entry in node.state.entries:
            yield from self._attempts(node, entry)
            yield from self._answers(node, entry)
            yield from self._reads(node, entry)
        yield from self._late(node)
        yield from self._choices(node)
        yield from self._time(node)
        yield from self._disruptions(node)

    # -- the caller --------------------------------------------------------------------------------------------------

    def _submits(self, node: Node) -> Iterator[Step]:
        place = node.state.submitted
        if place >= len(self.row.calls):
            return
        call, operation = self.row.calls[place]
        payload = dumps({"operation": operation, **(call.payload or {})})
        arrival = Arrival(op=f"s{place}", call=call, operation=operation, payload=payload)
        move = Move("submit", (node.state.now, call, operation))
        for state in self.model.submit(node.state, arrival):
            home = next(one.entry for one in state.submits if one.index == place)
            world = dataclasses.replace(node.world, homes=put(node.world.homes, place, home))
            yield Step("submit", None, self._node(state, world), (move,))

    def _node(self, state: State, world: World) -> Node:
        homes = {**dict(world.homes), **{one.index: one.entry for one in state.submits}}
        return Node(state, dataclasses.replace(world, homes=tuple(sorted(homes.items()))))

    def _disruptions(self, node: Node) -> Iterator[Step]:
        state, model = node.state, self.model
        if state.closing and not state.closed:
            after = model.closed(state)
            yield Step("close returns", None, self._node(after, node.world), (Move("closed", (state.now,)),))
        if not node.world.left:
            return
        world = dataclasses.replace(node.world, left=node.world.left - 1)
        now, known = state.now, [call for call, _ in self.row.calls[: state.submitted]]
        if "cancel" in self.row.disruptions:
            for place in range(len(known)):
                after = model.cancel(state, f"s{place}")
                yield Step(
                    "cancel", frozenset({place}), self._node(after, world), (Move("cancel", (now, f"s{place}")),)
                )
        if "context ends" in self.row.disruptions:
            for context in sorted({call.context for call in known}):
                hit = frozenset(place for place, call in enumerate(known) if call.context == context)
                after = model.end_context(state, context)
                yield Step("context ends", hit, self._node(after, world), (Move("end_context", (now, context)),))
        if "object deleted" in self.row.disruptions:
            for uid in sorted({call.uid for call in known}):
                hit = frozenset(place for place, call in enumerate(known) if call.uid == uid)
                after = model.delete_object(state, uid)
                yield Step("object deleted", hit, self._node(after, world), (Move("delete", (now, uid)),))
        if "rate" in self.row.disruptions and state.submitted:
            after = model.set_rate(state, 2.0, 1.0)
            yield Step("rate", None, self._node(after, world), (Move("rate", (now, 2.0, 1)),))
        if "close" in self.row.disruptions and not state.closing:
            yield Step("close", None, self._node(model.close(state), world), (Move("close", (now,)),))

    # -- attempts ----------------------------------------------------------------------------------------------------

    def _of(self, node: Node, entry: Entry) -> frozenset[int]:
        return frozenset(submit for submit, home in node.world.homes if home == entry.index)

    def _attempts(self, node: Node, entry: Entry) -> Iterator[Step]:
        try:
            state = self.model.attempt(node.state, entry.index)
        except NotAllowed:
            return
        yield self._flying(node, entry, state, read=False)

    def _reads(self, node: Node, entry: Entry) -> Iterator[Step]:
        if (
            entry.live
            and (entry.undecided != "no" or entry.conflict)
            and (entry.index, entry.conflict) not in node.world.looked
        ):
            try:
                state = self.model.read_back(node.state, entry.index)
            except NotAllowed:
                return
            yield self._flying(node, entry, state, read=True)

    def _flying(self, node: Node, entry: Entry, state: State, *, read: bool) -> Step:
        world, operation = node.world, entry.operation
        number = dict(world.sent).get(operation, 0)
        op = f"{operation}.a{number}"
        looked = world.looked | {(entry.index, entry.conflict)} if read else world.looked
        world = dataclasses.replace(
            world,
            looked=looked,
            sent=put(world.sent, operation, number + 1),
            flights=put(world.flights, entry.index, op),
        )
        submit = f"s{entry.index}"
        move = Move("start", (state.now, submit), (("read", read),))
        return Step("read back" if read else "attempt", self._of(node, entry), self._node(state, world), (move,))

    def _answers(self, node: Node, entry: Entry) -> Iterator[Step]:
        op = dict(node.world.flights).get(entry.index)
        if op is None:
            return
        now = node.state.now
        landed = dataclasses.replace(
            node.world, flights=tuple(pair for pair in node.world.flights if pair[0] != entry.index)
        )
        if entry.reading:
            for name, status in (("read-back answered", 200), ("read-back lost", None)):
                state = self.model.read_answered(node.state, entry.index, status)
                yield Step(name, self._of(node, entry), self._node(state, landed), (Move("end", (now, op, status)),))
            return
        for answer in self.row.answers:
            if not self._fits(node, entry, answer):
                continue
            event, status = _ANSWERED[answer]
            before, world, moves = node.state, landed, []
            if answer in ("ok", "lost, landed") and self._changes(node, entry):
                before, world, move = self._lands(before, world, entry.call.uid, entry.operation, op)
                moves.append(move)
            if answer == "lost, lands late":
                world = dataclasses.replace(world, late=(*world.late, (op, entry.index)))
            state = self.model.answered(before, entry.index, status=status, error="" if status else "ReadTimeout")
            moves.append(Move("end", (now, op, status)))
            yield Step(event, self._of(node, entry), self._node(state, world), tuple(moves))

    def _fits(self, node: Node, entry: Entry, answer: str) -> bool:
        """Whether a server that keeps its word can answer so."""
        guard = entry.call.precondition.resource_version
        current = dict(node.world.versions).get(entry.call.uid, 1)
        done = dict(node.world.effects).get(entry.operation, 0) > 0
        if not rules.is_write(entry.call):
            return answer in ("ok", "busy", "lost")
        if entry.call.key is not None and done:
            return answer in ("ok", "busy", "lost")
        if guard is not None and guard != current:
            return answer in ("conflict", "busy", "lost")
        return answer != "conflict" or guard is None

    def _changes(self, node: Node, entry: Entry) -> bool:
        done = dict(node.world.effects).get(entry.operation, 0) > 0
        return rules.is_write(entry.call) and not (entry.call.key is not None and done)

    def _lands(self, state: State, world: World, uid: str, operation: str, op: str) -> tuple[State, World, Move]:
        version = dict(world.versions).get(uid, 1)
        count = dict(world.effects).get(operation, 0)
        world = dataclasses.replace(
            world,
            versions=put(world.versions, uid, version + 1),
            effects=put(world.effects, operation, count + 1),
            late=tuple(pair for pair in world.late if pair[0] != op),
        )
        return self.model.effect(state, operation), world, Move("effect", (state.now, op), (("before", version),))

    def _late(self, node: Node) -> Iterator[Step]:
        for op, index in node.world.late:
            operation = op.partition(".")[0]
            call = self.row.calls[index][0]
            guard = call.precondition.resource_version
            stale = guard is not None and guard != dict(node.world.versions).get(call.uid, 1)
            repeated = call.key is not None and dict(node.world.effects).get(operation, 0) > 0
            hit = frozenset(submit for submit, home in node.world.homes if home == index)
            if stale or repeated:
                late = tuple(pair for pair in node.world.late if pair[0] != op)
                yield Step("lands late", hit, Node(node.state, dataclasses.replace(node.world, late=late)), ())
                continue
            state, world, move = self._lands(node.state, node.world, call.uid, operation, op)
            yield Step("lands late", hit, self._node(state, world), (move,))

    # -- what is told, and time --------------------------------------------------------------------------------------

    def _tell_all(self, node: Node, due: list[Submit]) -> Step:
        state, world, moves = node.state, node.world, []
        for one in due:
            state, world, move = self._tell(state, world, one, self._best(node, one, one.due))
            moves.append(move)
        return Step("told", frozenset(one.index for one in due), self._node(state, world), tuple(moves))

    def _tell(self, state: State, world: World, one: Submit, word: str) -> tuple[State, World, Move]:
        kind, _, own = word.partition(":")
        state = self.model.tell(state, one.op, kind, own or None)
        world = dataclasses.replace(world, told=put(world.told, one.index, word))
        reason = min(one.reasons) if kind == "refused" and one.reasons else ""
        return state, world, Move("tell", (state.now, one.op, kind, own or None, reason))

    def _best(self, node: Node, one: Submit, words: frozenset[str]) -> str:
        """The outcome that a truthful queue gives: the first submit of a call its own, a joiner ``merged`` with it."""
        wrong = "noop" if self._is_there(node, one) else "applied"
        plain = sorted(word for word in words if not word.endswith((wrong, ":")))
        ranked = [word for word in plain if not word.startswith("merged")] or plain or sorted(words)
        for word in ("applied", "noop", "failed", "stale"):
            if word in ranked:
                ranked = [word]
        merged = f"merged:{ranked[0]}"
        return merged if merged in words and one.index != one.entry else ranked[0]

    def _is_there(self, node: Node, one: Submit) -> bool:
        operation = self.row.calls[one.index][1]
        return not rules.is_write(one.call) or operation in node.state.effects

    def _choices(self, node: Node) -> Iterator[Step]:
        """What the queue may end of its own accord."""
        for one in node.state.submits:
            words = choices(self.model.setup, node.state, one)
            for word in sorted(words):
                if word.startswith("merged") or word == "noop" or (word == "applied" and not self._is_there(node, one)):
                    continue
                state, world, move = self._tell(node.state, node.world, one, word)
                yield Step("told", frozenset({one.index}), self._node(state, world), (move,))

    def _time(self, node: Node) -> Iterator[Step]:
        state, near = node.state, self.model.setup.near
        paused = [entry for entry in state.entries if entry.attempts and entry.live]
        ends = [entry.low for entry in paused]
        if all(entry.low <= state.now + near for entry in paused):
            ends += [entry.high for entry in paused]
        ends += [one.call.deadline for one in state.submits]
        ends.append(limits.free_at(state.bucket))
        if state.breaker.opened is not None:
            ends.append(state.breaker.opened + self.model.setup.config.breaker_open)
        later = [end for end in ends if math.isfinite(end) and end > state.now + near]
        if not later or not state.submits:
            return
        try:
            after = self.model.advance(state, min(later))
        except NotAllowed:
            return
        yield Step("time", None, Node(after, node.world), ())
