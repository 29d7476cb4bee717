"""The API server of pods and claims: what requests do, keys, preconditions, and effects that come at other times than answers."""

import math

import pytest

from waitproof.faults.api_script import ApiScript
from waitproof.faults.server.cluster import ClusterServer
from waitproof.faults.server.cluster_wire import holds, read_wire, wire
from waitproof.faults.server.routes import Request
from waitproof.harness import queue_events
from waitproof.harness.calls import TYPES, ApiCall, Precondition
from waitproof.harness.history import History
from waitproof.harness.jsonable import loads
from waitproof.harness.recorder import Recorder


class Bench:
    """A server, its history, and what it has put off."""

    def __init__(self, *scripts):
        self.history = History({})
        self.scripts = list(scripts)
        self.later = []
        self.server = ClusterServer(
            Recorder(self.history, lambda: 0.0),
            scripts=lambda _, n: (self.scripts[n] if n < len(self.scripts) else ApiScript(), ""),
            op=lambda: "o0.a0",
            later=lambda seconds, action: self.later.append((seconds, action)),
        )
        self.server.create_pod("pod-1", "uid-1", quietly=True)

    def open(self, call, *, read=False):
        told = wire(call, read=read)
        headers = {name.lower(): value for name, value in told.headers.items()}
        exchange = self.server.open(Request(method=told.method, target=told.target, headers=headers, body=told.content))
        exchange.arrive()
        return exchange

    def ask(self, call, *, read=False):
        reply = self.open(call, read=read).answered()
        return reply.status, loads(reply.body) if reply.body else None

    def effects(self):
        return [event.data for event in self.history.of_kind(queue_events.API_EFFECT)]


def call(kind="patch", *, operation="o0", value=1, **values):
    payload = {"operation": operation, "value": value}
    effect = {"get": "READ", "create": "CREATE"}.get(kind, "IDEMPOTENT_WRITE")
    return ApiCall(
        **{
            "type": kind,
            "effect": effect,
            "payload": payload,
            "target": "node-1" if kind == "bind" else "status",
            **values,
        }
    )


@pytest.mark.parametrize("kind", TYPES)
def test_a_call_travels_over_the_wire(kind):
    told = Precondition(uid="uid-1", resource_version=3, generation=(3, 1))
    given = call(kind, key="key/ä", precondition=told)
    sent = wire(given)
    headers = {name.lower(): value for name, value in sent.headers.items()}
    asked = read_wire(Request(method=sent.method, target=sent.target, headers=headers, body=sent.content))
    assert (asked.operation, asked.type, asked.uid, asked.read) == ("o0", kind, "uid-1", kind == "get")
    if kind != "get":
        assert (asked.key, asked.precondition, asked.payload) == ("key/ä", told, given.payload)


def test_every_write_has_its_effect_and_moves_the_version_on():
    bench = Bench()
    assert bench.ask(call())[0] == 200
    assert bench.ask(call("bind", operation="o1"))[1]["node"] == "node-1"
    assert bench.ask(call("create", operation="o2"))[0] == 201
    assert bench.ask(call("delete", operation="o3"))[0] == 200
    assert [(item["type"], item["from_version"], item["version"]) for item in bench.effects()] == [
        ("patch", 1, 2), ("bind", 2, 3), ("create", 0, 1), ("delete", 3, 4),
    ]  # fmt: skip
    assert bench.ask(call())[0] == 404


def test_what_the_server_holds_already_changes_nothing():
    bench = Bench()
    bench.ask(call())
    status, body = bench.ask(call(operation="o1"))
    assert (status, body["changed"]) == (200, False)
    assert len(bench.effects()) == 1


def test_a_key_gives_one_effect_and_another_payload_is_refused():
    bench = Bench()
    first = bench.ask(call("create", key="k"))
    assert bench.ask(call("create", key="k")) == first
    assert bench.ask(call("create", key="k", value=2))[0] == 422
    assert bench.ask(call("create"))[1]["name"] == "claim-2"
    assert len(bench.effects()) == 2


