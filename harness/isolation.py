"""A child process for each subject: one that ends the interpreter, hangs in C or prints a flood is a finding, never a crash of ours.

The child writes its own result files. It tells the parent what it does through a pipe of its own (JSON Lines on the file descriptor
named by ``WAITPROOF_EVENTS``); its standard output and error are read by the parent, which keeps a little of both ends and counts the rest.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .jsonable import Json, loads

EVENTS_FD = "WAITPROOF_EVENTS"
_KEEP = 4_096

_STARTUP = 60.0
"""Real seconds that a child may take to import everything, however short the patience with its examples is."""


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How a child ended. ``status``: ran, died (it ended by itself without saying done), hung (stopped by us), interrupted.

    ``returncode``: of the process, negative for a signal. ``output``: both ends of what it printed. ``printed``: bytes in all.
    """

    status: str
    returncode: int
    output: str
    printed: int


class _Output:
    def __init__(self) -> None:
        self.head = b""
        self.tail = b""
        self.count = 0

    def pump(self, stream: int) -> None:
        while chunk := os.read(stream, 65_536):
            self.count += len(chunk)
            room = _KEEP - len(self.head)
            if room > 0:
                self.head += chunk[:room]
                chunk = chunk[room:]
            self.tail = (self.tail + chunk)[-_KEEP:]
        os.close(stream)

    def text(self) -> str:
        left_out = self.count - len(self.head) - len(self.tail)
        middle = f"\n… {left_out:,} bytes left out …\n" if left_out else ""
        return self.head.decode(errors="replace") + middle + self.tail.decode(errors="replace")


def run_child(
    argv: Sequence[str],
    *,
    on_event: Callable[[dict[str, Json]], None],
    hang_seconds: float,
    stop: threading.Event | None = None,
    env: dict[str, str] | None = None,
) -> Ending:
    """Run ``argv`` with this interpreter until it ends, hangs, or ``stop`` is set.

    A child that gives no sign of life for ``hang_seconds`` of real time is killed. ``KeyboardInterrupt`` is passed on after the child
    has been stopped. The child is the leader of a process group of its own, so that whatever it started goes with it.
    """
    events_read, events_write = os.pipe()
    out_read, out_write = os.pipe()
    process = subprocess.Popen(
        [sys.executable, *argv],
        stdin=subprocess.DEVNULL,
        stdout=out_write,
        stderr=out_write,
        pass_fds=(events_write,),
        start_new_session=True,
        env={**os.environ, **(env or {}), EVENTS_FD: str(events_write), "PYTHONHASHSEED": "0"},
    )
    os.close(events_write)
    os.close(out_write)
    output = _Output()
    last = [time.monotonic()]
    done, begun = threading.Event(), threading.Event()

    def listen() -> None:
        with os.fdopen(events_read, "rb") as stream:
            for line in stream:
                last[0] = time.monotonic()
                try:
                    event = loads(line)
                except ValueError:
                    continue  # a subject that writes on our descriptor is not listened to
                if isinstance(event, dict):
                    if event.get("event") == "done":
                        done.set()
                    elif event.get("event") == "begin":
                        begun.set()
                    on_event(event)

    threads = [
        threading.Thread(target=listen, daemon=True),
        threading.Thread(target=output.pump, args=(out_read,), daemon=True),
    ]
    for thread in threads:
        thread.start()
    ended_by = ""
    try:
        while process.poll() is None:
            if stop is not None and stop.is_set():
                ended_by = "interrupted"
                break
            try:
                process.wait(timeout=0.1)
            except subprocess.TimeoutExpired:
                patience = hang_seconds if begun.is_set() else max(hang_seconds, _STARTUP)
                if time.monotonic() - last[0] > patience:
                    ended_by = "hung"
                    _ask_where(process)
                    break
    finally:
        _end_group(process)
        for thread in threads:
            thread.join(timeout=5.0)
    status = ended_by or ("ran" if done.is_set() and process.returncode == 0 else "died")
    return Ending(status=status, returncode=process.returncode, output=output.text(), printed=output.count)


def show_where_on_request() -> None:
    """For the child: when the parent asks, before it stops a hang, every thread's stack is printed. It works inside C code too."""
    faulthandler.register(signal.SIGUSR1, all_threads=True)


def _ask_where(process: subprocess.Popen[bytes]) -> None:
    """Let a hanging child print where it is; one that has not registered for it ends at once, as it would anyway."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        process.send_signal(signal.SIGUSR1)
        time.sleep(0.3)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill the child's whole group; a group that is gone already is fine."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
