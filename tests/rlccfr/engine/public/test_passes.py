"""Passes over public trees: the compiled games' iterations, and those of games in other forms."""

from __future__ import annotations

import signal

import numpy as np
import pytest
from public_games import (
    RELATIVES,
    assert_same_iterations,
    derived_game,
    keys_of,
    merged_entries,
    openspiel_form,
    openspiel_keys,
    unmerged,
    with_matrices,
)
from support import CORES, SMALL_DICE, game, place, place_public, policy_sums, public_sums, regrets

import rlccfr
from rlccfr.components import UpdateRule
from rlccfr.engine.public import public_crew, public_state
from rlccfr.games.public import view
from rlccfr.registry import update_rules

FLAT = ("kuhn", "leduc", SMALL_DICE, "kuhn(cards=6)", "leduc(ranks=4,suits=2,raises=1)")
RULES = [
    entry.id
    for entry in update_rules
    for rule in (entry.make(),)
    if (rule.is_plain or rule.only_predicts or rule.momentum is not None)
    if not (rule.learns or rule.controller or rule.average_weight)
]
ON_FLAT_GAMES = pytest.mark.parametrize(
    ("name", "rule"),
    [
        *((FLAT[(number + shift) % len(FLAT)], rule) for number, rule in enumerate(RULES) for shift in (0, 2)),
        *(pytest.param("royal", rule, marks=pytest.mark.slow) for rule in ("dcfr", "pdcfr_plus")),
    ],
)
"""Each rule on two of the compiled games in turn."""


def noise(size: int) -> np.ndarray:
    """Return regrets so large that none is floored for some iterations.

    Policies then have no ties at 0, which rounding would break in another way in another form of the game.
    """
    return 100 * (1 + np.random.default_rng(0).random(size))


def assert_same_policies(tree, sums, others):
    """Check that two tables, (m,), stand for the same policies where they are not 0."""
    ours, theirs = tree.normalised(sums), tree.normalised(others)
    assert ours == pytest.approx(theirs, abs=1e-12)


@ON_FLAT_GAMES
def test_iterations_are_those_of_the_compiled_game(name, rule):
    tree, public = game(name), derived_game(game(name).openspiel_name)
    ours, theirs = rlccfr.Solver(public.public, rule), rlccfr.Solver(tree, rule, reduce=False)
    start = noise(tree.num_sequences)
    place(theirs, 3, start)
    place_public(ours, 3, start[public.sequence])
    for solver in (ours, theirs):
        solver.run(iterations=3, curve=False)
    assert regrets(ours) == pytest.approx(regrets(theirs)[public.sequence], abs=1e-12)
    sums = np.empty(tree.num_sequences)
    sums[public.sequence] = public_sums(ours)
    assert_same_policies(tree, sums, policy_sums(theirs))
    assert ours.values().game == pytest.approx(theirs.values().game, abs=1e-12)
    assert ours.values().best_response == pytest.approx(theirs.values().best_response, abs=1e-12)
    current = [solver.result().points[-1].exploitability_current for solver in (ours, theirs)]
    assert current[0] == pytest.approx(current[1], abs=1e-12)


@ON_FLAT_GAMES
def test_negative_regrets_are_folded_as_in_the_compiled_game(name, rule):
    tree, public = game(name), derived_game(game(name).openspiel_name)
    ours, theirs = rlccfr.Solver(public.public, rule), rlccfr.Solver(tree, rule, reduce=False)
    start = np.random.default_rng(0).normal(size=tree.num_sequences)
    place(theirs, 3, start)
    place_public(ours, 3, start[public.sequence])
    for solver in (ours, theirs):
        solver.run(iterations=1, curve=False)
    first = public.sequence < tree.sequences_of(0).stop  # player 0 met no policy yet that ties may have changed
    assert regrets(ours)[first] == pytest.approx(regrets(theirs)[public.sequence][first], abs=1e-12)


def large(name: str) -> rlccfr.GameTree:
    """Return a compiled game of up to four million histories."""
    return rlccfr.load_game(name, restore_recall="numRounds=3" in name, max_histories=4_000_000)


@pytest.mark.parametrize(
    "parameters",
    [
        pytest.param(one, marks=[pytest.mark.slow] * one.startswith(("ranks=4,suits=2,private=2", "ranks=7")))
        for one in RELATIVES
        if "rounds=3" not in one
    ],
)
def test_holdem_is_openspiels_game(parameters):
    tree, public = large(openspiel_form(parameters)), derived_game(openspiel_form(parameters))
    native = unmerged(parameters)
    place_of = {key: number for number, key in enumerate(keys_of(native))}
    order = np.array([place_of[key] for key in openspiel_keys(tree)])
    assert len(order) == len(place_of) == native.num_sequences
    assert_same_iterations(native, public, order)


