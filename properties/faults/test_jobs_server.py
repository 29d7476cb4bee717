"""The job server, sans I/O: routes, escaping, scripts, and the ledger of effects."""

from __future__ import annotations

import json

import pytest

from waitproof.faults.client_plan import Attempt
from waitproof.faults.plan import answer
from waitproof.faults.server.jobs import JobServer
from waitproof.faults.server.routes import DIRECT_ROUTE, JOBS_ROUTE, Request, route
from waitproof.harness import events
from waitproof.harness.history import History
from waitproof.harness.recorder import Recorder


class Bench:
    def __init__(self, **options):
        self.history = History()
        self.server = JobServer(Recorder(self.history, lambda: 0.0), wall=lambda: 1_700_000_000.0, **options)

    def ask(self, method, target, body=b"", **headers):
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        exchange = self.server.open(Request(method=method, target=target, headers=sent, body=body))
        exchange.arrive()
        exchange.arrive()  # a second call changes nothing
        return exchange.reply

    def effects(self):
        return [(event.data["operation"], event.data["job"]) for event in self.history.of_kind(events.SERVER_EFFECT)]


def script(*given):
    return lambda index: given[min(index, len(given) - 1)]


@pytest.mark.parametrize("resource", sorted(JOBS_ROUTE))
def test_each_resource_has_its_routes(resource):
    base = JOBS_ROUTE[resource]
    assert route("GET", f"{base}/x").job == "x"
    assert [route("POST", base).action, route("GET", base).action, route("POST", f"{base}/x/cancel").action] == [
        "create",
        "list",
        "cancel",
    ]
    assert route("POST", DIRECT_ROUTE[resource]).action == "direct"
    assert {route("GET", f"{base}/x").resource, route("POST", DIRECT_ROUTE[resource]).resource} == {resource}


@pytest.mark.parametrize(
    ("target", "job"),
    [
        ("/v2/parse/jobs/a%2Fb", "a/b"),
        ("/v2/parse/jobs/%252F", "%2F"),
        ("/v2/parse/jobs/%2E%2E", ".."),
        ("/v2/parse/jobs/%3Fx=1", "?x=1"),
        ("/v2/parse/jobs/%E5%AE%8C?verbose=1", "完"),
        ("/v2/parse/jobs/a+b", "a+b"),
        ("/v2/parse/jobs/a/b", None),
        ("/v2/parse/jobs/?x=1", None),
        ("/v2/parse/jobs/../x", None),
        ("/v1/parse/jobs/x", None),
        ("/v2/parse/jobsx/x", None),
    ],
)
def test_an_id_is_decoded_exactly_once(target, job):
    assert route("GET", target).job == job


def test_the_kth_fetch_gets_the_kth_answer_of_its_own_job():
    bench = Bench()
    bench.server.add_job(
        "parse_jobs", "a", script(answer("status", word="queued"), answer("http_error", status=503), answer("status"))
    )
    bench.server.add_job("extract_jobs", "a", script(answer("status", word="failed")))
    replies = [bench.ask("GET", "/v2/parse/jobs/a") for _ in range(4)]
    assert [reply.status for reply in replies] == [200, 503, 200, 200]
    assert json.loads(replies[0].body)["status"] == "queued"
    assert json.loads(bench.ask("GET", "/v2/extract/jobs/a").body)["status"] == "failed"
    told = [(event.data["kind"], event.data["index"]) for event in bench.history.of_kind(events.SERVER_ANSWER)]
    assert told == [("status", 0), ("http_error", 1), ("status", 2), ("status", 3), ("status", 0)]


def test_an_unknown_job_or_route_is_404():
    bench = Bench()
    bench.server.add_job("parse_jobs", "a", script(answer("status")))
    for target in ("/v2/parse/jobs/b", "/v2/extract/jobs/a", "/nowhere", "/v2/parse/jobs/a/b"):
        assert bench.ask("GET", target).status == 404
    kinds = [event.data["kind"] for event in bench.history.of_kind(events.SERVER_ANSWER)]
    assert kinds == ["no_such_job", "no_such_job", "no_such_route", "no_such_route"]


