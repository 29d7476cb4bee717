"""What the adapters to other people's packages share: the server's job envelopes in a package's own words, plain fetches, and the making
of subjects.

A real client asks for its own paths and reads its own envelopes. The transports here stand between it and the bench's: the path becomes
the job's route, and the envelope of a 2xx answer becomes the package's; statuses, headers, delays and bodies that are no job stay as
they are. The bench records below, so the plan still decides everything and checkers read the server's words.

The five words of the job API stand for the package's own words. Any other word is passed on, so a package that does not know it meets
a word that it does not know; one that would by chance be a word of the package's is marked, so a dialect can say ``words="enum"``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast
from urllib.parse import quote

import httpx

from ..adapter import Adapter
from ..dialect import Mode, WaiterDialect
from ..protocols import JobView, WaitCall, WaiterBench, WaiterSubject

Wait: TypeAlias = Callable[[WaiterBench, WaitCall], Any]

ROUTES = {
    "parse_jobs": "/v2/parse/jobs/",
    "extract_jobs": "/v2/extract/jobs/",
    "build_schema_jobs": "/v2/extract/build-schema/jobs/",
}

PLAIN = WaiterDialect(words="enum", early_wake="fetch", fetch_limit="phase", clock="module")
"""What all of them have in common: the word table is the package's own, a sleep that woke early is followed by a fetch, the HTTP client
limits each phase, and time is that of the package's modules. An adapter replaces what its package's documentation says."""

ENDED = ("completed", "failed", "cancelled")


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """How a package speaks. ``prefix``: its path up to the job id. ``words``: its word for each of the five statuses.

    ``envelope(job, word)``: its envelope of a job that the server calls ``job``, with its own ``word`` for the status.
    """

    prefix: str
    words: Mapping[str, str]
    envelope: Callable[[Mapping[str, Any], Any], Mapping[str, Any]]

    def word(self, said: Any) -> Any:
        """The package's word for the server's."""
        if not isinstance(said, str):
            return said
        own = {word.lower() for word in self.words.values()}
        return self.words.get(said, f"other {said}" if said.lower() in own else said)

    def meaning(self, word: object) -> str | None:
        """The status that the package's word stands for, ``None`` for any other word. Of two statuses with one word the first counts."""
        return next((status for status, own in self.words.items() if own == word), None)

    def request(self, request: httpx.Request, resource: str) -> httpx.Request:
        """The request as the server knows it. A path that is not the job's is left alone: the server knows no such route."""
        path = request.url.raw_path.decode("ascii")
        if path.startswith(self.prefix):
            path = ROUTES[resource] + path[len(self.prefix) :]
        url = request.url.copy_with(raw_path=path.encode("ascii"))
        # Without the body: jobs are only read, and httpx would ask for the length again.
        return httpx.Request(request.method, url, headers=request.headers, extensions=request.extensions)

    def response(self, answer: httpx.Response, body: bytes, request: httpx.Request) -> httpx.Response:
        """The answer as the package knows it."""
        headers = [(name, value) for name, value in answer.headers.raw if name.lower() != b"content-length"]
        content = self.body(body) if answer.is_success else body
        return httpx.Response(answer.status_code, headers=headers, content=content, request=request)

    def body(self, body: bytes) -> bytes:
        """The job in the package's envelope; a body that is no JSON object as it is."""
        try:
            job = json.loads(body)
            if isinstance(job, dict):
                return json.dumps(self.envelope(job, self.word(job.get("status")))).encode()
        except (ValueError, RecursionError):
            pass
        return body


def five(completed: str, failed: str, cancelled: str, processing: str, pending: str) -> Mapping[str, str]:
    """A package's words for the five statuses."""
    return {
        "completed": completed,
        "failed": failed,
        "cancelled": cancelled,
        "processing": processing,
        "pending": pending,
    }


def finite(seconds: float) -> float | None:
    """A time limit as most packages take it: ``None`` is none."""
    return seconds if math.isfinite(seconds) else None


def quoted(job_id: str) -> str:
    """An id as the server that gave a URL out would have escaped it; dots alone too, which URL libraries take for folders."""
    return job_id.replace(".", "%2E") if set(job_id) == {"."} else quote(job_id, safe="")


class Translated(httpx.BaseTransport):
    """A synchronous transport that speaks a package's vocabulary over the bench's."""

    def __init__(self, bench: WaiterBench, words: Vocabulary, resource: str) -> None:
        self._inner, self._words, self._resource = bench.transport(), words, resource

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Ask the server, and translate."""
        answer = self._inner.handle_request(self._words.request(request, self._resource))
        try:
            body = answer.read()
        finally:
            answer.close()
        return self._words.response(answer, body, request)


class AsyncTranslated(httpx.AsyncBaseTransport):
    """The asynchronous twin of :class:`Translated`."""

    def __init__(self, bench: WaiterBench, words: Vocabulary, resource: str) -> None:
        self._inner, self._words, self._resource = bench.async_transport(), words, resource

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Ask the server, and translate."""
        answer = await self._inner.handle_async_request(self._words.request(request, self._resource))
        try:
            body = await answer.aread()
        finally:
            await answer.aclose()
        return self._words.response(answer, body, request)


