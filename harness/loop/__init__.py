"""Deterministic event loops on virtual time, and what they share: refusals, guards, and a task's suspension in words.

:mod:`.simloop` runs asyncio programs, :mod:`.triorun` trio programs, :mod:`.threads` programs of threads; all ask :mod:`.choices` for
every order they decide.
"""

from __future__ import annotations

import ctypes
import threading
import time as _time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NoReturn, SupportsIndex

from ..recorder import BudgetExhausted


class SimulationRefused(RuntimeError):  # noqa: N818 - it says what happened, as KeyboardInterrupt does
    """The subject asked for something that no simulation can give (a thread, a socket, …). The message says what to do."""


class SimulationDeadlock(RuntimeError):  # noqa: N818 - as above
    """Nothing can ever happen again and the run is not over. The message says where each task is suspended, and on what."""


def refusal(what: str, instead: str) -> SimulationRefused:
    """The one wording of a refusal: ``what`` was asked for, and what to do ``instead``."""
    return SimulationRefused(f"{what}: this can't be simulated (virtual time, one thread, no I/O); {instead}")


_SOCKETS = "give the subject a transport of the harness's network, or test it at the sockets level"
REFUSED_METHODS: Final = {
    "run_in_executor set_default_executor": "keep the work on the loop, or test this subject at the sockets level",
    "create_connection create_server create_datagram_endpoint create_unix_connection create_unix_server": _SOCKETS,
    "connect_accepted_socket start_tls sendfile getaddrinfo getnameinfo": _SOCKETS,
    "sock_recv sock_recv_into sock_recvfrom sock_recvfrom_into sock_sendall sock_sendto": _SOCKETS,
    "sock_connect sock_accept sock_sendfile": _SOCKETS,
    "add_reader remove_reader add_writer remove_writer": _SOCKETS,
    "subprocess_exec subprocess_shell connect_read_pipe connect_write_pipe": "give the subject a fake of that process",
    "add_signal_handler remove_signal_handler": "cancel the task instead",
}
"""The methods of an asyncio loop that are refused (names in one text), and what to do instead."""

# -- guards ------------------------------------------------------------------------------------------------------------


class _Here(threading.local):
    refuse: Callable[[str, str], NoReturn] | None = None


_here = _Here()
"""What refuses things in the simulation that runs in this thread, if one does."""


@contextmanager
def running_simulation(refuse: Callable[[str, str], NoReturn]) -> Iterator[None]:
    """While entered, real sleeps and threads asked for in this thread end in ``refuse(what, instead)``. Used by both loops."""
    with thread_refusing(refuse), forbid_real_sleep(), forbid_threads(), forbid_real_waits():
        yield


@contextmanager
def thread_refusing(refuse: Callable[[str, str], NoReturn] | None) -> Iterator[None]:
    """While entered, this thread belongs to a running simulation that refuses things by ``refuse``.

    ``None``: it does not, and the bench itself may start a thread or wait for one.
    """
    previous, _here.refuse = _here.refuse, refuse
    try:
        yield
    finally:
        _here.refuse = previous


@contextmanager
def forbid_real_sleep() -> Iterator[None]:
    """Make ``time.sleep`` raise :class:`SimulationRefused` in a thread that runs a simulation; elsewhere it sleeps as ever.

    A module that did ``from time import sleep`` before is not reached: see :func:`waitproof.harness.timepatch.patch_time`.
    """
    real = _time.sleep

    def sleep(seconds: float | SupportsIndex, /) -> None:
        if _here.refuse is not None:
            _here.refuse(
                f"time.sleep({seconds!r}) is a real sleep",
                "name the module that calls it in the subject's patch=, or sleep on the bench's clock",
            )
        real(seconds)

    _time.sleep = sleep
    try:
        yield
    finally:
        _time.sleep = real


