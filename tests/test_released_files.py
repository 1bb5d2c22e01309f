"""Files that a version wrote are read by this one, with the results of that time."""

from __future__ import annotations

import json

import pytest
import released

import rlccfr
from rlccfr.agents import SelectorTeam
from rlccfr.envs import Cell, Request, Store, TableEvaluator

VERSIONS = sorted(path.name for path in released.FOLDER.iterdir() if path.is_dir())
REQUEST = Request("kuhn", (Cell("dcfr", "none", "none"),), released.BUDGET)


@pytest.fixture(params=VERSIONS)
def files(request):
    folder = released.FOLDER / request.param
    return folder, json.loads((folder / "expected.json").read_text())


def test_this_version_has_its_files():
    assert rlccfr.__version__ in VERSIONS


def test_a_run_goes_on(files):
    folder, expected = files
    result = rlccfr.Solver.load(folder / "run.npz").run(iterations=10)
    assert result.exploitability == pytest.approx(expected["run"], rel=1e-12)


@pytest.mark.parametrize("name", released.POLICIES)
def test_a_policy_is_read(files, name):
    folder, expected = files
    assert rlccfr.Policy.load(folder / name).probabilities.tolist() == expected["policy"]


def test_a_policy_on_a_public_tree_is_read(files):
    folder, expected = files
    found = rlccfr.PublicPolicy.load(folder / "public.npz")
    assert found.exploitability() == pytest.approx(expected["public"], rel=1e-9)


def test_measurements_count(files):
    folder, expected = files
    for source in (Store(folder / "store", create=False), rlccfr.load_results(folder / "measurements.parquet")):
        assert TableEvaluator(source).measure(REQUEST).exploitability == expected["measurement"]


def test_a_team_picks(files):
    folder, expected = files
    team = SelectorTeam.load(folder)
    assert list(team.pick("kuhn", released.BUDGET, "accuracy")) == expected["pick"]
