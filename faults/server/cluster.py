"""The API server of pods and claims, sans I/O: a request in, a reply script out. It plays a plan's answers and keeps the ledger.

What a request does is decided at one instant: when it arrives, or ``lands`` seconds later, whoever still waits for the answer. The
ledger (``api.effect`` events) is the only judge of duplicates and staleness.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any

from ...harness import events, queue_events
from ...harness.jsonable import dumps
from ...harness.recorder import Recorder
from ..api_script import ApiScript
from ..reply import Reply
from .cluster_state import ClusterState, Decision, Effect
from .cluster_wire import ApiRequest, read_wire
from .jobs import Exchange
from .routes import Request

Scripts = Callable[[str, int], tuple[ApiScript, str]]
"""``(operation, n)`` → the script of its n-th attempt (from 0, reads included) and what it does in words."""

_JSON = ("content-type", "application/json")


class ClusterExchange(Exchange):
    """One request and its reply, whose status and body are decided when the request is handled."""

    def __init__(self, server: ClusterServer, asked: ApiRequest, script: ApiScript, *, op: str, words: str) -> None:
        lost = script.arrives and not script.answered
        reply = Reply(
            refuse=script.refuse,
            lost="never" if script.arrives and script.answered else ("after_effect" if lost else "before_effect"),
            delay=script.delay,
            status=script.status or 200,
            headers=(_JSON, *script.headers),
        )
        super().__init__(reply, self._arrives, server.broke)
        self._server, self._asked, self._script, self._op, self._words = server, asked, script, op, words
        self._done = False

    def answered(self) -> Reply:
        """The reply, now that its time has come. What was to be handled by now has been, in whatever order ties fall."""
        if self._script.arrives and self._script.handled and self._script.lands <= self._script.delay:
            self._handle()
        return self.reply

    def _arrives(self) -> None:
        script, server = self._script, self._server
        if script.refuse or not script.arrives:
            server.told(events.FAULT, self._op, status=0, words=self._words, sent=False)
            return
        server.record_request(self._op, self._asked)
        if not script.handled:
            self._answer(Decision(status=script.status or 0, body={"reason": "Failed"}))
        elif script.lands <= 0:
            self._handle()
        else:
            server.later(script.lands, self._handle)

    def _handle(self) -> None:
        if not self._done:
            self._done = True
            decision = self._server.state.handle(self._asked)
            if decision.effect is not None:
                self._server.record_effect(self._op, self._asked, decision.effect)
            self._answer(decision)

    def _answer(self, decision: Decision) -> None:
        script = self._script
        status = decision.status if script.status is None else script.status
        body = decision.body if script.status is None else {"reason": "Failed"}
        sent = script.answered and script.delay != math.inf
        words = "; ".join(text for text in (self._words, decision.words) if text)
        self._server.told(
            events.SERVER, self._op, status=status, words=words, sent=sent,
            applied=decision.effect is not None, repeat=decision.repeat,
        )  # fmt: skip
        if script.status is None and script.lands > script.delay:
            return  # the answer, if there was any, has long been given up
        self.reply = dataclasses.replace(self.reply, status=status or 200, body=dumps(body).encode())


class ClusterServer:
    """The server of one run.

    ``scripts``: what is planned for each attempt. ``op``: which attempt a request belongs to. ``later(seconds, action)``: how the driver
    lets something happen in virtual time without anybody waiting for it. ``alias``: how an idempotency key is written down.
    """

    def __init__(
        self,
        recorder: Recorder,
        *,
        scripts: Scripts,
        op: Callable[[], str],
        later: Callable[[float, Callable[[], None]], None],
        alias: Callable[[str], str] = lambda key: key,
    ) -> None:
        self.state = ClusterState()
        self.later = later
        self.broken: Exception | None = None
        self._recorder = recorder
        self._scripts = scripts
        self._op = op
        self._alias = alias
        self._attempts: dict[str, int] = {}
        self._healthy: Mapping[str, float] | None = None

    def open(self, request: Request) -> ClusterExchange:
        """Decide what happens to a request. What is planned for it is used up, whether or not it ever arrives."""
        try:
            asked = read_wire(request)
            number = self._attempts.get(asked.operation, 0)
            self._attempts[asked.operation] = number + 1
            script, words = self._scripts(asked.operation, number)
            if self._healthy is not None:
                script, words = ApiScript(delay=self._healthy.get(asked.operation, 0.0)), ""
            return ClusterExchange(self, asked, script, op=self._op(), words=words)
        except Exception as error:
            self.broke(error)
            raise

    def heal(self, delays: Mapping[str, float] | None = None) -> None:
        """From now on every request is handled well, at once or after its operation's ``delays`` (seconds)."""
        self._healthy = dict(delays or {})

    def create_pod(self, name: str, uid: str, *, quietly: bool = False) -> None:
        """Somebody makes a pod. ``quietly``: it was there before the run began."""
        effect = self.state.create_pod(name, uid)
        if not quietly:
            self._external(effect)

    def delete_pod(self, name: str) -> None:
        """Somebody deletes a pod."""
        self._external(self.state.delete_pod(name))

    def write_pod(self, name: str, target: str) -> None:
        """Somebody writes a condition of a pod."""
        self._external(self.state.write_pod(name, target))

    def uid_of(self, name: str) -> str | None:
        """The uid of the pod that has this name now."""
        pod = self.state.pods.get(name)
        return None if pod is None else pod.uid

    # -- the record ----------------------------------------------------------------------------------------------------

    def _external(self, effect: Effect | None) -> None:
        if effect is not None:
            self._effect("", "", None, effect, by="external")

    def _effect(self, op: str, operation: str, key: str | None, effect: Effect, *, by: str) -> None:
        data: dict[str, Any] = dataclasses.asdict(effect)
        self._recorder.note(
            queue_events.API_EFFECT, events.SERVER, op, operation=operation, key=self._named(key), by=by, **data
        )

    def record_request(self, op: str, asked: ApiRequest) -> None:
        """A whole request has been read."""
        data = {"operation": asked.operation, "type": asked.type, "name": asked.name, "key": self._named(asked.key)}
        self._recorder.note(queue_events.API_REQUEST, events.SERVER, op, **data)

    def record_effect(self, op: str, asked: ApiRequest, effect: Effect) -> None:
        """A line of the ledger."""
        self._effect(op, asked.operation, asked.key, effect, by="queue")

    def told(
        self, lane: str, op: str, *, status: int, words: str, sent: bool, applied: bool = False, repeat: bool = False
    ) -> None:
        """An answer has been decided (status 0: there is none)."""
        data = {"status": status, "words": words, "sent": sent, "applied": applied, "repeat": repeat}
        self._recorder.note(queue_events.API_ANSWER, lane, op, **data)

    def _named(self, key: str | None) -> str | None:
        return None if key is None else self._alias(key)

    def broke(self, error: Exception) -> None:
        """The bench itself has a bug; the first one is kept, and raised at the end of the run."""
        self.broken = self.broken or error
