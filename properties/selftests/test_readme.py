"""The README's own adapter runs as it stands there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from waitproof.harness.results import read_results

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_adapter_of_the_readme_runs(tmp_path):
    """The two files of the README, written out and run by the command it gives: every claim is exercised, none is broken."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for name, body in re.findall(r"```python\n# (\w+\.py)\n(.*?)```", text, flags=re.DOTALL):
        (tmp_path / name).write_text(body)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bench_slowpoke.py", "slowpoke.py"]
    command = [
        sys.executable,
        "-m",
        "waitproof",
        "run",
        "bench_slowpoke:SUBJECT",
        "--profile",
        "quick",
        "--seed",
        "1",
        "--out",
        "out",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode in (0, 1), done.stderr
    rows = read_results(tmp_path / "out").rows
    assert {row.invariant for row in rows if row.verdict == "held"} >= {
        "waiter.fetch_first",
        "waiter.exact_schedule",
        "waiter.prompt_stop",
    }


@pytest.mark.parametrize("command", ["demo", "test", "lint", "bench", "zoo"])
def test_every_make_command_exists(command):
    """What the README and the CI call is in the Makefile."""
    assert re.search(rf"^{command}:", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
