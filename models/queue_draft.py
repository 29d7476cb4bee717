"""A state being changed: what follows when a call ends, a submit is told, a worker comes free (SPEC 4, superseding and coalescing)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

from . import queue_rules as rules
from .queue_state import Entry, Setup, State, Submit

Fate: TypeAlias = Literal["done", "not", "unknown"]
"""What became of the effect of a call: it is there (or was there already), it surely is not and never will be, nobody knows."""

DONE = frozenset({"applied", "noop"})


def with_merged(words: Iterable[str]) -> frozenset[str]:
    """These outcomes as joiners may be told them: the call's own, or ``merged`` with it."""
    plain = frozenset(words)
    return plain | {f"merged:{word}" for word in plain if not word.startswith("merged")}


class Draft:
    """A working copy of a state. Make one, change it, :meth:`freeze` it; the state it came from stays as it was."""

    def __init__(self, setup: Setup, state: State) -> None:
        self.setup, self.state = setup, state
        self.entries = {one.index: one for one in state.entries}
        self.submits = {one.index: one for one in state.submits}
        self.fields: dict[str, Any] = {}

    def freeze(self) -> State:
        """The state as it is now. What is over and told is forgotten."""
        used = {one.entry for one in self.submits.values()}
        entries = tuple(one for one in self.entries.values() if one.in_flight or (one.live and one.index in used))
        return dataclasses.replace(self.state, **self.fields, entries=entries, submits=tuple(self.submits.values()))

    def entry(self, index: int, **changes: Any) -> Entry:
        """Change an entry; the answer is what it is now."""
        self.entries[index] = dataclasses.replace(self.entries[index], **changes)
        return self.entries[index]

    def submit(self, index: int, **changes: Any) -> Submit:
        """Change a submit; the answer is what it is now."""
        self.submits[index] = dataclasses.replace(self.submits[index], **changes)
        return self.submits[index]

    def joined(self, index: int) -> list[Submit]:
        """The submits of an entry that share its attempts and have no outcome due, those asked to end included."""
        return [one for one in self.submits.values() if one.entry == index and not one.parked and not one.due]

    def parked(self, index: int) -> list[Submit]:
        """The submits that wait for this entry to execute."""
        return [one for one in self.submits.values() if one.entry == index and one.parked and not one.due]

    # -- ends --------------------------------------------------------------------------------------------------------

    def end(self, index: int, words: Iterable[str], fate: Fate, reasons: Iterable[str] = ()) -> None:
        """A call ends: each joiner is due one of ``words``; what waited for it, behind it or under it is settled or set free."""
        entry = self.entry(index, live=False, since=None)
        kinds = frozenset(words)
        for one in self.joined(index):
            due = with_merged(kinds)
            if one.asked:
                due = frozenset(
                    {"stale"} if fate == "done" else {"stale", "cancelled"} if fate == "not" else {"stale", "unknown"}
                )
            self.submit(one.index, due=due | one.loose, reasons=frozenset(reasons))
        if entry.call.type == "bind" and fate != "not":
            mark = (entry.call.uid, entry.call.context, entry.call.target)
            self.fields["binds"] = self.fields.get("binds", self.state.binds) | {mark}
        heir = self._pass_on_parked(entry, fate)
        self._settle_withheld(entry, fate)
        self._tell_binds(entry, fate, heir)

    def _pass_on_parked(self, entry: Entry, fate: Fate) -> int | None:
        """Parked twins are merged, run after all, or end unknown with it. The answer is the entry that now runs for them."""
        waiting = self.parked(entry.index)
        if not waiting:
            return None
        if fate == "done":
            for one in waiting:
                self.submit(one.index, due=frozenset({"merged:applied", "merged:noop", "merged:"}) | one.loose)
            return None
        if fate == "unknown" and entry.call.key is None:
            for one in waiting:
                self.submit(one.index, due=frozenset({"unknown", "merged:unknown"}) | one.loose)
            return None
        first = waiting[0]
        self.entries[first.index] = Entry(
            index=first.index,
            order=first.index,
            call=first.call,
            operation=entry.operation,
            payload=entry.payload,
            waits=entry.waits,
            free=entry.free,
        )
        for one in waiting:
            self.submit(one.index, entry=first.index, parked=False)
        return first.index

    def _settle_withheld(self, entry: Entry, fate: Fate) -> None:
        """Superseded once the survivor has applied, pending again if it surely has not, failed if nobody knows."""
        if not self.setup.dialect.supersedes or fate == "not":
            return
        word = "superseded" if fate == "done" else "failed"
        for index in sorted(self.entries):
            other = self.entries.get(index)
            if other is None or not other.live or other.flying or index == entry.index:
                continue
            if not rules.dominates(entry.call, other.call):
                continue
            if other.undecided != "no" or other.reading:
                self.entry(index, loose=other.loose | {word, "unknown"}, free=True)
            else:
                self.end(index, {word}, "not", ("survivor",) if fate == "unknown" else ())

    def _tell_binds(self, entry: Entry, fate: Fate, heir: int | None) -> None:
        """A bind goes on when its prerequisite is confirmed, and ends failed, unsent, when it is not."""
        for index in sorted(self.entries):
            bind = self.entries.get(index)
            if bind is None or not bind.live or entry.index not in bind.waits:
                continue
            waits = bind.waits - {entry.index}
            if fate == "done":
                self.entry(index, waits=waits)
            elif (
                heir is not None
                or bind.free
                or any(one.asked for one in self.submits.values() if one.entry == entry.index)
            ):
                heirs = waits | {heir} if heir is not None else waits
                self.entry(index, waits=heirs, free=True, loose=bind.loose | {"failed"})
            elif self.setup.dialect.prerequisites:
                self.end(index, {"failed"}, "not", ("prerequisite",))

    def left(self, one: Submit) -> None:
        """A joiner has left a call that others may still want. If only it was a bind's prerequisite, what becomes of the bind is open."""
        serves = one.call.prerequisite_of
        entry = self.entries.get(one.entry)
        if serves is None or entry is None or not entry.live:
            return
        others = [other for other in (*self.joined(entry.index), *self.parked(entry.index)) if other.index != one.index]
        if not others or any(other.call.prerequisite_of == serves for other in others):
            return
        for index, bind in list(self.entries.items()):
            if bind.live and entry.index in bind.waits:
                self.entry(index, free=True, loose=bind.loose | {"failed"})

    def close_up(self, index: int) -> None:
        """End an entry that nobody waits for any more. One in flight goes on until it is answered; nobody will be told."""
        entry = self.entries.get(index)
        if entry is None or not entry.live:
            return
        if self.joined(index):
            return
        if self.parked(index):
            if entry.in_flight:
                return
            if entry.undecided != "no":  # whether it was merged, or runs, or nobody knows, is left open
                words = {"unknown", "merged:unknown", "merged:applied", "merged:noop"}
                for one in self.parked(index):
                    self.submit(one.index, loose=one.loose | words)
        fate: Fate = "unknown" if entry.flying or entry.undecided != "no" else "not"
        self.end(index, {"cancelled"}, fate)
