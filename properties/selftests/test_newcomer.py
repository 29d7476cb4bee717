"""What a newcomer stumbles over: a typo, a suite of another kind, a real sleep, a reader that goes away, the fields of a dialect."""

import dataclasses
import os
import subprocess
import sys

import pytest

from waitproof.harness.loading import UnknownSubjectError, UnusableSubjectError, load, wanted
from waitproof.harness.naming import near
from waitproof.harness.profiles import profile_named
from waitproof.harness.results import read_results
from waitproof.models.invariants import invariant_named
from waitproof.properties.dialects import DIALECTS, docs, lines
from waitproof.properties.suites import UnknownSuiteError, chosen
from waitproof.properties.zoo import UnknownBugError, wanted_bugs

SLOWPOKE = """
import time
from waitproof.harness.dialect import WaiterDialect
from waitproof.harness.protocols import JobView, WaiterSubject

def wait(bench, call):
    while True:
        job = bench.get_job(call.job_id)
        if job["status"] in ("completed", "failed", "cancelled"):
            return job
        time.sleep(2)

SUBJECT = WaiterSubject(
    name="sleeper", mode="sync", wait=wait, view=lambda job: JobView(job_id=job["job_id"], status=job["status"]), errors={},
    dialect=WaiterDialect(clock="module"), claims=frozenset(),
)
"""


@pytest.fixture(scope="module")
def workplace(tmp_path_factory):
    """A folder with a waiter whose adapter forgot ``patch=``."""
    folder = tmp_path_factory.mktemp("newcomer")
    (folder / "sleepers.py").write_text(SLOWPOKE)
    (folder / "broken.py").write_text("import math\nSUBJECT = math.no_such_thing\n")
    return folder


def command(*arguments, cwd, pipe=""):
    """Run the command, its standard output into ``pipe`` if one is given: (status of the command, output, errors)."""
    line = f'"{sys.executable}" -m waitproof {" ".join(arguments)}'
    line += f" | {pipe}; exit ${{PIPESTATUS[0]}}" if pipe else ""
    done = subprocess.run(
        ["bash", "-c", line], cwd=cwd, capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("waitr", ["waiter", "normaliser"], "; did you mean 'waiter'?"),
        ("Landingai_ADE", ["landingai-ade", "openai"], "; did you mean 'landingai-ade'?"),
        ("no_storm", ["waiter.no_storm", "waiter.total_time"], "; did you mean 'waiter.no_storm'?"),
        ("zzz", ["waiter"], ""),
    ],
)
def test_near(name, known, meant):
    assert near(name, known) == meant


@pytest.mark.parametrize(
    ("ask", "error", "meant"),
    [
        (lambda: wanted(["buitlin"]), UnknownSubjectError, "builtin"),
        (lambda: wanted(["landingai-ade-snyc"]), UnknownSubjectError, "landingai-ade-sync"),
        (lambda: chosen(["waiter-machin"]), UnknownSuiteError, "waiter-machine"),
        (lambda: profile_named("quik"), ValueError, "quick"),
        (lambda: invariant_named("waiter.nostorm"), ValueError, "waiter.no_storm"),
        (lambda: wanted_bugs(["no-last-lok"]), UnknownBugError, "no-last-look"),
    ],
)
def test_a_typo_is_answered_with_the_name_that_was_meant(ask, error, meant):
    """Whatever can be named on the command line or in code."""
    with pytest.raises(error, match=f"did you mean .*'{meant}'"):
        ask()


def test_every_field_of_every_dialect_is_described():
    """A field that is added to a dialect and not to its docstring fails here; defaults and choices are listed with it."""
    for cls in DIALECTS.values():
        assert [item.name for item in dataclasses.fields(cls) if not docs(cls).get(item.name)] == []
    text = "\n".join(lines())
    assert (
        "  first = 'fetch'  (one of fetch, sleep)\n      what comes first, a fetch or a sleep of one delay.\n" in text
    )
    assert "waitproof.harness.queue_dialect.QueueDialect" in text


def test_an_import_that_fails_is_told_once(workplace, monkeypatch):
    """The spec, the type of the error and its text, each once."""
    monkeypatch.syspath_prepend(str(workplace))
    with pytest.raises(UnusableSubjectError) as caught:
        load("broken:SUBJECT")
    assert str(caught.value) == "broken:SUBJECT: AttributeError: module 'math' has no attribute 'no_such_thing'"


@pytest.mark.slow
def test_on_the_console_it_is_told_once_too(workplace):
    status, _, errors = command("run", "broken:SUBJECT", "--profile", "quick", "--out", "r-broken", cwd=workplace)
    assert status == 2
    assert "broken:SUBJECT: unusable: AttributeError: module 'math' has no attribute 'no_such_thing'" in errors


@pytest.mark.slow
def test_a_real_sleep_is_named_and_the_hint_says_what_to_do(workplace):
    arguments = ("run", "sleepers:SUBJECT", "--suite", "waiter", "--examples", "2", "--shrink-runs", "2")
    _, output, _ = command(*arguments, "--out", "r-sleep", cwd=workplace)
    assert "refused by the bench: " in output
    assert 'patch=("its.module",)' in output
    assert "Before believing a pass" not in output.partition("FAIL")[2]
    [stats, *_] = read_results(workplace / "r-sleep").suites
    assert "sleep" in stats.stop_details["refused"]


@pytest.mark.slow
def test_a_suite_for_another_kind_of_subject(workplace):
    """Nothing was looked at, so it is undecided; the reason and the suites that would do are told."""
    arguments = ("run", "builtin-sync", "--suite", "normaliser-list", "--profile", "quick", "--out", "r-suite")
    status, _, errors = command(*arguments, cwd=workplace)
    assert status == 3
    assert (
        "builtin-sync: it is a waiter, and none of the suites asked for runs it: normaliser-list (for a normaliser)"
        in errors
    )
    assert "its suites are client, waiter" in errors


@pytest.mark.slow
def test_a_reader_that_goes_away_does_not_change_the_verdict(workplace):
    """``| true`` reads nothing: the run ends as it would have, keeps its results, and no traceback is printed."""
    arguments = ("run", "builtin-sync", "--suite", "waiter-memory", "--profile", "quick", "--out", "r-pipe")
    status, _, errors = command(*arguments, cwd=workplace, pipe="true")
    assert status in (0, 3)
    assert status == read_results(workplace / "r-pipe").run.exit
    assert "Traceback" not in errors
    assert "BrokenPipe" not in errors
    assert command("list", "bugs", cwd=workplace, pipe="true")[0] == 141
    both = command(*arguments[:-1], "r-both", "2>&1", cwd=workplace, pipe="true")
    assert both[0] == status
