"""The simulated network: the same replies as bytes, beneath an unmodified httpcore connection pool."""

from __future__ import annotations

import httpcore
import pytest

from waitproof.faults.plan import answer
from waitproof.faults.reply import Reply
from waitproof.faults.server.network import rendered
from waitproof.faults.server.world import World
from waitproof.harness.history import History
from waitproof.harness.recorder import Recorder

URL = "http://waitproof.test/v2/parse/jobs/job-1"


def fetch(*answers, timeouts=None, times=1, jobs=1):
    """Fetch over a connection pool; gives the outcomes (status and body, or name of the error, and virtual time) and the world."""
    world = World(lambda now: Recorder(History(), now))
    for number in range(1, jobs + 1):
        world.server.add_job("parse_jobs", f"job-{number}", lambda index: answers[min(index, len(answers) - 1)])
    outcomes = []
    with httpcore.ConnectionPool(network_backend=world.network_backend()) as pool:
        for _ in range(times):
            try:
                response = pool.request("GET", URL, extensions={"timeout": timeouts or {}})
                outcomes.append((response.status, round(world.time.now, 9)))
                assert len(response.content) == int(dict(response.headers)[b"content-length"])
            except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError) as error:
                outcomes.append((type(error).__name__, round(world.time.now, 9)))
        assert pool.connections == []  # each served one request
    return outcomes


def test_each_fetch_has_a_connection_of_its_own():
    assert fetch(answer("status", word="queued", delay=0.5), answer("http_error", status=503), times=3) == [
        (200, 0.5),
        (503, 0.5),
        (503, 0.5),
    ]


@pytest.mark.parametrize(
    ("given", "timeouts", "outcome"),
    [
        (answer("status", delay=2.0), {"read": 2.0}, (200, 2.0)),
        (answer("status", delay=2.001), {"read": 2.0}, ("ReadTimeout", 2.0)),
        (answer("hang"), {"read": 3.0}, ("ReadTimeout", 3.0)),
        (answer("hang", where="body"), {"read": 3.0}, ("ReadTimeout", 3.0)),
        (answer("hang", where="connect"), {"connect": 1.5}, ("ConnectTimeout", 1.5)),
        (answer("refused"), {}, ("ConnectError", 0.0)),
        (answer("disconnect", delay=1.0), {}, ("ReadError", 1.0)),
        (answer("disconnect", when="after_effect", delay=1.0), {}, ("RemoteProtocolError", 1.0)),
        (answer("disconnect", when="in_body", after=20), {}, ("RemoteProtocolError", 0.0)),
        (answer("drip", gap=2.0, piece=32), {"read": 3.0}, (200, 20.0)),
        (answer("drip", gap=2.0, piece=32), {"read": 1.0}, ("ReadTimeout", 1.0)),
    ],
)
def test_faults_and_timeouts_of_each_phase(given, timeouts, outcome):
    assert fetch(given, timeouts=timeouts) == [outcome]


def test_a_head_can_drip_too():
    """In pieces of 32 bytes, head and body together take longer than the body alone."""
    ((status, at),) = fetch(answer("drip", gap=2.0, piece=32, head=True))
    assert status == 200
    assert at > 20.0


def test_a_fault_of_the_connection_is_used_up_once():
    given = (answer("refused"), answer("hang", where="connect"), answer("status"))
    assert [what for what, _ in fetch(*given, timeouts={"connect": 1.0}, times=3)] == [
        "ConnectError",
        "ConnectTimeout",
        200,
    ]


def test_with_several_jobs_a_refusal_is_a_reset():
    """A connection does not say which job it will ask for."""
    assert fetch(answer("refused"), answer("status"), times=2, jobs=2) == [("ReadError", 0.0), (200, 0.0)]


def test_rendered_pieces_are_the_whole_answer():
    reply = Reply(body=b'{"a":1}' * 9, drip=0.5, piece=7, drip_head=True)
    parts = rendered(reply)
    whole = b"".join(data for _, data in parts)
    assert whole.startswith(b"HTTP/1.1 200 OK\r\n")
    assert whole.endswith(b"\r\n\r\n" + reply.body)
    assert [at for at, _ in parts] == [0.5 * number for number in range(len(parts))]
    assert all(len(data) <= 7 for _, data in parts)


def test_header_texts_beyond_ascii_survive():
    assert fetch(answer("rate_limit", form="text", text="٣")) == [(429, 0.0)]
