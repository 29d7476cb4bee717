"""Recording transports: every fetch is written down where it leaves the subject and where its answer comes back."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextvars import ContextVar, Token
from typing import Final, cast

import httpx
import trio

from ...harness import events
from ...harness.clocks import current_op
from ...harness.recorder import BudgetExhausted, Recorder

current_fetch: ContextVar[str] = ContextVar("waitproof_current_fetch", default="")
"""The fetch that is under way here (``w0.f0``): the server tags its events with it."""

BODY_LIMIT: Final = 4096
"""Bytes of an answer's body that are written down."""

_CANCELLED: Final = (asyncio.CancelledError, trio.Cancelled, KeyboardInterrupt, GeneratorExit)
_KEPT: Final = ("accept", "idempotency-key", "content-type")


def decoded(headers: httpx.Headers) -> dict[str, str]:
    """Headers as text, names in lower case; of two with one name the last counts."""
    # httpx's own reading guesses the encoding anew for each name, and costs ten times as much
    return {name.decode("latin-1").lower(): value.decode("utf-8", "replace") for name, value in headers.raw}


class Tape:
    """Numbers the fetches of each operation and writes them down. One a run, shared by all its transports.

    Idempotency keys are written as ``key-1``, ``key-2``, … in order of appearance: a subject may draw them at random, and the same run
    must give the same bytes. The media type alone is kept of a content type, because multipart boundaries are random too.
    """

    def __init__(self, recorder: Recorder, now: Callable[[], float]) -> None:
        self.recorder = recorder
        self.now = now
        self._fetches: dict[str, int] = {}
        self._keys: dict[str, str] = {}

    def alias(self, key: str) -> str:
        """The name under which an idempotency key is written down."""
        return self._keys.setdefault(key, f"key-{len(self._keys) + 1}")

    def fetches(self, op: str) -> int:
        """How many fetches an operation has begun."""
        return self._fetches.get(op, 0)

    def start(self, request: httpx.Request) -> Fetch:
        """A request leaves the subject."""
        owner = current_op.get()
        number = self._fetches.get(owner, 0)
        self._fetches[owner] = number + 1
        fetch = Fetch(self, f"{owner}.f{number}" if owner else f"f{number}")
        target = request.url.raw_path.decode("ascii", "replace")
        sent = decoded(request.headers)
        headers = {name: self._header(name, sent[name]) for name in _KEPT if name in sent}
        self.recorder.record(
            events.FETCH_START, events.CLIENT, fetch.op, method=request.method, target=target, headers=headers
        )
        return fetch

    def _header(self, name: str, value: str) -> str:
        if name == "idempotency-key":
            return self.alias(value)
        return value.partition(";")[0].strip() if name == "content-type" else value


class Fetch:
    """One fetch under way. It ends once: whatever ends it first is written down."""

    def __init__(self, tape: Tape, op: str) -> None:
        self.op = op
        self._tape = tape
        self._status = 0
        self._headers: dict[str, str] = {}
        self._length: int | None = None
        self._arrived = 0.0
        self._size = 0
        self._body = bytearray()
        self._ended = False

    def head(self, response: httpx.Response) -> None:
        """The head of the answer is there."""
        self._status = response.status_code
        self._headers = decoded(response.headers)
        length = self._headers.get("content-length", "")
        self._length = int(length) if length.isdecimal() else None
        self._arrived = round(self._tape.now(), 9)

    def piece(self, data: bytes) -> None:
        """A piece of the body was handed to the subject."""
        self._size += len(data)
        if len(self._body) < BODY_LIMIT:
            self._body += data[: BODY_LIMIT - len(self._body)]

    def whole(self) -> None:
        """The body has been read to its end."""
        self._end("answer")

    def closed(self) -> None:
        """The subject closed the answer; it is a whole one if nothing of it was left."""
        self._end("answer" if self._length is not None and self._size >= self._length else "closed")

    def failed(self, error: BaseException) -> None:
        """It was cut short by an error or a cancellation. A fetch that the bench's own stop cuts short stays open."""
        if isinstance(error, BudgetExhausted):
            self._ended = True
        elif isinstance(error, _CANCELLED):
            self._end("cancelled")
        elif not self._ended:
            self._ended = True
            self._note(ending="error", error=type(error).__name__)

    def _end(self, ending: str) -> None:
        if self._ended:
            return
        self._ended = True
        if not self._status:
            self._note(ending=ending)
            return
        text = self._body.decode("utf-8", "replace")
        self._note(ending=ending, status=self._status, headers=self._headers, body=text, arrived=self._arrived)

    def _note(self, **data: object) -> None:
        self._tape.recorder.note(events.FETCH_END, events.CLIENT, self.op, **data)


class _SyncBody(httpx.SyncByteStream):
    def __init__(self, inner: httpx.SyncByteStream, fetch: Fetch) -> None:
        self._inner = inner
        self._fetch = fetch

    def __iter__(self) -> Iterator[bytes]:
        token = current_fetch.set(self._fetch.op)
        try:
            for data in self._inner:
                self._fetch.piece(data)
                yield data
        except GeneratorExit:
            raise  # the reader stopped; close() says what that means
        except BaseException as error:
            self._fetch.failed(error)
            raise
        finally:
            _reset(token)
        self._fetch.whole()

    def close(self) -> None:
        self._fetch.closed()
        self._inner.close()


class _AsyncBody(httpx.AsyncByteStream):
    def __init__(self, inner: httpx.AsyncByteStream, fetch: Fetch) -> None:
        self._inner = inner
        self._fetch = fetch

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for data in self._inner:
                self._fetch.piece(data)
                yield data
        except GeneratorExit:
            raise
        except BaseException as error:
            self._fetch.failed(error)
            raise
        self._fetch.whole()

    async def aclose(self) -> None:
        self._fetch.closed()
        await self._inner.aclose()


def _reset(token: Token[str]) -> None:
    # a stream may be finished in another context than it was begun in: nothing of ours is set there
    with contextlib.suppress(ValueError):
        current_fetch.reset(token)


class RecordingTransport(httpx.BaseTransport):
    """Wraps a synchronous transport and writes down its fetches."""

    def __init__(self, inner: httpx.BaseTransport, tape: Tape) -> None:
        self._inner = inner
        self._tape = tape

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Pass the request on; the fetch ends when its body has been read or closed, or with an error."""
        fetch = self._tape.start(request)
        token = current_fetch.set(fetch.op)
        try:
            response = self._inner.handle_request(request)
        except BaseException as error:
            fetch.failed(error)
            raise
        finally:
            current_fetch.reset(token)
        fetch.head(response)
        response.stream = _SyncBody(cast("httpx.SyncByteStream", response.stream), fetch)
        return response

    def close(self) -> None:
        """Close the transport beneath."""
        self._inner.close()


class AsyncRecordingTransport(httpx.AsyncBaseTransport):
    """Wraps an asynchronous transport and writes down its fetches."""

    def __init__(self, inner: httpx.AsyncBaseTransport, tape: Tape) -> None:
        self._inner = inner
        self._tape = tape

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Pass the request on; the fetch ends when its body has been read or closed, or with an error."""
        fetch = self._tape.start(request)
        token = current_fetch.set(fetch.op)
        try:
            response = await self._inner.handle_async_request(request)
        except BaseException as error:
            fetch.failed(error)
            raise
        finally:
            current_fetch.reset(token)
        fetch.head(response)
        response.stream = _AsyncBody(cast("httpx.AsyncByteStream", response.stream), fetch)
        return response

    async def aclose(self) -> None:
        """Close the transport beneath."""
        await self._inner.aclose()