def test_the_delay_of_an_answer_is_the_replys_and_moves_its_date():
    bench = Bench()
    given = answer("hint", form="date", seconds=10.0, own_date=True, delay=5.0)
    bench.server.add_job("parse_jobs", "a", script(given))
    reply = bench.ask("GET", "/v2/parse/jobs/a")
    assert reply.delay == 5.0
    assert dict(reply.headers)["date"] == "Tue, 14 Nov 2023 22:13:25 GMT"


def test_two_jobs_of_one_name_are_refused():
    bench = Bench()
    bench.server.add_job("parse_jobs", "a", script(answer("status")))
    with pytest.raises(ValueError, match="distinct job ids"):
        bench.server.add_job("parse_jobs", "a", script(answer("status")))


def test_a_submit_makes_a_job_that_can_be_fetched():
    bench = Bench()
    reply = bench.ask("POST", "/v2/parse/jobs", b'{"operation":"operation-1"}')
    assert reply.status == 202
    job = json.loads(reply.body)["job_id"]
    assert bench.effects() == [("operation-1", job)]
    assert bench.ask("GET", f"/v2/parse/jobs/{job}").status == 200


def test_one_idempotency_key_makes_one_job():
    bench = Bench()
    first, second = (bench.ask("POST", "/v2/parse/jobs", b"operation-1", idempotency_key="k") for _ in range(2))
    third = bench.ask("POST", "/v2/parse/jobs", b"operation-1", idempotency_key="k2")
    ids = [json.loads(reply.body)["job_id"] for reply in (first, second, third)]
    assert (ids[0] == ids[1], ids[0] == ids[2]) == (True, False)
    assert len(bench.effects()) == 2
    assert bench.ask("POST", "/v2/parse/jobs", b"operation-2", idempotency_key="k").status == 422
    assert len(bench.effects()) == 2


@pytest.mark.parametrize(
    ("attempt", "effects"),
    [
        (Attempt(), 1),
        (Attempt(answer=answer("disconnect", when="after_effect")), 1),
        (Attempt(answer=answer("hang")), 1),
        (Attempt(answer=answer("disconnect", when="before_effect")), 0),
        (Attempt(answer=answer("refused"), effect="yes"), 0),
        (Attempt(answer=answer("http_error", status=503)), 0),
        (Attempt(answer=answer("http_error", status=504), effect="yes"), 1),
        (Attempt(effect="no"), 0),
    ],
)
@pytest.mark.parametrize("action", ["create", "direct"])
def test_the_ledger_holds_what_really_happened(action, attempt, effects):
    bench = Bench(operations=("operation-1",))
    bench.server.add_posts(action, "parse_jobs", lambda _: (attempt.answer, attempt.effect))
    bench.ask(
        "POST", JOBS_ROUTE["parse_jobs"] if action == "create" else DIRECT_ROUTE["parse_jobs"], b"..operation-1.."
    )
    assert [operation for operation, _ in bench.effects()] == ["operation-1"] * effects


def test_the_direct_path_answers_with_the_result_itself():
    bench = Bench()
    assert "markdown" in json.loads(bench.ask("POST", "/v2/parse", b"operation-1").body)
    assert "extraction" in json.loads(bench.ask("POST", "/v2/extract", b"").body)
    assert "extraction_schema" in json.loads(bench.ask("POST", "/v2/extract/build-schema", b"").body)


def test_cancelling_a_job_is_an_effect():
    bench = Bench()
    bench.server.add_job("parse_jobs", "a/b", script(answer("status")))
    assert json.loads(bench.ask("POST", "/v2/parse/jobs/a%2Fb/cancel").body)["status"] == "cancelled"
    assert bench.effects() == [(None, "a/b")]


def test_jobs_are_listed():
    bench = Bench()
    bench.server.add_job("parse_jobs", "a", script(answer("status")))
    told = json.loads(bench.ask("GET", "/v2/parse/jobs?page=0").body)
    assert [job["job_id"] for job in told["jobs"]] == ["a"]


def test_a_bug_of_the_server_is_kept():
    bench = Bench()
    bench.server.add_job("parse_jobs", "a", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        bench.ask("GET", "/v2/parse/jobs/a")
    assert isinstance(bench.server.broken, ZeroDivisionError)
