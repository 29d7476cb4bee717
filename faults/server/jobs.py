"""The job server, sans I/O: a request in, a reply script out. It plays a plan's answers and keeps the ledger of effects.

Routes: ``/v2/parse/jobs``, ``/v2/extract/jobs``, ``/v2/extract/build-schema/jobs`` (GET: list, POST: submit), ``…/{id}`` (GET),
``…/{id}/cancel`` (POST), and the direct path ``/v2/parse``, ``/v2/extract``, ``/v2/extract/build-schema`` (POST). The id is percent-decoded
exactly once, so a client that escapes too little or too much asks for another job, which there is not.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

from ...harness import events
from ...harness.recorder import Recorder
from ..client_plan import Effect
from ..kinds import kind_named
from ..plan import Answer, answer
from ..reply import Asked, Reply
from .envelopes import dump, envelope, meaning, payload
from .routes import Request, Route, route


class BenchBrokenError(RuntimeError):
    """The bench itself has a bug. Raised at the end of the run, because a subject may swallow or retry it where it happened."""


class Exchange:
    """One request and the reply to it. ``reply`` says what happens on the wire; ``arrive()`` is called once the request has arrived."""

    def __init__(self, reply: Reply, on_arrival: Callable[[], None], broken: Callable[[Exception], None]) -> None:
        self.reply = reply
        self._broken = broken
        self._on_arrival = on_arrival
        self._arrived = False

    def arrive(self) -> None:
        """The whole request is there: the server records it, and what it changes is changed now. A second call changes nothing."""
        if not self._arrived:
            self._arrived = True
            try:
                self._on_arrival()
            except Exception as error:
                self._broken(error)
                raise

    def answered(self) -> Reply:
        """The reply, now that its ``delay`` is over. A server may decide it as late as that; the job server has long done so."""
        return self.reply


@dataclass
class _Job:
    answers: Callable[[int], Answer]
    old_keys: bool
    fetches: int = 0


@dataclass
class _Posts:
    """What is answered to the POSTs of one route, attempt by attempt."""

    attempts: Callable[[int], tuple[Answer, Effect]]
    seen: int = 0


@dataclass
class _Ledger:
    created: dict[tuple[str, str], str] = field(default_factory=dict)
    """Jobs by (resource, idempotency key)."""
    operations: dict[tuple[str, str], str] = field(default_factory=dict)
    """Operations by (resource, idempotency key)."""
    count: int = 0


def _completed(_: int) -> Answer:
    return answer("status")


def _accepted(_: int) -> tuple[Answer, Effect]:
    return answer("status", word="pending"), "auto"


class JobServer:
    """The server of one run.

    ``wall``: the server's wall clock (epoch seconds). ``op``: which operation a request belongs to. ``operations``: the operation ids
    that are looked for in payloads. ``alias``: how an idempotency key is written down (keys may be random; histories must not be).
    """

    def __init__(
        self,
        recorder: Recorder,
        *,
        wall: Callable[[], float],
        op: Callable[[], str] = lambda: "",
        operations: Iterable[str] = (),
        alias: Callable[[str], str] = lambda key: key,
    ) -> None:
        self._recorder = recorder
        self._wall = wall
        self._op = op
        self._operations = sorted(operations, key=lambda item: (-len(item), item))
        self._alias = alias
        self._jobs: dict[tuple[str, str], _Job] = {}
        self._posts: dict[tuple[str, str], _Posts] = {}
        self._ledger = _Ledger()
        self.broken: Exception | None = None

    def add_job(self, resource: str, job_id: str, answers: Callable[[int], Answer], *, old_keys: bool = False) -> None:
        """Add a job; ``answers(k)`` is the answer to its k-th fetch. Raises ``ValueError`` for a second job of that id."""
        if (resource, job_id) in self._jobs:
            raise ValueError(
                f"there is already a job {job_id!r} among the {resource}: concurrent plans need distinct job ids"
            )
        self._jobs[resource, job_id] = _Job(answers, old_keys)

    def add_posts(
        self, action: Literal["create", "direct"], resource: str, attempts: Callable[[int], tuple[Answer, Effect]]
    ) -> None:
        """Say what is answered to the k-th POST of a route, and whether it has its effect (``auto``: exactly if the answer is 2xx)."""
        self._posts[action, resource] = _Posts(attempts)

    def upcoming(self) -> Exchange | None:
        """The exchange for whoever connects now, if it is about the connection itself (refused, or late); taken once it is returned.

        A connection does not say what it will ask, so this answers only if there is exactly one thing that can be asked.
        """
        if len(self._jobs) + len(self._posts) != 1:
            return None
        if self._jobs:
            ((resource, job_id),) = self._jobs
            job = self._jobs[resource, job_id]
            reply, exchange = self._play(
                Route(action="fetch", resource=resource, job=job_id), job.answers(job.fetches), job.fetches, None
            )
            if reply.refuse or reply.connect:
                job.fetches += 1
                return exchange
            return None
        (((action, resource), posts),) = self._posts.items()
        given, _ = posts.attempts(posts.seen)
        reply, exchange = self._play(Route(action=action, resource=resource), given, posts.seen, None)  # type: ignore[arg-type]
        if reply.refuse or reply.connect:
            posts.seen += 1
            return exchange
        return None

    def open(self, request: Request) -> Exchange:
        """Decide what happens to a request. What is listed for it is used up, whether or not the request ever arrives.

        An exception here is a bug of the bench, never an answer; it is kept in ``broken``.
        """
        try:
            return self._opened(request)
        except Exception as error:
            self._break(error)
            raise

    def _opened(self, request: Request) -> Exchange:
        found = route(request.method, request.target)
        match found.action:
            case "fetch" | "cancel" if (job := self._jobs.get((found.resource, str(found.job)))) is not None:
                if found.action == "cancel":
                    return self._cancelled(request, found, job)
                job.fetches += 1
                return self._play(found, job.answers(job.fetches - 1), job.fetches - 1, request)[1]
            case "create" | "direct":
                return self._post(request, found)
            case "list":
                return self._listed(request, found)
            case _:
                return self._unknown(request, found)

    # -- fetches -------------------------------------------------------------------------------------------------------

    def _play(
        self, found: Route, given: Answer, index: int, request: Request | None, job_id: str = ""
    ) -> tuple[Reply, Exchange]:
        kind = kind_named(given.kind)
        if kind.reply is None:
            raise ValueError(f"a {kind.place} fault ({given.kind}) is no answer")
        name = found.job if found.job is not None else job_id
        job = self._jobs.get((found.resource, name))
        asked = Asked(
            job_id=name,
            resource=found.resource,
            wall=self._wall() + (given.delay if given.delay < 1e9 else 0.0),
            index=index,
            old_keys=job is not None and job.old_keys,
        )
        reply = kind.reply(given.data, asked)
        # a connection that fails has no answer that could be late: there, the delay is the connection's
        if given.delay and reply.refuse:
            reply = dataclasses.replace(reply, connect=reply.connect + given.delay)
        elif given.delay:
            reply = dataclasses.replace(reply, delay=reply.delay + given.delay)
        told = {"kind": given.kind, "words": given.words(), "index": index}

        def on_arrival() -> None:
            if reply.refuse or reply.lost == "before_effect" or reply.connect == float("inf"):
                self._recorder.record(events.SERVER_ANSWER, events.FAULT, self._op(), **told)
                return
            if request is not None:
                self._request(request, found)
            self._recorder.record(events.SERVER_ANSWER, events.SERVER, self._op(), **told)

        return reply, self._exchange(reply, on_arrival)

    def _cancelled(self, request: Request, found: Route, job: _Job) -> Exchange:
        asked = Asked(job_id=str(found.job), resource=found.resource, old_keys=job.old_keys)

        def on_arrival() -> None:
            self._request(request, found)
            self._recorder.record(
                events.SERVER_EFFECT, events.SERVER, self._op(), operation=None, job=found.job, what="cancel"
            )
            self._told("cancel", "the server cancels the job")

        return self._exchange(Reply(body=envelope(asked, "cancelled")), on_arrival)

    # -- submits and direct calls --------------------------------------------------------------------------------------

    def _post(self, request: Request, found: Route) -> Exchange:
        key = request.headers.get("idempotency-key")
        operation = self._operation(request.body)
        posts = self._posts.setdefault(
            (found.action, found.resource), _Posts(_accepted if found.action == "create" else _plain_direct)
        )
        given, effect = posts.attempts(posts.seen)
        index, posts.seen = posts.seen, posts.seen + 1
        known = self._ledger.created.get((found.resource, key)) if key is not None else None
        job_id = known if known is not None else f"made-{self._ledger.count + 1}"
        reply, played = self._play(found, given, index, request, job_id)
        if key is not None and self._ledger.operations.get((found.resource, key), operation) != operation:
            return self._plain(
                request, found, 422, "key_reused", "the server refuses: that key was used with another payload"
            )
        if reply.status == 200 and given.kind == "status":
            reply = self._success(found, given.data.word, operation or job_id, reply)
        happens = effect == "yes" or (effect == "auto" and 200 <= reply.status < 300)
        never = reply.refuse or reply.lost == "before_effect" or reply.connect == float("inf")

        def on_arrival() -> None:
            played.arrive()
            if never or not happens or known is not None:
                return
            self._ledger.count += 1
            if key is not None:
                self._ledger.created[found.resource, key] = job_id
                self._ledger.operations[found.resource, key] = operation or ""
            made = job_id if found.action == "create" else None
            if made is not None and (found.resource, made) not in self._jobs:
                self._jobs[found.resource, made] = _Job(_completed, old_keys=False)
            self._recorder.record(
                events.SERVER_EFFECT,
                events.SERVER,
                self._op(),
                operation=operation,
                job=made,
                what=f"{found.action} {found.resource}",
            )

        return self._exchange(reply, on_arrival)

    def _success(self, found: Route, word: str, name: str, reply: Reply) -> Reply:
        if found.action == "create":
            return dataclasses.replace(reply, status=202)
        if meaning(word) == "completed":
            return dataclasses.replace(reply, body=dump(payload(found.resource, name)))
        return reply

    def _operation(self, body: bytes) -> str | None:
        text = body.decode("utf-8", "replace")
        for operation in self._operations:
            if operation in text or json.dumps(operation)[1:-1] in text:
                return operation
        found = re.search(r"operation-\w+", text)
        return found.group() if found else None

    def _exchange(self, reply: Reply, on_arrival: Callable[[], None]) -> Exchange:
        return Exchange(reply, on_arrival, self._break)

    def _break(self, error: Exception) -> None:
        self.broken = error

    # -- the rest ------------------------------------------------------------------------------------------------------

    def _listed(self, request: Request, found: Route) -> Exchange:
        jobs = [
            json.loads(envelope(Asked(job_id=name, resource=resource, old_keys=job.old_keys), "pending"))
            for (resource, name), job in self._jobs.items()
            if resource == found.resource
        ]

        def on_arrival() -> None:
            self._request(request, found)
            self._told("list", f"the server lists {len(jobs)} jobs")

        body = dump({"jobs": jobs, "has_more": False, "org_id": "org-1", "page": 0, "page_size": 100})
        return self._exchange(Reply(body=body), on_arrival)

    def _unknown(self, request: Request, found: Route) -> Exchange:
        if found.action == "none":
            return self._plain(
                request, found, 404, "no_such_route", "the server knows no such route and answers HTTP 404"
            )
        return self._plain(
            request, found, 404, "no_such_job", f"the server knows no job {found.job!r} there and answers HTTP 404"
        )

    def _plain(self, request: Request, found: Route, status: int, kind: str, words: str) -> Exchange:
        def on_arrival() -> None:
            self._request(request, found)
            self._told(kind, words)

        return self._exchange(Reply(status=status, body=dump({"detail": kind})), on_arrival)

    def _request(self, request: Request, found: Route) -> None:
        key = request.headers.get("idempotency-key")
        alias = None if key is None else self._alias(key)
        data = {"method": request.method, "target": request.target, "job": found.job, "key": alias}
        self._recorder.record(events.SERVER_REQUEST, events.SERVER, self._op(), **data)

    def _told(self, kind: str, words: str) -> None:
        self._recorder.record(events.SERVER_ANSWER, events.SERVER, self._op(), kind=kind, words=words, index=0)


def _plain_direct(_: int) -> tuple[Answer, Effect]:
    return answer("status"), "auto"
