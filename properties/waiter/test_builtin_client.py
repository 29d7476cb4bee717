"""The built-in client: routes, identity, submits, the direct path; both clients side by side."""

import itertools
import json

import anyio
import httpx
import pytest

from waitproof.harness.subjects.client import (
    ApiStatusError,
    AsyncClient,
    Client,
    CreatePolicy,
    InvalidResponseError,
    JobIdMismatchError,
    SyncTimeoutError,
)
from waitproof.harness.subjects.client.json_body import _decode_deep, decode_json
from waitproof.harness.subjects.error_table import ErrorClass, classify
from waitproof.harness.subjects.normaliser import JobStatus, ParseResult
from waitproof.harness.subjects.waiter import FetchTimeoutError, JobFailedError, JobWaitTimeoutError

BASE = "http://api.test"
RESOURCES = {"parse_jobs": "/v2/parse", "extract_jobs": "/v2/extract", "build_schema_jobs": "/v2/extract/build-schema"}
DIRECT = {"parse_jobs": "parse", "extract_jobs": "extract", "build_schema_jobs": "build_schema"}


class Clock:
    def __init__(self):
        self.now, self.sleeps = 0.0, []

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.sleeps.append(seconds)
        self.now += seconds


class AsyncClock(Clock):
    async def sleep(self, seconds):
        super().sleep(seconds)


