"""Plans as data: frozen values that say all that a run will meet, ↔ JSON with a schema and a version.

A plan of a wait says what is called, what the server answers to each fetch and when, how sleeps wake, when the caller cancels, and what
the wall clock does. It ends with *heal, then converge*: when the listed answers are used up the server gives ``ending`` for ever.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import cattrs
from cattrs.strategies import configure_union_passthrough

from ..harness.jsonable import Json, dumps, plain, revive
from ..harness.protocols import WaitCall
from .kinds import kind_named

SCHEMA = "waitproof.plan/1"

P = TypeVar("P")


class PlanFormatError(ValueError):
    """A text that should hold a plan does not; the message says where and why."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One thing of a plan: the name of its kind and the kind's data."""

    kind: str
    data: Any

    def __post_init__(self) -> None:
        expected = kind_named(self.kind).data
        if not isinstance(self.data, expected):
            raise TypeError(f"fault {self.kind!r} needs {expected.__name__}, not {type(self.data).__name__}")

    def words(self) -> str:
        """The fault as a sentence."""
        return kind_named(self.kind).words(self.data)


@dataclass(frozen=True, kw_only=True)
class Answer(Fault):
    """The server's answer to one fetch, ``delay`` seconds after it was asked (``inf``: never)."""

    delay: float = 0.0

    def words(self) -> str:
        """The answer as a sentence."""
        return super().words() + (f", {self.delay:g} s after it was asked" if self.delay else "")


def answer(kind: str, *, delay: float = 0.0, **data: object) -> Answer:
    """Build an answer from its kind's name and data: ``answer("status", word="processing", delay=0.5)``."""
    return Answer(kind=kind, data=kind_named(kind).data(**data), delay=delay)


def fault(kind: str, **data: object) -> Fault:
    """Build a fault that is not an answer: ``fault("cancel", at=3.0)``."""
    return Fault(kind=kind, data=kind_named(kind).data(**data))


@dataclass(frozen=True, kw_only=True)
class WaitPlan:
    """One wait and all that it meets. The default: a job that is completed when it is first asked for.

    ``answers``: to the first, second, … fetch of the job. ``ending``: to every later one. ``wakes``: how the first, second, … sleep
    wakes; later ones wake on time. ``caller``: what the caller does meanwhile. ``clock``: what the wall clock does. ``origin``: what the
    monotonic clock reads at the start, in seconds. ``old_keys``: the server uses its resource family's old field names.
    """

    call: WaitCall = field(default_factory=WaitCall)
    answers: tuple[Answer, ...] = ()
    ending: Answer = field(default_factory=lambda: answer("status"))
    wakes: tuple[Fault, ...] = ()
    caller: tuple[Fault, ...] = ()
    clock: tuple[Fault, ...] = ()
    origin: float = 0.0
    old_keys: bool = False

    def answer_to(self, index: int) -> Answer:
        """The answer to the fetch of this index, from 0."""
        return self.answers[index] if index < len(self.answers) else self.ending

    def words(self) -> list[str]:
        """The plan as sentences, one an item, leaving out whatever is as by default."""
        lines = [f"wait for {self.call.resource} {self.call.job_id!r}" + _call_words(self.call)]
        if self.origin:
            lines.append(f"the monotonic clock reads {self.origin:g} at the start")
        if self.old_keys:
            lines.append("the server uses its old field names")
        lines += [f"fetch {number}: {item.words()}" for number, item in enumerate(self.answers, start=1)]
        lines.append(f"{'then always' if self.answers else 'always'}: {self.ending.words()}")
        lines += [f"sleep {number} {item.words()}" for number, item in enumerate(self.wakes, start=1)]
        lines += [item.words() for item in (*self.caller, *self.clock)]
        return lines


def _call_words(call: WaitCall) -> str:
    given = {
        item.name: getattr(call, item.name)
        for item in dataclasses.fields(call)
        if item.name not in ("job_id", "resource") and getattr(call, item.name) != item.default
    }
    return "".join(f", {name}={value!r}" for name, value in given.items())


# -- plan ↔ JSON -------------------------------------------------------------------------------------------------------

_converter = cattrs.Converter(forbid_extra_keys=True, detailed_validation=True)
configure_union_passthrough(int | float | str | bool | None, _converter)


def _strict_float(value: object, _: type) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"expected a number of seconds, found {value!r}")
    return float(value)


def _structure_fault(value: Any, cls: type[Fault]) -> Fault:
    if not isinstance(value, dict):
        raise TypeError(f"expected an object with 'kind' and 'data', found {value!r}")
    extra = sorted(set(value) - {item.name for item in dataclasses.fields(cls)})
    if extra:
        raise ValueError(f"unknown fields: {', '.join(extra)}")
    data: object = _converter.structure(value.get("data", {}), kind_named(str(value["kind"])).data)
    if cls is Answer:
        return Answer(kind=str(value["kind"]), data=data, delay=_strict_float(value.get("delay", 0.0), float))
    return Fault(kind=str(value["kind"]), data=data)


