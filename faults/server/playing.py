"""How a reply script plays, sans I/O: one generator decides every wait, timeout and error; the drivers only let time pass.

httpx's timeouts are per phase: ``connect`` for the connection, ``read`` for *each* read (so a body that drips may take for ever).
Writing and taking a connection from the pool take no time here. An answer that comes at the very instant of its timeout is in time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Final

import httpx

from ..reply import Reply
from .jobs import Exchange

JSON_TYPE: Final = "application/json"


@dataclass(frozen=True, slots=True)
class Pause:
    """Let ``seconds`` pass (``inf``: for ever); after ``limit`` seconds raise ``error`` instead (``None``: no limit)."""

    seconds: float
    limit: float | None
    error: type[Exception]
    what: str

    def outcome(self) -> tuple[float, bool]:
        """How long to wait, and whether that ends in the error. ``(inf, False)`` never ends."""
        if self.limit is not None and self.seconds > self.limit:
            return max(0.0, self.limit), True
        return max(0.0, self.seconds), False

    def failure(self) -> Exception:
        """The error of a limit that was reached."""
        return self.error(f"{self.what} took more than {self.limit:g} s")


def limits(extensions: Mapping[str, object]) -> dict[str, float | None]:
    """The timeouts of a request, by phase; a phase that is not named has none."""
    timeout = extensions.get("timeout")
    found: dict[str, float | None] = {"connect": None, "read": None, "write": None, "pool": None}
    if isinstance(timeout, Mapping):
        found.update({str(phase): None if value is None else float(value) for phase, value in timeout.items()})
    return found


def pieces(reply: Reply) -> list[tuple[float, bytes]]:
    """The body in pieces, each with the seconds after the head at which it is there. The last one is followed by the end."""
    body = reply.body if reply.cut is None else reply.body[: reply.cut]
    if not reply.drip:
        return [(0.0, body)] if body else []
    size = max(1, reply.piece)
    return [
        (reply.drip * number if number else 0.0, body[at : at + size])
        for number, at in enumerate(range(0, len(body), size))
    ]


def head(exchange: Exchange, limit: Mapping[str, float | None]) -> Generator[Pause, None, Reply]:
    """Everything up to the head of the answer. Raises httpx's errors."""
    reply = exchange.reply
    if reply.refuse or reply.connect == math.inf:
        exchange.arrive()  # for the record: nothing arrives, but the fault did happen
    yield Pause(reply.connect, limit["connect"], httpx.ConnectTimeout, "connecting")
    if reply.refuse:
        raise httpx.ConnectError("connection refused")
    exchange.arrive()
    yield Pause(reply.delay, limit["read"], httpx.ReadTimeout, "waiting for the answer")
    reply = exchange.answered()
    if reply.lost == "before_effect":
        raise httpx.ReadError("connection reset by peer")
    if reply.lost == "after_effect":
        raise httpx.RemoteProtocolError("Server disconnected without sending a response.")
    return reply


def body(
    reply: Reply, began: float, now: Callable[[], float], limit: float | None
) -> Generator[Pause | bytes, None, None]:
    """The body: pauses and pieces. ``began``: when the head was there. Raises httpx's errors."""
    sent = 0
    for offset, data in pieces(reply):
        if offset:
            yield Pause(began + offset - now(), limit, httpx.ReadTimeout, "waiting for a piece of the body")
        sent += len(data)
        yield data
    if reply.cut is not None:
        raise httpx.RemoteProtocolError(
            f"peer closed connection without sending complete message body (received {sent} bytes, expected {len(reply.body)})"
        )


def headers(reply: Reply) -> list[tuple[bytes, bytes]]:
    """The headers of the answer as they are on the wire: outer blanks go, text beyond ASCII is UTF-8, length and end are told."""
    pairs = [(name.lower().encode("ascii"), value.strip().encode("utf-8")) for name, value in reply.headers]
    return [*pairs, (b"content-length", b"%d" % len(reply.body)), (b"connection", b"close")]