class Bench:
    """A scripted server with a client of either kind before it: `call` looks the same for both."""

    def __init__(self, kind, *answers, **options):
        self.kind, self.answers, self.requests = kind, list(answers), []
        self.clock = Clock() if kind == "sync" else AsyncClock()
        keys = itertools.count(1)
        self.options = {
            "api_key": "secret",
            "base_url": BASE,
            "clock": self.clock,
            "key_factory": lambda: f"key-{next(keys)}",
            "transport": httpx.MockTransport(self.handle),
            **options,
        }

    def handle(self, request):
        self.requests.append(request)
        answer = self.answers[min(len(self.requests), len(self.answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, dict):
            return httpx.Response(200, json=answer)
        return answer

    def call(self, path, *args, **kwargs):
        def resolve(client):
            for name in path.split("."):
                client = getattr(client, name)
            return client

        if self.kind == "sync":
            with Client(**self.options) as client:
                return resolve(client)(*args, **kwargs)

        async def main():
            async with AsyncClient(**self.options) as client:
                return await resolve(client)(*args, **kwargs)

        return anyio.run(main, backend=self.kind)

    @property
    def lines(self):
        return [f"{r.method} {r.url.raw_path.decode()}" for r in self.requests]


@pytest.fixture(params=["sync", "asyncio", "trio"])
def bench(request):
    """Make a bench of each kind."""
    return lambda *answers, **options: Bench(request.param, *answers, **options)


@pytest.mark.parametrize("resource", RESOURCES)
def test_the_routes_of_the_three_resources(bench, resource):
    """create, get, list and cancel go where the API has them; all three resources alike."""
    path = RESOURCES[resource]
    there = bench({"job_id": "j", "status": "queued"})
    assert there.call(f"{resource}.create", {"document_url": "u"}).job_id == "j"
    assert there.call(f"{resource}.get", "j").status is JobStatus.PENDING
    there.call(f"{resource}.cancel", "j")
    there.call(f"{resource}.list")
    there.call(f"{resource}.list", page=0, page_size=5, status=JobStatus.FAILED)
    assert there.lines == [
        f"POST {path}/jobs",
        f"GET {path}/jobs/j",
        f"POST {path}/jobs/j/cancel",
        f"GET {path}/jobs",
        f"GET {path}/jobs?page=0&pageSize=5&status=failed",
    ]
    assert {r.headers["authorization"] for r in there.requests} == {"Bearer secret"}
    assert json.loads(there.requests[0].content) == {"document_url": "u"}


@pytest.mark.parametrize("resource", RESOURCES)
def test_the_direct_path(bench, resource):
    """A small document is answered at once, with the typed result."""
    there = bench({"markdown": "m", "extraction": {"a": 1}, "extraction_schema": "s"})
    result = there.call(DIRECT[resource], {"document_url": "u"})
    assert there.lines == [f"POST {RESOURCES[resource]}"]
    assert result.payload["markdown"] == "m"
    assert (resource == "parse_jobs") is isinstance(result, ParseResult)


@pytest.mark.parametrize("resource", RESOURCES)
def test_504_on_the_direct_path_names_the_job_resource_and_is_not_retried(bench, resource):
    """SyncTimeoutError after one request; permanent by the error table."""
    there = bench(httpx.Response(504))
    with pytest.raises(SyncTimeoutError, match=rf"client\.{resource}\.create") as caught:
        there.call(DIRECT[resource], {})
    assert caught.value.job_resource == resource
    assert classify(caught.value) is ErrorClass.PERMANENT
    assert len(there.requests) == 1


@pytest.mark.parametrize(
    ("job_id", "escaped"),
    [
        ("a/b", "a%2Fb"),
        ("..", "%2E%2E"),
        (".", "%2E"),
        ("../../admin", "..%2F..%2Fadmin"),
        ("a?b=c#d", "a%3Fb%3Dc%23d"),
        ("100%", "100%25"),
        ("%2e%2e", "%252e%252e"),
        ("a b", "a%20b"),
        ("é", "%C3%A9"),
        ("a\nb", "a%0Ab"),
    ],
)
def test_job_ids_are_escaped(bench, job_id, escaped):
    """Whatever an id holds, it is one segment of the path, and comes back as it was."""
    there = bench({"job_id": job_id, "status": "done"})
    assert there.call("parse_jobs.get", job_id).job_id == job_id
    assert there.call("parse_jobs.wait", job_id).job_id == job_id
    there.call("parse_jobs.cancel", job_id)
    assert there.lines == [
        f"{m} /v2/parse/jobs/{escaped}{t}" for m, t in (("GET", ""), ("GET", ""), ("POST", "/cancel"))
    ]


@pytest.mark.parametrize("job_id", ["", None, 5, "\ud800"])
def test_what_cannot_be_a_job_id_is_refused_before_any_request(bench, job_id):
    """An empty id would address the collection."""
    there = bench({})
    for call in ("get", "wait", "cancel"):
        with pytest.raises(ValueError, match=r"job id|surrogate"):
            there.call(f"parse_jobs.{call}", job_id)
    assert there.requests == []


@pytest.mark.parametrize("answered", ["other", 8, "", True, [], 7.0])
def test_an_answer_about_another_job_is_an_error(bench, answered):
    """An id that is present and, as text, not the one asked for, is raised at once, even by wait."""
    there = bench({"job_id": answered, "status": "completed"})
    for call in ("get", "wait", "cancel"):
        with pytest.raises(JobIdMismatchError) as caught:
            there.call(f"parse_jobs.{call}", "7")
        assert (caught.value.asked, caught.value.answered) == ("7", answered)
    assert len(there.requests) == 3


@pytest.mark.parametrize("envelope", [{}, {"job_id": None}, {"job_id": 7}, {"job_id": "7"}])
def test_a_missing_or_equal_id_is_accepted(bench, envelope):
    """Without an id the answer is about the job asked for; an integer is compared as text."""
    assert bench({**envelope, "status": "done"}).call("parse_jobs.get", "7").job_id == "7"


@pytest.mark.parametrize(
    "body", [b"", b"null", b"[]", b'"done"', b"5", b"<html>", b'{"a":', b"\xff\xfe\xfa", b"[" * 9999]
)
def test_a_2xx_body_that_is_no_object_is_raised_at_once(bench, body):
    """InvalidResponseError, from every method, and no retry."""
    there = bench(httpx.Response(200, content=body))
    for path, args in (
        ("parse_jobs.get", ["j"]),
        ("parse_jobs.wait", ["j"]),
        ("parse_jobs.create", [{}]),
        ("parse_jobs.list", []),
        ("parse_jobs.cancel", ["j"]),
        ("parse", [{}]),
    ):
        with pytest.raises(InvalidResponseError):
            there.call(path, *args)
    assert len(there.requests) == 6
    assert there.clock.sleeps == []


def test_no_json_object_is_too_deep_or_too_long(bench):
    """A body of fifty thousand levels, or with an integer of ten thousand digits, is a job like any other."""
    deep = b'{"a":' * 50_000 + b"1" + b"}" * 50_000
    there = bench(httpx.Response(200, content=b'{"status":"done","result":' + deep + b',"x":' + b"9" * 10_000 + b"}"))
    job = there.call("parse_jobs.wait", "j")
    assert job.status is JobStatus.COMPLETED
    assert job.raw["x"] == 10**10_000 - 1


TEXTS = [
    *["{}", "[]", ' {"a" : [1, -2.5, 3e4, "x\\u00e9", true, false, null, {}, []], "b": {"c": [[]]}} ', "5", '"a"'],
    *[
        "[1,]",
        '{"a":1,}',
        "[1 2]",
        '{"a" 1}',
        "[",
        '{"a":',
        "{a:1}",
        "",
        "[1]]",
        "tru",
        "[1}",
        "{]",
        ",",
        '{"a":1 "b":2}',
    ],
    *["01", "[-]", '"', '{"a":1}x', "[\x00]"],
]


@pytest.mark.parametrize("text", TEXTS)
def test_the_deep_decoder_reads_what_the_standard_one_does(text):
    """Value for value and refusal for refusal."""

    def attempt(decode, value):
        try:
            return decode(value)
        except ValueError:
            return "refused"

    assert attempt(_decode_deep, text) == attempt(json.loads, text) == attempt(decode_json, text.encode())


# Waiting.


def test_wait_polls_until_the_end(bench):
    """The waiter's schedule, its pacing and its result come through the client."""
    there = bench(
        {"status": "queued"},
        httpx.Response(503, headers={"Retry-After": "4"}),
        httpx.ConnectError("no"),
        httpx.Response(200, headers={"retry-after-ms": "250"}, json={"status": "running"}),
        {"status": "done", "data": {"markdown": "m"}},
    )
    job = there.call("parse_jobs.wait", "j")
    assert job.result.markdown == "m"
    assert there.clock.sleeps == [1.0, 4.0, 2.25, 0.25]


def test_wait_takes_all_options(bench):
    """Options reach the waiter, and its errors the caller."""
    there = bench({"status": "failed", "error": {"code": 3, "message": "bad"}})
    with pytest.raises(JobFailedError) as caught:
        there.call("parse_jobs.wait", "j", raise_on_failure=True)
    assert caught.value.error.code == "3"
    there = bench({"status": "queued"})
    with pytest.raises(JobWaitTimeoutError):
        there.call("parse_jobs.wait", "j", timeout=3.0, poll_interval=1.0, fetch_timeout=2.0)
    assert there.clock.sleeps == [1.0, 1.0, 1.0]
    assert {r.extensions["total_timeout"] for r in there.requests} == {2.0}
    assert there.requests[0].extensions["timeout"]["read"] == 2.0
    there = bench(httpx.Response(404))
    with pytest.raises(ApiStatusError, match="404"):
        there.call("parse_jobs.wait", "j", not_found_grace=2.0, poll_interval=1.0)
    assert len(there.requests) == 3
    with pytest.raises(ValueError, match="factor"):
        there.call("parse_jobs.wait", "j", factor=0.5)


def test_a_timeout_cancels_nothing_remote(bench):
    """The job may still run: the waiter sends GETs and nothing else."""
    there = bench({"status": "queued"})
    with pytest.raises(JobWaitTimeoutError):
        there.call("parse_jobs.wait", "j", timeout=5.0)
    assert {r.method for r in there.requests} == {"GET"}


# Submitting.


def test_create_retries_with_the_same_key_and_the_same_bytes(bench):
    """A lost answer, a 500 and a 429 are tried again, as one and the same submit."""
    limited = httpx.Response(429, headers={"Retry-After": "3"})
    there = bench(httpx.ReadTimeout("lost"), httpx.Response(500), limited, {"job_id": "j", "status": "queued"})
    payload = {"document_url": "u"}
    assert there.call("parse_jobs.create", payload).job_id == "j"
    assert {r.headers["idempotency-key"] for r in there.requests} == {"key-1"}
    assert {r.content for r in there.requests} == {b'{"document_url": "u"}'}
    assert there.clock.sleeps == [0.5, 1.0, 3.0]


def test_create_gives_up_after_its_attempts_with_the_last_error(bench):
    """A bounded number of attempts."""
    there = bench(httpx.ConnectError("a"), httpx.ConnectError("b"), httpx.Response(503))
    with pytest.raises(ApiStatusError, match="503"):
        there.call("parse_jobs.create", {})
    assert len(there.requests) == 4
    there = bench(httpx.ConnectError("a"), create_policy=CreatePolicy(attempts=1))
    with pytest.raises(httpx.ConnectError):
        there.call("parse_jobs.create", {})
    assert len(there.requests) == 1


@pytest.mark.parametrize("code", [400, 401, 404, 409, 422, 501, 302])
def test_create_raises_permanent_errors_at_once(bench, code):
    """No second attempt for what would fail again."""
    there = bench(httpx.Response(code))
    with pytest.raises(ApiStatusError) as caught:
        there.call("parse_jobs.create", {})
    assert caught.value.status_code == code
    assert len(there.requests) == 1


def test_create_obeys_an_overlong_hint_by_giving_up(bench):
    """A server that asks for an hour is not asked again within the hour."""
    there = bench(httpx.Response(503, headers={"Retry-After": "3600"}))
    with pytest.raises(ApiStatusError):
        there.call("parse_jobs.create", {})
    assert (len(there.requests), there.clock.sleeps) == (1, [])


def test_keys_are_new_for_each_submit_unless_given(bench):
    """Two creates are two submits; a given key is used as it is."""
    there = bench({"job_id": "j"})
    del there.options["key_factory"]
    for key in (None, None, "mine"):
        there.call("parse_jobs.create", {}, idempotency_key=key)
    first, second, third = (r.headers["idempotency-key"] for r in there.requests)
    assert first != second
    assert third == "mine"


@pytest.mark.parametrize("key", ["", " ", "é", "a\nb", 5])
def test_a_key_that_is_no_header_value_is_refused(bench, key):
    """Before any request."""
    there = bench({})
    with pytest.raises(ValueError, match="idempotency key"):
        there.call("parse_jobs.create", {}, idempotency_key=key)
    assert there.requests == []


@pytest.mark.parametrize("bad", [{"page": True}, {"page": -1}, {"page": "1"}, {"page_size": 0}, {"page_size": True}])
def test_list_refuses_what_is_no_page(bench, bad):
    """Pages are integers from 0, sizes from 1."""
    there = bench({})
    with pytest.raises(ValueError, match="page"):
        there.call("parse_jobs.list", **bad)
    assert there.requests == []


@pytest.mark.parametrize(
    "options", [{"api_key": ""}, {"base_url": "api.test"}, {"request_timeout": 0}, {"direct_timeout": float("inf")}]
)
def test_bad_settings_are_refused(bench, options):
    """ValueError when the client is made."""
    with pytest.raises(ValueError, match=next(iter(options))):
        bench({}, **options).call("parse_jobs.get", "j")


def test_the_api_key_is_not_shown():
    """The settings can be logged."""
    with Client(api_key="secret", transport=httpx.MockTransport(lambda _: None)) as client:
        assert "secret" not in repr(client.settings)


def test_an_async_request_is_bounded_as_a_whole():
    """A transport that hangs is cancelled after the limit."""

    class Hanging(httpx.AsyncBaseTransport):
        async def handle_async_request(self, _):
            await anyio.sleep_forever()

    async def main():
        async with AsyncClient(api_key="k", transport=Hanging(), request_timeout=0.01) as client:
            for call in (client.parse_jobs.list(), client.parse_jobs.get("j"), client.parse_jobs.cancel("j")):
                with pytest.raises(FetchTimeoutError):
                    await call

    anyio.run(main)
