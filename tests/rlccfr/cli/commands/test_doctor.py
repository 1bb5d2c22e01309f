"""``rlccfr doctor`` tells what is there, what is missing, and how to get it."""

from __future__ import annotations

import json
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import rlccfr
from rlccfr.cli.commands import doctor


def test_it_tells_what_is_there(run):
    code, out, err = run("doctor")
    assert (code, err) == (0, "")
    for word in (rlccfr.__version__, metadata.version("numba"), metadata.version("torch"), "cores", "memory left",
                 "kept on disk", "kernels", "Kuhn poker to"):  # fmt: skip
        assert word in out


def test_programs_read_it(run):
    found = {one["what"]: one for one in json.loads(run("doctor", "--json")[1])}
    assert found["rlccfr"]["found"] == rlccfr.__version__
    assert set(found["trial run"]) == {"what", "found", "advice"}
    assert {f"extra {extra}" for extra in doctor.EXTRAS} <= set(found)


def test_it_says_how_to_get_what_is_missing(run, monkeypatch):
    version = metadata.version

    def without_plotly(name):
        if name == "plotly":
            raise metadata.PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(metadata, "version", without_plotly)
    line = next(line for line in run("doctor")[1].splitlines() if line.startswith("extra report"))
    assert "missing" in line
    assert "pip install 'rlccfr[report]'" in line


def test_a_cache_that_can_not_be_written_is_told(monkeypatch, tmp_path):
    monkeypatch.setenv("RLCCFR_CACHE", str(tmp_path / "none"))
    monkeypatch.setattr(doctor.os, "access", lambda *_: False)
    (found,) = doctor._cache()
    assert "set RLCCFR_CACHE to a folder that you may write to" in found.advice


def test_the_cache_is_cleared(run, monkeypatch, tmp_path):
    kernels = tmp_path / "kernels"
    monkeypatch.setattr("rlccfr.kernels.cache.kernels_folder", lambda: kernels)
    monkeypatch.setenv("RLCCFR_CACHE", str(tmp_path))
    others = tmp_path / "mine.npz"
    for path in (tmp_path / "game-1.npz", kernels / "0" / "form.nbc", others):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"0" * 1000)
    doctor._clear()
    assert not kernels.exists()
    assert list(tmp_path.iterdir()) == [others]


@pytest.mark.parametrize(("count", "words"), [(85, "85 kernels compiled in under 1 s"), (0, "nothing to do")])
def test_it_says_how_many_kernels_it_has_compiled(run, monkeypatch, count, words):
    asked = []
    monkeypatch.setattr("rlccfr.cli.compiling.compile_kernels", lambda kinds, report: asked.extend(kinds) or count)
    found = {row["what"]: row["found"] for row in json.loads(run("doctor", "--compile", "--json")[1])}
    assert words in found["compilation"]
    assert asked == ["trees", "public", "draws", "responses", "buckets", "large"]
    assert run("doctor", "--compile", "--only", "trees")[0] == 0
    assert asked[6:] == ["trees"]
    assert (
        run("doctor", "--compile", "--only", "all")[2]
        == "error: --only takes trees, public, draws, responses, buckets, large, not 'all'\n"
    )
    assert (
        run("doctor", "--only", "trees")[2]
        == "error: --only selects the kernels that --compile compiles: give both options\n"
    )


def test_a_broken_installation_is_an_error(run, monkeypatch):
    def broken(*_, **__):
        raise OSError("libtorch is missing")

    monkeypatch.setattr("rlccfr.solver.Solver.run", broken)
    code, out, err = run("doctor")
    assert code == 1
    assert "failed" in out
    assert "a run of ten iterations on Kuhn poker fails: OSError: libtorch is missing" in err


def test_every_extra_is_told_as_it_is():
    project = tomllib.loads((Path(rlccfr.__file__).parents[1] / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    assert set(extras) - {"bench", "dev", "docs"} == set(doctor.EXTRAS)
    for extra, (name, _) in doctor.EXTRAS.items():
        assert any(requirement.startswith(f"{name}>=") for requirement in extras[extra])
