"""The wheel check: ``python tests/wheel.py`` builds, installs into an empty venv, and runs the README from outside.

It finds faults that an editable install hides: a module or data file that is not packaged, an import that only works
in the checkout, a dependency that is not declared. With ``--extras``, it also installs each extra of the package into
an empty venv of its own, which takes minutes and downloads.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOR_DEVELOPERS = {"bench", "dev", "docs"}
"""Extras that serve work on the checkout; ``rlccfr doctor`` does not list them."""

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


def built(folder: Path, python: str | Path = sys.executable) -> tuple[Path, Path]:
    """Build and return the wheel, made from the sdist, and the sdist; ``python`` has the package ``build``."""
    run(python, "-m", "build", "--outdir", folder, ROOT, cwd=folder)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


def use(python: Path, outside: Path) -> None:
    """Check an installation: every module is imported, and the README's commands and example run."""
    run(python, "-c", "import importlib.resources\n" + IMPORT_ALL, cwd=outside)
    for words in COMMANDS:
        run(python.parent / "rlccfr", *words.split(), cwd=outside)
    for block in re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL):
        run(python, "-c", block, cwd=outside)


def check_archives(wheel: Path, sdist: Path, outside: Path) -> None:
    """Check the archives as a package index would, and that each holds nothing that it should not."""
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist, cwd=outside)
    run(sys.executable, "-m", "check_wheel_contents", wheel, cwd=outside)


def installed(wheel: Path, extra: str | None, outside: Path) -> Path:
    """Install a wheel, with an extra if one is named, into an empty venv, and return its Python."""
    folder = outside / "venv"
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    quiet = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", ROOT / "constraints.txt")
    run(python, *quiet, f"{wheel}[{extra}]" if extra else wheel, cwd=outside)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"the installation takes {size / 1e9:.1f} GB")
    return python


def check_extra(wheel: Path, extra: str) -> None:
    """Install a wheel with an extra, and check that the package finds it."""
    with tempfile.TemporaryDirectory() as name:
        python = installed(wheel, extra, Path(name))
        command = [python.parent / "rlccfr", "doctor", "--json"]
        report = json.loads(subprocess.run(command, cwd=name, check=True, capture_output=True, text=True).stdout)
        (version,) = (row["found"] for row in report if row["what"] == f"extra {extra}")
        assert not version.startswith("missing"), extra
        print(f"extra {extra}: {version}")


def main(*, with_extras: bool) -> None:
    """Check the archives and an installation of the wheel."""
    with tempfile.TemporaryDirectory() as name:
        outside = Path(name)
        wheel, sdist = built(outside)
        check_archives(wheel, sdist, outside)
        use(installed(wheel, None, outside), outside)
        if with_extras:
            project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
            for extra in sorted(set(project["optional-dependencies"]) - FOR_DEVELOPERS):
                check_extra(wheel, extra)


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--extras"]):
        sys.exit("usage: python tests/wheel.py [--extras]")
    main(with_extras="--extras" in sys.argv)
