"""The wheel check: ``python tests/wheel.py`` builds, installs into an empty venv, and runs the README from outside.

It finds faults that an editable install hides: a module or data file that is not packaged, an import that only works
in the checkout, a dependency that is not declared.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent

IMPORT_ALL = """
import importlib, pkgutil, sys, rlccfr
assert rlccfr.__file__.startswith(sys.prefix), rlccfr.__file__
names = [m.name for m in pkgutil.walk_packages(rlccfr.__path__, "rlccfr.") if not m.name.endswith("__main__")]
for name in names:
    try:
        importlib.import_module(name)
    except rlccfr.RLCCFRError as error:  # of a module whose classes are those of an extra
        assert name == "rlccfr.agents.control.dac_benchmark" and "rlccfr[dac]" in str(error), name
for package in ("catalog", "envs", "agents", "cli", "kernels"):
    assert any(name.startswith(f"rlccfr.{package}.") for name in names), package
assert (importlib.resources.files(rlccfr) / "py.typed").is_file()
print(f"{len(names)} modules imported from {rlccfr.__path__[0]}")
"""


COMMANDS = (
    "solve kuhn --iterations 100 --json --policy kuhn.npz",
    "solve leduc --target 1e-3 --policy leduc.npz",
    "solve leduc --control --iterations 50",
    "show kuhn.npz",
    "explore leduc.npz leduc.html",
    "play leduc --against leduc.npz",
    "recommend leduc --seconds 1",
    "doctor",
)
TYPED = "?\n1\n!\nquit\n"
"""What a person types when a command asks."""


def run(*command: str | Path, cwd: Path) -> None:
    print("+", *(str(part) if len(str(part)) < 80 else "..." for part in command), flush=True)
    subprocess.run([str(part) for part in command], cwd=cwd, check=True, input=TYPED, text=True)


def built(folder: Path) -> tuple[Path, Path]:
    """Build and return the wheel, made from the sdist, and the sdist."""
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT, cwd=folder)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


def use(python: Path, outside: Path) -> None:
    """Check an installation: every module is imported, and the README's commands and example run."""
    run(python, "-c", "import importlib.resources\n" + IMPORT_ALL, cwd=outside)
    for words in COMMANDS:
        run(python.parent / "rlccfr", *words.split(), cwd=outside)
    for block in re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL):
        run(python, "-c", block, cwd=outside)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        outside = Path(name)
        wheel, _ = built(outside)
        venv.create(outside / "venv", with_pip=True)
        python = outside / "venv" / "bin" / "python"
        quiet = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", ROOT / "constraints.txt")
        run(python, *quiet, wheel, cwd=outside)
        size = sum(path.stat().st_size for path in (outside / "venv").rglob("*") if path.is_file())
        print(f"the installation takes {size / 1e9:.1f} GB")
        use(python, outside)


if __name__ == "__main__":
    main()
