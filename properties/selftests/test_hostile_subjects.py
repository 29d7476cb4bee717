"""Bad input: a subject that hangs, dies, prints a flood or can't be imported is a finding or a clear error; the others go on; nothing is lost."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from waitproof.harness.results import read_results

MODULE = """
import os, sys, time
from waitproof.harness.protocols import JobView, WaiterSubject

def view(job):
    return JobView(job_id=job["job_id"], status=job["status"])

def good(bench, call):
    while True:
        job = bench.get_job(call.job_id, resource=call.resource)
        if job["status"] in ("completed", "failed", "cancelled"):
            return job
        bench.clock.sleep(1.0)

def hangs(bench, call):
    bench.get_job(call.job_id, resource=call.resource)
    while True:
        pass

def exits(bench, call):
    bench.get_job(call.job_id, resource=call.resource)
    os._exit(0)

class Nasty(BaseException):
    pass

def raises(bench, call):
    raise Nasty("from anywhere")

def floods(bench, call):
    if not os.environ.get("FLOODED"):
        os.environ["FLOODED"] = "1"
        for _ in range(100):
            sys.stdout.write("x" * 1_000_000)
            sys.stderr.flush()
    return good(bench, call)

def returns_nonsense(bench, call):
    return object()

def slow(bench, call):
    open("started", "w").close()
    os.write(2, b"slow")
    deadline = os.times().elapsed + 0.2
    while os.times().elapsed < deadline:
        pass
    return good(bench, call)

def subject(name, wait):
    return WaiterSubject(name=name, mode="sync", wait=wait, view=view)

