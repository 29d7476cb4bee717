"""Progress of a long run: a bar on a terminal, plain lines elsewhere. Everything goes to standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from ..harness.jsonable import Json


class _StandardError(Console):
    """Standard error; should nobody read it any more, the run goes on in silence (rich would end the process with status 1)."""

    def on_broken_pipe(self) -> None:
        """Write no more."""
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


class Reporter:
    """Shows what children tell. Used as a context manager; ``quiet`` shows nothing."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._console = _StandardError(stderr=True, quiet=quiet, highlight=False)
        self._bar: Progress | None = None
        self._tasks: dict[str, TaskID] = {}
        if self._console.is_terminal and not quiet:
            columns = (
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
            )
            self._bar = Progress(*columns, console=self._console)

    def __enter__(self) -> Reporter:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def line(self, text: str) -> None:
        """One plain line."""
        self._console.print(text, markup=False, emoji=False, soft_wrap=True)

    def event(self, subject: str, event: Mapping[str, Json]) -> None:
        """What the child of ``subject`` told."""
        kind = event.get("event")
        if kind == "progress" and self._bar is not None:
            done, total = int(str(event["done"])), int(str(event["total"]))
            if subject not in self._tasks:
                self._tasks[subject] = self._bar.add_task(subject, total=total)
            self._bar.update(
                self._tasks[subject], completed=done, total=total, description=f"{subject} {event['suite']}"
            )
        elif kind == "suite" and self._bar is None:
            self.line(
                f"{subject}: {event['name']}: {event['examples']} examples in {float(str(event['seconds'])):.1f} s"
            )
