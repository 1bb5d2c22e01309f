"""Wheel, sdist and suite on other dependency versions: ``python tests/dependencies.py oldest|newest [pytest options]``.

"oldest" installs exactly the lower bounds of pyproject.toml, "newest" the newest versions in the index. Both take torch
from the constraints file, whose build needs no CUDA.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

import wheel

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def requirements(which: str) -> list[str]:
    bounds = [line for line in PROJECT["dependencies"] if not line.startswith("torch")]
    return [re.sub(">=", "==", line) for line in bounds] if which == "oldest" else bounds


def main(which: str, *options: str) -> int:
    torch = re.search(r"^torch==\S+", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    assert torch is not None
    with tempfile.TemporaryDirectory() as name:
        venv.create(Path(name) / "venv", with_pip=True)
        python = str(Path(name) / "venv" / "bin" / "python")
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        tools = PROJECT["optional-dependencies"]["dev"]
        subprocess.run([*install, torch.group(), *requirements(which), *tools], check=True)
        for archive in wheel.built(Path(name), python):
            subprocess.run([*install, "--no-deps", "--force-reinstall", str(archive)], check=True)
            wheel.use(Path(python), Path(name))
            # Numba's files beside the kernels outlive the uninstallation, and their folder would hide the checkout.
            subprocess.run([python, "-m", "pip", "uninstall", "--quiet", "--yes", "rlccfr"], check=True)
            for folder in (Path(name) / "venv").glob("lib/python*/site-packages/rlccfr"):
                shutil.rmtree(folder)
        subprocess.run([*install, "--no-deps", "-e", str(ROOT)], check=True)
        freeze = [python, "-m", "pip", "list", "--format=freeze"]
        names = {re.split(r"[=>\[]", line)[0].lower().replace("_", "-") for line in [*requirements(which), "torch"]}
        for line in subprocess.run(freeze, capture_output=True, text=True, check=True).stdout.splitlines():
            if line.split("==")[0].lower().replace("_", "-") in names:
                print(line, flush=True)
        tests = [python, "-m", "pytest", "-q", "-n", "2", "-m", "not verify", "-p", "no:cacheprovider", *options]
        return subprocess.run(tests, cwd=ROOT, env={**os.environ, "NUMBA_CACHE_DIR": f"{name}/numba"}).returncode


if __name__ == "__main__":
    if sys.argv[1:2] not in (["oldest"], ["newest"]):
        sys.exit("usage: python tests/dependencies.py oldest|newest [pytest options]")
    sys.exit(main(*sys.argv[1:]))
