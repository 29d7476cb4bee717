"""The simulated transports: every phase's timeout at its exact virtual time, in blocking code, on asyncio and on trio."""

from __future__ import annotations

import contextlib

import anyio
import httpx
import pytest

from waitproof.faults.plan import answer
from waitproof.faults.server.world import World
from waitproof.harness import events
from waitproof.harness.clocks import current_op
from waitproof.harness.history import History
from waitproof.harness.loop.simloop import simulate
from waitproof.harness.loop.triorun import simulate_trio
from waitproof.harness.recorder import BudgetExhausted, Recorder

MODES = ("sync", "asyncio", "trio")


class Bench:
    """One client of one mode in one world; ``ask`` gives what came of a request, and when."""

    def __init__(self, mode, *answers, interrupt_at=None):
        self.mode = mode
        self.history = History()
        self.world = World(
            lambda now: Recorder(self.history, now), interrupt_at=interrupt_at, operations=("operation-1",)
        )
        self.world.server.add_job("parse_jobs", "job-1", lambda index: answers[min(index, len(answers) - 1)])

    def ask(self, *timeouts, method="GET", target="/v2/parse/jobs/job-1", content=None, within=None):
        """Send one request for each timeout; the outcomes are (status or name of the error, virtual time)."""
        outcomes = []
        options = {"base_url": self.world.base_url, "trust_env": False}

        def note(what):
            outcomes.append((what, round(self.world.time.now, 9)))

        def blocking():
            with httpx.Client(transport=self.world.transport(), **options) as client:
                for timeout in timeouts:
                    try:
                        note(client.request(method, target, timeout=timeout, content=content).status_code)
                    except httpx.TransportError as error:
                        note(type(error).__name__)

        async def asynchronous():
            current_op.set("w0")
            async with httpx.AsyncClient(transport=self.world.async_transport(), **options) as client:
                for timeout in timeouts:
                    with anyio.move_on_after(within) if within is not None else contextlib.nullcontext():
                        try:
                            note((await client.request(method, target, timeout=timeout, content=content)).status_code)
                        except httpx.TransportError as error:
                            note(type(error).__name__)

        token = current_op.set("w0")
        try:
            if self.mode == "sync":
                blocking()
            else:
                run = simulate if self.mode == "asyncio" else simulate_trio
                run(asynchronous, time=self.world.time, recorder=self.world.recorder)
        finally:
            current_op.reset(token)
        return outcomes

    def ends(self):
        return [event.data for event in self.history.of_kind(events.FETCH_END)]


@pytest.fixture(params=MODES)
def mode(request):
    return request.param


def test_answers_come_after_their_delay(mode):
    bench = Bench(mode, answer("status", word="processing", delay=0.25), answer("http_error", status=503, delay=1.0))
    assert bench.ask(5, 5) == [(200, 0.25), (503, 1.25)]
    starts = bench.history.of_kind(events.FETCH_START)
    assert [(event.op, event.at) for event in starts] == [("w0.f0", 0.0), ("w0.f1", 0.25)]
    first, second = bench.ends()
    assert (first["ending"], first["status"], first["arrived"]) == ("answer", 200, 0.25)
    assert '"status":"processing"' in first["body"]
    assert (second["status"], second["arrived"], second["body"]) == (503, 1.25, "")


@pytest.mark.parametrize(
    ("given", "timeout", "outcome"),
    [
        (answer("status", delay=2.0), httpx.Timeout(None, read=2.0), (200, 2.0)),  # at the very instant: in time
        (answer("status", delay=2.001), httpx.Timeout(None, read=2.0), ("ReadTimeout", 2.0)),
        (answer("hang"), httpx.Timeout(None, read=3.0), ("ReadTimeout", 3.0)),
        (answer("hang", where="body"), httpx.Timeout(None, read=3.0), ("ReadTimeout", 3.0)),
        (answer("hang", where="connect"), httpx.Timeout(None, connect=1.5), ("ConnectTimeout", 1.5)),
        (answer("refused"), 5, ("ConnectError", 0.0)),
        (answer("refused", delay=0.5), 5, ("ConnectError", 0.5)),
        (answer("refused", delay=9.0), httpx.Timeout(None, connect=1.0), ("ConnectTimeout", 1.0)),
        (answer("disconnect", delay=1.0), 5, ("ReadError", 1.0)),
        (answer("disconnect", when="after_effect", delay=1.0), 5, ("RemoteProtocolError", 1.0)),
        (answer("disconnect", when="in_body", after=20, delay=1.0), 5, ("RemoteProtocolError", 1.0)),
        (answer("status", delay=100.0), None, (200, 100.0)),
    ],
)
def test_each_phase_has_its_own_timeout(mode, given, timeout, outcome):
    assert Bench(mode, given).ask(timeout) == [outcome]


