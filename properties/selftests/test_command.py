"""The command from outside: what it lists, a run with its files, a replay in a new process, the pytest way."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from waitproof.harness.history import History
from waitproof.harness.loading import adapters
from waitproof.harness.results import read_results
from waitproof.models.invariants import catalogue
from waitproof.properties.suites import all_suites

ROOT = Path(__file__).parents[2]


def command(*arguments, cwd, **more):
    environment = {**os.environ, "NO_COLOR": "1"}
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=environment,
        **more,
    )


@pytest.mark.parametrize(
    ("what", "names"),
    [
        ("subjects", ["builtin-sync", "landingai-ade"]),
        ("suites", ["waiter-machine"]),
        ("invariants", ["waiter.no_storm"]),
        ("faults", ["rate_limit", "wall_jump"]),
        ("bugs", ["no-last-look"]),
    ],
)
def test_list(tmp_path, what, names):
    """Everything that can be named is listed, each on a line of its own."""
    done = command("waitproof", "list", what, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for name in names:
        assert any(line.split()[:1] == [name] for line in done.stdout.splitlines()), done.stdout


def test_every_suite_and_invariant_has_a_home():
    """Each invariant is judged by some suite, and each suite's kind has a built-in subject."""
    judged = {item.id for suite in all_suites().values() for item in suite.invariants}
    assert judged == set(catalogue())
    kinds = {adapter.kind for adapter in adapters().values() if adapter.group == "builtin"}
    assert {suite.kind for suite in all_suites().values()} == kinds


@pytest.mark.slow
def test_a_run_leaves_files_that_replay_in_a_new_process(tmp_path):
    """A violation of a real package: its token and its file give the stored history again, byte for byte."""
    done = command(
        "waitproof",
        "run",
        "landingai-ade-sync",
        "--suite",
        "waiter",
        "--profile",
        "quick",
        "--seed",
        "5",
        "--out",
        "out",
        cwd=tmp_path,
    )
    assert done.returncode == 1, done.stderr
    assert done.stdout.splitlines()[-1].startswith("replay: waitproof replay wp1.")
    results = read_results(tmp_path / "out")
    assert results.run.exit == 1
    [failure] = [item for item in results.failures if item.invariant == "waiter.identity_of_answer"]
    assert failure.items <= 8
    for given in (failure.token, "out/subjects/landingai-ade-sync/failures/waiter--waiter.identity_of_answer.json"):
        again = command("waitproof", "replay", given, "--jsonl", cwd=tmp_path)
        assert again.returncode == 1, again.stderr
        assert again.stdout == failure.history
        assert History.from_jsonl(again.stdout).digest() == failure.digest
    told = command("waitproof", "replay", failure.token, cwd=tmp_path)
    assert "the same, byte for byte" in told.stdout
    assert "VIOLATED waiter.identity_of_answer" in told.stdout


@pytest.mark.slow
def test_the_report_is_written_with_its_twins(tmp_path):
    """HTML, JSON and JUnit stand beside each other; the path is the last thing that is printed."""
    arguments = [
        "run",
        "builtin-sync",
        "--suite",
        "client",
        "--profile",
        "quick",
        "--seed",
        "1",
        "--out",
        "out",
        "--quiet",
    ]
    done = command("waitproof", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    done = command("waitproof", "report", "out", "-o", "page/r.html", cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == "page/r.html"
    assert json.loads((tmp_path / "page" / "r.json").read_text())["schema"].startswith("waitproof.report/")
    assert (tmp_path / "page" / "r.junit.xml").read_text().startswith("<?xml")


@pytest.mark.slow
def test_the_pytest_way_says_the_same(tmp_path):
    """One item for each suite × subject × invariant; a violation fails with its plan and its replay command."""
    arguments = ["pytest", str(ROOT / "properties"), "-q", "-p", "no:cacheprovider", "--subject", "landingai-ade-sync"]
    done = command(*arguments, "--waitproof-suite", "waiter", cwd=ROOT)
    assert done.returncode == 1, done.stdout
    assert "waiter.identity_of_answer" in done.stdout
    assert "replay: waitproof replay wp1." in done.stdout
    done = command(*arguments[:-1], "builtin-sync", "--waitproof-suite", "client", cwd=ROOT)
    assert done.returncode == 0, done.stdout


def test_the_version_is_told(tmp_path):
    """``--version`` says which."""
    assert command("waitproof", "--version", cwd=tmp_path).stdout.startswith("waitproof ")
