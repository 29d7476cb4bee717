"""Network streams on which each operation gets what is left of a whole (see `transport`).

The deadline travels with the request that it belongs to: httpcore hands the number that a request has for 'read
timeout' through to the stream as it is, so a number that knows its deadline arrives there too. Nothing is stored
with a connection or a thread, so nothing can be left over from an earlier request.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterable
from ssl import SSLContext
from typing import Any, Self

import httpcore

__all__ = ["AddressByAddressBackend", "Budget", "DeadlineBackend"]

# A stream writes a buffer piece by piece, each with the whole timeout. One TLS record, which also fits a socket's
# buffer, is one piece.
_WRITE_SIZE = 16_384


class Budget(float):
    """Seconds for one operation, of which none may go on after the deadline."""

    deadline: float
    """On the transport's clock."""

    def __new__(cls, seconds: float, *, deadline: float) -> Self:
        """Make a budget of so many seconds that ends at `deadline`."""
        self = super().__new__(cls, seconds)
        self.deadline = deadline
        return self

    def left(self, now: float) -> float:
        """Return the seconds that an operation may take which starts now; 0 or less: none."""
        return min(float(self), self.deadline - now)


class _Limited:
    """What backend and stream share: the clock, and the reading of a budget."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic

    def _left(self, timeout: float | None, expired: type[Exception]) -> float | None:
        if not isinstance(timeout, Budget):
            return timeout
        left = timeout.left(self._monotonic())
        if left <= 0:  # To a socket, a timeout of 0 means 'do not block', not 'no time left'.
            raise expired("the time limit of the whole request is used up")
        return left


class DeadlineStream(_Limited, httpcore.NetworkStream):
    """A stream whose every read and write gets what is left."""

    def __init__(self, inner: httpcore.NetworkStream, *, monotonic: Callable[[], float]) -> None:
        super().__init__(monotonic)
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read some bytes. Raises httpcore.ReadTimeout if nothing is left."""
        return self._inner.read(max_bytes, timeout=self._left(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write all of a buffer. Raises httpcore.WriteTimeout if nothing is left."""
        for start in range(0, len(buffer), _WRITE_SIZE):
            left = self._left(timeout, httpcore.WriteTimeout)
            self._inner.write(buffer[start : start + _WRITE_SIZE], timeout=left)

    def close(self) -> None:
        """Close the connection."""
        self._inner.close()

    def start_tls(
        self,
        ssl_context: SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        """Speak TLS from now on. Raises httpcore.ConnectTimeout if nothing is left."""
        try:
            left = self._left(timeout, httpcore.ConnectTimeout)
            inner = self._inner.start_tls(ssl_context, server_hostname=server_hostname, timeout=left)
        except BaseException:
            self._inner.close()  # httpcore has no connection yet that it could close
            raise
        return DeadlineStream(inner, monotonic=self._monotonic)

    def get_extra_info(self, info: str) -> Any:
        """Return what the stream below knows."""
        return self._inner.get_extra_info(info)


class DeadlineBackend(_Limited, httpcore.NetworkBackend):
    """A backend whose every connect gets what is left, and whose streams do so too."""

    def __init__(self, inner: httpcore.NetworkBackend, *, monotonic: Callable[[], float]) -> None:
        super().__init__(monotonic)
        self._inner = inner

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to a host. Raises httpcore.ConnectTimeout if nothing is left."""
        stream = self._inner.connect_tcp(
            host,
            port,
            timeout=self._left(timeout, httpcore.ConnectTimeout),
            local_address=local_address,
            socket_options=socket_options,
        )
        return DeadlineStream(stream, monotonic=self._monotonic)

    def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to a socket file. Raises httpcore.ConnectTimeout if nothing is left."""
        left = self._left(timeout, httpcore.ConnectTimeout)
        stream = self._inner.connect_unix_socket(path, timeout=left, socket_options=socket_options)
        return DeadlineStream(stream, monotonic=self._monotonic)

    def sleep(self, seconds: float) -> None:
        """Sleep between connection attempts, of which DeadlineTransport makes only one."""
        self._inner.sleep(seconds)


class AddressByAddressBackend(httpcore.SyncBackend):
    """Real sockets, with one timeout for all the addresses of a host together.

    The system's `create_connection` gives each address the whole timeout, so that a host with four dead addresses
    takes four times as long as it was allowed to.
    """

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to the first address of a host that answers; `timeout` is for all of them together."""
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:  # UnicodeError: a label of the name is empty or too long
            raise httpcore.ConnectError(str(error)) from error
        addresses = list(dict.fromkeys(str(address[0]) for *_, address in found))
        # From here on: the resolver cannot be interrupted, and is exempt.
        deadline = None if timeout is None else time.monotonic() + timeout
        failure: Exception = httpcore.ConnectError(f"{host!r} has no address")
        for address in addresses:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                raise httpcore.ConnectTimeout("timed out") from failure
            try:
                return super().connect_tcp(
                    address, port, timeout=left, local_address=local_address, socket_options=socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure
