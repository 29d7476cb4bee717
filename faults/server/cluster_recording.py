"""Recording transports of dispatch queues: every attempt is written down where it leaves the queue and where its answer comes back."""

from __future__ import annotations

import asyncio
import math

import httpx
import trio

from ...harness import queue_events
from ...harness.jsonable import Json, loads
from ...harness.recorder import BudgetExhausted, Recorder
from .cluster_wire import read_wire
from .recording import current_fetch, decoded
from .routes import Request

_CANCELLED = (asyncio.CancelledError, trio.Cancelled, KeyboardInterrupt, GeneratorExit)


class AttemptTape:
    """Numbers the attempts of each operation and writes them down. One a run, shared by its transports."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self._attempts: dict[str, int] = {}
        self.in_flight = 0

    def start(self, request: httpx.Request, content: bytes) -> Attempt:
        """A request leaves the queue."""
        target = request.url.raw_path.decode("ascii", "replace")
        asked = read_wire(Request(method=request.method, target=target, headers=decoded(request.headers), body=content))
        number = self._attempts.get(asked.operation, 0)
        self._attempts[asked.operation] = number + 1
        attempt = Attempt(self, f"{asked.operation}.a{number}")
        told = asked.precondition
        self.recorder.record(
            queue_events.ATTEMPT_START,
            queue_events.WORKER,
            attempt.op,
            operation=asked.operation,
            uid=asked.uid,
            name=asked.name,
            type=asked.type,
            read=asked.read,
            method=request.method,
            target=target,
            key=asked.key,
            precondition={
                "uid": told.uid,
                "resource_version": told.resource_version,
                "generation": list(told.generation) if told.generation else None,
            },
            payload=asked.payload,
        )
        self.in_flight += 1
        return attempt


class Attempt:
    """One attempt under way."""

    def __init__(self, tape: AttemptTape, op: str) -> None:
        self.op = op
        self._tape = tape

    def answered(self, response: httpx.Response, content: bytes) -> None:
        """The whole answer is there."""
        body: Json
        try:
            body = loads(content) if content else None
        except ValueError:
            body = content.decode("utf-8", "replace")[:500]
        self._end(
            ending="answer",
            status=response.status_code,
            retry_after=seconds_in(response.headers.get("retry-after")),
            body=body,
        )

    def failed(self, error: BaseException) -> None:
        """It was cut short. An attempt that the bench's own stop cuts short stays open."""
        if isinstance(error, BudgetExhausted):
            self._tape.in_flight -= 1
        elif isinstance(error, _CANCELLED):
            self._end(ending="cancelled")
        else:
            self._end(ending="error", error=type(error).__name__)

    def _end(self, **data: object) -> None:
        self._tape.in_flight -= 1
        self._tape.recorder.note(queue_events.ATTEMPT_END, queue_events.WORKER, self.op, **data)


def seconds_in(value: str | None) -> float | None:
    """A ``Retry-After`` in seconds, or ``None`` for none and for text that is no such number."""
    try:
        found = float(value) if value is not None else math.nan
    except ValueError:
        return None
    return found if math.isfinite(found) and found >= 0 else None


class AttemptTransport(httpx.BaseTransport):
    """Wraps a synchronous transport and writes down its attempts."""

    def __init__(self, inner: httpx.BaseTransport, tape: AttemptTape) -> None:
        self._inner = inner
        self._tape = tape

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Pass the request on and read the whole answer."""
        attempt = self._tape.start(request, request.read())
        token = current_fetch.set(attempt.op)
        try:
            response = self._inner.handle_request(request)
            content = response.read()
        except BaseException as error:
            attempt.failed(error)
            raise
        finally:
            current_fetch.reset(token)
        attempt.answered(response, content)
        return httpx.Response(response.status_code, headers=response.headers, content=content, request=request)


class AsyncAttemptTransport(httpx.AsyncBaseTransport):
    """Wraps an asynchronous transport and writes down its attempts."""

    def __init__(self, inner: httpx.AsyncBaseTransport, tape: AttemptTape) -> None:
        self._inner = inner
        self._tape = tape

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Pass the request on and read the whole answer."""
        attempt = self._tape.start(request, await request.aread())
        token = current_fetch.set(attempt.op)
        try:
            response = await self._inner.handle_async_request(request)
            content = await response.aread()
        except BaseException as error:
            attempt.failed(error)
            raise
        finally:
            current_fetch.reset(token)
        attempt.answered(response, content)
        return httpx.Response(response.status_code, headers=response.headers, content=content, request=request)
