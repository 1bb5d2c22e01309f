"""Imports go one way, heavy ones are late, and what the engine may not know it does not name."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import rlccfr

ROOT = Path(__file__).parent.parent
LAYERS = ("rlccfr", "catalog", "envs", "agents")  # each may import itself and those before it
ON_TOP = {"cli", "__main__"}  # modules of rlccfr that may reach everything
TOP_FOLDERS = ("rlccfr", "catalog", "envs", "agents", "notebooks", "tests")


def imported_layers(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            parts = name.split(".")
            if parts[0] == "rlccfr":
                found.add(parts[1] if len(parts) > 1 and parts[1] in LAYERS else "rlccfr")
    return found


@pytest.mark.parametrize("layer", LAYERS)
def test_imports_follow_the_arrow(layer):
    allowed = set(LAYERS[: LAYERS.index(layer) + 1])
    for path in (ROOT / layer).glob("**/*.py"):
        inside_link = any(part.is_symlink() for part in path.parents)
        on_top = ON_TOP & {path.stem, path.parent.name} or path == ROOT / "rlccfr" / "__init__.py"
        if inside_link or (layer == "rlccfr" and on_top):
            continue
        extra = imported_layers(path) - allowed
        assert not extra, f"{path.relative_to(ROOT)} imports {extra}"


def test_kernels_and_engine_name_no_algorithm():
    from rlccfr.registry import abstractions, samplers, update_rules

    ids = {e.id for r in (update_rules, samplers, abstractions) for e in r} - {"none", "chance", "outcome"}
    for path in [*(ROOT / "rlccfr/kernels").glob("*.py"), ROOT / "rlccfr/engine.py"]:
        strings = {n.value for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Constant)}
        assert not ids & strings, path.name


def test_numba_stays_in_the_kernels():
    for path in [p for layer in LAYERS for p in (ROOT / layer).rglob("*.py")]:
        if "kernels" not in path.parts:
            assert "import numba" not in path.read_text().replace("    import numba", "")
            assert "from numba" not in path.read_text(), path.name


def test_one_module_of_the_tests_reaches_into_the_engine():
    """What changes inside the engine then changes one file of the tests."""
    inside = re.compile(r"[.]_engine\b")
    reaching = {path.name for path in (ROOT / "tests").glob("**/*.py") if inside.search(path.read_text())}
    assert reaching == {"support.py"}


@pytest.mark.parametrize(
    ("module", "forbidden"),
    [
        ("rlccfr", ("numba", "torch", "pandas", "pyspiel")),
        ("rlccfr.catalog", ("numba", "torch", "pyspiel")),
        ("rlccfr.envs", ("torch", "stable_baselines3")),
        ("rlccfr.agents", ("torch", "stable_baselines3")),
        ("rlccfr.cli", ("numba", "torch", "pandas", "pyspiel", "gymnasium", "matplotlib")),
    ],
)
def test_imports_are_light(module, forbidden):
    """The command by what it is called with: only otherwise environments are registered at once, by Gymnasium."""
    called = "rlccfr" if module == "rlccfr.cli" else "-c"
    listing = f"print(' '.join(m for m in {forbidden!r} if m in sys.modules))"
    code = f"import sys; sys.argv[0] = {called!r}; import {module}; {listing}"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.split() == []


@pytest.mark.parametrize("folder", TOP_FOLDERS)
def test_the_promised_folders_stand_at_the_top(folder):
    assert (ROOT / folder).is_dir()
    assert not (ROOT / folder).is_symlink()


def test_the_version_is_told_alike_everywhere():
    assert f"\nversion: {rlccfr.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"## {rlccfr.__version__}" in (ROOT / "CHANGELOG.md").read_text()
    assert metadata.version("rlccfr") == rlccfr.__version__