def _structure_call(value: object, _: type) -> WaitCall:
    """A call keeps its arguments as they were given: a bool where a number belongs is one of the things that plans try."""
    if not isinstance(value, dict):
        raise TypeError(f"expected an object of call arguments, found {value!r}")
    known = {item.name: item for item in dataclasses.fields(WaitCall)}
    extra = sorted(set(value) - set(known))
    if extra:
        raise ValueError(f"unknown call arguments: {', '.join(extra)}")
    for name, given in value.items():
        text = name in ("job_id", "resource")
        if text != isinstance(given, str) or not isinstance(given, str | int | float | None):
            raise TypeError(f"call argument {name!r} can't be {given!r}")
    return WaitCall(**value)


_converter.register_structure_hook(float, _strict_float)
_converter.register_structure_hook(WaitCall, _structure_call)
_converter.register_structure_hook_func(lambda cls: cls in (Fault, Answer), _structure_fault)
_converter.register_unstructure_hook_func(
    lambda cls: cls in (Fault, Answer),
    lambda item: {
        "kind": item.kind,
        "data": _converter.unstructure(item.data),
        **({"delay": item.delay} if isinstance(item, Answer) else {}),
    },
)


def _said(error: BaseException, cls: type | None) -> str:
    """An error in words. Those of the hooks above say more than cattrs would say for them."""
    usual = cattrs.v.format_exception(error, cls)
    return f"{usual}: {error}" if type(error) in (TypeError, ValueError) else usual


def plan_to_json(plan: object) -> Json:
    """A plan (any frozen dataclass of plans) as plain data, leaving nothing out."""
    return {"schema": SCHEMA, "type": type(plan).__name__, "plan": plain(_converter.unstructure(plan))}


def plan_from_json(cls: type[P], data: Json) -> P:
    """Read what :func:`plan_to_json` wrote as a ``cls``. Raises :class:`PlanFormatError` that names the field."""
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        found = data.get("schema") if isinstance(data, dict) else type(data).__name__
        raise PlanFormatError(f"expected a plan of schema {SCHEMA!r}, found {found!r}")
    if data.get("type") != cls.__name__:
        raise PlanFormatError(f"expected a plan of type {cls.__name__}, found {data.get('type')!r}")
    try:
        return _converter.structure(revive(data["plan"]), cls)
    except cattrs.BaseValidationError as error:
        raise PlanFormatError("; ".join(cattrs.transform_error(error, path="plan", format_exception=_said))) from error
    except (KeyError, TypeError, ValueError) as error:
        raise PlanFormatError(f"plan: {error}") from error


# -- size and simpler plans --------------------------------------------------------------------------------------------


def _default(item: dataclasses.Field[Any]) -> object:
    if item.default is not dataclasses.MISSING:
        return item.default
    if item.default_factory is not dataclasses.MISSING:
        return item.default_factory()
    return dataclasses.MISSING


def size(plan: object) -> int:
    """How many items of a plan are not as by default: each listed answer, wake or fault counts one, so does each changed field."""
    total = 0
    for item in dataclasses.fields(cast("Any", plan)):
        value, default = getattr(plan, item.name), _default(item)
        if value == default:
            continue
        if isinstance(value, tuple):
            total += sum(1 if isinstance(part, Fault) else 1 + size(part) for part in value)
        elif dataclasses.is_dataclass(value) and not isinstance(value, Fault):
            total += size(value)
        else:
            total += 1
    return total


def _weight(part: object) -> int:
    """A listed answer or fault is one item whatever is in it; a listed part that holds items of its own is one and those."""
    return (
        1 + size(part)
        if dataclasses.is_dataclass(part) and any(_holds_items(item) for item in vars(part).values())
        else 1
    )


def _holds_items(value: object) -> bool:
    return isinstance(value, WaitPlan)


def simpler(plan: P) -> Iterator[P]:
    """Plans that are one step simpler than this one, the boldest first: used to finish a shrink, and to finish it the same way always."""
    for item in dataclasses.fields(cast("Any", plan)):
        value, default = getattr(plan, item.name), _default(item)
        if default is not dataclasses.MISSING and dumps(_converter.unstructure(value)) != dumps(
            _converter.unstructure(default)
        ):
            yield dataclasses.replace(cast("Any", plan), **{item.name: default})
        for smaller in _simpler_value(value):
            yield dataclasses.replace(cast("Any", plan), **{item.name: smaller})


def _simpler_value(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple):
        half = len(value) // 2
        if half > 1:
            yield value[half:]
            yield value[:half]
        for index in range(len(value)):
            yield value[:index] + value[index + 1 :]
        for index, part in enumerate(value):
            for smaller in _simpler_value(part):
                yield (*value[:index], smaller, *value[index + 1 :])
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from simpler(value)
