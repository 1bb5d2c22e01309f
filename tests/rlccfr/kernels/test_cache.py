"""The places of compiled kernels. Small kernels stand for all: a whole engine takes half a minute to compile."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import imports
import pytest
from filelock import FileLock

import rlccfr
from rlccfr.kernels import cache

PACKAGE = Path(rlccfr.__file__).parent
COMPILE = """
import json, os, rlccfr
from rlccfr.catalog.extended import weigh_exponentially
from rlccfr.kernels.cache import kernels_folder
from rlccfr.kernels.learning.adam import adam_step
from rlccfr.kernels.plain_functions import policy_map_function

policy_map_function(weigh_exponentially)
hits = sum(adam_step.stats.cache_hits.values())
print(json.dumps([os.path.dirname(rlccfr.__file__), str(kernels_folder()), hits]))
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
    assert (package, folder, hits) == (site / "rlccfr", tmp_path / "rlccfr" / "kernels", 0)
    assert files(site) == before
    names = {path.name.split("-")[0] for path in files(tmp_path)}
    assert names == {"adam.adam_step", "handles._write", "extended.weigh_exponentially"}
    assert compiled(tmp_path, site) == (package, folder, 1)
    for path in files(folder):
        if path.suffix == ".nbc":
            path.write_bytes(path.read_bytes()[:1000])
    assert compiled(tmp_path, site) == (package, folder, 0), "damaged files are compiled anew"


@pytest.mark.slow
def test_processes_that_compile_at_once_lose_nothing(site, tmp_path):
    """Both compile the same function for different signatures; with an index file, one would overwrite the other's."""
    code = """
import sys
from rlccfr.kernels.plain_functions import mixture_function, policy_map_function

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
    forms = [path for path in files(tmp_path) if path.suffix == ".nbc"]
    assert len([path for path in forms if path.name.startswith("handles._write")]) == 2
    assert {path.name for path in files(tmp_path)} == {f"{path.name}{end}" for path in forms for end in ("", ".lock")}


@pytest.mark.slow
def test_processes_that_need_the_same_form_compile_it_once(site, tmp_path):
    code = """
import sys
from rlccfr.kernels.cache import KernelCache

print("ready", flush=True)
sys.stdin.readline()
from rlccfr.kernels.learning.adam import adam_step

print(sum(adam_step.stats.cache_hits.values()))
"""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    both = [
        subprocess.Popen([sys.executable, "-c", code], env=environment(tmp_path, site), cwd="/", **pipes)
        for _ in range(2)
    ]
    for process in both:
        assert process.stdout.readline() == "ready\n"
    for process in both:
        process.stdin.write("go\n")
        process.stdin.flush()
    ended = [process.communicate(timeout=300) for process in both]
    assert [error for _, error in ended] == ["", ""]
    assert sorted(int(out) for out, _ in ended) == [0, 1]


def test_a_process_does_not_wait_for_itself_when_it_compiles_again_what_failed(monkeypatch):
    from rlccfr.kernels.learning.adam import adam_step

    locks = []
    monkeypatch.setattr(cache, "FileLock", lambda *args, **kwargs: locks.append(args) or FileLock(*args, **kwargs))
    kept = cache.KernelCache(adam_step.py_func)
    form, context = "a form that can't be compiled", adam_step.targetctx
    assert kept._acquired(form, context)
    assert not kept._acquired(form, context)
    assert len(locks) == 1
    kept._release(form)
    assert kept._acquired(form, context)
    kept._release(form)


KERNELS = "kernels/walks/sampled_iterations.py"


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        (KERNELS, True),
        ("kernels/walks/random_words.py", True),  # walk.py imports it
        ("games/records.py", True),
        ("components/schedules.py", True),
        ("components/controller.py", True),
        ("kernels/learning/adam.py", False),
        ("kernels/cache.py", False),
        ("games/flat_tree.py", False),
    ],
)
def test_what_is_compiled_in_counts_and_its_time_does_not(name, counts, site, tmp_path):
    shutil.copytree(site, tmp_path / "site")
    package = tmp_path / "site" / "rlccfr"
    path = package / name
    found = []
    for content in (path.read_bytes(), path.read_bytes(), path.read_bytes() + b"# changed\n"):
        path.write_bytes(content)
        os.utime(path, (len(found),) * 2)
        for function in (cache.digest_of_sources, cache.sources_of, cache._imported_files):
            function.cache_clear()
        found.append(cache.digest_of_sources(package / KERNELS, package))
    assert found[0] == found[1] == cache.digest_of_sources(PACKAGE / KERNELS)
    assert (found[2] != found[0]) == counts


def test_constants_of_kernels_come_from_files_that_count():
    """Kernels import only classes, for annotations, and functions that run outside of kernels, from elsewhere."""
    not_compiled = {
        "rlccfr.games.flat_tree": {"GameTree", "SequenceForm"},
        "rlccfr.games.public.view": {"PublicGame"},
        "rlccfr.errors": {"ComponentError", "RLCCFRError"},
        "rlccfr.files": {"write_atomically"},
        "rlccfr.plugins": {"is_the_librarys"},
    }
    for path in (PACKAGE / "kernels").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("rlccfr"):
                continue
            place = f"{node.module.removeprefix('rlccfr.').replace('.', '/')}.py"
            if node.module.startswith("rlccfr.kernels") or place in cache.LAYOUTS:
                continue
            assert {name.name for name in node.names} <= not_compiled.get(node.module, set()), f"{path}: {node.module}"


@pytest.mark.slow
def test_imports_are_found_as_python_finds_them():
    known = {path: name for name, path in imports.modules().items()}
    graph = imports.graph()
    for path in (PACKAGE / "kernels").rglob("*.py"):
        found = {known[module] for module in cache._imported_files(path, PACKAGE) if module in known}
        wanted = {name for name in graph[known[path]] if name != "rlccfr"} - {"rlccfr.kernels.cache"}
        assert wanted - {"rlccfr.kernels"} <= found | {"rlccfr.components"}, path


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


def test_folders_that_were_not_used_for_a_month_are_dropped(tmp_path, monkeypatch):
    folder = tmp_path / "kernels"
    monkeypatch.setattr(cache, "kernels_folder", lambda: folder)
    newer, older = "1" * 16, "2" * 16
    ages = {
        folder / newer: 29,
        folder / older: 31,
        folder / "mine": 90,
        tmp_path / "games": 90,
        tmp_path / f"kernels-{newer}": 29,  # of an earlier version
        tmp_path / f"kernels-{older}": 31,
    }
    for path, days in ages.items():
        path.mkdir(parents=True)
        os.utime(path, (time.time() - days * 86400,) * 2)
    cache.drop_unused()
    left = {path for path in ages if path.exists()}
    assert left == {path for path in ages if path.name not in (older, f"kernels-{older}")}
    cache._mark_as_used(folder / newer)
    assert (folder / newer).stat().st_mtime > time.time() - 60
