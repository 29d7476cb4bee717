"""``azure-core``'s two transports over httpx clients, so that its pipelines talk to the bench's server. Imports the package when called."""

from __future__ import annotations

from typing import Any

import httpx


def answered(request: Any, answer: httpx.Response, *, asynchronous: bool = False) -> Any:
    """An answer of httpx as the one that ``azure-core`` reads."""
    from azure.core.rest import _http_response_impl, _http_response_impl_async

    kind: Any = (
        _http_response_impl_async.AsyncHttpResponseImpl if asynchronous else _http_response_impl.HttpResponseImpl
    )
    made = kind(
        request=request,
        internal_response=answer,
        status_code=answer.status_code,
        reason=answer.reason_phrase,
        content_type=answer.headers.get("content-type"),
        headers=answer.headers,
        stream_download_generator=None,
    )
    made._content = answer.content  # noqa: SLF001 - as its own transports do after reading
    return made


def failed(error: httpx.TransportError) -> Exception:
    """A transport error as the one that ``azure-core``'s own transports raise: was the request sent, or not?"""
    from azure.core import exceptions

    unsent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
    kind: Any = exceptions.ServiceRequestError if unsent else exceptions.ServiceResponseError
    made: Exception = kind(str(error), error=error)
    return made


def over(client: httpx.Client) -> Any:
    """A transport over a client."""
    from azure.core.pipeline import transport

    base: Any = transport.HttpTransport

    class Transport(base):  # type: ignore[misc]
        def open(self) -> None:
            pass

        def close(self) -> None:
            pass

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def send(self, request: Any, **_: Any) -> Any:
            try:
                answer = client.request(request.method, request.url, headers=dict(request.headers))
            except httpx.TransportError as error:
                raise failed(error) from error
            return answered(request, answer)

    return Transport()


def over_async(client: httpx.AsyncClient) -> Any:
    """The asynchronous twin of :func:`over`."""
    from azure.core.pipeline import transport

    base: Any = transport.AsyncHttpTransport

    class Transport(base):  # type: ignore[misc]
        async def open(self) -> None:
            pass

        async def close(self) -> None:
            pass

        async def __aenter__(self) -> Any:
            return self

        async def __aexit__(self, *_: object) -> None:
            pass

        async def send(self, request: Any, **_: Any) -> Any:
            try:
                answer = await client.request(request.method, request.url, headers=dict(request.headers))
            except httpx.TransportError as error:
                raise failed(error) from error
            return answered(request, answer, asynchronous=True)

    return Transport()
