"""The house: imports run one way, no module has two names, the wheel holds every package, no text names a machine's path."""

import ast
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

MAY_IMPORT = {
    "harness": set(),
    "models": {"harness"},
    "faults": {"harness", "models"},
    "properties": {"harness", "models", "faults"},
    "reports": {"harness"},
}


def sources():
    """Every Python file of the rooms, relative to the root."""
    return sorted(path.relative_to(ROOT) for room in MAY_IMPORT for path in (ROOT / room).rglob("*.py"))


def imports(path):
    """(line, dotted target) of every import of a file, relative ones made absolute."""
    package = ["waitproof", *path.parts[:-1]]
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module.split(".") if node.module else []
            if node.level:
                base = package[: len(package) - node.level + 1] + base
            yield from ((node.lineno, [*base, alias.name]) for alias in node.names)


def breaches(path):
    room = path.parts[0]
    if path.name.startswith(("test_", "conftest")):
        return  # the tests of a room stand under properties/ and import what they test
    for line, target in imports(path):
        if target[0] in MAY_IMPORT:
            yield f"{path}:{line}: flat import of {'.'.join(target)}"
        if target[0] != "waitproof" or len(target) < 2:
            continue
        other = target[1]
        if other in MAY_IMPORT and other != room and other not in MAY_IMPORT[room]:
            yield f"{path}:{line}: {room} imports {other}"
        if room == "models" and target[1:3] == ["harness", "subjects"]:
            yield f"{path}:{line}: models imports harness.subjects"
        if room == "reports" and other == "harness" and target[2] != "results":
            yield f"{path}:{line}: reports imports more of harness than its reader of result files"
        if other == "__main__":
            yield f"{path}:{line}: {room} imports the front door"


def test_imports_run_one_way():
    """harness, then models, then faults, then properties; reports only reads result files; nothing imports the front door."""
    assert [line for path in sources() for line in breaches(path)] == []


def test_the_check_of_imports_can_fail(tmp_path, monkeypatch):
    """A breach of each kind is seen."""
    (tmp_path / "models").mkdir()
    path = Path("models/bad.py")
    (tmp_path / path).write_text(
        "from ..faults.plan import WaitPlan\nimport harness\nfrom ..harness.subjects import x\nfrom .. import __main__\n"
    )
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    assert len(list(breaches(path))) == 4


def test_modules_form_no_circles():
    """Within the rooms no module reaches itself through imports at the top of files."""
    graph = {}
    for path in sources():
        name = ".".join(["waitproof", *path.with_suffix("").parts]).removesuffix(".__init__")
        graph[name] = set()
        tree = ast.parse((ROOT / path).read_text())
        package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and node.level:
                base = package[: len(package) - node.level + 1] + (node.module.split(".") if node.module else [])
                graph[name] |= {".".join([*base, alias.name]) for alias in node.names} | {".".join(base)}
    done, path = set(), []

    def visit(name):
        if name in path:
            raise AssertionError(" -> ".join([*path[path.index(name) :], name]))
        if name in done or name not in graph:
            return
        path.append(name)
        for target in sorted(graph[name] - {name}):
            # A package whose front re-exports its own modules is not a circle of ideas.
            if not name.startswith(f"{target}."):
                visit(target)
        path.pop()
        done.add(name)

    for name in sorted(graph):
        visit(name)


def test_no_module_is_imported_under_a_second_name():
    """Whatever pytest has imported so far, each file of ours has one name, and it starts with ``waitproof``."""
    modules = {}
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if file and Path(file).is_relative_to(ROOT) and ".venv" not in Path(file).parts:
            modules.setdefault(file, {})[id(module)] = module.__name__
    names = {file: sorted(found.values()) for file, found in modules.items()}
    assert {file: found for file, found in names.items() if len(found) > 1} == {}
    ours = {
        name
        for file, found in names.items()
        for name in found
        if not Path(file).name.startswith(("test_", "conftest", "bench_"))
    }
    assert {name for name in ours if name.split(".")[0] != "waitproof"} == set()


def test_every_package_is_listed():
    """A folder with an ``__init__.py`` is in the list of packages, and the other way round."""
    listed = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"])
    found = {".".join(["waitproof", *path.parts[:-1]]) for path in sources() if path.name == "__init__.py"} | {
        "waitproof"
    }
    assert listed == found


@pytest.mark.slow
def test_the_wheel_holds_every_module(tmp_path):
    """A wheel built from this tree holds every module, the templates, the stored plans and the marker of types."""
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--quiet",
            "--no-deps",
            "--disable-pip-version-check",
            "-w",
            tmp_path,
            ROOT,
        ],
        check=True,
    )
    [wheel] = tmp_path.glob("waitproof-*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    packages = {path.parent for path in sources() if path.name == "__init__.py"}
    wanted = {f"waitproof/{path.as_posix()}" for path in sources() if path.parent in packages}
    wanted |= {
        f"waitproof/{path.relative_to(ROOT).as_posix()}"
        for pattern in ("reports/templates/*", "faults/zoo/*/plans/*.json")
        for path in ROOT.glob(pattern)
    }
    assert wanted | {"waitproof/py.typed", "waitproof/__main__.py"} <= held
