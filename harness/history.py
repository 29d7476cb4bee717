"""History: what happened in one run, recorded by the bench and never by the subject.

A history is a header (who was run, by which plan, in which dialect) and an append-only list of events in the order in which the
bench saw them. Times are virtual seconds since the start of the run. Checkers are pure functions of a history, so a history is all
the evidence there is: it is written as JSON Lines (schema ``waitproof.history/1``), and its digest names a run.

The event vocabulary is in :mod:`waitproof.harness.events`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .jsonable import Json, dumps, loads, plain

SCHEMA = "waitproof.history/1"


class HistoryFormatError(ValueError):
    """A text that should hold a history does not: what was found is in the message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One thing that happened.

    ``seq``: position in the history, from 0. ``at``: virtual seconds since the start. ``kind``: a name of
    :mod:`~waitproof.harness.events`. ``lane``: who saw it (caller, clock, client, server, fault, bench). ``op``: the operation that
    it belongs to (``w0`` is the first wait, ``w0.f3`` its fourth fetch), empty if none. ``data``: plain JSON.
    """

    seq: int
    at: float
    kind: str
    lane: str
    op: str = ""
    data: Mapping[str, Json] = field(default_factory=dict)

    def as_json(self) -> dict[str, Json]:
        """The event as plain data."""
        return {
            "seq": self.seq,
            "at": self.at,
            "kind": self.kind,
            "lane": self.lane,
            "op": self.op,
            "data": dict(self.data),
        }


class History(Sequence[Event]):
    """An append-only list of events with a header. Reading it never changes it; there is no way to remove or edit an event."""

    def __init__(self, header: Mapping[str, object] | None = None) -> None:
        self._header: dict[str, Json] = {str(key): plain(value) for key, value in (header or {}).items()}
        self._events: list[Event] = []

    @property
    def header(self) -> Mapping[str, Json]:
        """Subject, suite, dialect and plan of the run, as plain data."""
        return self._header

    def append(
        self, *, at: float, kind: str, lane: str, op: str = "", data: Mapping[str, object] | None = None
    ) -> Event:
        """Add one event at its end and return it. ``at`` is virtual seconds since the start of the run."""
        event = Event(
            seq=len(self._events),
            at=round(at, 9),
            kind=kind,
            lane=lane,
            op=op,
            data={key: plain(value) for key, value in (data or {}).items()},
        )
        self._events.append(event)
        return event

    def __len__(self) -> int:
        return len(self._events)

    def __getitem__(self, index: int | slice) -> Event | list[Event]:  # type: ignore[override]
        return self._events[index]

    def __iter__(self) -> Iterator[Event]:
        return iter(self._events)

    def of_kind(self, *kinds: str) -> list[Event]:
        """The events whose kind is one of ``kinds``, in order."""
        return [event for event in self._events if event.kind in kinds]

    def to_jsonl(self) -> str:
        """The whole history as JSON Lines: a header line, then a line an event. Same run, same bytes."""
        lines = [dumps({"schema": SCHEMA, "header": self._header})]
        lines.extend(dumps(event.as_json()) for event in self._events)
        return "\n".join(lines) + "\n"

    @classmethod
    def from_jsonl(cls, text: str) -> History:
        """Read what :meth:`to_jsonl` wrote. Raises :class:`HistoryFormatError` naming the line that is wrong."""
        lines = text.splitlines()
        if not lines:
            raise HistoryFormatError("a history needs a header line; the text is empty")
        try:
            first = loads(lines[0])
        except ValueError as error:
            raise HistoryFormatError(f"line 1 is not JSON: {error}") from error
        if not isinstance(first, dict) or first.get("schema") != SCHEMA:
            found = first.get("schema") if isinstance(first, dict) else type(first).__name__
            raise HistoryFormatError(f"line 1: expected schema {SCHEMA!r}, found {found!r}")
        header = first.get("header")
        if not isinstance(header, dict):
            raise HistoryFormatError("line 1: the header is not an object")
        history = cls(header)
        for number, line in enumerate(lines[1:], start=2):
            history._read(number, line)
        return history

    def _read(self, number: int, line: str) -> None:
        try:
            row = loads(line)
            if not isinstance(row, dict):
                raise TypeError("not an object")
            at, data = row["at"], row["data"]
            if not isinstance(at, int | float) or not isinstance(data, dict):
                raise TypeError("'at' is no number or 'data' is no object")
            self.append(at=float(at), kind=str(row["kind"]), lane=str(row["lane"]), op=str(row["op"]), data=data)
        except (ValueError, KeyError, TypeError) as error:
            raise HistoryFormatError(f"line {number} is not an event: {error}") from error

    def digest(self) -> str:
        """SHA-256 of :meth:`to_jsonl`, in hex: two runs are the same if and only if their digests are."""
        return hashlib.sha256(self.to_jsonl().encode()).hexdigest()
