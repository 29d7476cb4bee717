"""The caller's handle: what the caller of a subject sees, written down in the bench's words.

Everything that a subject hands out is looked at with suspicion: a ``view`` or ``carries`` that raises, a ``str`` that raises, and
values of the wrong type are recorded as such.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import trio

from ..harness import events
from ..harness.jsonable import Json, plain, safe_repr
from ..harness.protocols import JobView, WaitCall, WaiterSubject
from ..harness.recorder import Recorder


class _Verbatim:
    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def message_of(error: BaseException) -> str:
    """``str(error)``, which may raise or be long or hold addresses, made safe."""
    try:
        text = str(error)
    except Exception as inner:  # noqa: BLE001 - a subject's error may do anything
        return f"<{type(error).__name__} whose str raised {type(inner).__name__}>"
    return safe_repr(_Verbatim(text))


def _odd_view(words: str) -> Json:
    return {**JobView().as_json(), "other": words}


def view_of(view: Callable[[Any], JobView], value: object) -> Json:
    """What a returned value says. If ``view`` raises or returns no view, every field is None and ``other`` says why."""
    try:
        seen: object = view(value)
        return seen.as_json() if isinstance(seen, JobView) else _odd_view(f"the view is {safe_repr(seen)}")
    except Exception as error:  # noqa: BLE001 - the value may be anything
        return _odd_view(f"viewing {safe_repr(value, 80)} raised {type(error).__name__}: {message_of(error)}")


def carried_by(subject: WaiterSubject, error: BaseException) -> Json:
    """What a raised error hands out, as data; ``other`` says what went wrong if that can't be told."""
    if subject.carries is None:
        return None
    try:
        carried: object = subject.carries(error)
        if not isinstance(carried, Mapping):
            return {"other": f"it carries {safe_repr(carried)}"}
        return {str(key): item.as_json() if isinstance(item, JobView) else plain(item) for key, item in carried.items()}
    except Exception as inner:  # noqa: BLE001 - the error may be anything
        return {"other": f"reading it raised {type(inner).__name__}: {message_of(inner)}"}


def _is_cancellation(error: BaseException) -> bool:
    """A cancellation, or a group of nothing else: trio's nurseries hand out what they were cancelled with in a group."""
    if isinstance(error, BaseExceptionGroup):
        return all(_is_cancellation(inner) for inner in error.exceptions)
    return isinstance(error, asyncio.CancelledError | trio.Cancelled | KeyboardInterrupt)


class Handle:
    """One call of a subject, as its caller sees it: ``op`` is ``w0``, …; each method writes one event."""

    def __init__(
        self, subject: WaiterSubject, recorder: Recorder, op: str, view: Callable[[Any], Json] | None = None
    ) -> None:
        self._subject = subject
        self._recorder = recorder
        self._view = view if view is not None else lambda value: view_of(subject.view, value)
        self.op = op
        self.cancelled = False

    def start(self, call: WaitCall | Mapping[str, Json]) -> None:
        """The caller calls."""
        data = call.as_json() if isinstance(call, WaitCall) else dict(call)
        self._recorder.record(events.WAIT_START, events.CALLER, self.op, mode=self._subject.mode, call=data)

    def cancel(self) -> None:
        """The caller asks for cancellation."""
        self.cancelled = True
        self._recorder.note(events.WAIT_CANCEL, events.CALLER, self.op)

    def returned(self, value: object) -> None:
        """The call returned."""
        self._recorder.note(events.WAIT_RETURN, events.CALLER, self.op, view=self._view(value))

    def raised(self, error: BaseException) -> None:
        """The call raised."""
        cause = error.__cause__
        self._recorder.note(
            events.WAIT_RAISE,
            events.CALLER,
            self.op,
            category=self._category(error),
            type=type(error).__name__,
            message=message_of(error),
            builtin_timeout=isinstance(error, TimeoutError),
            carries=carried_by(self._subject, error),
            cause=None if cause is None else type(cause).__name__,
        )

    def _category(self, error: BaseException) -> str:
        try:
            category = self._subject.categorise(error)
        except Exception:  # noqa: BLE001 - an adapter's table may hold anything
            category = "other"
        if category == "other" and _is_cancellation(error):
            # no adapter needs to say what cancellation looks like: it is the same for all of a mode
            return "cancelled"
        return category
