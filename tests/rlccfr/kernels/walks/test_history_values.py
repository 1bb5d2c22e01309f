"""Walks with values of histories: as baselines, or in place of the walk's own values."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from support import SMALL_DICE, engine_state, game, random_policy

import rlccfr
from rlccfr.components import Sampler
from rlccfr.engine.walks import balanced_policy
from rlccfr.errors import ComponentError
from rlccfr.games.records import CHANCE, TERMINAL, utility_of
from rlccfr.networks.settings import Approximator, HistoryNetwork
from rlccfr.registry import samplers
from rlccfr.testing import Estimates, own_reach, smallest_p

ORACLES = ("variance_reduced(key='oracle')", "variance_reduced(key='oracle',weighted=False)", "escher(value='oracle')")
LEARNED = ("variance_reduced(key='history')", "escher", "escher(explores='actions')")
FITTED = ("dream(preset='sweep')", "escher(value='network',preset='sweep')")


def values_of(tree, policy, node=0):
    """Return player 0's expected utility at each history below a node, by plain recursion."""
    here, found = tree.histories[node], {}
    if here["actor"] == TERMINAL:
        return {node: utility_of(tree.histories)[node]}
    total = 0.0
    for k in range(here["num_children"]):
        child = int(here["first_child"]) + k
        found |= values_of(tree, policy, child)
        share = tree.probability[child] if here["actor"] == CHANCE else policy[here["first_sequence"] + k]
        total += share * found[child]
    return found | {node: total}


def regrets_of_histories(tree, policy, player):
    """Return for each infoset of a player the rows q(h, a) - v(h) of its histories."""
    values, found = values_of(tree, policy), defaultdict(list)
    for node, here in enumerate(tree.histories):
        if here["actor"] == player:
            children = int(here["first_child"]) + np.arange(here["num_children"])
            row = np.array([values[int(child)] for child in children]) - values[node]
            found[int(here["infoset"])].append((1 - 2 * player) * row)
    return found


@pytest.mark.parametrize("name", ["kuhn", "leduc", SMALL_DICE])
@pytest.mark.parametrize("sampler", ORACLES)
def test_with_exact_values_a_walk_leaves_no_variance_but_that_of_its_path(sampler, name):
    """Where a single walk passes, its regrets are those of the history there, up to the walk's weight."""
    tree = game(name)
    policy, first = random_policy(tree, 2).probabilities, tree.view.first_sequence
    for player in (0, 1):
        expected, seen = regrets_of_histories(tree, policy, player), 0
        found = Estimates.of(samplers.resolve(sampler), tree, policy, player, batches=100, walks=1, seed=player)
        for regrets, mass in zip(found.regrets, found.mass, strict=True):
            for infoset in np.flatnonzero(mass):
                row = regrets[first[infoset] : first[infoset + 1]] / mass[infoset]
                assert min(np.abs(row - one).max() for one in expected[int(infoset)]) < 1e-12
                seen += 1
        assert seen > 50


@pytest.mark.parametrize("sampler", [ORACLES[1], ORACLES[2]])
def test_without_weights_the_mass_of_a_walk_is_one(sampler):
    tree = game("leduc")
    policy = tree.uniform_policy()
    found = Estimates.of(samplers.resolve(sampler), tree, policy, 0, batches=50, walks=1)
    assert found.mass[found.mass > 0] == pytest.approx(1.0, abs=1e-12)