GOOD, HANGS, EXITS, RAISES, FLOODS, NONSENSE, SLOW = (
    subject(f.__name__, f) for f in (good, hangs, exits, raises, floods, returns_nonsense, slow)
)
"""


@pytest.fixture
def hostile(tmp_path):
    """A folder with the hostile module, in which the command is run."""
    (tmp_path / "hostile.py").write_text(MODULE)
    (tmp_path / "broken.py").write_text("raise SystemExit('no such luck')\n")
    (tmp_path / "vanishes.py").write_text("import os\nos._exit(7)\n")
    return tmp_path


def waitproof(folder, *arguments):
    """Run the command in a folder; (exit status, standard output, standard error)."""
    done = subprocess.run(
        [sys.executable, "-m", "waitproof", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def run(folder, *subjects, suite="waiter-memory", more=()):
    """Run one small suite, with few examples."""
    arguments = [
        "run",
        *subjects,
        "--suite",
        suite,
        "--profile",
        "quick",
        "--examples",
        "3",
        "--seed",
        "1",
        "--out",
        "out",
        *more,
    ]
    status, out, err = waitproof(folder, *arguments)
    return status, out, err, read_results(Path(folder) / "out")


def broken_by(results, subject):
    return {row.invariant for row in results.rows if row.subject == subject and row.verdict == "violated"}


@pytest.mark.slow
def test_a_subject_that_hangs_is_stopped_and_is_a_finding(hostile):
    """It is stopped after the limit with the plan that it hung in; a good subject beside it still runs."""
    status, _out, err, results = run(hostile, "hostile:HANGS", "hostile:GOOD", more=("--hang-seconds", "2"))
    assert status == 1
    assert "hangs: hung: no example ended within 2 s" in err
    assert broken_by(results, "hangs") == {"subject.ends"}
    assert [row.verdict for row in results.rows if row.subject == "good" and row.invariant == "subject.ends"]
    [failure] = [item for item in results.failures if item.subject == "hangs"]
    assert failure.words
    assert failure.token
    [info] = [item for item in results.run.subjects if item.name == "hangs"]
    assert "in hangs" in info.output, "the stack of the hanging thread is shown"


@pytest.mark.slow
def test_a_subject_that_ends_the_interpreter_is_a_finding(hostile):
    """``os._exit(0)`` in the middle of a wait is not success."""
    status, _out, err, results = run(hostile, "hostile:EXITS", "hostile:GOOD")
    assert status == 1
    assert "the process ended by itself with status 0" in err
    assert "subject.ends" in broken_by(results, "exits")
    assert any(row.subject == "good" for row in results.rows)


@pytest.mark.slow
def test_a_subject_that_raises_base_exceptions_or_returns_nonsense_is_a_finding(hostile):
    """Both are judged like any other; neither ends the harness."""
    status, _out, _err, results = run(hostile, "hostile:RAISES", "hostile:NONSENSE", suite="waiter")
    assert status == 1
    assert "subject.ends" in broken_by(results, "raises")
    assert broken_by(results, "returns_nonsense")
    assert [info.status for info in results.run.subjects] == ["ran", "ran"]


@pytest.mark.slow
def test_a_flood_of_output_is_kept_out(hostile):
    """100 MB on standard output neither stop the run nor reach the terminal or the result files."""
    status, out, err, results = run(hostile, "hostile:FLOODS")
    assert status in (0, 1, 3)
    assert len(out) + len(err) < 100_000
    assert results.run.subjects[0].status == "ran"
    assert sum(path.stat().st_size for path in hostile.rglob("*") if path.is_file()) < 5_000_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nowhere.at_all:SUBJECT", "No module named 'nowhere'"),
        ("hostile:MISSING", "MISSING"),
        ("hostile:view", "view"),
        ("hostile:MODULE", "MODULE"),
        ("broken:SUBJECT", "no such luck"),
        ("vanishes:SUBJECT", "ended by itself with status 7"),
    ],
)
def test_a_named_subject_that_cannot_be_used_is_an_error_and_the_others_run(hostile, name, said):
    """Exit status 2, the reason on standard error, and the results of the good subject beside it."""
    status, _out, err, results = run(hostile, name, "hostile:GOOD")
    assert (status, said in err) == (2, True), err
    assert [row for row in results.rows if row.subject == "good"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "nobody"], "there is no subject 'nobody'"),
        (["run", "builtin", "--suite", "nothing"], "there is no suite 'nothing'"),
        (["run", "--examples", "0"], "examples must be at least 1"),
        (["run", "--jobs", "0"], "--jobs must be at least 1"),
        (["run", "--hang-seconds", "nan"], "hang-seconds must be a finite number"),
        (["replay", "wp1.nonsense"], "damaged or was cut"),
        (["replay", "nonsense"], "neither a replay token"),
        (["report", "nowhere"], "not a result directory"),
        (["zoo", "no_such_bug"], "no_such_bug"),
    ],
)
def test_bad_arguments_are_told_and_change_nothing(hostile, arguments, said):
    """Exit status 2 and what was wrong, on standard error."""
    status, _out, err = waitproof(hostile, *arguments)
    assert (status, said in err) == (2, True), err
    assert not (hostile / "waitproof-results").exists()


def test_results_are_never_overwritten(hostile):
    """A directory that holds something is refused."""
    (hostile / "out").mkdir()
    (hostile / "out" / "precious.txt").write_text("mine")
    status, _out, err = waitproof(hostile, "run", "builtin-sync", "--out", "out")
    assert (status, "nothing is overwritten" in err) == (2, True)
    assert (hostile / "out" / "precious.txt").read_text() == "mine"


@pytest.mark.slow
def test_ctrl_c_keeps_what_there_is(hostile):
    """An interrupted run ends with 130, leaves no process behind, and its results can be read and reported."""
    command = [
        sys.executable,
        "-m",
        "waitproof",
        "run",
        "builtin-sync",
        "hostile:SLOW",
        "--examples",
        "2000",
        "--jobs",
        "2",
        "--out",
        "out",
    ]
    process = subprocess.Popen(command, cwd=hostile, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    limit = time.monotonic() + 60
    while not (hostile / "started").exists():
        assert time.monotonic() < limit, "the slow subject did not start"
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    _out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert "interrupted" in err
    results = read_results(hostile / "out")
    assert results.run.interrupted
    assert results.run.exit == 130
    status, _out, err = waitproof(hostile, "report", "out", "-o", "out/report.html")
    assert status == 0, err
    assert json.loads((hostile / "out" / "report.json").read_text())
