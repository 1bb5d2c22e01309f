"""Measurements as a scenario of ASlib."""

from __future__ import annotations

import importlib.util
import json
import math
import re
import shutil
import sys

import arff
import pytest
from aslib_rules import faults

from rlccfr.agents import shipped
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs import Budget, LiveEvaluator, Request, write_aslib
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


def test_the_scenario_keeps_all_rules_of_the_format(scenario):
    assert faults(scenario) == []


SPOILED = (
    ("description.txt", r'"maximize": \[\s*false', '"maximize": ["false"', "Booleans"),
    ("description.txt", r'"performance_type": \[\s*"solution_quality",', '"performance_type": [', "differ in number"),
    ("description.txt", r'"number_of_feature_steps": 1', '"number_of_feature_steps": 2', "steps do not agree"),
    ("description.txt", r'"deterministic": true', '"deterministic": "yes"', "lacks configuration or deterministic"),
    ("description.txt", r'"scenario_id": "small"', '"scenario_id": "other"', "the relation is"),
    ("description.txt", r'"algorithm_cutoff_time": 0.1', '"algorithm_cutoff_time": "none"', "cut-off"),
    ("algorithm_runs.arff", r"(?m)^kuhn,1,cfr/none/none.*$", "", "lacks a run"),
    ("algorithm_runs.arff", r"(?m)^kuhn,1,cfr/none/none,[^,]*", "kuhn,1,cfr/none/none,?", "a value is missing"),
    ("algorithm_runs.arff", r"(?m)^kuhn,1,cfr/none/none", "kuhn,2,cfr/none/none", "the repetitions of"),
    ("algorithm_runs.arff", r"ATTRIBUTE algorithm", "ATTRIBUTE solver", "must begin with"),
    ("feature_values.arff", r"(?m)^kuhn,", "kuhn_2,", "not those of feature_values"),
    ("feature_costs.arff", r"(?m)^kuhn,1,.*$", "kuhn,1,?", "kuhn has no cost"),
    ("feature_runstatus.arff", r"ATTRIBUTE structure", "ATTRIBUTE shape", "not the steps"),
    ("cv.arff", r"(?m)^kuhn,1,\d", "kuhn,1,7", "numbered from 1"),
    ("citation.bib", r"year", "Jahr, in dem das Werk über Spiele erschien,", "not ASCII"),
)


def test_the_rules_find_what_breaks_them(scenario, tmp_path):
    for number, (name, pattern, replacement, message) in enumerate(SPOILED):
        folder = shutil.copytree(scenario, tmp_path / str(number))
        text, count = re.subn(pattern, replacement, (folder / name).read_text(), count=1)
        assert count == 1, pattern
        (folder / name).write_text(text)
        assert any(message in fault for fault in faults(folder)), (message, faults(folder))
    (folder / "citation.bib").unlink()
    assert faults(folder) == ["citation.bib is missing"]


def test_aslibs_own_checker_has_nothing_to_say(scenario, caplog):
    """It ends the process at an error; some of its warnings are of cut-offs that runs did not have."""
    if importlib.util.find_spec("aslib_scenario") is None:
        pytest.skip("not on PyPI: pip install git+https://github.com/mlindauer/ASlibScenario")
    from aslib_scenario.aslib_scenario import ASlibScenario

    checked = ASlibScenario()
    checked.read_scenario(str(scenario))
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
    assert checked.performance_data.shape == (len(GAMES), len(CATALOG))
    assert checked.feature_cost_data.notna().all().all()


def test_selectors_of_others_read_it(scenario):
    if not all(map(importlib.util.find_spec, ("asf", "clingo", "sksurv"))):
        pytest.skip("ASF is not installed: pip install asf-lib clingo scikit-survival")
    from asf.scenario.aslib_reader import read_aslib_scenario

    features, performance, costs, folds, *_ = read_aslib_scenario(str(scenario))
    assert performance.shape == (len(GAMES), len(CATALOG))
    assert features.shape == (len(GAMES), len(GameFeatures._fields) + costs.shape[1])
    assert list(folds["fold"].sort_values()) == [1, 2, 3]


def test_people_are_told_what_the_specification_asks_for(scenario):
    text = (scenario / "readme.txt").read_text()
    for subject in ("Origin", "Problem", "Performance", "Algorithms", "Runs that failed", "Features", "Splits"):
        assert re.search(rf"^{subject}\. ", text, re.MULTILINE), subject
    assert "@inproceedings{zinkevich2007regret" in (scenario / "citation.bib").read_text()
    about = json.loads((scenario / "description.txt").read_text())
    assert about["metainfo_algorithms"]["dcfr/external/none"]["configuration"] == (
        "dcfr(alpha=1.5,beta=0.0,gamma=2.0) x external x none"
    )


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
    with pytest.raises(RLCCFRError, match="give a directory with a name"):
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


def test_the_readme_tells_of_the_catalogs_algorithms_alone(tmp_path):
    evaluator = LiveEvaluator(tmp_path / "store")
    for game in ("kuhn", "matrix_rps"):
        for rule in ("cfr", "dcfr"):
            evaluator.measure(Request(game, (Cell(rule, "none", "none"),), Budget("iterations", 5)))
    frame = evaluator.frame()
    frame.loc[frame["update_rule"] == "dcfr", ["engine_version", "processor"]] = "of another engine"
    alone = Catalog(("cfr",), ("none",), ("none",))
    write_aslib(frame, tmp_path / "small", Budget("iterations", 5), alone)
    assert "another engine" not in (tmp_path / "small" / "readme.txt").read_text()
