"""The places of compiled kernels. Small kernels stand for all: a whole engine takes half a minute to compile."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import rlccfr
from rlccfr.kernels import cache

PACKAGE = Path(rlccfr.__file__).parent
COMPILE = """
import json, os, rlccfr
from rlccfr.catalog.extended import weigh_exponentially
from rlccfr.kernels.cache import kernel_folder
from rlccfr.kernels.learning.adam import adam_step
from rlccfr.kernels.plain import policy_map_function

policy_map_function(weigh_exponentially)
hits = sum(adam_step.stats.cache_hits.values())
print(json.dumps([os.path.dirname(rlccfr.__file__), str(kernel_folder()), hits]))
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """Copy of the package, as an installed wheel leaves it."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(PACKAGE, folder / "rlccfr", ignore=shutil.ignore_patterns("__pycache__", "data"))
    return folder


def environment(home: Path, site: Path) -> dict[str, str]:
    """Return the environment of a user with this home who installed the copy."""
    told = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    own = {"PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(home), "XDG_CACHE_HOME": str(home)}
    return told | own


def compiled(home: Path, site: Path) -> tuple[Path, Path, int]:
    """Compile in a new process; return the package's folder, the kernels' folder and the number of cache hits."""
    command = [sys.executable, "-c", COMPILE]
    ran = subprocess.run(command, env=environment(home, site), cwd="/", capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    package, folder, hits = json.loads(ran.stdout)
    return Path(package), Path(folder), hits


def files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_kernels_are_kept_outside_of_the_package(site, tmp_path):
    """An uninstalled wheel then leaves no folder behind, and a read-only package, too, compiles only once.

    RLCCFR_CACHE, which the tests set, is for games and has no effect on kernels.
    """
    before = files(site)
    package, folder, hits = compiled(tmp_path, site)
    assert (package, folder.parent, hits) == (site / "rlccfr", tmp_path / "rlccfr", 0)
    assert files(site) == before
    names = {path.name.split("-")[0] for path in files(tmp_path)}
    assert names == {"adam.adam_step", "handles._write", "extended.weigh_exponentially"}
    assert compiled(tmp_path, site) == (package, folder, 1)
    for path in files(folder):
        path.write_bytes(path.read_bytes()[:1000])
    assert compiled(tmp_path, site) == (package, folder, 0), "damaged files are compiled anew"


@pytest.mark.slow
def test_processes_that_compile_at_once_lose_nothing(site, tmp_path):
    """Both compile the same function for different signatures; with an index file, one would overwrite the other's."""
    code = """
import sys
from rlccfr.kernels.plain import mixture_function, policy_map_function

print("ready", flush=True)
sys.stdin.readline()
(mixture_function if sys.argv[1] == "mixture" else policy_map_function)(None)
"""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    both = [
        subprocess.Popen([sys.executable, "-c", code, kind], env=environment(tmp_path, site), cwd="/", **pipes)
        for kind in ("mixture", "policy_map")
    ]
    for process in both:
        assert process.stdout.readline() == "ready\n"
    for process in both:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in both:
        _, error = process.communicate(timeout=300)
        assert process.returncode == 0, error
    assert len([path for path in files(tmp_path) if path.name.startswith("handles._write")]) == 2
    assert all(path.suffix == ".nbc" for path in files(tmp_path))


@pytest.mark.parametrize("name", ["kernels/learning/reservoir.py", "games/flat_tree.py", "components/schedules.py"])
def test_every_source_counts_and_its_time_does_not(name, site, tmp_path):
    shutil.copytree(site, tmp_path / "site")
    path = tmp_path / "site" / "rlccfr" / name
    found = []
    for content in (path.read_bytes(), path.read_bytes(), path.read_bytes() + b"# changed\n"):
        path.write_bytes(content)
        os.utime(path, (len(found),) * 2)
        found.append(cache.digest_of_sources.__wrapped__(tmp_path / "site" / "rlccfr"))
    assert found[0] == found[1] == cache.digest_of_sources(PACKAGE)
    assert found[2] != found[0]


@pytest.fixture
def folders(tmp_path, monkeypatch) -> dict[str, Path]:
    """Folders that may become the base. A file in place of a folder can't be written into, even by root."""
    found = {name: tmp_path / name for name in ("told", "user", "temporary", "file")}
    found["temporary"].mkdir()
    found["file"].touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(found["user"]))
    monkeypatch.setattr(tempfile, "tempdir", str(found["temporary"]))
    return found


def base(told: object = "") -> Path:
    return cache.writable_base.__wrapped__(str(told))


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no variable for the user's cache")
def test_the_first_folder_that_can_be_written_is_taken(folders, monkeypatch):
    assert base(folders["told"]) == folders["told"]
    assert base() == base(folders["file"]) == folders["user"] / "rlccfr"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folders["file"]))
    temporary = base(folders["file"])
    assert temporary.parent == folders["temporary"]
    assert base() == temporary, "the next process finds it"
    temporary.chmod(0o777)
    assert base() != temporary, "others could have put something there"
    assert base().parent == folders["temporary"]


def test_folders_that_were_not_used_for_a_month_are_dropped(tmp_path):
    ours, newer, older = (f"kernels-{digit * 16}" for digit in "012")
    for name, days in ((ours, 90), (newer, 29), (older, 31), ("kernels-of-mine", 90), ("games", 90)):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (time.time() - days * 86400,) * 2)
    cache.drop_unused(tmp_path / ours)
    assert {path.name for path in tmp_path.iterdir()} == {ours, newer, "kernels-of-mine", "games"}
    assert (tmp_path / ours).stat().st_mtime > time.time() - 60