@pytest.mark.parametrize(
    ("told", "status"),
    [
        (Precondition(uid="uid-2"), 409),
        (Precondition(resource_version=7), 409),
        (Precondition(uid="uid-1", resource_version=1), 200),
        (Precondition(generation=(1, 0)), 200),
    ],
)
def test_preconditions(told, status):
    assert Bench().ask(call(precondition=told))[0] == status


def test_an_older_generation_and_a_second_node_are_conflicts():
    bench = Bench()
    assert bench.ask(call(precondition=Precondition(generation=(1, 2))))[0] == 200
    assert bench.ask(call(precondition=Precondition(generation=(1, 1)), value=2))[1]["cause"] == "generation"
    assert bench.ask(call("bind"))[0] == 200
    assert bench.ask(call("bind", target="node-2"))[1]["cause"] == "bound"


def test_a_late_effect_happens_when_nobody_waits_any_more():
    bench = Bench(ApiScript(answered=False, lands=3.0))
    exchange = bench.open(call())
    assert exchange.answered().lost == "after_effect"
    assert not bench.effects()
    ((seconds, land),) = bench.later
    land()
    land()
    assert seconds == 3.0
    assert len(bench.effects()) == 1


def test_a_late_effect_hits_no_other_pod_of_the_name():
    bench = Bench(ApiScript(answered=False, lands=3.0))
    bench.open(call(precondition=Precondition(uid="uid-1")))
    bench.server.delete_pod("pod-1")
    bench.server.create_pod("pod-1", "uid-9")
    bench.later[0][1]()
    assert [item["by"] for item in bench.effects()] == ["external", "external"]


def test_the_answer_of_a_slow_handling_is_the_real_one():
    bench = Bench(ApiScript(lands=2.0, delay=2.0))
    exchange = bench.open(call())
    assert (exchange.reply.delay, exchange.answered().status) == (2.0, 200)
    bench.later[0][1]()
    assert len(bench.effects()) == 1


@pytest.mark.parametrize(
    ("script", "effects", "status"),
    [
        (ApiScript(status=503, handled=False), 0, 503),
        (ApiScript(status=500), 1, 500),
        (ApiScript(arrives=False, handled=False, answered=False), 0, 200),
        (ApiScript(delay=math.inf), 1, 200),
        (ApiScript(refuse=True, arrives=False, handled=False, answered=False), 0, 200),
    ],
)
def test_scripts(script, effects, status):
    bench = Bench(script)
    exchange = bench.open(call())
    assert len(bench.effects()) == effects
    assert exchange.reply.status == status


def test_a_healed_server_plays_no_script_any_more():
    bench = Bench(*(ApiScript(status=503, handled=False),) * 9)
    assert bench.ask(call())[0] == 503
    bench.server.heal()
    assert bench.ask(call())[0] == 200


@pytest.mark.parametrize("kind", ["patch", "bind", "delete", "create"])
def test_what_is_read_back_shows_whose_effect_it_was(kind):
    bench = Bench()
    mine, other = call(kind), call(kind, operation="o1")
    before = bench.ask(mine, read=True)[1]
    bench.ask(mine)
    after = bench.ask(mine, read=True)[1]
    assert [holds(mine, before), holds(mine, after), holds(other, after)] == [False, True, False]


@pytest.mark.parametrize("body", [None, [], "text", {}, {"claims": [1]}])
def test_no_body_whatever_makes_holds_raise(body):
    assert not any(holds(call(kind), body) for kind in TYPES)


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b'{"payload": 5}'])
def test_a_bad_request_is_answered(body):
    server = Bench().server
    exchange = server.open(Request(method="PATCH", target="/api/v1/pods/pod-1/status", headers={}, body=body))
    exchange.arrive()
    assert exchange.answered().status == 422
    assert server.broken is None
