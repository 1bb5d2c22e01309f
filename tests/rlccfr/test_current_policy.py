"""The current policy is measured beside the average one wherever that is asked for, and nothing else changes."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyspiel
import pytest
from subgames import RIVER
from support import engine_state, game

import rlccfr
from rlccfr import reference
from rlccfr.games.public import view

HOLDEM = "holdem(ranks=4,suits=2,private=1,flop=1)"

RUNS = {
    "flat": ("leduc", {"update_rule": "dcfr"}),
    "last policy": ("kuhn", {"update_rule": "rtcfr_plus"}),
    "walks": ("kuhn", {"update_rule": "cfr", "sampler": "external"}),
    "blends": ("leduc", {"update_rule": "dcfr", "blend": True}),
    "steered": ("leduc", {"control": "schedule"}),
    "buckets": (HOLDEM, {"update_rule": "cfr_plus", "abstraction": "equity(buckets=2)"}),
    "public tree": (HOLDEM, {"update_rule": "dcfr_plus", "blend": True}),
    "spot": ("spot", {"update_rule": "dcfr"}),
}


def solver_of(name: str, arguments: dict, *, current: bool) -> rlccfr.Solver:
    found = rlccfr.subgame(**RIVER) if name == "spot" else rlccfr.load_game(name)
    return rlccfr.Solver(found, **arguments, current=current)


@pytest.mark.parametrize(("name", "arguments"), RUNS.values(), ids=RUNS)
def test_all_looks_measure_it_and_the_run_stays_as_it_was(name, arguments):
    plain, measured = (solver_of(name, arguments, current=current) for current in (False, True))
    for solver in (plain, measured):
        solver.run(400, until="0.5x", curve=False)
        result = solver.run(20)
    assert len(result.points) > 3
    for point, same in zip(result.points, plain.points, strict=True):
        assert point[:2] == same[:2]
        assert point.exploitability == same.exploitability
        assert point.exploitability_current >= 0
        assert np.isnan(same.exploitability_current)
    policy = measured.current_policy()
    assert result.exploitability_current == pytest.approx(policy.exploitability(), rel=1e-6, abs=1e-12)
    assert measured.exploitability(current=True) == result.exploitability_current
    assert measured.nash_conv(current=True) == 2 * result.exploitability_current
    assert measured.values(current=True).game == pytest.approx(policy.values().game, abs=1e-9)
    for key, array in engine_state(plain).items():
        assert np.array_equal(array, engine_state(measured)[key], equal_nan=True), key


def test_it_is_the_policy_of_cfr_in_plain_python():
    spiel = pyspiel.load_game("kuhn_poker")
    cfr = reference.CFR(spiel)
    solver = rlccfr.Solver(game("kuhn"), "cfr", current=True)
    expected = {}
    for _ in range(10):
        cfr.iterate()
        expected[cfr.iteration] = reference.exploitability(spiel, cfr.policy)
    result = solver.run(iterations=10)
    for point in result.points:
        assert point.exploitability_current == pytest.approx(expected[point.iteration], abs=1e-12)


@pytest.mark.slow
def test_in_large_games_it_is_measured_where_asked_for(monkeypatch):
    monkeypatch.setattr(view, "LARGE", 1)
    for arguments in ({"update_rule": "dcfr"}, {"update_rule": "cfr_plus", "abstraction": "equity(buckets=2)"}):
        solver = rlccfr.Solver(rlccfr.load_game(HOLDEM), **arguments)
        assert np.isnan(solver.run(iterations=3).exploitability_current)
        solver.current = True
        known = solver.run(iterations=3)
        assert known.points[-1].exploitability_current == solver.exploitability(current=True)
        solver.current = None
        assert np.isnan(solver.run(iterations=3).exploitability_current)


def test_a_look_that_left_it_out_is_made_good():
    solver = rlccfr.Solver(game("kuhn"), "dcfr", current=False)
    before = solver.run(iterations=10).points
    solver.current = True
    after = solver.run(until=before[-1].exploitability).points
    assert after[:-1] == before[:-1]
    assert after[-1] == before[-1]._replace(exploitability_current=solver.exploitability(current=True))


def test_it_is_drawn_beside_the_average_policy():
    result = rlccfr.Solver(game("kuhn"), "dcfr").run(iterations=30)
    axes = result.plot(label="dcfr", current=True)
    _, line = axes.lines
    assert line.get_ydata().tolist() == result.curve["exploitability_current"].tolist()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["dcfr", "dcfr, current policy"]


@pytest.mark.parametrize("name", ["kuhn", HOLDEM])
def test_the_shell_has_it_in_results_and_curves(run, tmp_path, name):
    asked = ("solve", name, "--iterations", "20", "--option", "current=yes")
    facts = json.loads(run(*asked, "--curve", "curve.csv", "--json")[1])
    column = pd.read_csv(tmp_path / "curve.csv")["exploitability_current"]
    assert column.notna().all()
    assert facts["exploitability_current"] == pytest.approx(column.iloc[-1])
    assert f"{facts['exploitability_current']:.4g}" in run(*asked)[1]
    without = run("solve", name, "--iterations", "20", "--option", "current=no", "--json")[1]
    assert json.loads(without)["exploitability_current"] is None


def test_the_shell_says_which_policy_is_the_result(run):
    for rule, output in (("dcfr", "average"), ("rtcfr_plus", "current")):
        asked = ("solve", "kuhn", "--update-rule", rule, "--iterations", "20")
        facts = json.loads(run(*asked, "--json")[1])
        assert facts["output"] == output
        assert (facts["exploitability"] == facts["exploitability_current"]) == (output == "current")
        assert f"NashConv / 2 of the {output} policy" in run(*asked)[1]


def test_the_shell_measures_it_in_segments_and_on_the_way_to_a_target(run):
    segments = ("--iterations", "20", "--option", "then=dcfr x none x none")
    for limit in (segments, ("--target", "1e-2"), ("--target", "1e-2", "--any")):
        facts = json.loads(run("solve", "leduc", "--update-rule", "cfr", *limit, "--json")[1])
        assert (facts.get("run_before") or facts)["exploitability_current"] > 0


def test_the_choice_is_kept_with_a_run_and_may_change_where_it_goes_on(run, tmp_path):
    solver = rlccfr.Solver(game("kuhn"), "dcfr", current=False)
    solver.save(tmp_path / "kuhn.npz")
    assert rlccfr.Solver.load(tmp_path / "kuhn.npz").current is False
    part = ("solve", "leduc", "--update-rule", "dcfr", "--iterations", "5", "--checkpoint", "run.npz", "--json")
    assert json.loads(run(*part, "--option", "current=no")[1])["exploitability_current"] is None
    assert json.loads(run(*part, "--option", "current=yes")[1])["exploitability_current"] > 0


def test_other_choices_are_refused():
    with pytest.raises(rlccfr.ComponentError, match="current must be True, False or None, not 'yes'"):
        rlccfr.Solver(game("kuhn"), "dcfr", current="yes")
