"""Virtual time for subjects without a clock seam: their modules' own time names are replaced, and restored.

Three things are replaced, for modules under the given prefixes only, so that the rest of the process keeps its real time:

* names that a module, a class or a function's defaults already hold (``import time``, ``from time import sleep``,
  ``def wait(sleep=time.sleep)``): a proxy, or the virtual function;
* what they fetch while they run (``import time`` inside a function): ``time.sleep`` and its like are process-wide stand-ins that look
  at their caller, and do the real thing for everybody else;
* ``datetime.now()`` and its like, by freezegun, moved along with the time line.

freezegun would patch ``time.monotonic`` for the whole process and let only callers within five frames of an ignored module through;
that hides time from Hypothesis and shows real time to a subject that asyncio called. So here it only does what it alone can do.
"""

from __future__ import annotations

import datetime as dt
import sys
import time as _time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from types import FunctionType, ModuleType
from typing import Any, Final

import freezegun

from .clocks import AsyncClock, SyncClock, VirtualTime, WakePlan, Wakes
from .recorder import Recorder

_EPOCH: Final = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - freezegun speaks naive UTC
_FIRST, _LAST = -62_135_596_800.0, 253_402_300_799.0  # years 1 to 9999
_UNTOUCHED: Final = (__name__, f"{__package__}.clocks")

_TIME_NAMES: Final = (
    *("sleep", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "time", "time_ns"),
    *("localtime", "gmtime", "strftime", "ctime"),
)
_SLEEPERS: Final = ("asyncio", "anyio", "trio")
_REAL_TIME: Final[Mapping[str, Any]] = {name: getattr(_time, name) for name in _TIME_NAMES}


class _Patch:
    """One use of :func:`patch_time`: which modules are meant, and the virtual functions for one of them."""

    def __init__(self, prefixes: tuple[str, ...], time: VirtualTime, recorder: Recorder, wakes: Wakes) -> None:
        self.prefixes = prefixes
        numbered = _OneNumbering(wakes)
        self._sync = SyncClock(time, recorder, numbered)
        self._async = AsyncClock(time, recorder, numbered)

    def covers(self, module: str) -> bool:
        """Whether ``module`` is one of the subject's."""
        if not module.startswith(self.prefixes) or module in _UNTOUCHED:  # fast: this is asked of every loaded module
            return False
        return any(module == name or module.startswith(f"{name}.") for name in self.prefixes)

    def functions(self, source: str, by: str) -> dict[str, Callable[..., Any]]:
        """What replaces the names of ``source`` (``time``, ``asyncio``, …) in the module ``by``."""
        if source == "time":
            return self._time_functions(by)
        clock = self._async

        async def sleep(delay: float, result: object = None) -> object:
            await clock.sleep(delay, by=by)
            if source == "trio" and delay < 0:
                raise ValueError("`seconds` must be non-negative")
            return result

        return {"sleep": sleep}

    def _time_functions(self, by: str) -> dict[str, Callable[..., Any]]:
        clock = self._sync

        def sleep(seconds: float, /) -> None:
            clock.sleep(seconds, by=by)
            if seconds < 0:  # recorded like any other sleep, then as the real one does
                raise ValueError("sleep length must be non-negative")

        def nanoseconds(read: Callable[[], float]) -> Callable[[], int]:
            return lambda: round(read() * 1e6) * 1_000

        def from_wall(name: str) -> Callable[..., Any]:
            real = _REAL_TIME[name]
            return lambda seconds=None, /: real(clock.wall() if seconds is None else seconds)

        def strftime(words: str, moment: Any = None, /) -> str:
            return str(
                _REAL_TIME["strftime"](words, _REAL_TIME["localtime"](clock.wall()) if moment is None else moment)
            )

        return {
            "sleep": sleep,
            "monotonic": clock.monotonic,
            "monotonic_ns": nanoseconds(clock.monotonic),
            "perf_counter": clock.monotonic,
            "perf_counter_ns": nanoseconds(clock.monotonic),
            "time": clock.wall,
            "time_ns": nanoseconds(clock.wall),
            "localtime": from_wall("localtime"),
            "gmtime": from_wall("gmtime"),
            "ctime": from_wall("ctime"),
            "strftime": strftime,
        }


class _OneNumbering:
    """Counts synchronous and asynchronous sleeps together, for a wake plan that speaks of the n-th sleep."""

    def __init__(self, wakes: Wakes) -> None:
        self._wakes = wakes
        self._count = 0

    def adjust(self, index: int, seconds: float) -> float:  # noqa: ARG002 - one clock's count is not the run's
        number, self._count = self._count, self._count + 1
        return self._wakes.adjust(number, seconds)


class _Proxy(ModuleType):
    """Stands in for a module in one subject module: some names replaced, everything else the real thing."""

    def __init__(self, real: ModuleType, names: Mapping[str, Any]) -> None:
        super().__init__(real.__name__, real.__doc__)
        self.__dict__.update(names)
        self.__dict__["_real"] = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_real"], name)


# -- process-wide stand-ins, which look at their caller ------------------------------------------------------------------

_active: list[_Patch] = []
_stand_ins: dict[tuple[str, str], Callable[..., Any]] = {}
_real: dict[tuple[str, str], Callable[..., Any]] = {("time", name): real for name, real in _REAL_TIME.items()}


