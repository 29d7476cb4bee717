"""Types are checked on the wheel that would be shipped, not on the source tree: builds it, installs it apart, runs mypy on the package."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]


def main() -> int:
    """Build, unpack and check; the answer is mypy's exit status."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "wheel", "--no-deps", "-w", folder, str(ROOT)], check=True)
        [wheel] = Path(folder).glob("waitproof-*.whl")
        target = Path(folder) / "site"
        subprocess.run([*pip, "install", "--no-deps", "--target", str(target), str(wheel)], check=True)
        command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), "-p", "waitproof"]
        cache = ["--cache-dir", str(ROOT / ".mypy_cache")]
        return subprocess.run(
            [*command, *cache], cwd=folder, env={"MYPYPATH": str(target), "PATH": ""}, check=False
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
