"""A simulated network for subjects that bring an ``httpcore`` transport of their own: bytes in, bytes out, in virtual time.

The requests are parsed by h11's server side. Every connection serves one request and is closed then, so that no state of one fetch
reaches into the next.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import h11
import httpcore
import httpx

from ..reply import Reply
from . import playing
from .jobs import Exchange, JobServer
from .playing import Pause
from .routes import Request
from .transports import SyncPasser

_TRANSLATED: Final = (
    (httpx.ConnectTimeout, httpcore.ConnectTimeout),
    (httpx.ConnectError, httpcore.ConnectError),
    (httpx.ReadTimeout, httpcore.ReadTimeout),
    (httpx.ReadError, httpcore.ReadError),
)


class SimNetworkBackend(httpcore.NetworkBackend):
    """Connections to the simulated server. Timeouts are seconds of virtual time, for each connect and each read."""

    def __init__(self, server: JobServer, passer: SyncPasser) -> None:
        self._server = server
        self._passer = passer

    def connect_tcp(
        self,
        host: str,  # noqa: ARG002
        port: int,  # noqa: ARG002
        timeout: float | None = None,
        local_address: str | None = None,  # noqa: ARG002
        socket_options: Iterable[Any] | None = None,  # noqa: ARG002
    ) -> httpcore.NetworkStream:
        """Connect. Raises ``httpcore.ConnectError`` or ``ConnectTimeout`` if the plan has a fault of the connection next."""
        exchange = self._server.upcoming()
        if exchange is not None:
            exchange.arrive()
            self._pass(Pause(exchange.reply.connect, timeout, httpcore.ConnectTimeout, "connecting"))
            if exchange.reply.refuse:
                raise httpcore.ConnectError("connection refused")
        else:
            self._pass(Pause(0.0, timeout, httpcore.ConnectTimeout, "connecting"))
        return _SimStream(self._server, self._passer, exchange)

    def sleep(self, seconds: float) -> None:
        """Let virtual time pass (httpcore's own connection retries do)."""
        self._passer.let_pass(Pause(seconds, None, httpcore.ConnectTimeout, "sleeping"))

    def _pass(self, pause: Pause) -> None:
        self._passer.let_pass(pause)


class _SimStream(httpcore.NetworkStream):
    """One connection, good for one request."""

    def __init__(self, server: JobServer, passer: SyncPasser, exchange: Exchange | None) -> None:
        self._server = server
        self._passer = passer
        self._exchange = exchange
        self._parser = h11.Connection(h11.SERVER)
        self._head: h11.Request | None = None
        self._body = bytearray()
        self._due: list[tuple[float, bytes]] | None = None
        self._lost = ""
        self._closed = False

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002 - writing takes no time
        """Take the request in; once it is whole, the server handles it."""
        if self._closed:
            raise httpcore.WriteError("the connection is closed")
        self._parser.receive_data(buffer)
        while self._due is None:
            event = self._parser.next_event()
            if isinstance(event, h11.Request):
                self._head = event
            elif isinstance(event, h11.Data):
                self._body += event.data
            elif isinstance(event, h11.EndOfMessage):
                self._answer()
            else:
                return

    def _answer(self) -> None:
        if self._head is None:
            raise httpcore.WriteError("a body without a request")
        if self._exchange is None:
            self._exchange = self._server.open(
                Request(
                    method=self._head.method.decode("ascii"),
                    target=self._head.target.decode("ascii"),
                    headers={name.decode("ascii"): value.decode("latin-1") for name, value in self._head.headers},
                    body=bytes(self._body),
                )
            )
        reply = self._exchange.reply
        self._exchange.arrive()
        now = self._passer.time.now
        # refused although connected: with several jobs nobody could know whose connection it was, so it is reset
        self._lost = "before_effect" if reply.refuse else reply.lost
        delay = reply.delay + reply.connect
        if self._lost != "never":
            self._due = [(now + delay, b"")]
        else:
            self._due = [(now + delay + offset, data) for offset, data in rendered(reply)]

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """The next piece of the answer; ``b""`` at the end. Raises ``httpcore.ReadTimeout`` and ``ReadError``."""
        if self._closed:
            raise httpcore.ReadError("the connection is closed")
        if self._due is None:
            self._passer.let_pass(
                Pause(float("inf"), timeout, httpcore.ReadTimeout, "waiting for an answer to half a request")
            )
        if not self._due:
            return b""
        due, data = self._due[0]
        now = self._passer.time.now
        self._passer.let_pass(Pause(due - now, timeout, httpcore.ReadTimeout, "waiting for the answer"))
        if self._lost == "before_effect":
            raise httpcore.ReadError("connection reset by peer")
        if len(data) > max_bytes:
            self._due[0] = (due, data[max_bytes:])
            return data[:max_bytes]
        del self._due[0]
        return data

    def close(self) -> None:
        """Close the connection."""
        self._closed = True

    def start_tls(
        self,
        ssl_context: Any,  # noqa: ARG002
        server_hostname: str | None = None,  # noqa: ARG002
        timeout: float | None = None,  # noqa: ARG002
    ) -> httpcore.NetworkStream:
        """There is no TLS here: encryption changes nothing that is tested, and the stream stays itself."""
        return self

    def get_extra_info(self, info: str) -> Any:
        """``is_readable`` once the server has something to say (or has closed); nothing else is known."""
        return bool(self._due is not None and not self._due) if info == "is_readable" else None


def rendered(reply: Reply) -> list[tuple[float, bytes]]:
    """The answer as HTTP/1.1 bytes, in pieces, each with the seconds after the first at which it is there."""
    lines = [b"HTTP/1.1 %d %s" % (reply.status, b"OK" if reply.status < 400 else b"Error")]
    lines += [name + b": " + value for name, value in playing.headers(reply)]
    head = b"\r\n".join([*lines, b"", b""])
    if not (reply.drip and reply.drip_head):
        parts = playing.pieces(reply)
        if parts and parts[0][0] == 0.0:
            return [(0.0, head + parts[0][1]), *parts[1:]]
        return [(0.0, head), *parts]
    whole = head + (reply.body if reply.cut is None else reply.body[: reply.cut])
    size = max(1, reply.piece)
    return [
        (reply.drip * number if number else 0.0, whole[at : at + size])
        for number, at in enumerate(range(0, len(whole), size))
    ]
