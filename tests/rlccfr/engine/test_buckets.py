"""Runs over buckets."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from support import engine_state, game

import rlccfr
from rlccfr.components import Abstraction
from rlccfr.errors import CheckpointError, ComponentError

WIDE = "leduc(ranks=13,suits=2,raises=1)"


def every_infoset(tree):
    return 3 * np.arange(tree.num_infosets)


def run(name, *parts, iterations=100, **options):
    solver = rlccfr.Solver(game(name), *parts, seed=3, **options)
    return solver, solver.run(iterations=iterations)


@pytest.mark.parametrize("sampler", ["none", "external", "outcome", "public_chance"])
def test_a_bucket_for_each_infoset_changes_nothing(sampler):
    one, found = run("leduc", "dcfr", sampler, Abstraction(buckets=every_infoset))
    other, expected = run("leduc", "dcfr", sampler, "none")
    for name, array in engine_state(other).items():
        assert np.array_equal(array, engine_state(one)[name]), name
    assert found.exploitability_abstract == found.exploitability == expected.exploitability
    assert expected.exploitability_abstract is None
    assert other.abstract_values() is None


def test_suits_equal_the_game_with_isomorphic_suits():
    solver, found = run("leduc", "cfr", "none", "suits", iterations=100)
    other, expected = run("leduc_poker(suit_isomorphism=True)", "cfr", "none", "none", iterations=100)
    assert found.exploitability == pytest.approx(expected.exploitability, abs=1e-12)
    assert found.exploitability_abstract == pytest.approx(expected.exploitability, abs=1e-12)
    assert solver.values().game == pytest.approx(other.values().game, abs=1e-12)
    assert solver.average_policy().probabilities.shape == (game("leduc").num_sequences,)
    assert solver.average_policy().exploitability() == pytest.approx(found.exploitability, abs=1e-12)


def test_suits_are_lossless_however_buckets_play():
    solver, found = run("leduc", "lcfr_plus", "external", "suits", iterations=500)
    assert found.exploitability_abstract == pytest.approx(found.exploitability, abs=1e-12)
    assert solver.current_policy().exploitability() == pytest.approx(found.points[-1].exploitability_current, abs=1e-12)


@pytest.mark.slow
def test_the_plateau_falls_with_the_number_of_buckets():
    plateaus = []
    for buckets in (2, 3, 5, 8, 13):
        _, result = run(WIDE, "cfr_plus", "none", f"equity(buckets={buckets})", iterations=2000)
        plateaus.append(result.exploitability)
        assert result.exploitability_abstract < 1e-4
    assert plateaus[0] > plateaus[1] > plateaus[2] > max(plateaus[3:])
    assert min(plateaus) > 0.05


@pytest.mark.parametrize("rule", ["cfr", "dcfr", "pcfr_plus", "ecfr"])
@pytest.mark.parametrize("sampler", ["none", "external", "public_chance"])
def test_rules_and_samplers_approach_equilibria_of_the_abstraction(rule, sampler):
    solver, result = run("leduc(ranks=4,suits=2,raises=1)", rule, sampler, "equity(buckets=2)", iterations=400)
    start = rlccfr.Solver(solver.game, rule, sampler, "equity(buckets=2)").abstract_values().exploitability
    assert result.exploitability_abstract < start / 2
    assert result.exploitability_abstract < result.exploitability


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"simultaneous": True}, {"averaging": "pre"}, {"blend": True}, {"threads": 2}])
def test_options_run_over_buckets(options):
    _, result = run(WIDE, "cfr_plus", "none", "equity(buckets=3)", **options)
    assert result.exploitability_abstract < 0.05 < result.exploitability


@pytest.mark.parametrize("sampler", ["none", "external"])
def test_a_run_over_buckets_resumes_bitwise(tmp_path, sampler):
    parts = ("cfr_plus", sampler, "equity(buckets=2)")
    whole, _ = run("leduc", *parts, iterations=60)
    cut, _ = run("leduc", *parts, iterations=20)
    cut.save(tmp_path / "run.npz")
    resumed = rlccfr.Solver.load(tmp_path / "run.npz")
    resumed.run(iterations=40)
    assert resumed.game.num_infosets == 936
    for name, array in engine_state(whole).items():
        assert np.array_equal(array, engine_state(resumed)[name]), name


def test_buckets_change_only_before_a_run():
    solver = rlccfr.Solver(game("leduc"), "cfr_plus", "external", "equity(buckets=2)")
    solver.switch(abstraction="suits")
    solver.switch(update_rule="dcfr", sampler="none")
    solver.run(iterations=10)
    before = engine_state(solver)
    solver.switch(sampler="external")
    for abstraction in ("none", "equity(buckets=2)"):
        with pytest.raises(ComponentError, match="buckets can't change during a run"):
            solver.switch(abstraction=abstraction)
    assert solver.abstraction.id == "suits"
    assert np.array_equal(engine_state(solver)["policy"], before["policy"])


def test_what_buckets_do_not_serve_is_refused():
    with pytest.raises(ComponentError, match="'equity' needs a public tree"):
        rlccfr.Solver(game("goofspiel"), "cfr_plus", "none", "equity")


def itself(tree):
    return np.arange(tree.num_infosets)


def test_buckets_are_made_once_for_each_game():
    made = []

    def counted(tree, numbers):
        made.append(tree)
        return numbers[0] + np.arange(tree.num_infosets)

    def factory(width: int = 2) -> Abstraction:
        return Abstraction(buckets=lambda tree: counted(tree, np.zeros(width)))

    settings = partial(counted, numbers=np.zeros(2))  # these can't be hashed
    closures = [replace(factory(width), id="mine", hyperparameters={"width": width}) for width in (2, 2, 3)]
    for abstraction in (Abstraction(buckets=settings), Abstraction(buckets=settings), *closures):
        rlccfr.Solver(game("kuhn"), "cfr", "none", abstraction)
    assert len(made) == 3


@pytest.mark.parametrize("rule", ["cfr", "dcfr", "ecfr"])
def test_responses_to_a_bucket_for_each_infoset_are_those_of_the_game(rule):
    one, found = run("leduc", rule, "none", Abstraction(best_response=True, buckets=itself), iterations=30)
    other, expected = run("leduc", rule, "none", "cfr_br", iterations=30, reduce=False)
    assert found.nodes_touched == expected.nodes_touched
    assert found.exploitability == pytest.approx(expected.exploitability, abs=1e-12)
    np.testing.assert_allclose(one.current_policy().probabilities, other.current_policy().probabilities, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("buckets", [2, 5])
def test_learning_against_responses_in_the_game_ends_less_exploitable(buckets):
    _, inside = run(WIDE, "cfr_plus", "none", f"equity(buckets={buckets})", iterations=1000)
    _, against = run(WIDE, "cfr_plus", "none", f"equity(buckets={buckets},respond=True)", iterations=1000)
    assert against.exploitability < 0.75 * inside.exploitability
    assert against.exploitability_abstract > inside.exploitability_abstract


def test_a_run_against_responses_resumes_bitwise(tmp_path):
    parts = ("pcfr_plus", "none", "equity(buckets=2,respond=True)")
    whole, _ = run("leduc", *parts, iterations=60)
    cut, _ = run("leduc", *parts, iterations=20)
    cut.save(tmp_path / "run.npz")
    resumed = rlccfr.Solver.load(tmp_path / "run.npz")
    resumed.run(iterations=40)
    for name, array in engine_state(whole).items():
        assert np.array_equal(array, engine_state(resumed)[name]), name


@pytest.mark.slow
def test_a_run_may_turn_to_responses_in_the_same_buckets():
    solver, _ = run(WIDE, "cfr_plus", "none", "equity(buckets=5)", iterations=200)
    solver.switch(abstraction="equity(buckets=5,respond=True)")
    assert solver.run(iterations=800).exploitability < 0.1


@pytest.mark.parametrize(
    ("parts", "options", "message"),
    [
        (("cfr", "external"), {}, "passes are exact: use sampler='none' instead of 'external'"),
        (("deep_cfr", "none"), {}, "update rules can't have networks or a controller"),
        (("cfr", "none"), {"blend": True}, "there are no blends"),
    ],
)
def test_what_does_not_meet_responses_is_refused(parts, options, message):
    with pytest.raises(ComponentError, match=message):
        rlccfr.Solver(game("leduc"), *parts, "equity(respond=True)", **options)


def test_buckets_are_a_function():
    with pytest.raises(ComponentError, match="buckets must be a function or None, not array"):
        Abstraction(buckets=np.zeros(3))


def test_a_checkpoint_with_other_buckets_is_refused(tmp_path, monkeypatch):
    solver, _ = run("leduc", "cfr", "none", "suits", iterations=10)
    solver.save(tmp_path / "run.npz")
    monkeypatch.setattr("rlccfr.games.merging.symmetric.symmetric_buckets", lambda tree: np.arange(tree.num_infosets))
    with pytest.raises(CheckpointError, match="made with buckets that differ"):
        rlccfr.Solver.load(tmp_path / "run.npz")