def _stand_in(source: str, name: str) -> Callable[..., Any]:
    """Made once and kept: a module that is first imported under a patch keeps the stand-in, and later patches must know it."""
    key = (source, name)
    if key not in _stand_ins:
        real = _real[key]

        def stand_in(*args: Any, **options: Any) -> Any:
            if _active:
                caller = str(sys._getframe(1).f_globals.get("__name__", ""))  # noqa: SLF001 - public in all but name
                if _active[-1].covers(caller):
                    return _active[-1].functions(source, caller)[name](*args, **options)
            return real(*args, **options)

        stand_in.__name__ = stand_in.__qualname__ = name
        _stand_ins[key] = stand_in
    return _stand_ins[key]


def _sources() -> dict[str, ModuleType]:
    """The loaded modules whose names are replaced; their real functions are remembered the first time they are seen."""
    found: dict[str, ModuleType] = {name: sys.modules[name] for name in ("time", *_SLEEPERS) if name in sys.modules}
    for name, module in found.items():
        if name != "time":
            _real.setdefault((name, "sleep"), module.sleep)
    return found


# -- places: where a module holds a time name ------------------------------------------------------------------------------


def _replace_in(module: ModuleType, patch: _Patch, sources: Mapping[str, ModuleType], undo: ExitStack) -> None:
    by = module.__name__
    table: dict[int, Any] = {}  # by identity: these are a handful of functions and modules that stay alive all the time
    for source, real_module in sources.items():
        functions = patch.functions(source, by)
        table[id(real_module)] = _Proxy(real_module, functions)
        for name, function in functions.items():
            table[id(_real[source, name])] = table[id(_stand_in(source, name))] = function
    for name, value in list(vars(module).items()):
        if id(value) in table:
            _set(module, name, table[id(value)], undo)
        elif getattr(value, "__module__", None) != by:
            continue
        elif isinstance(value, FunctionType):
            _replace_defaults(value, table, undo)
        elif isinstance(value, type):
            _replace_in_class(value, table, undo)


def _replace_in_class(owner: type, table: Mapping[int, Any], undo: ExitStack) -> None:
    for name, value in list(vars(owner).items()):
        inner = value.__func__ if isinstance(value, staticmethod | classmethod) else value
        if id(inner) in table:
            new = table[id(inner)]
            _set(owner, name, new if isinstance(new, ModuleType) else staticmethod(new), undo)
        elif isinstance(inner, FunctionType):
            _replace_defaults(inner, table, undo)


def _replace_defaults(function: FunctionType, table: Mapping[int, Any], undo: ExitStack) -> None:
    positional, keyword = function.__defaults__, function.__kwdefaults__
    if positional and any(id(value) in table for value in positional):
        _set(function, "__defaults__", tuple(table.get(id(value), value) for value in positional), undo)
    if keyword and any(id(value) in table for value in keyword.values()):
        _set(function, "__kwdefaults__", {name: table.get(id(value), value) for name, value in keyword.items()}, undo)


def _set(owner: Any, name: str, value: object, undo: ExitStack) -> None:
    undo.callback(setattr, owner, name, vars(owner)[name] if name in vars(owner) else getattr(owner, name))
    setattr(owner, name, value)


# -- the front -------------------------------------------------------------------------------------------------------------


@contextmanager
def patch_time(
    package_prefixes: Sequence[str],
    *,
    time: VirtualTime,
    recorder: Recorder,
    wakes: Wakes | None = None,
    wall: bool = True,
) -> Iterator[None]:
    """While entered, every loaded module named by ``package_prefixes`` (itself and what lies below) lives on ``time``.

    Its sleeps (``time.sleep``; ``sleep`` of asyncio, anyio and trio) are virtual and recorded in ``recorder`` with ``by`` = that
    module's name, waking as ``wakes`` says; its monotonic, performance and wall clocks read the time line, and so does
    ``datetime.now()`` unless ``wall`` is false. Asynchronous sleeps need a simulated loop around them. A sleep that lies in a library
    (tenacity, an HTTP client) is reached by naming the library, too. Everything is restored at the end, in reverse order.
    Raises ``ValueError`` if no prefix is given, or one is the name of a single text.
    """
    if isinstance(package_prefixes, str) or not package_prefixes:
        raise ValueError(
            f"package_prefixes must be a list of package names with one name at least, not {package_prefixes!r}"
        )
    patch = _Patch(tuple(package_prefixes), time, recorder, WakePlan() if wakes is None else wakes)
    with ExitStack() as undo:
        sources = _sources()
        for name in sorted(filter(patch.covers, sys.modules)):
            module = sys.modules[name]
            if isinstance(module, ModuleType):
                _replace_in(module, patch, sources, undo)
        if wall:
            undo.enter_context(_frozen(time, patch))
        for source, names in {name: _TIME_NAMES if name == "time" else ("sleep",) for name in sources}.items():
            for name in names:
                _set(sources[source], name, _stand_in(source, name), undo)
        _active.append(patch)
        undo.callback(_active.remove, patch)
        yield


@contextmanager
def _frozen(time: VirtualTime, patch: _Patch) -> Iterator[None]:
    """Run freezegun, moved along with the time line. Its walk over all modules (some 8 ms) is cut to the subject's by its ignore list."""
    others = {name.partition(".")[0] for name in sys.modules}
    ignore = sorted(name for name in others if name and not any(prefix.startswith(name) for prefix in patch.prefixes))
    freezer = freezegun.freeze_time(_moment(time), ignore=ignore, real_asyncio=True)
    factory: Any = freezer.start()

    def follow() -> None:
        factory.move_to(_moment(time))

    time.watchers.append(follow)
    try:
        yield
    finally:
        time.watchers.remove(follow)
        freezer.stop()


def _moment(time: VirtualTime) -> dt.datetime:
    """The wall clock as naive UTC, held within the years that a datetime can say."""
    return _EPOCH + dt.timedelta(seconds=min(max(time.wall(), _FIRST), _LAST))