@pytest.mark.parametrize("parameters", RELATIVES)
def test_terminals_in_linear_time_are_those_pair_by_pair(parameters):
    native = unmerged(parameters)
    ours, theirs = rlccfr.Solver(native, "dcfr"), rlccfr.Solver(with_matrices(native), "dcfr")
    for solver in (ours, theirs):
        place_public(solver, 3, noise(native.num_sequences))
        solver.run(iterations=1, curve=False)
    assert regrets(ours) == pytest.approx(regrets(theirs), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("parameters", RELATIVES)
def test_merging_suits_changes_nothing(parameters):
    whole, merged = unmerged(parameters), rlccfr.load_game(f"holdem({parameters})")
    entries, start = merged_entries(whole, merged), noise(merged.num_sequences)
    assert set(entries.tolist()) == set(range(merged.num_sequences))
    ours, theirs = (rlccfr.Solver(one, "pdcfr_plus", dtype="float64") for one in (merged, whole))
    place_public(ours, 3, start)
    place_public(theirs, 3, start[entries])
    for solver in (ours, theirs):
        solver.run(iterations=1, curve=False)
    assert regrets(ours)[entries] == pytest.approx(regrets(theirs), abs=1e-12)
    assert ours.values().game == pytest.approx(theirs.values().game, abs=1e-12)
    assert ours.values().best_response == pytest.approx(theirs.values().best_response, abs=1e-12)


THREADED = ("holdem(ranks=5,suits=2,private=2,flop=2)", "holdem(ranks=3,suits=2,private=1,flop=1,rounds=3)", "bluff")


@pytest.mark.skipif(CORES < 2, reason="there is one core")
@pytest.mark.parametrize("rule", ["dcfr", "pdcfr_plus"])
@pytest.mark.parametrize("name", THREADED)
def test_threads_leave_bitwise_the_same(name, rule):
    tree = rlccfr.load_game(name)
    one, two = (rlccfr.Solver(tree, rule, threads=threads) for threads in (1, 2))
    found = [solver.run(iterations=5, curve=False) for solver in (one, two)]
    assert np.array_equal(regrets(one), regrets(two))
    assert np.array_equal(public_sums(one), public_sums(two))
    assert found[0].exploitability == found[1].exploitability
    assert one.values() == two.values()
    assert found[0].nodes_touched == found[1].nodes_touched


def test_a_run_goes_on_bitwise_and_under_another_rule(tmp_path):
    tree = rlccfr.load_game(THREADED[0])
    whole, part = rlccfr.Solver(tree, "pdcfr_plus"), rlccfr.Solver(tree, "pdcfr_plus")
    part.run(iterations=5)
    part.save(tmp_path / "run.npz")
    part = rlccfr.Solver.load(tmp_path / "run.npz")
    for solver in (whole, part):
        solver.run(iterations=10 - solver.result().iterations)
        solver.switch(update_rule="dcfr")
        solver.run(iterations=5)
        solver.switch(update_rule="pcfr_plus")
        solver.run(iterations=5)
    assert np.array_equal(regrets(whole), regrets(part))
    assert whole.exploitability() == part.exploitability()


def test_momentum_goes_on_bitwise_and_begins_anew_after_another_rule(tmp_path):
    """In mid-run, momentum begins at 0, or goes on after another rule with momentum, as in a compiled game."""
    momentum = "scheduled(momentum=0.5, memory=0.85, power=1.5, optimism=0.5, alpha=1.5)"
    tree, public = game("leduc"), derived_game("leduc_poker")
    for first_rule in ("dcfr", momentum):
        ours, theirs = rlccfr.Solver(public.public, first_rule), rlccfr.Solver(tree, first_rule, reduce=False)
        start = noise(tree.num_sequences)
        place(theirs, 3, start)
        place_public(ours, 3, start[public.sequence])
        for rule in (momentum, "momentum_dcfr", "cfr_plus", momentum):
            ours.save(tmp_path / "run.npz")
            resumed = rlccfr.Solver.load(tmp_path / "run.npz", game=public.public)
            for solver in (ours, resumed, theirs):
                solver.switch(update_rule=rule)
                solver.run(iterations=2, curve=False)
            assert np.array_equal(regrets(ours), regrets(resumed))
            assert regrets(ours) == pytest.approx(regrets(theirs)[public.sequence], abs=1e-10)


@pytest.mark.skipif(CORES < 2, reason="there is one core")
@pytest.mark.usefixtures("heeds_ctrl_c")
def test_ctrl_c_leaves_whole_iterations(monkeypatch):
    tree = rlccfr.load_game(THREADED[0])
    cut, whole = (rlccfr.Solver(tree, "dcfr", threads=2) for _ in range(2))
    ended = public_crew.end_pass

    def interrupted(*given):
        monkeypatch.setattr(public_crew, "end_pass", ended)
        signal.raise_signal(signal.SIGINT)  # after player 0's pass went down
        ended(*given)

    monkeypatch.setattr(public_crew, "end_pass", interrupted)
    with pytest.raises(KeyboardInterrupt):
        cut.run(iterations=5, curve=False)
    whole.run(iterations=cut.result().iterations, curve=False)
    assert cut.result().iterations == 1
    assert np.array_equal(regrets(cut), regrets(whole))


def test_a_switch_that_fails_changes_nothing(monkeypatch):
    solver = rlccfr.Solver(rlccfr.load_game(THREADED[0]), "cfr")
    solver.run(iterations=3)
    before = regrets(solver)
    monkeypatch.setattr(public_state, "available_memory", lambda: 1000)
    with pytest.raises(rlccfr.RLCCFRError, match="use a smaller game"):
        solver.switch(update_rule="pcfr_plus")
    assert np.array_equal(regrets(solver), before)
    assert before.min() < 0


def test_a_prediction_of_0_matches_the_regrets_themselves():
    """The next iteration's discount of 0 must not make the policy uniform."""
    rule = UpdateRule(positive_discount=lambda t: 0.0, prediction=lambda t: 0.0)
    tree, public = game("leduc"), derived_game("leduc_poker")
    ours, theirs = rlccfr.Solver(public.public, rule), rlccfr.Solver(tree, rule, reduce=False)
    start = noise(tree.num_sequences)
    place(theirs, 3, start)
    place_public(ours, 3, start[public.sequence])
    for solver in (ours, theirs):
        solver.run(iterations=1, curve=False)
    found = [solver.result().points[-1].exploitability_current for solver in (ours, theirs)]
    assert found[0] == pytest.approx(found[1], abs=1e-12)


def test_floors_are_in_the_games_units():
    tree = rlccfr.load_game(THREADED[0])
    rule = UpdateRule(floor=-1e-3)
    solver = rlccfr.Solver(tree, rule)
    solver.run(iterations=5)
    assert regrets(solver).min() == pytest.approx(-1e-3, rel=1e-12)


@pytest.mark.slow
def test_large_games_have_sparse_curves_and_single_precision(monkeypatch):
    monkeypatch.setattr(view, "LARGE", 1000)
    result = (solver := rlccfr.Solver(rlccfr.load_game(THREADED[0]), "cfr")).run(iterations=30)
    assert [point.iteration for point in result.points] == [1, 2, 3, 4, 6, 10, 16, 25, 30]
    assert all(np.isnan(point.exploitability_current) for point in result.points)
    assert public_sums(solver).dtype == np.float32


def test_tables_that_do_not_fit_are_refused(monkeypatch):
    monkeypatch.setattr(public_state, "available_memory", lambda: 1000)
    with pytest.raises(rlccfr.RLCCFRError, match=r"needs .* GB for .* table entries, but only 1e-06 GB are available"):
        rlccfr.Solver(rlccfr.load_game(THREADED[0]))


def test_memory_is_checked_in_one_sum(monkeypatch):
    """Tables alone would fit, and so would best responses or pending discounts alone."""
    tree = rlccfr.load_game(THREADED[0])
    tables = 2 * tree.dtype.itemsize * tree.num_sequences
    monkeypatch.setattr(public_state, "available_memory", lambda: tables + 1)
    rlccfr.Solver(tree, "cfr")
    for sampler, abstraction, what in (
        ("public_chance", "none", "pending discounts"),
        ("none", "cfr_br", "best responses"),
    ):
        with pytest.raises(rlccfr.RLCCFRError, match=f"table entries and {what}"):
            rlccfr.Solver(tree, "cfr", sampler, abstraction)


@pytest.mark.slow
def test_single_precision_is_near():
    tree = rlccfr.load_game("holdem(ranks=5,suits=2,private=2,flop=2)")
    single, double = (rlccfr.Solver(tree, "dcfr", dtype=dtype) for dtype in ("float32", "float64"))
    start = np.repeat(tree.scale, tree.rows * tree.actions) * noise(tree.num_sequences)
    for solver in (single, double):
        place_public(solver, 3, start)
        solver.run(iterations=2, curve=False)
    assert single.exploitability() == pytest.approx(double.exploitability(), rel=1e-6)
    assert regrets(single) == pytest.approx(regrets(double), rel=1e-4, abs=1e-6 * start.min())