@contextmanager
def forbid_threads() -> Iterator[None]:
    """Make starting a thread raise :class:`SimulationRefused` in a thread that runs a simulation."""
    real = threading.Thread.start

    def start(self: threading.Thread) -> None:
        if _here.refuse is not None:
            _here.refuse("starting a thread", "keep the work on the loop, or test this subject at the sockets level")
        real(self)

    threading.Thread.start = start  # type: ignore[method-assign]
    try:
        yield
    finally:
        threading.Thread.start = real  # type: ignore[method-assign]


@contextmanager
def forbid_real_waits() -> Iterator[None]:
    """Make a wait for another thread (``Event.wait``, ``Condition.wait``, ``Queue.get``) raise :class:`SimulationRefused` in a thread that
    runs a simulation: no other thread is there that could end it, and its time would be real."""
    real = threading.Condition.wait

    def wait(self: threading.Condition, timeout: float | None = None) -> bool:
        if _here.refuse is not None:
            _here.refuse(
                f"threading.Condition.wait({timeout!r}), which Event.wait and Queue.get use, waits in real time",
                "sleep on the bench's clock instead",
            )
        return real(self, timeout)

    threading.Condition.wait = wait  # type: ignore[method-assign]
    try:
        yield
    finally:
        threading.Condition.wait = real  # type: ignore[method-assign]


# -- in words ----------------------------------------------------------------------------------------------------------

_MACHINERY: Final = ("asyncio", "anyio", "trio", "_core", "_backends")
"""Folders whose frames are not where a reader would look for the reason of a suspension."""


def describe_task(number: int, name: str, coro: Any) -> str:
    """``#1 'poller' at waiter.py:31 wait_for_it, on Event.wait (locks.py:212)``: a pending task in words."""
    frames = list(_suspended(coro))
    if not frames:
        return f"#{number} {name!r}, which has not begun"
    own = [index for index, frame in enumerate(frames) if Path(frame.f_code.co_filename).parent.name not in _MACHINERY]
    last = own[-1] if own else 0
    file, line, what = _place(frames[last])
    words = f"#{number} {name!r} at {file}:{line} {what}"
    if last + 1 < len(frames):
        file, line, what = _place(frames[last + 1])
        words += f", on {what} ({file}:{line})"
    return words


def _suspended(coro: Any) -> Iterator[Any]:
    """The frames of a suspended coroutine and of what it awaits, outermost first."""
    seen = 0
    while coro is not None and seen < 1_000:
        seen += 1
        frame = next(
            (found for name in ("cr_frame", "gi_frame", "ag_frame") if (found := getattr(coro, name, None))), None
        )
        if frame is not None and (seen > 1 or _begun(coro)):
            yield frame
        coro = next(
            (found for name in ("cr_await", "gi_yieldfrom", "ag_await") if (found := getattr(coro, name, None))), None
        )


def _begun(coro: Any) -> bool:
    return any(
        getattr(coro, name, False)
        for name in ("cr_suspended", "gi_suspended", "ag_running", "cr_running", "gi_running")
    )


def _place(frame: Any) -> tuple[str, int, str]:
    code = frame.f_code
    name = code.co_qualname.rpartition("<locals>.")[2]
    return Path(code.co_filename).name, frame.f_lineno, name


# -- exceptions --------------------------------------------------------------------------------------------------------


def budget_in(error: BaseException | None) -> BudgetExhausted | None:
    """The :class:`BudgetExhausted` that ``error`` is or, as an exception group, holds; else None."""
    if isinstance(error, BudgetExhausted):
        return error
    if isinstance(error, BaseExceptionGroup):
        return next((found for inner in error.exceptions if (found := budget_in(inner)) is not None), None)
    return None


def keep_for_ever(*leftovers: object) -> None:
    """Never let anybody collect ``leftovers``: what their finalizers print would land in somebody else's run, or at exit.

    The last resort against a task that swallows every cancellation. Closing its coroutine is no way out: outside of its loop each
    ``await`` raises at once, and ``while True: try: await … except BaseException: pass`` would spin in ``close()`` for ever.
    """
    ctypes.pythonapi.Py_IncRef(
        ctypes.py_object(leftovers)
    )  # a module's list would be emptied when the interpreter ends
