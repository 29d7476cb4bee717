"""The reference dispatch queue: a pure state machine, parameterised by a configuration and a dialect (SPEC 4).

It is told what happens at the caller's handle, the transport and the server, and answers which states a correct queue may be in then
(none: it did what is not allowed, and :class:`NotAllowed` says what is), what it may do next and what it must have done by when. Where
SPEC leaves an implementation free (order among equals, a pause within its window, the order of independent things within one
instant) all of it is allowed. It shares no table with any subject.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..harness.calls import ApiCall
from . import queue_limits as limits
from . import queue_ready as ready
from . import queue_rules as rules
from .queue_draft import Draft, Fate
from .queue_state import Bucket, Entry, Setup, State, Submit
from .queue_submit import Arrival, after_submit
from .queue_telling import choices, told


class NotAllowed(Exception):  # noqa: N818 - it is not an error of the model, but what it says of a queue
    """What was observed is not allowed; the message says what is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """Something that must have been done by ``by`` (seconds)."""

    what: str
    by: float


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueModel:
    """The machine. Every method takes a state and gives the states that may follow; no state is ever changed."""

    setup: Setup

    def start(self) -> State:
        """The queue is open, at second 0."""
        config = self.setup.config
        bucket = Bucket(qps=config.qps, burst=float(config.burst), tokens=float(config.burst))
        return State(bucket=bucket)

    # -- time --------------------------------------------------------------------------------------------------------

    def advance(self, state: State, to: float) -> State:
        """Time moves to ``to``. Raises :class:`NotAllowed` if something had to be done before."""
        near = self.setup.near
        if to <= state.now:
            return state
        for instant in self._instants(state, to):
            self._check_demands(state, instant)
            state = self._seen(dataclasses.replace(state, now=instant), by_time=True)
        self._check_demands(state, to)
        if to - state.now > 2 * near:
            for one in state.submits:
                if one.due:
                    raise NotAllowed(f"{one.op} had to be told {_or(one.due)} at {state.now:.6g} s")
        for one in state.submits:
            if self.setup.dialect.deadlines and not one.due and one.call.deadline + 2 * near < to:
                raise NotAllowed(f"{one.op} had to be told by its deadline, {one.call.deadline:.6g} s")
        return self._seen(dataclasses.replace(state, now=to), by_time=True)

    def _instants(self, state: State, to: float) -> list[float]:
        """When calls become eligible by time alone."""
        near = self.setup.near
        ends = {entry.high + 1.5 * near for entry in state.entries if entry.live and entry.attempts}
        return sorted(end for end in ends if state.now < end < to)

    def demands(self, state: State) -> tuple[Demand, ...]:
        """What must be done, by when, if nothing else happens."""
        found = [Demand(what=f"tell {one.op} {_or(one.due)}", by=state.now) for one in state.submits if one.due]
        if self.setup.dialect.deadlines:
            found.extend(
                Demand(what=f"tell {one.op} how it ended", by=one.call.deadline)
                for one in state.submits
                if not one.due and math.isfinite(one.call.deadline)
            )
        begin = self._must_start(state)
        if begin is not None:
            found.append(Demand(what=f"start an attempt (s{begin[0].index} can run)", by=begin[1]))
        return tuple(found)

    def _must_start(self, state: State) -> tuple[Entry, float] | None:
        """A call that is eligible beyond doubt while a worker and a token are free, and since when."""
        if state.worker_free is None or "progress" not in self.setup.claims:
            return None
        if self.setup.dialect.order != "aged":  # a simpler queue may keep its worker during a pause
            kept = sum(one.live and not one.in_flight and one.attempts > 0 for one in state.entries)
            if ready.workers_free(self.setup, state) <= kept:
                return None
        token = limits.surely_free_at(state.bucket) if self.setup.dialect.rate else float("-inf")
        able = [one for one in state.entries if one.since is not None]
        if not able or (not math.isfinite(token) and token > 0):
            return None
        first = min(able, key=lambda one: (one.since, one.index))
        assert first.since is not None
        return first, max(first.since[0], state.worker_free[0], token)

    def _check_demands(self, state: State, to: float) -> None:
        begin = self._must_start(state)
        if begin is None:
            return
        entry, by = begin
        until = rules.deadline(one.call for one in ready.waiting(state, entry))
        last = min(to, until) if self.setup.dialect.deadlines else to
        if by + 3 * self.setup.near < last:
            raise NotAllowed(
                f"s{entry.index} could run from {by:.6g} s on, a worker and a token were free, and nothing was started"
            )

    def _seen(self, state: State, *, by_time: bool = False) -> State:
        """Note since when calls are eligible and workers free."""
        mark = (state.now, math.inf if by_time else float(state.step))
        entries = []
        changed = False
        for entry in state.entries:
            sure = not ready.blocked(self.setup, state, entry, strict=True)
            since = (entry.since or mark) if sure else None
            changed = changed or since != entry.since
            entries.append(entry if since == entry.since else dataclasses.replace(entry, since=since))
        free = (state.worker_free or mark) if ready.workers_free(self.setup, state) > 0 else None
        if not changed and free == state.worker_free:
            return state
        return dataclasses.replace(state, entries=tuple(entries), worker_free=free)

    def _done(self, draft: Draft) -> State:
        draft.fields["step"] = draft.state.step + 1
        return self._seen(draft.freeze())

    # -- the caller --------------------------------------------------------------------------------------------------

    def submit(self, state: State, arrival: Arrival) -> tuple[State, ...]:
        """A submit: every way in which a correct queue may take it."""
        found = after_submit(self.setup, state, arrival)
        return tuple(self._seen(dataclasses.replace(one, step=state.step + 1)) for one in found)

    def cancel(self, state: State, op: str) -> State:
        """The caller cancels a submit. One that was told, or is about to be, is not touched."""
        draft = Draft(self.setup, state)
        one = state.submit(op)
        if one is not None and not one.due and self.setup.dialect.cancels:
            self._withdraw(draft, [one])
        return self._done(draft)

    def end_context(self, state: State, context: str) -> State:
        """The queue is told that a scheduling context is over."""
        draft = Draft(self.setup, state)
        draft.fields["ended"] = state.ended | {f"context {context}"}
        if self.setup.dialect.contexts:
            self._withdraw(draft, [one for one in state.submits if one.call.context == context])
        return self._done(draft)

    def delete_object(self, state: State, uid: str) -> State:
        """The queue is told that an object is gone. What it does with a deletion of that object is left open."""
        draft = Draft(self.setup, state)
        draft.fields["ended"] = state.ended | {f"uid {uid}"}
        if self.setup.dialect.contexts:
            found = [one for one in state.submits if one.call.uid == uid]
            for one in found:
                if one.call.type in ("delete", "preempt") and not one.due:
                    draft.submit(one.index, loose=one.loose | {"cancelled", "stale", "unknown"})
            self._withdraw(draft, [one for one in found if one.call.type not in ("delete", "preempt")])
        return self._done(draft)

    def _withdraw(self, draft: Draft, these: Sequence[Submit]) -> None:
        """Submits are cancelled at once: one unsent ends at once, one sent and unanswered waits for the answer, which will not act."""
        for one in these:
            self._mark_withdrawn(draft, draft.submits[one.index])
        for one in these:
            draft.left(one)
        for index in dict.fromkeys(one.entry for one in these):
            draft.close_up(index)

    def _mark_withdrawn(self, draft: Draft, one: Submit) -> None:
        entry = draft.entries.get(one.entry)
        if one.due or entry is None:
            return
        open_ = entry.flying or entry.reading or entry.undecided != "no" or entry.conflict
        if one.parked or not open_:
            words = {"cancelled"} | ({"stale"} if entry.attempts and not one.parked else set())
            if entry.mute or self._in_hand(draft.state, entry):
                words |= {"unknown"}
            words |= entry.loose - {"applied", "noop"}
            draft.submit(one.index, due=frozenset(words) | one.loose)
            return
        alone = all(other.asked or other.index == one.index for other in draft.joined(entry.index))
        leaving: set[str] = set() if alone else {"cancelled", "stale", "unknown"}
        if not entry.flying:  # nothing is on its way that would answer it
            leaving |= {"unknown", "stale"}
        draft.submit(one.index, asked=True, loose=one.loose | leaving)

    def _in_hand(self, state: State, entry: Entry) -> bool:
        """Whether a thread may have taken this call for an attempt that it has not begun: it can't know then whether it will be."""
        return self.setup.threads and not ready.unstartable(self.setup, state, entry)

    def _unsent(self, state: State, entry: Entry | None) -> set[str]:
        """What a call without an attempt in flight may be told at a close."""
        mute = entry is not None and (entry.mute or self._in_hand(state, entry))
        words = {"closed", "unknown"} if mute else {"closed"}
        return words | entry.loose if entry is not None else words

    def set_rate(self, state: State, qps: float, burst: float) -> State:
        """Another quota."""
        draft = Draft(self.setup, state)
        draft.fields["bucket"] = limits.rated(state.bucket, state.now, qps, burst)
        return self._done(draft)

    def close(self, state: State) -> State:
        """``close`` is called: nothing starts any more (unless it drains), what was not sent is closed."""
        draft = Draft(self.setup, state)
        draft.fields["closing"] = True
        if self.setup.dialect.close == "abandon":
            for one in state.submits:
                entry = draft.entries.get(one.entry)
                if one.due:
                    continue
                if entry is None or not (entry.in_flight or entry.undecided != "no" or entry.conflict):
                    draft.submit(one.index, due=frozenset(self._unsent(state, entry)) | one.loose)
                elif one.parked:
                    draft.submit(one.index, due=frozenset({"closed", "unknown", "merged:unknown"}) | one.loose)
                else:
                    words = {"unknown", "stale"} if one.asked else {"unknown"}
                    draft.submit(one.index, loose=one.loose | words)
        return self._done(draft)

    def closed(self, state: State) -> State:
        """That ``close`` has returned: every submit is told, in this instant at the latest."""
        draft = Draft(self.setup, state)
        draft.fields["closing"] = draft.fields["closed"] = True
        for one in state.submits:
            if one.due:
                continue
            entry = draft.entries.get(one.entry)
            open_ = entry is not None and (entry.in_flight or entry.undecided != "no" or entry.conflict)
            words = {"unknown"} if open_ else self._unsent(state, entry)
            if self.setup.dialect.close == "drain":
                words = {"unknown", "closed"}
            draft.submit(one.index, due=frozenset(words) | one.loose)
        return self._done(draft)

    def tell(self, state: State, op: str, kind: str, own: str | None = None, reason: str = "") -> State:
        """The submitter is told. Raises :class:`NotAllowed` if it must not be told that, or was told before."""
        one = state.submit(op)
        if one is None:
            raise NotAllowed(f"{op} has its outcome already: exactly one each")
        word = f"merged:{own or ''}" if kind == "merged" else kind
        options = choices(self.setup, state, one)
        if word not in options and not (word == "merged:" and any(each.startswith("merged") for each in options)):
            raise NotAllowed(f"{op} may be told {_or(options)}")
        if (
            kind == "refused"
            and one.due
            and reason
            and one.reasons
            and reason not in one.reasons
            and reason in rules.REFUSALS
        ):
            raise NotAllowed(f"{op} may be refused for {_or(one.reasons)}")
        draft = Draft(self.setup, state)
        told(draft, one, word)
        return self._done(draft)

    # -- attempts ----------------------------------------------------------------------------------------------------

    def attempt(self, state: State, index: int) -> State:
        """An attempt of this entry starts. Raises :class:`NotAllowed` if it must not."""
        entry = state.entry(index)
        if reason := ready.unstartable(self.setup, state, entry):
            raise NotAllowed(f"no attempt of s{index} may start: {reason}")
        draft = Draft(self.setup, state)
        draft.entry(index, flying=True, started=state.now, attempts=entry.attempts + 1, read=False, since=None)
        for one in draft.joined(index):
            if "cancelled" in one.loose:  # it is sent now
                draft.submit(one.index, loose=one.loose - {"cancelled"})
        draft.fields["bucket"] = limits.taken(state.bucket, state.now)
        return self._done(draft)

    def read_back(self, state: State, index: int) -> State:
        """A read-back of this entry starts. Raises :class:`NotAllowed` if there is nothing to read back, or no worker or token for it."""
        entry = state.entry(index)
        if entry.in_flight or not entry.attempts:
            raise NotAllowed(
                f"s{index} has nothing to read back: {'it is in flight' if entry.in_flight else 'it was never sent'}"
            )
        if self.setup.dialect.close == "abandon" and state.closing:
            raise NotAllowed("nothing starts any more: the queue is closed")
        if ready.workers_free(self.setup, state) <= 0:
            raise NotAllowed(f"all {self.setup.config.workers} workers are busy")
        if self.setup.dialect.rate and not limits.has_token(state.bucket, state.now, self.setup.near):
            raise NotAllowed(f"no token is there before {limits.free_at(state.bucket):.6g} s")
        draft = Draft(self.setup, state)
        draft.entry(index, reading=True, started=state.now, since=None)
        draft.fields["bucket"] = limits.taken(state.bucket, state.now)
        return self._done(draft)

    def effect(self, state: State, operation: str) -> State:
        """The server's ledger shows an effect of this operation."""
        return dataclasses.replace(state, effects=state.effects | {operation})

    def read_answered(self, state: State, index: int, status: int | None) -> State:
        """A read-back is over; ``status`` is ``None`` if it was not answered. That it shows nothing proves nothing."""
        draft = Draft(self.setup, state)
        entry = draft.entry(index, reading=False)
        well = status is not None and status < 500
        draft.fields["breaker"] = limits.after_read_back(state.breaker, self.setup, state.now, answered=well)
        if entry.live and status is not None and (status < 300 or status == 404):
            loose = entry.loose | {"noop"}
            if entry.operation in state.effects:
                loose |= {"applied"}
            if entry.conflict:
                loose |= {"failed", "unknown"}
            draft.entry(index, read=True, loose=loose)
        elif entry.live and entry.conflict:  # nobody says how often a read-back without an answer is made again
            draft.entry(index, loose=entry.loose | {"unknown"})
        draft.close_up(index)
        return self._done(draft)

    def answered(
        self,
        state: State,
        index: int,
        *,
        status: int | None = None,
        error: str = "",
        retry_after: float | None = None,
    ) -> State:
        """An attempt is over: answered with ``status``, or not at all (``error``: its type; empty: it was cancelled)."""
        says: rules.Meaning = (
            rules.meaning(status) if status is not None else rules.meaning_of_error(error) if error else "lost"
        )
        draft = Draft(self.setup, state)
        entry = draft.entry(index, flying=False)
        given_up = status is None and not error  # whether that counts as a failure is the breaker's own choice
        draft.fields["breaker"] = limits.after(
            state.breaker, self.setup, state.now, entry.started, says="maybe_lost" if given_up else says, status=status
        )
        if entry.live:
            self._ended(draft, entry, says, status, retry_after)
        return self._done(draft)

    def _ended(
        self, draft: Draft, entry: Entry, says: rules.Meaning, status: int | None, retry_after: float | None
    ) -> None:
        index, open_before = entry.index, entry.undecided != "no"
        reads = not rules.is_write(entry.call)
        if says == "ok":
            draft.end(index, {"applied", "noop"}, "done")
            return
        if says in ("conflict", "not_found", "permanent"):
            if open_before and not reads:
                if says == "conflict" and self.setup.dialect.read_back:
                    draft.entry(index, conflict=True, read=False)
                else:
                    draft.entry(index, loose=entry.loose | {"failed", "unknown", "applied", "noop"}, free=True)
                for one in draft.joined(index):  # who asked to end need not wait for a read-back
                    if one.asked:
                        draft.submit(one.index, loose=one.loose | {"unknown", "stale"})
                return
            words = {"failed", "noop"} if says != "permanent" else {"failed"}
            draft.end(index, words, "not", ("permanent", "conflict"))
            return
        self._again(draft, entry, says, status, retry_after, reads=reads)

    def _again(
        self,
        draft: Draft,
        entry: Entry,
        says: rules.Meaning,
        status: int | None,
        retry_after: float | None,
        *,
        reads: bool,
    ) -> None:
        """A transient failure, surely without an effect (``again``) or not: pause and try again, or give up."""
        config, dialect, index = self.setup.config, self.setup.dialect, entry.index
        low, high = rules.pause(config, entry.attempts, status, retry_after)
        undecided = entry.undecided
        if says == "lost" and not reads:
            undecided = "yes"
        elif says in ("maybe_lost", "unclear") and not reads and undecided == "no":
            undecided = "maybe"
        mute = entry.mute or (reads and says != "again")
        entry = draft.entry(
            index, undecided=undecided, mute=mute, low=draft.state.now + low, high=draft.state.now + high
        )
        spent = entry.attempts >= config.attempts or not dialect.retries
        if says == "unclear":
            entry = draft.entry(index, loose=entry.loose | {"failed", "unknown"}, free=True)
        if undecided == "no":
            if spent:
                words = {"exhausted"} | ({"unknown", "failed"} if reads and says != "again" else set())
                if not dialect.retries:
                    words |= {"failed"}
                draft.end(index, words, "not", ("attempts", "permanent"))
            else:
                for one in draft.joined(index):
                    if draft.state.closing and dialect.close == "abandon":
                        draft.submit(one.index, loose=one.loose | {"closed"})
                    if one.asked:
                        draft.submit(one.index, due=frozenset({"stale", "cancelled"}) | one.loose)
                draft.close_up(index)
            return
        for one in draft.joined(index):
            if one.asked:
                draft.submit(one.index, loose=one.loose | {"unknown", "stale"})
        if not draft.joined(index):
            for one in draft.parked(index):
                draft.submit(
                    one.index, loose=one.loose | {"unknown", "merged:unknown", "merged:applied", "merged:noop"}
                )
            fate: Fate = "unknown"
            draft.end(index, {"unknown"}, fate)

    # -- in words ----------------------------------------------------------------------------------------------------

    def allowed(self, state: State) -> tuple[str, ...]:
        """What a correct queue may do now, in words; what it must do by when comes last."""
        found = [
            f"start an attempt of s{one.index} ({one.call.type} {one.call.uid})"
            for one in state.entries
            if one.live and not ready.unstartable(self.setup, state, one)
        ]
        found.extend(
            f"read back s{one.index}"
            for one in state.entries
            if one.live and not one.in_flight and (one.undecided != "no" or one.conflict)
        )
        for submit in state.submits:
            options = choices(self.setup, state, submit)
            if options:
                found.append(f"tell {submit.op} {_or(options)}")
        found.extend(f"must {one.what} by {one.by:.6g} s" for one in self.demands(state))
        return tuple(found)

    def why_not(self, state: State) -> tuple[str, ...]:
        """For each live call why no attempt of it may start now, in words."""
        return tuple(
            f"s{one.index}: {reason}"
            for one in state.entries
            if one.live and (reason := ready.unstartable(self.setup, state, one))
        )


def _or(words: frozenset[str]) -> str:
    return " or ".join(sorted(words)) or "nothing yet"


__all__ = ["ApiCall", "Arrival", "Demand", "NotAllowed", "QueueModel", "Setup", "State"]
