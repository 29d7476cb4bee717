"""The objects of the API server, sans I/O and sans time: pods, claims, idempotency keys, and what a request does to them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from ...harness.jsonable import dumps
from .cluster_wire import ApiRequest

MARK: Final = "mark"
"""A member of payloads by which the bench finds snapshots in memory. The server keeps none, so that those it finds are the queue's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One line of the ledger: what changed. ``from_version`` and ``version``: resourceVersion before and after; 0 is not there yet."""

    type: str
    uid: str
    target: str
    from_version: int
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The answer to one request, and what it changed. ``repeat``: from the record of an earlier request with this key."""

    status: int
    body: dict[str, Any]
    effect: Effect | None = None
    repeat: bool = False
    words: str = ""


@dataclass(slots=True, kw_only=True)
class Pod:
    """One pod. ``conditions``: by target, what was written last and by which operation."""

    name: str
    uid: str
    version: int = 1
    node: str | None = None
    node_by: str = ""
    conditions: dict[str, dict[str, Any]] = field(default_factory=dict)
    generations: dict[str, tuple[int, int]] = field(default_factory=dict)


class ClusterState:
    """Pods by name, claims in order of creation, and the record of keys. ``gone``: which operation ended which uid."""

    def __init__(self) -> None:
        self.pods: dict[str, Pod] = {}
        self.claims: list[dict[str, Any]] = []
        self.gone: dict[str, str] = {}
        self._keys: dict[str, tuple[str, Decision]] = {}

    # -- from outside of the queue -------------------------------------------------------------------------------------

    def create_pod(self, name: str, uid: str) -> Effect | None:
        """Somebody makes a pod; ``None`` if there is one of that name."""
        if name in self.pods:
            return None
        self.pods[name] = Pod(name=name, uid=uid)
        return Effect(type="create", uid=uid, target=name, from_version=0, version=1)

    def delete_pod(self, name: str) -> Effect | None:
        """Somebody deletes a pod; ``None`` if there is none."""
        pod = self.pods.get(name)
        return None if pod is None else self._remove(pod, "delete", "")

    def write_pod(self, name: str, target: str) -> Effect | None:
        """Somebody writes a condition of a pod; ``None`` if there is none."""
        pod = self.pods.get(name)
        if pod is None:
            return None
        pod.conditions[target] = {"by": "external", "what": {"value": f"external at {pod.version}"}}
        return self._bump(pod, "patch", target)

    # -- requests ------------------------------------------------------------------------------------------------------

    def handle(self, asked: ApiRequest) -> Decision:
        """Carry out one request, at once and as a whole."""
        if not asked.type:
            return Decision(status=404, body={"reason": "NoSuchRoute"}, words="there is no such route")
        if asked.read:
            return self._read(asked)
        if not isinstance(asked.payload, dict):
            return Decision(status=422, body={"reason": "Invalid"}, words="the payload is no object")
        content = dumps([asked.type, asked.name, asked.target, asked.payload])
        if asked.key is not None and asked.key in self._keys:
            known, recorded = self._keys[asked.key]
            if known != content:
                return Decision(status=422, body={"reason": "KeyReused"}, words="key reused with another payload")
            return Decision(
                status=recorded.status, body=recorded.body, repeat=True, words="answered as before, by its key"
            )
        decision = self._create(asked) if asked.type == "create" else self._write(asked)
        if asked.key is not None and decision.status < 300:
            self._keys[asked.key] = (content, decision)
        return decision

    def _read(self, asked: ApiRequest) -> Decision:
        if asked.target == "claims":
            found = [claim for claim in self.claims if claim["by"] == asked.operation]
            return Decision(status=200, body={"claims": found}, words=f"lists {len(found)} claims")
        pod = self.pods.get(asked.name)
        if pod is None:
            return Decision(
                status=404, body={"reason": "NotFound", "gone": dict(self.gone)}, words="there is no such pod"
            )
        return Decision(status=200, body=self._shown(pod), words="reads the pod")

    def _create(self, asked: ApiRequest) -> Decision:
        name = f"claim-{len(self.claims) + 1}"
        self.claims.append({"name": name, "by": asked.operation})
        effect = Effect(type="create", uid=name, target=asked.target, from_version=0, version=1)
        return Decision(
            status=201, body={"name": name, "uid": name, "changed": True}, effect=effect, words=f"makes {name}"
        )

    def _write(self, asked: ApiRequest) -> Decision:
        pod = self.pods.get(asked.name)
        if pod is None:
            return Decision(
                status=404, body={"reason": "NotFound", "gone": dict(self.gone)}, words="there is no such pod"
            )
        cause = self._against(pod, asked)
        if cause:
            body = {"reason": "Conflict", "cause": cause, "resourceVersion": pod.version}
            return Decision(status=409, body=body, words=f"conflict: {cause}")
        if asked.precondition.generation is not None:
            pod.generations[_slot(asked)] = asked.precondition.generation
        effect = self._change(pod, asked)
        words = f"does it: {asked.type} {asked.target}" if effect else "holds that already"
        return Decision(
            status=200, body={**self._shown(pod), "changed": effect is not None}, effect=effect, words=words
        )

    def _against(self, pod: Pod, asked: ApiRequest) -> str:
        told = asked.precondition
        if told.uid is not None and told.uid != pod.uid:
            return "uid"
        if told.resource_version is not None and told.resource_version != pod.version:
            return "resourceVersion"
        if told.generation is not None and told.generation < pod.generations.get(_slot(asked), told.generation):
            return "generation"
        if asked.type == "bind" and pod.node not in (None, asked.target):
            return "bound"
        return ""

    def _change(self, pod: Pod, asked: ApiRequest) -> Effect | None:
        if asked.type in ("delete", "preempt"):
            return self._remove(pod, asked.type, asked.operation)
        if asked.type == "bind":
            if pod.node == asked.target:
                return None
            pod.node, pod.node_by = asked.target, asked.operation
            return self._bump(pod, "bind", asked.target)
        what = {name: value for name, value in asked.payload.items() if name not in ("operation", MARK)}
        held = pod.conditions.get(asked.target)
        if held is not None and dumps(held["what"]) == dumps(what):
            return None
        pod.conditions[asked.target] = {"by": asked.operation, "what": what}
        return self._bump(pod, "patch", asked.target)

    def _bump(self, pod: Pod, kind: str, target: str) -> Effect:
        pod.version += 1
        return Effect(type=kind, uid=pod.uid, target=target, from_version=pod.version - 1, version=pod.version)

    def _remove(self, pod: Pod, kind: str, operation: str) -> Effect:
        del self.pods[pod.name]
        self.gone[pod.uid] = operation
        return self._bump(pod, kind, pod.name)

    def _shown(self, pod: Pod) -> dict[str, Any]:
        return {
            "name": pod.name,
            "uid": pod.uid,
            "resourceVersion": pod.version,
            "node": pod.node,
            "nodeBy": pod.node_by,
            "conditions": {target: dict(held) for target, held in pod.conditions.items()},
            "gone": dict(self.gone),
        }


def _slot(asked: ApiRequest) -> str:
    """What the generations of one intent are counted for: a pod has one binding, but a condition for each target."""
    return asked.type if asked.type == "bind" else f"{asked.type} {asked.target}"