def id_of(job: Mapping[str, Any], asked: str = "") -> Any:
    """The id in a job envelope; ``asked`` if it has none."""
    return job.get("job_id", job.get("id", asked))


def payload_of(job: Mapping[str, Any]) -> Any:
    """The result in a job envelope, under its new or its old key."""
    return job.get("result") or job.get("data")


def error_of(job: Mapping[str, Any]) -> dict[str, Any] | None:
    """Why a job failed, in any of the forms that the server has, as code and message; ``None`` if the envelope does not say."""
    said = job.get("error") or job.get("failure_reason")
    if isinstance(said, list) and said:
        said = said[0]
    if isinstance(said, Mapping):
        return {"code": str(said.get("code", "unknown")), "message": str(said.get("message", ""))}
    return {"code": "unknown", "message": said} if isinstance(said, str) and said else None


def errors_when(base: type[BaseException], holds: Callable[[Any], bool]) -> type[BaseException]:
    """A type that stands for those errors of ``base`` for which ``holds``: some packages raise one type in several situations and tell
    them apart by what it carries."""

    class Meta(type):
        def __instancecheck__(cls, error: object) -> bool:
            return isinstance(error, base) and bool(holds(error))

    return cast("type[BaseException]", Meta(base.__name__, (Exception,), {}))


# -- making subjects -------------------------------------------------------------------------------------------------------

CANCELLATION = frozenset({"cancel_prompt", "cancel_original"})
"""What a coroutine promises by being one: asyncio says what a cancelled task does."""


def adapter(package: str, load: Callable[[], Sequence[WaiterSubject]], summary: str, *modes: Mode) -> Adapter:
    """The adapter to a package, named as it is; its subjects are ``<package>-<mode>``."""
    provides = tuple(f"{package}-{mode}" for mode in modes)
    return Adapter(name=package, provides=provides, group="real", load=load, package=package, summary=summary)


def subjects(
    package: str,
    waits: Mapping[Mode, Wait],
    *,
    dialect: WaiterDialect | Mapping[Mode, WaiterDialect],
    claims: frozenset[str],
    errors: Mapping[str, tuple[type[BaseException], ...]],
    view: Callable[[Any], JobView],
    patch: tuple[str, ...],
    carries: Callable[[BaseException], Mapping[str, object]] | None = None,
) -> list[WaiterSubject]:
    """The subjects of a package, one a mode; twins of each other if it promises that they are.

    ``dialect``: of all of them, or of each mode.
    """

    def subject(mode: Mode) -> WaiterSubject:
        return WaiterSubject(
            name=f"{package}-{mode}",
            mode=mode,
            family=package if "twins" in claims else f"{package}-{mode}",
            package=package,
            wait=waits[mode],
            view=view,
            dialect=dialect if isinstance(dialect, WaiterDialect) else dialect[mode],
            claims=claims | (CANCELLATION if mode == "asyncio" else frozenset()),
            errors=errors,
            carries=carries,
            patch=patch,
            twins=(lambda: [subject(other) for other in waits]) if "twins" in claims else tuple,
        )

    return [subject(mode) for mode in waits]


# -- for libraries that poll a function of the caller's --------------------------------------------------------------------


class WrongJobError(ValueError):
    """The body is not the job that was asked for."""


FETCH_ERRORS: tuple[type[BaseException], ...] = (httpx.HTTPError, httpx.InvalidURL, ValueError)
"""What :func:`fetch` raises when there is no job to be had."""


def fetch(bench: WaiterBench, call: WaitCall) -> dict[str, Any]:
    """The function that a loop library polls: one fetch of the job, with the checks that only its author can make."""
    return _checked(bench.get_job(call.job_id, resource=call.resource, timeout=call.fetch_timeout), call)


async def fetch_async(bench: WaiterBench, call: WaitCall) -> dict[str, Any]:
    """The asynchronous twin of :func:`fetch`."""
    return _checked(await bench.get_job_async(call.job_id, resource=call.resource, timeout=call.fetch_timeout), call)


def _checked(job: Any, call: WaitCall) -> dict[str, Any]:
    if not isinstance(job, dict) or str(id_of(job, call.job_id)) != call.job_id:
        raise WrongJobError("the answer is not the job that was asked for")
    return job


def unfinished(job: Mapping[str, Any]) -> bool:
    """True as long as the job has not ended."""
    return job.get("status") not in ENDED


def view(job: Mapping[str, Any]) -> JobView:
    """A decoded envelope as it came; a word that is not known is pending."""
    word = job.get("status")
    return JobView(
        job_id=id_of(job),
        status=word if word in (*ENDED, "processing") else "pending",
        raw_status=word if isinstance(word, str) else None,
        result=payload_of(job),
        error=cast("Any", error_of(job)),
        raw=cast("Any", job),
    )
