"""The hands of whoever uses a queue: every step of a plan is done here, and written down as the caller sees it.

Whatever the queue raises, returns or calls back is recorded and never ends the bench.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
from collections.abc import Callable
from typing import Any, Final

from ..harness import events, queue_events
from ..harness.calls import ApiCall, Precondition
from ..harness.jsonable import safe_repr
from ..harness.queue_protocols import QueueHandle, QueueSubject
from ..harness.recorder import BudgetExhausted
from .handle import message_of
from .kinds.queue_submit import QueueSubmit
from .queue_plan import QueuePlan
from .queue_world import QueueWorld, view_json
from .server.cluster_state import MARK

CANARY: Final = "waitproof payload"
"""What the recognisable list in each payload holds."""


@dataclasses.dataclass
class Submitted:
    """One submit as its caller knows it. ``payload``: the caller's own object. ``told``: how many outcomes came."""

    op: str
    call: ApiCall
    payload: Any
    ticket: Any = None
    has_ticket: bool = False
    told: int = 0
    waiting: bool = False
    cancel_waiter: Callable[[], None] | None = None


class QueueHands:
    """Acts on one open queue. ``spawn_wait(submitted)``: starts a task that waits for the outcome. ``spawn_close(result)``: one that
    waits until a close is done."""

    def __init__(self, plan: QueuePlan, subject: QueueSubject, world: QueueWorld, handle: QueueHandle) -> None:
        self.plan, self.subject, self.world, self.handle = plan, subject, world, handle
        self.submits: list[Submitted] = []
        self.closing = 0
        self.closed = 0
        self.spawn_wait: Callable[[Submitted], None] = lambda _: None
        self.spawn_close: Callable[[Any, int], None] = lambda _, __: None
        self.aside: Callable[[str, Callable[[], None]], None] = lambda _, work: work()
        """How the caller does what may block: in threads, in a thread of its own."""
        self.submits_aside = False

    def _record(self, kind: str, op: str = "", /, **data: object) -> None:
        self.world.recorder.record(kind, events.CALLER, op, **data)

    # -- submits -------------------------------------------------------------------------------------------------------

    def submit(self, step: QueueSubmit) -> None:
        """Submit a call; see the step's kind."""

        def work() -> None:
            self._submit(step.call, step.operation, "caller", step)

        if self.submits_aside:
            self.aside("submit", work)
        else:
            work()

    def probe(self, call: ApiCall, operation: str) -> str:
        """Submit a read that tells whether slots and tokens are all there; the answer is its op."""
        return self._submit(call, operation, "caller", None).op

    def _submit(self, planned: ApiCall, operation: str, submitter: str, step: QueueSubmit | None) -> Submitted:
        payload = self._payload(planned.payload, operation)
        call = dataclasses.replace(planned, payload=payload, precondition=_with_uid(planned))
        mine = Submitted(op=f"s{len(self.submits)}", call=call, payload=payload)
        self.submits.append(mine)
        told = call.as_json()  # its deadline counts from the start of the run, as all times in a history do
        self._record(queue_events.CALL_SUBMIT, mine.op, call=told, operation=operation, submitter=submitter)
        given = dataclasses.replace(call, deadline=call.deadline + self.world.time.origin)
        raised, message = None, ""
        try:
            mine.ticket = self.handle.submit(given, lambda value: self._settled(mine, step, value))
            mine.has_ticket = True
        except (BudgetExhausted, KeyboardInterrupt):
            raise
        except BaseException as error:  # noqa: BLE001 - whatever it is, the caller sees it
            raised, message = type(error).__name__, message_of(error)
        self.world.recorder.note(queue_events.CALL_ACCEPTED, events.CALLER, mine.op, raised=raised, message=message)
        if mine.has_ticket:
            mine.waiting = True
            self.spawn_wait(mine)
        return mine

    def _payload(self, planned: Any, operation: str) -> Any:
        """The caller's own object: the plan's, with the operation, and with a list that can be found again in memory."""
        if planned is not None and not isinstance(planned, dict):
            return copy.deepcopy(planned)
        mark = {MARK: [CANARY]} if self.plan.memory else {}
        return {"operation": operation, **copy.deepcopy(planned or {}), **mark}

    def _settled(self, mine: Submitted, step: QueueSubmit | None, value: Any) -> None:
        """The queue tells an outcome."""
        mine.told += 1
        self._record(queue_events.CALL_OUTCOME, mine.op, view=view_json(self.viewed(value)))
        if step is not None and mine.told == 1:
            if step.then is not None:
                self._submit(step.then, step.then_operation, "callback", None)
            if step.then_close:
                self.close("callback")

    def viewed(self, value: Any) -> Any:
        """An outcome in the bench's words; a view that raises is shown as such."""
        try:
            return self.subject.view(value)
        except Exception as error:  # noqa: BLE001 - the adapter's
            return f"the view of {safe_repr(value)} raised {type(error).__name__}"

    def waited(self, mine: Submitted, value: Any, error: BaseException | None) -> None:
        """The task that waited for an outcome is over."""
        mine.waiting = False
        told = {"raised": type(error).__name__} if error is not None else {"view": view_json(self.viewed(value))}
        self.world.recorder.note(events.BENCH_NOTE, events.BENCH, mine.op, what="waited", **told)

    # -- steps ---------------------------------------------------------------------------------------------------------

    def mutate(self, number: int) -> None:
        """Change the payload object of a submit that was made, and has returned: what a call of another thread looks at is not touched."""
        if number < len(self.submits) and isinstance(self.submits[number].payload, dict):
            mine = self.submits[number]
            if self.subject.mode == "threads" and not mine.has_ticket:
                return
            self._record(queue_events.CALL_MUTATE, mine.op)
            mine.payload["value"] = "changed after the submit"
            for inner in mine.payload.values():
                if isinstance(inner, list) and inner != [CANARY]:
                    inner.append("changed after the submit")

    def cancel(self, number: int) -> None:
        """Cancel a submit that was made."""
        if number < len(self.submits) and self.submits[number].has_ticket:
            mine = self.submits[number]
            self._record(queue_events.CALL_CANCEL, mine.op)
            self._asked("cancel", lambda: self.handle.cancel(mine.ticket))

    def cancel_waiter(self, number: int) -> None:
        """Cancel the task that waits for the outcome of a submit."""
        if number < len(self.submits):
            mine = self.submits[number]
            if mine.waiting and mine.cancel_waiter is not None:
                self._record(queue_events.WAITER_CANCEL, mine.op)
                mine.cancel_waiter()

    def end_context(self, context: str) -> None:
        """Tell the queue that a context is over."""
        self._record(queue_events.CONTEXT_END, context=context)
        self._asked("end_context", lambda: self.handle.end_context(context))

    def delete_object(self, name: str, *, told: bool) -> None:
        """Delete an object at the server, and tell the queue."""
        uid = self.world.server.uid_of(name)
        self.world.server.delete_pod(name)
        if told and uid is not None and self.subject.dialect.contexts:
            self._record(queue_events.OBJECT_DELETED, uid=uid)
            self._asked("delete_object", lambda: self.handle.delete_object(uid))

    def recreate(self, name: str, uid: str, *, told: bool) -> None:
        """Make an object anew under its name."""
        if self.world.server.uid_of(name) != uid:
            self.delete_object(name, told=told)
            self.world.server.create_pod(name, uid)

    def external_write(self, name: str, target: str) -> None:
        """Another writer changes an object."""
        self.world.server.write_pod(name, target)

    def set_rate(self, qps: float, burst: int) -> None:
        """Change the quota."""
        self._record(queue_events.RATE_SET, qps=qps, burst=burst)
        self._asked("set_rate", lambda: self.handle.set_rate(qps, burst))

    def close(self, by: str) -> None:
        """Close the queue; whoever waits for the end of that is a task of its own."""
        if by == "caller":
            self.aside("close", lambda: self._close(by))
        else:
            self._close(by)

    def _close(self, by: str) -> None:
        number, self.closing = self.closing, self.closing + 1
        self._record(queue_events.CLOSE_START, f"c{number}", by=by)
        try:
            result = self.handle.close()
        except (BudgetExhausted, KeyboardInterrupt):
            raise
        except BaseException as error:  # noqa: BLE001 - whatever it is, the caller sees it
            self.close_ended(number, error)
            return
        if inspect.isawaitable(result):
            self.spawn_close(result, number)
        else:
            self.close_ended(number, None)

    def close_ended(self, number: int, error: BaseException | None, *, cancelled: bool = False) -> None:
        """A close has returned, or its task was ``cancelled``."""
        self.closed += 1
        raised = None if error is None else type(error).__name__
        self.world.recorder.note(
            queue_events.CLOSE_END, events.CALLER, f"c{number}", raised=raised, cancelled=cancelled
        )

    def stats(self) -> None:
        """Ask the queue for its figures and write them down."""
        try:
            found = self.handle.stats()
        except Exception as error:  # noqa: BLE001 - the adapter's
            self.world.recorder.note(events.BENCH_NOTE, events.BENCH, what="stats", raised=type(error).__name__)
            return
        if found is not None:
            self.world.recorder.note(
                queue_events.STATS, events.CALLER, **{str(key): value for key, value in found.items()}
            )

    def _asked(self, what: str, action: Callable[[], Any]) -> None:
        try:
            action()
        except (BudgetExhausted, KeyboardInterrupt):
            raise
        except BaseException as error:  # noqa: BLE001 - whatever it is, the caller sees it
            said = message_of(error)
            self.world.recorder.note(
                events.BENCH_NOTE, events.BENCH, what="raised", by=what, type=type(error).__name__, message=said
            )

    @property
    def open(self) -> list[str]:
        """The ops of submits that were told no outcome."""
        return [mine.op for mine in self.submits if not mine.told]

    def let_go(self) -> None:
        """Forget calls, payloads and tickets: what is left of them is held by the queue."""
        for mine in self.submits:
            mine.payload = mine.ticket = mine.cancel_waiter = None
            mine.has_ticket = False
            mine.call = ApiCall()


def _with_uid(call: ApiCall) -> Precondition:
    """A scheduler's call is about the object that it has seen, so it says so; a CREATE is about none that is there."""
    if call.precondition.uid is not None or call.effect != "IDEMPOTENT_WRITE":
        return call.precondition
    return dataclasses.replace(call.precondition, uid=call.uid)
