"""Measurements as a scenario of ASlib."""

from __future__ import annotations

import json
import math
import sys

import arff
import pytest

from rlccfr.agents import shipped
from rlccfr.catalog import Catalog
from rlccfr.envs import Budget, Request, write_aslib
from rlccfr.envs.game_features import GameFeatures
from rlccfr.envs.measuring.store import MissingCellError
from rlccfr.errors import CheckpointError, RLCCFRError
from rlccfr.games.names import load_game

BUDGET = Budget("seconds", 0.1)
CATALOG = Catalog(("cfr", "dcfr"), ("none", "external"), ("none",))
GAMES = ("kuhn", "leduc", "goofspiel")


def rows_of(path) -> tuple[list[str], list[list]]:
    read = arff.loads(path.read_text())
    assert read["relation"] == f"{path.stem.upper()}_small"
    return [name for name, _ in read["attributes"]], read["data"]


@pytest.fixture(scope="module")
def scenario(tmp_path_factory):
    return write_aslib(shipped.results(), tmp_path_factory.mktemp("aslib") / "small", BUDGET, CATALOG, games=GAMES)


def test_every_run_is_there_as_measured(scenario):
    names, rows = rows_of(scenario / "algorithm_runs.arff")
    assert names == ["instance_id", "repetition", "algorithm", "log10_error", "speed", "runstatus"]
    table, expected = shipped.results(), []
    for game in GAMES:
        for cell in CATALOG:
            for number, seed in enumerate(table.seeds(game, cell), 1):
                one = table.measure(Request(game, (cell,), BUDGET, seed=seed))
                error = math.log10(one.exploitability / one.uniform_exploitability)
                expected.append([game, number, "/".join(cell), pytest.approx(error, abs=1e-5)])
                expected[-1] += [pytest.approx(one.throughput / one.reference_throughput, rel=1e-5), "ok"]
    assert rows == expected


def test_features_their_cost_and_the_folds(scenario):
    names, rows = rows_of(scenario / "feature_values.arff")
    assert names == ["instance_id", "repetition", *GameFeatures._fields]
    assert [row[0] for row in rows] == list(GAMES)
    assert rows[0][2:] == pytest.approx(list(GameFeatures.of(load_game("kuhn"))), abs=1e-5)
    assert all(row[2] > 0 for row in rows_of(scenario / "feature_costs.arff")[1])
    assert all(row[2] == "ok" for row in rows_of(scenario / "feature_runstatus.arff")[1])
    assert sorted(row[2] for row in rows_of(scenario / "cv.arff")[1]) == [1, 2, 3]


def test_the_description_names_what_the_files_have(scenario):
    about = json.loads((scenario / "description.txt").read_text())
    assert about["scenario_id"] == "small"
    assert about["performance_measures"] == ["log10_error", "speed"]
    assert about["maximize"] == [False, True]
    assert about["algorithm_cutoff_time"] == 0.1
    assert about["algorithms_deterministic"] == ["cfr/none/none", "dcfr/none/none"]
    assert about["algorithms_stochastic"] == ["cfr/external/none", "dcfr/external/none"]
    deterministic = {name: one["deterministic"] for name, one in about["metainfo_algorithms"].items()}
    assert deterministic == {name: name.split("/")[1] == "none" for name in map("/".join, CATALOG)}
    assert about["feature_steps"]["structure"]["provides"] == list(GameFeatures._fields)


@pytest.mark.slow
def test_folds_are_even_and_drawn_by_the_seed(tmp_path):
    def parts(seed):
        write_aslib(shipped.results(), tmp_path / "small", BUDGET, CATALOG, games=GAMES, folds=2, seed=seed)
        return [row[2] for row in rows_of(tmp_path / "small" / "cv.arff")[1]]

    found = [parts(seed) for seed in range(8)]
    assert all(sorted(one) in ([1, 1, 2], [1, 2, 2]) for one in found)
    assert parts(0) == found[0]
    assert len(set(map(tuple, found))) > 1


@pytest.mark.slow
def test_a_failed_run_counts_as_the_uniform_policy(tmp_path):
    frame = shipped.results().frame().assign(budget_unit="seconds", budget_amount=0.1)
    failed = frame["game"].eq("kuhn") & frame["update_rule"].eq("dcfr") & frame["sampler"].eq("none")
    frame.loc[failed, "status"] = "timeout"
    write_aslib(frame, tmp_path / "small", BUDGET, CATALOG, games=GAMES)
    rows = rows_of(tmp_path / "small" / "algorithm_runs.arff")[1]
    assert [row for row in rows if row[5] != "ok"] == [["kuhn", 1, "dcfr/none/none", 0.0, 0.0, "timeout"]]


def test_what_can_not_be_exported_is_named(tmp_path, monkeypatch):
    for games in (["kuhn"], ["kuhn", "kuhn_poker"], []):
        with pytest.raises(RLCCFRError, match="at least two games"):
            write_aslib(shipped.results(), tmp_path, BUDGET, CATALOG, games=games)
    with pytest.raises(RLCCFRError, match="folds"):
        write_aslib(shipped.results(), tmp_path, BUDGET, CATALOG, games=GAMES, folds=1)
    with pytest.raises(RLCCFRError, match="seed"):
        write_aslib(shipped.results(), tmp_path, BUDGET, CATALOG, games=GAMES, seed=-1)
    with pytest.raises(RLCCFRError, match="name a directory"):
        write_aslib(shipped.results(), "/", BUDGET, CATALOG, games=GAMES)
    with pytest.raises(MissingCellError):
        write_aslib(shipped.results(), tmp_path, Budget("seconds", 1e6), CATALOG, games=GAMES)
    (tmp_path / "readme.txt").write_text("mine")
    with pytest.raises(RLCCFRError, match="holds other files"):
        write_aslib(shipped.results(), tmp_path, BUDGET, CATALOG, games=GAMES)
    with pytest.raises(CheckpointError, match="is a file"):
        write_aslib(shipped.results(), tmp_path / "readme.txt", BUDGET, CATALOG, games=GAMES)
    monkeypatch.setitem(sys.modules, "arff", None)
    with pytest.raises(RLCCFRError, match=r"pip install 'rlccfr\[aslib\]'"):
        write_aslib(shipped.results(), tmp_path / "new", BUDGET, CATALOG, games=GAMES)
    assert [path.name for path in tmp_path.iterdir()] == ["readme.txt"]
