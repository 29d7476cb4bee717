"""Calls and configurations are read back as they were written, numbers that JSON lacks included."""

import json
import math

import pytest

from waitproof.harness.calls import ApiCall, Precondition
from waitproof.harness.queue_protocols import QueueConfig

CALLS = (
    ApiCall(),
    ApiCall(deadline=2.5, priority=3, key="k", payload={"items": [1, {"a": None}]}),
    ApiCall(precondition=Precondition(uid="uid-1", resource_version=4, generation=(4, 1)), prerequisite_of="uid-1"),
    ApiCall(payload={"value": math.inf}),
)


@pytest.mark.parametrize("call", CALLS)
def test_a_call(call):
    assert ApiCall.from_json(json.loads(json.dumps(call.as_json()))) == call


@pytest.mark.parametrize("config", [QueueConfig(), QueueConfig(qps=2.0, shares={"default": (2, 1)})])
def test_a_configuration(config):
    assert QueueConfig.from_json(json.loads(json.dumps(config.as_json()))) == config


def test_an_unknown_field():
    with pytest.raises(TypeError, match="colour"):
        ApiCall.from_json({"colour": "green"})
