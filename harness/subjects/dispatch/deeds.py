"""Doing what the core asks for: telling submitters, calling handlers. The same for both drivers, and outside of any lock."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any

from ...calls import ApiCall, OutcomeView
from .parts import Abort, Deed, Failed, Reevaluate, Told

__all__ = ["Handler", "do", "log_error"]

Handler = Callable[[ApiCall, OutcomeView], object]

_log = logging.getLogger("waitproof.dispatch")


def log_error(error: BaseException) -> None:
    """What is done about an exception of a callback unless the queue's user says otherwise."""
    _log.error("a callback of the dispatch queue raised", exc_info=error)


def do(
    deeds: Iterable[Deed],
    *,
    failed: Handler | None,
    reevaluate: Handler | None,
    wake: Callable[[Any], object],
    on_error: Callable[[BaseException], object],
) -> None:
    """Do all of it, in order, whatever one of them raises: an `Exception` goes to `on_error`; anything else is raised at the end."""
    escaped: BaseException | None = None
    for deed in deeds:
        try:
            if type(deed) is Told:
                for waiter in deed.waiters or ():
                    wake(waiter)
                if deed.callback is not None:
                    deed.callback(deed.view)
            elif type(deed) is Abort:
                if deed.attempt.abort is not None:
                    deed.attempt.abort()
            elif type(deed) is Failed:
                if failed is not None:
                    failed(deed.call, deed.view)
            elif type(deed) is Reevaluate and reevaluate is not None:
                reevaluate(deed.call, deed.view)
        except Exception as error:  # noqa: BLE001 - a callback's
            on_error(error)
        except BaseException as error:  # noqa: BLE001 - raised below, when everybody has been told
            escaped = escaped or error
    if escaped is not None:
        raise escaped
