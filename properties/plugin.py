"""The pytest plugin: ``pytest properties/ --subject NAME`` runs the suites the pytest way, one item for each suite × subject × invariant.

It is loaded wherever waitproof is installed, so it imports nothing heavy until it is asked for something.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ..harness.campaign import SearchResult
    from ..harness.suite import AnySuite, Subject


_ROOT = Path(__file__).parents[1]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of ``pytest --subject NAME``."""
    group = parser.getgroup("waitproof")
    group.addoption("--subject", action="append", default=[], metavar="NAME", help="judge this subject (repeatable)")
    group.addoption("--waitproof-suite", action="append", default=[], metavar="NAME", help="only this suite")
    group.addoption("--waitproof-profile", default="quick", metavar="NAME", help="quick, default or nightly")
    group.addoption("--waitproof-seed", type=int, default=0, metavar="N", help="decides every plan")


class InvariantItem(pytest.Item):
    """One suite × subject × invariant. The first of a suite and subject runs the search; the others read its result."""

    suite: AnySuite
    subject: Subject
    invariant_id: str
    spec: str

    def runtest(self) -> None:
        """Fail if the invariant is violated; skip if it is not claimed or was not exercised."""
        result = _searched(self.config, self.suite, self.subject, self.spec)
        row = next(row for row in result.rows if row.invariant == self.invariant_id)
        if row.verdict == "violated":
            failure = next(item for item in result.failures if item.invariant == self.invariant_id)
            raise InvariantFailedError(
                "\n".join([failure.cause, *(f"  {line}" for line in failure.words), f"replay: {failure.command}"])
            )
        if row.verdict != "held":
            pytest.skip(f"{row.verdict}: {row.cause}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The counterexample, without the harness's own traceback."""
        if isinstance(excinfo.value, InvariantFailedError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """What pytest shows for the item."""
        return self.path, None, self.name


class InvariantFailedError(AssertionError):
    """An invariant is violated; the message is its counterexample."""


class SubjectCollector(pytest.Collector):
    """Makes the items of the subjects that were named."""

    def collect(self) -> Iterable[pytest.Item]:
        """One item for each suite × subject × invariant."""
        from ..harness.loading import UnknownSubjectError, UnusableSubjectError, load, wanted
        from .suites import UnknownSuiteError, chosen, suites_for

        try:
            suites = chosen(self.config.getoption("--waitproof-suite"))
            specs = [item.spec for item in wanted(self.config.getoption("--subject")) if not item.missing]
            subjects = [(spec, subject) for spec in specs for subject in load(spec)]
        except (UnknownSubjectError, UnusableSubjectError, UnknownSuiteError) as error:
            raise pytest.UsageError(str(error)) from error
        for spec, subject in subjects:
            for suite in suites_for(subject, suites):
                for invariant in suite.invariants:
                    item = InvariantItem.from_parent(self, name=f"{subject.name}::{suite.name}::{invariant.id}")
                    item.suite, item.subject, item.invariant_id, item.spec = suite, subject, invariant.id, spec
                    yield item


def _searched(config: pytest.Config, suite: AnySuite, subject: Subject, spec: str) -> SearchResult:
    from ..harness import campaign
    from ..harness.profiles import profile_named

    cache: dict[tuple[str, str], SearchResult] = config.stash.setdefault(_RESULTS, {})
    key = (suite.name, subject.name)
    if key not in cache:
        profile = profile_named(config.getoption("--waitproof-profile"))
        cache[key] = campaign.search(suite, subject, profile, seed=config.getoption("--waitproof-seed"), spec=spec)
    return cache[key]


_RESULTS: pytest.StashKey[dict[tuple[str, str], Any]] = pytest.StashKey()


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """In our own tree the parents of the tests' folders are our rooms; pytest would load those a second time, under names of its own."""
    if early_config.rootpath == _ROOT:
        for room in early_config.getini("testpaths"):
            sys.modules.setdefault(room, importlib.import_module(f"waitproof.{room}"))


@pytest.hookimpl(tryfirst=True)
def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Our rooms are plain folders to pytest. As packages it would import their ``__init__.py`` again, under names of its own."""
    return pytest.Dir.from_parent(parent, path=path) if path.is_relative_to(_ROOT) else None


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """With ``--subject``, the items of the suites take the place of the test files."""
    result = yield
    if session.config.getoption("--subject"):
        collector = SubjectCollector.from_parent(session, name="waitproof", nodeid="waitproof")
        session.items = [item for item in collector.collect() if isinstance(item, pytest.Item)]
        session.testscollected = len(session.items)
    return result
