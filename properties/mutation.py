"""Mutants of the built-in subjects, drawn by seed with a mutation tool: does ``waitproof run`` notice?

A development tool, run by hand (``pip install -e '.[mutation]'``)::

    python -m waitproof.properties.mutation --seed 1 --count 20 harness/subjects/waiter/*.py

Each mutant is a copy of the tree with one change. A mutant whose run ends with exit status 1 is caught. Mutants that change nothing but
annotations or docstrings are not drawn: they can't change what a program does.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One change of one file: the operator, which of its occurrences, and the text that comes out."""

    path: Path
    operator: str
    occurrence: int
    text: str

    def difference(self) -> str:
        """The change as the lines that differ."""
        old = (ROOT / self.path).read_text(encoding="utf-8").splitlines()
        lines = [
            line
            for line in difflib.unified_diff(old, self.text.splitlines(), lineterm="", n=0)
            if line[:1] in "+-" and line[:3] not in ("+++", "---")
        ]
        return "\n".join(f"      {line}" for line in lines)


def mutants(path: Path) -> Iterator[Mutant]:
    """Every mutant of a file that is another program, in the tool's own order."""
    from cosmic_ray.plugins import get_operator, operator_names

    code = (ROOT / path).read_text(encoding="utf-8")
    plain = _meaning(code)
    for name in sorted(operator_names()):
        if get_operator(name).arguments():
            continue  # made for variables that the user names
        operator = get_operator(name)()
        occurrence = 0
        while (text := _mutated(code, operator, occurrence)) is not None:
            if _meaning(text) not in (plain, None):
                yield Mutant(path=path, operator=name, occurrence=occurrence, text=text)
            occurrence += 1


def _mutated(code: str, operator: Any, occurrence: int) -> str | None:
    """The code with this one change; as it was where the tool stumbles (8.7 does over ``except module.Error``); None past the last one."""
    from cosmic_ray.mutating import mutate_code

    try:
        text: str | None = mutate_code(code, operator, occurrence)
    except AttributeError:
        return code
    return text


def _meaning(code: str) -> str | None:
    """The program without its annotations, docstrings and signature marks; None if it is no program."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.arg | ast.AnnAssign):
            node.annotation = ast.Constant(value=None)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        elif isinstance(node, ast.arguments):
            # A bare * or / in a signature only restricts callers; the tool takes it for an operator.
            node.args = [*node.posonlyargs, *node.args, *node.kwonlyargs]
            node.posonlyargs, node.kwonlyargs = [], []
            node.defaults = [*node.defaults, *(item for item in node.kw_defaults if item is not None)]
            node.kw_defaults = []
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value = ast.Constant(value=None)
    return ast.dump(tree)


def try_mutant(mutant: Mutant, command: Sequence[str], folder: Path) -> int:
    """The exit status of ``waitproof`` with ``command`` in a copy of the tree with this change."""
    copy = folder / "waitproof"
    shutil.rmtree(folder, ignore_errors=True)
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()  # noqa: S607
    for name in files:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, copy / name)
    (copy / mutant.path).write_text(mutant.text, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    arguments = [sys.executable, "-m", "waitproof", *command, "--quiet", "--out", str(folder / "out")]
    done = subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, check=False)
    return done.returncode


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw, try, tell; the answer is the number of mutants that were not caught."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--subject", action="append", default=[], help="default: the group builtin")
    parser.add_argument(
        "--profile", action="append", default=[], help="tried in turn until one catches it (default: quick, default)"
    )
    chosen = parser.parse_args(arguments)
    paths = [path.resolve().relative_to(ROOT) for path in chosen.files]
    found = [mutant for path in sorted(paths) for mutant in mutants(path)]
    drawn = random.Random(chosen.seed).sample(found, min(chosen.count, len(found)))  # noqa: S311 - drawn to be drawn again
    print(f"{len(found)} mutants of {len(paths)} files; {len(drawn)} drawn with seed {chosen.seed}", flush=True)
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, mutant in enumerate(drawn, start=1):
            status = -1
            for profile in chosen.profile or ["quick", "default"]:
                command = ["run", *(chosen.subject or ["builtin"]), "--profile", profile, "--seed", "1"]
                command += ["--fail-fast", "--shrink-runs", "0"]
                status = try_mutant(mutant, command, Path(folder) / "copy")
                if status == 1:
                    break
            missed += status != 1
            verdict = "caught" if status == 1 else f"NOT CAUGHT (exit {status})"
            print(f"{number:3} {verdict}: {mutant.path} {mutant.operator} #{mutant.occurrence}", flush=True)
            print(mutant.difference(), flush=True)
    print(f"{len(drawn) - missed} of {len(drawn)} caught")
    return missed


if __name__ == "__main__":
    sys.exit(main())
