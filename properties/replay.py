"""Replaying a counterexample: the same plan on the same subject, and whether the same history came out."""

from __future__ import annotations

import sys
from pathlib import Path

from ..harness.campaign import judge
from ..harness.history import Event, History
from ..harness.jsonable import loads
from ..harness.loading import load, version_of
from ..harness.results.merge import EXIT_OK, EXIT_UNDECIDED, EXIT_VIOLATED
from ..harness.results.records import Failure, record_from_json
from ..harness.suite import AnySuite, Subject
from ..harness.tokens import PREFIX, Token, TokenError, decode
from .suites import chosen


class ReplayError(ValueError):
    """What was given can't be replayed; the message says why."""


def read_token(text: str) -> Token:
    """A token from the word itself, or from a failure file of a result directory. Raises :class:`ReplayError`."""
    try:
        if text.startswith(PREFIX):
            return decode(text)
        path = Path(text)
        if not path.is_file():
            raise ReplayError(f"{text!r} is neither a replay token (they start with {PREFIX!r}) nor a file")
        content = path.read_text(encoding="utf-8").strip()
        if content.startswith(PREFIX):
            return decode(content)
        return decode(record_from_json(Failure, loads(content)).token)
    except (TokenError, ValueError, OSError) as error:
        raise error if isinstance(error, ReplayError) else ReplayError(str(error)) from error


def replay(text: str, *, jsonl: bool = False) -> int:
    """Run what ``text`` stands for again and print it. Answers 1 if the invariant is violated again, 0 if it holds, 3 if it can't be
    decided. Raises :class:`ReplayError`, or what loading the subject raises."""
    token = read_token(text)
    suite, subject = _suite(token), _subject(token)
    try:
        plan = suite.format.from_json(token.plan)
    except ValueError as error:
        raise ReplayError(f"the token's plan can't be read by this version: {error}") from error
    history = suite.run(plan, subject)
    findings = judge(suite, subject, history)
    finding = findings.get(token.invariant)
    if jsonl:
        sys.stdout.write(history.to_jsonl())
    else:
        print(f"{subject.name}, suite {suite.name}")
        print("\n".join(f"  {line}" for line in suite.format.words(plan)))
        print(timeline(history, marked=finding.events if finding else ()))
        print(_sameness(token, history))
        broken = [name for name, item in findings.items() if item.violated and name != token.invariant]
        if broken:
            print(f"also violated: {', '.join(broken)}")
        if finding is None:
            print(f"{token.invariant or 'no invariant'}: not judged for this subject")
        elif finding.violated:
            print(
                f"VIOLATED {token.invariant}: {finding.cause}\n  expected: {finding.expected}\n  observed: {finding.observed}"
            )
        else:
            print(f"{token.invariant}: {'undecided: ' + finding.cause if finding.answer is None else 'holds'}")
    if finding is None or finding.answer is None:
        return EXIT_UNDECIDED
    return EXIT_VIOLATED if finding.violated else EXIT_OK


def _suite(token: Token) -> AnySuite:
    return next(suite for suite in chosen([token.suite]) if suite.name == token.suite)


def _subject(token: Token) -> Subject:
    # A user's own subject is looked for where the user stands, as `run` does it.
    if "" not in sys.path:
        sys.path.insert(0, "")
    subjects = load(token.subject)
    if len(subjects) != 1:
        raise ReplayError(f"{token.subject} stands for {len(subjects)} subjects, a token for one")
    return subjects[0]


def _sameness(token: Token, history: History) -> str:
    digest = history.digest()
    if not token.digest:
        return f"history {digest[:16]} (the token does not say which to expect)"
    if token.digest == digest:
        return f"history {digest[:16]}: the same, byte for byte"
    then = {name: version for name, version in token.versions.items() if version_of(name) != version}
    changed = ", ".join(f"{name} {version} then, {version_of(name) or 'none'} now" for name, version in then.items())
    return f"history {digest[:16]}: NOT the same as {token.digest[:16]} ({changed or 'same versions'})"


def timeline(history: History, *, marked: tuple[int, ...] = ()) -> str:
    """A history as text, a line an event; the events in ``marked`` carry a sign."""
    return "\n".join(_line(event, marked=event.seq in marked) for event in history)


def _line(event: Event, *, marked: bool) -> str:
    data = " ".join(f"{key}={_short(value)}" for key, value in event.data.items())
    return f"{'>' if marked else ' '} {event.at:12.6f} {event.lane:7} {event.op:14} {event.kind:14} {data}"


def _short(value: object) -> str:
    text = str(value).replace("\n", " ")
    return text if len(text) <= 90 else text[:89] + "…"
