"""An httpx transport for threads that keeps a limit on the whole of a request (SPEC section 2, `fetch_timeout`).

httpx's own timeouts bound each connect, read and write. A server that sends one byte before each read timeout, in
its headers or its body, then holds the calling thread for ever. Here each of them gets what is left of the whole::

    client.get(url, extensions={"total_timeout": 10.0})
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from ssl import SSLContext
from typing import Any

import httpcore
import httpx

from .deadline_backend import AddressByAddressBackend, Budget, DeadlineBackend

__all__ = ["DeadlineTransport"]

_EXCEPTIONS: Mapping[type[BaseException], type[httpx.TransportError]] = {
    getattr(httpcore, name): getattr(httpx, name)
    for name in httpcore.__all__
    if isinstance(kind := getattr(httpx, name, None), type) and issubclass(kind, httpx.TransportError)
}


class DeadlineTransport(httpx.BaseTransport):
    """A transport that reads the request extension `total_timeout`: seconds for the whole request, body included.

    `network_backend` opens the connections (real sockets by default) and `monotonic` tells the time in seconds; a
    test gives both in virtual time. httpx's timeouts for single phases still hold, whichever ends first. Name
    resolution is exempt: the system's resolver cannot be interrupted; but what it used is missing afterwards.

    Raises `httpx.ConnectTimeout`, `WriteTimeout`, `ReadTimeout` or `PoolTimeout`, after whichever phase the limit
    ended, and all the other transport errors of httpx as its own transport does. A connection on which a request
    failed is closed. A `total_timeout` that is not a number above 0 is a ValueError.
    """

    def __init__(
        self,
        *,
        network_backend: httpcore.NetworkBackend | None = None,
        monotonic: Callable[[], float] = time.monotonic,
        ssl_context: SSLContext | None = None,
        max_connections: int | None = 100,
        max_keepalive_connections: int | None = 20,
        keepalive_expiry: float | None = 5.0,
    ) -> None:
        self._monotonic = monotonic
        inner = AddressByAddressBackend() if network_backend is None else network_backend
        self._pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context() if ssl_context is None else ssl_context,
            max_connections=max_connections,
            max_keepalive_connections=max_keepalive_connections,
            keepalive_expiry=keepalive_expiry,
            network_backend=DeadlineBackend(inner, monotonic=monotonic),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request and return its response, of which the body is still to be read."""
        if not isinstance(request.stream, httpx.SyncByteStream):
            msg = "DeadlineTransport is for httpx.Client; give httpx.AsyncClient an asynchronous transport"
            raise TypeError(msg)
        core_request = httpcore.Request(
            method=request.method,
            url=httpcore.URL(
                scheme=request.url.raw_scheme,
                host=request.url.raw_host,
                port=request.url.port,
                target=request.url.raw_path,
            ),
            headers=request.headers.raw,
            content=request.stream,
            extensions=self._with_budget(request.extensions),
        )
        with _httpx_errors():
            response = self._pool.handle_request(core_request)
        return httpx.Response(
            status_code=response.status,
            headers=response.headers,
            stream=_Body(response),
            extensions=response.extensions,
        )

    def close(self) -> None:
        """Close all connections."""
        with _httpx_errors():
            self._pool.close()

    def _with_budget(self, extensions: Mapping[str, Any]) -> dict[str, Any]:
        total = extensions.get("total_timeout")
        if total is None or total == math.inf:
            return dict(extensions)
        if isinstance(total, bool) or not isinstance(total, (int, float)) or not total > 0:
            msg = f"total_timeout must be a number of seconds above 0, got {total!r}"
            raise ValueError(msg)
        deadline = self._monotonic() + total
        phases = extensions.get("timeout", {})
        limits = {phase: phases.get(phase) for phase in ("connect", "read", "write", "pool")}
        budgets = {
            phase: Budget(total if limit is None else min(limit, total), deadline=deadline)
            for phase, limit in limits.items()
        }
        return {**extensions, "timeout": budgets}


class _Body(httpx.SyncByteStream):
    """The body of a response, with httpx's exceptions."""

    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        stream = self._response.stream
        assert isinstance(stream, Iterable)  # httpcore's type also allows an asynchronous stream
        with _httpx_errors():
            yield from stream

    def close(self) -> None:
        with _httpx_errors():
            self._response.close()


@contextmanager
def _httpx_errors() -> Iterator[None]:
    """Raise httpcore's exceptions as the httpx ones of the same names."""
    try:
        yield
    except Exception as error:
        kind = next((_EXCEPTIONS[base] for base in type(error).__mro__ if base in _EXCEPTIONS), None)
        if kind is None:
            raise
        raise kind(str(error)) from error