def test_a_drip_is_bounded_by_each_read_and_not_by_the_whole(mode):
    """348 bytes in pieces of 32, 2 s apart: 10 gaps, 20 s in all, and a read timeout of 3 s never fires; one of 1 s fires at once."""
    drip = answer("drip", gap=2.0, piece=32)
    assert Bench(mode, drip).ask(3.0) == [(200, 20.0)]
    bench = Bench(mode, drip)
    assert bench.ask(1.0) == [("ReadTimeout", 1.0)]
    assert bench.ends()[0]["ending"] == "error"


def test_cancellation_closes_a_fetch(mode):
    if mode == "sync":
        bench = Bench(mode, answer("hang"), interrupt_at=4.0)
        with pytest.raises(KeyboardInterrupt):
            bench.ask(None)
    else:
        bench = Bench(mode, answer("hang"))
        assert bench.ask(None, within=4.0) == []
    assert bench.ends() == [{"ending": "cancelled"}]
    assert bench.history[-1].at == 4.0


def test_a_blocking_hang_without_any_way_out_is_stopped():
    bench = Bench("sync", answer("hang"))
    with pytest.raises(BudgetExhausted):
        bench.ask(None)
    (stop,) = bench.history.of_kind(events.BENCH_STOP)
    assert stop.data["reason"] == "hang"
    assert bench.ends() == []  # what was open stays open


def test_an_answer_that_is_lost_has_had_its_effect(mode):
    """The ledger tells what happened, whatever the client saw."""
    attempts = [
        answer("disconnect", when="before_effect"),
        answer("disconnect", when="after_effect"),
        answer("status", word="pending"),
    ]
    bench = Bench(mode, answer("status"))
    bench.world.server.add_posts("create", "parse_jobs", lambda index: (attempts[index], "auto"))
    outcomes = bench.ask(5, 5, 5, method="POST", target="/v2/parse/jobs", content=b'{"x":"operation-1"}')
    assert [what for what, _ in outcomes] == ["ReadError", "RemoteProtocolError", 202]
    effects = bench.history.of_kind(events.SERVER_EFFECT)
    assert [(event.op, event.data["operation"]) for event in effects] == [
        ("w0.f1", "operation-1"),
        ("w0.f2", "operation-1"),
    ]


def test_an_answer_that_is_not_read_is_closed():
    bench = Bench("sync", answer("drip", gap=1.0))
    client = httpx.Client(transport=bench.world.transport(), base_url=bench.world.base_url, trust_env=False)
    with client, client.stream("GET", "/v2/parse/jobs/job-1") as response:
        assert response.status_code == 200
    (end,) = bench.ends()
    assert (end["ending"], end["body"]) == ("closed", "")


def test_random_keys_and_boundaries_do_not_reach_the_history():
    bench = Bench("sync", answer("status"))
    with httpx.Client(transport=bench.world.transport(), base_url=bench.world.base_url, trust_env=False) as client:
        for key in ("d1b2", "a0c3", "d1b2"):
            client.post("/v2/parse/jobs", files={"document": b"operation-1"}, headers={"Idempotency-Key": key})
    sent = [event.data["headers"] for event in bench.history.of_kind(events.FETCH_START)]
    assert [headers["idempotency-key"] for headers in sent] == ["key-1", "key-2", "key-1"]
    assert {headers["content-type"] for headers in sent} == {"multipart/form-data"}


@pytest.mark.parametrize("job_id", ["a/b", "..", ".", "?x=1", "%2F", "完", " ", "#", "../x", "new\nline"])
@pytest.mark.parametrize("mode", ["sync", "asyncio"])
def test_plain_functions_escape_the_id(mode, job_id):
    world = World(lambda now: Recorder(History(), now))
    world.server.add_job("extract_jobs", job_id, lambda _: answer("status"))
    if mode == "sync":
        told = world.get_job(job_id, resource="extract_jobs")
    else:
        told = simulate(lambda: world.get_job_async(job_id, resource="extract_jobs"), time=world.time)
    assert told["job_id"] == job_id


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (answer("http_error", status=500), httpx.HTTPStatusError),
        (answer("refused"), httpx.ConnectError),
        (answer("not_json", form="html"), ValueError),
        (answer("not_json", form="deep"), ValueError),
        (answer("not_json", form="bytes"), ValueError),
    ],
)
def test_plain_functions_raise_what_they_say(given, error):
    world = World(lambda now: Recorder(History(), now))
    world.server.add_job("parse_jobs", "job-1", lambda _: given)
    with pytest.raises(error):
        world.get_job("job-1")
