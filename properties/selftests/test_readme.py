"""The README's own adapter runs as it stands there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from waitproof.harness.results import read_results
from waitproof.harness.results.merge import merged

ROOT = Path(__file__).parents[2]


def written(folder, *names):
    """Write these files of the README; there are no others."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    files = dict(re.findall(r"```python\n# (\w+\.py)\n(.*?)```", text, flags=re.DOTALL))
    assert sorted(files) == ["bench_shipper.py", "bench_slowpoke.py", "shipper.py", "slowpoke.py"]
    for name in names:
        (folder / name).write_text(files[name])


def run(folder, subject, *more):
    """Run the command that the README gives; verdicts by invariant."""
    command = [sys.executable, "-m", "waitproof", "run", subject, "--profile", "quick", "--seed", "1", "--out", "out"]
    done = subprocess.run([*command, *more], cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode in (0, 1), done.stderr
    rows = merged(read_results(folder / "out").rows)
    return {invariant: row.verdict for (_, invariant), row in rows.items()}


@pytest.mark.slow
def test_the_waiter_of_the_readme_runs(tmp_path):
    """The two files of the README, written out and run by the command it gives: every claim is exercised, none is broken."""
    written(tmp_path, "slowpoke.py", "bench_slowpoke.py")
    found = run(tmp_path, "bench_slowpoke:SUBJECT")
    for name in ("waiter.fetch_first", "waiter.exact_schedule", "waiter.prompt_stop"):
        assert found[name] == "held"


@pytest.mark.slow
def test_the_dispatch_queue_of_the_readme_runs(tmp_path):
    """Its adapter is right: what it claims and keeps is held, and the worker that it loses is found."""
    written(tmp_path, "shipper.py", "bench_shipper.py")
    found = run(tmp_path, "bench_shipper:SUBJECT", "--suite", "dispatch-cancel", "--examples", "5")
    for name in ("workers", "no_lost_wakeup", "submit_at_once", "done_is_true", "undone_is_true", "no_duplicate_write"):
        assert found[f"dispatch.{name}"] == "held"
    for name in ("one_outcome", "close_returns"):
        assert found[f"dispatch.{name}"] == "violated"


@pytest.mark.parametrize("command", ["demo", "test", "lint", "bench", "zoo"])
def test_every_make_command_exists(command):
    """What the README and the CI call is in the Makefile."""
    assert re.search(rf"^{command}:", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