def history_values(solver):
    (found,) = (array for name, array in engine_state(solver).items() if name.startswith("values_"))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sampler", "name"),
    [("escher(explores='actions')", "leduc"), ("variance_reduced(exploration=1.0,key='history')", "kuhn")],
)
def test_values_of_a_fixed_policy_are_learned(sampler, name):
    """The rule plays the uniform policy for ever, so that all histories are visited often."""
    tree, still = game(name), rlccfr.components.UpdateRule(policy_map=uniformly)
    solver = rlccfr.Solver(tree, still, sampler, seed=3)
    solver.run(iterations=400_000, curve=False)
    expected = values_of(tree, tree.uniform_policy())
    learned = slice(name == "kuhn", None)  # nothing needs a baseline of the root
    wanted = np.array([expected[node] for node in range(tree.num_histories)])
    assert history_values(solver)[0][learned] == pytest.approx(wanted[learned], abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("fields", [{"values": "network"}, {"baseline": "network"}])
def test_a_model_that_fits_exactly_learns_the_values_of_a_fixed_policy(fields):
    """Each fit carries values one action further up, so that as many fits as the tree is deep reach the root."""
    tree, still = game("leduc"), rlccfr.components.UpdateRule(policy_map=uniformly)
    exact = HistoryNetwork(model=Approximator(kind="table"), traversals=20_000)
    solver = rlccfr.Solver(tree, still, Sampler(traverser="one", exploration=1.0, network=exact, **fields), seed=3)
    solver.run(iterations=tree.depth + 10, curve=False)
    expected = values_of(tree, tree.uniform_policy())
    wanted = np.array([expected[node] for node in range(tree.num_histories)])
    assert engine_state(solver)["values_fitted_1"][0] == pytest.approx(wanted, abs=1e-12)


def uniformly(row, state, parameters, utility_range):
    for a in range(len(row)):
        row[a] = 1.0 / len(row)


@pytest.mark.parametrize("abstraction", ["none", "cfr_br"])
@pytest.mark.parametrize("sampler", LEARNED)
def test_learned_values_are_kept_in_a_checkpoint(sampler, abstraction, tmp_path):
    tree = game("leduc")
    whole, part = (rlccfr.Solver(tree, "dcfr", sampler, abstraction, seed=5) for _ in range(2))
    whole.run(iterations=400, curve=False)
    part.run(iterations=200, curve=False)
    part.save(tmp_path / "run.npz")
    resumed = rlccfr.Solver.load(tmp_path / "run.npz", game=tree)
    resumed.run(iterations=200, curve=False)
    assert np.abs(history_values(whole)).max() > 0
    assert len(history_values(whole)) == (2 if abstraction == "cfr_br" else 1)
    for name, array in engine_state(whole).items():
        np.testing.assert_array_equal(array, engine_state(resumed)[name])


def test_models_learn_from_walks_with_values_and_resume(tmp_path):
    """A model that is a table learns from walks what the tables of the rule learn."""
    rule, tree = "deep_cfr(model='table',preset='sweep')", game("kuhn")
    whole, part = (rlccfr.Solver(tree, rule, LEARNED[0], seed=2) for _ in range(2))
    before = rlccfr.Policy.uniform(tree).exploitability()
    assert whole.run(iterations=100, curve=False).exploitability < before / 3
    part.run(iterations=50, curve=False)
    part.save(tmp_path / "run.npz")
    resumed = rlccfr.Solver.load(tmp_path / "run.npz", game=tree)
    resumed.run(iterations=50, curve=False)
    np.testing.assert_array_equal(whole.average_policy().probabilities, resumed.average_policy().probabilities)


@pytest.mark.parametrize("abstraction", ["none", "cfr_br"])
@pytest.mark.parametrize("rule", ["dcfr", "deep_cfr(preset='sweep')"])
@pytest.mark.parametrize("sampler", FITTED)
def test_networks_of_values_are_kept_in_a_checkpoint(sampler, rule, abstraction, tmp_path):
    tree = game("kuhn")
    whole, part = (rlccfr.Solver(tree, rule, sampler, abstraction, seed=5) for _ in range(2))
    whole.run(iterations=30, curve=False)
    part.run(iterations=15, curve=False)
    part.save(tmp_path / "run.npz")
    resumed = rlccfr.Solver.load(tmp_path / "run.npz", game=tree)
    resumed.run(iterations=15, curve=False)
    for name, array in engine_state(whole).items():
        np.testing.assert_array_equal(array, engine_state(resumed)[name])


@pytest.mark.parametrize("rule", ["cfr", "deep_cfr(preset='sweep')"])
@pytest.mark.parametrize("abstractions", [("none", "cfr_br", "none"), ("cfr_br", "none", "cfr_br")])
def test_each_opponent_has_networks_of_its_own(abstractions, rule):
    """Against best responses there are two tables of values, otherwise one; a switch goes on with the right ones."""
    solver = rlccfr.Solver(game("kuhn"), rule, FITTED[0], abstractions[0], seed=1)
    for abstraction in abstractions:
        solver.switch(abstraction=abstraction)
        solver.run(iterations=25, curve=False)
    assert engine_state(solver)["values_fitted_1"].shape[0] == 1
    assert engine_state(solver)["values_fitted_2"].shape[0] == 2


def test_fitted_values_stay_within_the_payoffs():
    solver = rlccfr.Solver(game("leduc"), "cfr", FITTED[0], seed=1)
    solver.run(iterations=30, curve=False)
    assert np.abs(engine_state(solver)["values_fitted_1"]).max() <= 13


@pytest.mark.parametrize("player", [0, 1])
def test_learned_baselines_leave_estimates_unbiased(player):
    """Level 1e-4, Holm; the run itself does not change."""
    tree = game("kuhn")
    solver = rlccfr.Solver(tree, "cfr", FITTED[0], seed=2)
    solver.run(iterations=20, curve=False)
    before = {name: array.copy() for name, array in engine_state(solver).items()}
    found = Estimates.now(solver, player, batches=200, walks=500, seed=5)
    policy = solver.current_policy().probabilities
    expected = Estimates.exact(tree, policy, player, policy)
    for batches, mean in zip(found, expected, strict=True):
        assert smallest_p(batches, mean)[0] > 1e-4
    for name, array in engine_state(solver).items():
        np.testing.assert_array_equal(array, before[name])


def test_estimates_of_a_run_against_best_responses_are_refused():
    solver = rlccfr.Solver(game("kuhn"), "cfr", FITTED[0], "cfr_br")
    with pytest.raises(ComponentError, match=r"use Estimates\.of"):
        Estimates.now(solver, 0, batches=2, walks=2)


def test_a_switch_that_fails_leaves_no_values_behind():
    solver = rlccfr.Solver(game("holdem(ranks=4,suits=2)"), "cfr", "outcome", "equity(buckets=2)")
    solver.run(iterations=10, curve=False)
    with pytest.raises(ComponentError, match="have no tensors"):
        solver.switch(sampler="dream")
    assert not [name for name in engine_state(solver) if name.startswith("values_")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sampler", "rule", "iterations"),
    [(FITTED[0], "cfr", 1_000), (FITTED[1], "deep_lcfr(preset='sweep')", 300)],
)
def test_runs_with_networks_of_values_converge(sampler, rule, iterations):
    tree = game("kuhn")
    reached = rlccfr.Solver(tree, rule, sampler, seed=1).run(iterations=iterations, curve=False).exploitability
    assert reached < rlccfr.Policy.uniform(tree).exploitability() / 5


@pytest.mark.parametrize("change", ["sampler", "update_rule"])
@pytest.mark.parametrize("sampler", FITTED)
def test_new_networks_take_over_from_learned_values(sampler, change):
    """Policies stay uniform, so that the values before a switch are still right after it."""
    still, too = (rlccfr.components.UpdateRule(policy_map=uniformly, floor=floor) for floor in (0.0, -1.0))
    solver = rlccfr.Solver(game("kuhn"), still, sampler, seed=1)
    solver.run(iterations=200, curve=False)
    before = engine_state(solver)["values_fitted_1"].copy()
    for switch in [{"sampler": "external"}, {"sampler": sampler}] if change == "sampler" else [{"update_rule": too}]:
        solver.switch(**switch)
        np.testing.assert_array_equal(engine_state(solver)["values_fitted_1"], before)
    solver.run(iterations=10, curve=False)
    after = engine_state(solver)["values_fitted_1"]
    assert 0 < np.abs(after - before).max() < np.abs(before).max() / 10


@pytest.mark.parametrize(
    "rule", [pytest.param("cfr", marks=pytest.mark.slow), "cfr_plus", pytest.param("ecfr", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("sampler", [*LEARNED, pytest.param(ORACLES[2], marks=pytest.mark.slow), "balanced"])
def test_runs_on_leduc_converge(sampler, rule):
    tree = game("leduc")
    iterations = 20_000 if sampler in ORACLES else 100_000
    reached = rlccfr.Solver(tree, rule, sampler, seed=1).run(iterations=iterations, curve=False).exploitability
    assert reached < rlccfr.Policy.uniform(tree).exploitability() / 5


@pytest.mark.parametrize("sampler", LEARNED)
def test_learned_values_survive_a_switch(sampler):
    solver = rlccfr.Solver(game("kuhn"), "cfr", sampler, seed=1)
    solver.run(iterations=200, curve=False)
    before = history_values(solver).copy()
    for change in ({"update_rule": "dcfr"}, {"sampler": "external"}, {"sampler": sampler}):
        solver.switch(**change)
        np.testing.assert_array_equal(history_values(solver), before)
    solver.run(iterations=200, curve=False)
    assert np.abs(history_values(solver) - before).max() > 0


def test_exact_values_take_no_room_in_a_checkpoint():
    solver = rlccfr.Solver(game("kuhn"), "cfr", ORACLES[0])
    solver.run(iterations=10, curve=False)
    assert not [name for name in engine_state(solver) if name.startswith("values_")]


def test_a_sampler_can_change_during_a_run():
    solver = rlccfr.Solver(game("leduc"), "cfr", "outcome", seed=1)
    solver.run(iterations=1_000, curve=False)
    for sampler in ("escher", "external", LEARNED[0]):
        solver.switch(sampler=sampler)
        solver.run(iterations=1_000, curve=False)
    assert solver.exploitability() < rlccfr.Policy.uniform(game("leduc")).exploitability()


@pytest.mark.parametrize("name", ["kuhn", "leduc", SMALL_DICE, "random_moves(seed=1)"])
def test_the_balanced_policy_plays_every_sequence_often_enough(name):
    tree = game(name)
    policy, view = balanced_policy(tree), tree.view
    reach = np.repeat(own_reach(tree, policy), np.diff(view.first_sequence)) * policy
    for player in (0, 1):
        own, infosets = tree.sequences_of(player), tree.infosets_of(player)
        ends = np.setdiff1d(np.arange(own.start, own.stop), view.parent[infosets])
        assert reach[ends].min() >= (1 - 1e-12) / len(ends)
    sums = np.add.reduceat(policy, view.first_sequence[:-1])
    assert sums == pytest.approx(np.ones(tree.num_infosets), abs=1e-12)


def test_the_balanced_policy_on_kuhn():
    """With each card the first player may bet, which ends its sequences, or check, and then call or fold to a bet."""
    tree = game("kuhn")
    policy, first = balanced_policy(tree), tree.view.first_sequence
    for infoset in range(tree.num_infosets):
        row = policy[first[infoset] : first[infoset + 1]]
        opens = tree.view.parent[infoset] == tree.num_sequences
        assert row == pytest.approx([2 / 3, 1 / 3] if opens else [1 / 2, 1 / 2])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"explores": "both"}, "explores must be one of actions, sequences, not 'both'"),
        ({"baseline": "node"}, "baseline must be one of sequence, history, oracle, network"),
        ({"values": "none"}, "values must be one of table, oracle, network or None"),
        ({"values": "network"}, "give network="),
        ({"network": HistoryNetwork(model=Approximator())}, "give network="),
        ({"values": "table", "baseline_rate": 0.5}, "leave out values="),
        ({"baseline": "oracle", "opponent": "all"}, "need walks of one path"),
        ({"values": "oracle", "probe": True}, "need walks of one path"),
        ({"weighted": False}, "weighted=False needs values of histories"),
        ({"weighted": "no"}, "weighted must be True or False"),
        ({"explores": "sequences", "traverser": "all"}, "explores='sequences' needs traverser='one'"),
        ({"baseline": "history"}, "needs a baseline_rate"),
    ],
)
def test_fields_that_contradict_each_other_are_refused(fields, message):
    with pytest.raises(ComponentError, match=message):
        Sampler(**{"traverser": "one", "exploration": 0.6, **fields})


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("variance_reduced(key='node')", "key must be 'sequence' or 'history' or 'oracle', not 'node'"),
        ("escher(value='tables')", "value must be 'table' or 'oracle' or 'network', not 'tables'"),
        ("dream(preset='tiny')", "preset must be one of sweep, fast, paper, steinberger, holdem, states, not 'tiny'"),
    ],
)
def test_errors_name_the_hyperparameter(spec, message):
    with pytest.raises(ComponentError, match=message):
        samplers.resolve(spec)
