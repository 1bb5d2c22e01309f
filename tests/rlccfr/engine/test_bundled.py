"""Exact passes over bundles of infosets, against passes over infosets."""

from __future__ import annotations

import copy
from random import Random

import numpy as np
import pytest
from random_games import RandomGame
from support import (
    assert_alike,
    control_memory,
    engine_stepper,
    game,
    is_bundled,
    place,
    policy_sums,
    regrets,
    without_bundles,
)

import rlccfr
from rlccfr.catalog.scheduled import controller_named
from rlccfr.components import Momentum, UpdateRule
from rlccfr.envs.control.run import ControlRun
from rlccfr.games import bundles
from rlccfr.registry import update_rules

RULES = [
    entry.id
    for entry in update_rules
    if not entry.id.startswith("deep_")
    and ((made := entry.make()).is_plain or made.only_predicts or made.momentum)
    and not made.uses_mass
    and not made.average_weight
    and made.controller is None
]
"""Rules with discounts, a floor, a prediction and momentum, or fewer."""
WITH_MOMENTUM = "scheduled(momentum=0.3,memory=0.5,power=1.5,optimism=0.2)"
GAMES = ("kuhn", "leduc", "royal", "liars_dice(numdice=1,dice_sides=4)", "leduc(ranks=13,suits=2,raises=1)")
ORDERS = ({}, {"simultaneous": True}, {"averaging": "pre"})


def pair(tree, rule, monkeypatch, **options):
    """Return two solvers with the same random regrets after three iterations: over bundles, and over infosets.

    The regrets of infosets with one action are 0, as in every run.
    """
    over_bundles = rlccfr.Solver(tree, rule, reduce=False, **options)
    with monkeypatch.context() as patch:
        without_bundles(patch)
        over_infosets = rlccfr.Solver(tree, rule, reduce=False, **options)
        drawn = np.random.default_rng(1).normal(size=tree.num_sequences)
        counts = np.diff(tree.view.first_sequence)[tree.owner]
        regret = np.where(counts == 1, 0.0, np.maximum(drawn, over_bundles.update_rule.floor))
        place(over_infosets, 3, regret)
    place(over_bundles, 3, regret)
    assert is_bundled(over_bundles)
    assert not is_bundled(over_infosets)
    return over_bundles, over_infosets


@pytest.mark.parametrize("rule", [*RULES, WITH_MOMENTUM])
def test_iterates_are_those_over_infosets(rule, monkeypatch):
    one, other = pair(game("leduc"), rule, monkeypatch)
    for _ in range(3):
        for solver in (one, other):
            solver.run(iterations=1, curve=False)
        if not assert_alike(one, other):
            break


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("rule", ["dcfr", "pcfr_plus", WITH_MOMENTUM])
def test_every_order_of_updates_gives_the_same_iterates(name, order, rule, monkeypatch):
    one, other = pair(game(name), rule, monkeypatch, **order)
    for solver in (one, other):
        solver.run(iterations=1, curve=False)
    assert_alike(one, other)


@pytest.mark.parametrize("seed", range(20))
def test_random_games_give_the_same_iterates(seed, tmp_path, monkeypatch):
    monkeypatch.setattr(bundles, "LEAST_FILL", 0.0)
    tree = rlccfr.load_game(RandomGame(Random(seed), depth=5).write(tmp_path / "random.efg"))
    if not tree.num_infosets or not tree.utility_range:
        return
    for rule in ("cfr", "pcfr_plus", WITH_MOMENTUM):
        one, other = pair(tree, rule, monkeypatch)
        for solver in (one, other):
            solver.run(iterations=1, curve=False)
        assert_alike(one, other)


@pytest.mark.parametrize("name", ["kuhn", "liars_dice(numdice=1,dice_sides=4)"])
@pytest.mark.parametrize("rule", ["cfr_plus", "dcfr", "pcfr_plus", WITH_MOMENTUM])
def test_where_chance_comes_first_tables_are_the_same_bit_for_bit(name, rule, monkeypatch):
    one = rlccfr.Solver(game(name), rule)
    without_bundles(monkeypatch)
    other = rlccfr.Solver(game(name), rule)
    for solver in (one, other):
        solver.run(iterations=50, curve=False)
    assert_same(one, other)


def assert_same(one, other):
    """Check that two runs have the same tables, bit for bit."""
    for table in (regrets, policy_sums, lambda solver: solver.current_policy().probabilities):
        assert np.array_equal(table(one), table(other))


@pytest.mark.parametrize(
    "rule",
    [
        UpdateRule(floor=-1.0),
        UpdateRule(floor=5.0),
        UpdateRule(positive_discount=0.9, negative_discount=0.5),
        UpdateRule(prediction=lambda iteration: iteration % 2),
        UpdateRule(prediction=-0.5),
        UpdateRule(output="current", exact_only=True),
    ],
)
def test_rules_of_ones_own_give_the_same_results(rule, monkeypatch):
    one = rlccfr.Solver(game("kuhn"), rule)
    without_bundles(monkeypatch)
    other = rlccfr.Solver(game("kuhn"), rule)
    for solver in (one, other):
        solver.run(iterations=100, curve=False)
    assert one.result().exploitability == other.result().exploitability
    assert_same(one, other)


def test_an_interrupted_publication_is_made_again(monkeypatch):
    one, other = (rlccfr.Solver(game("kuhn"), "dcfr") for _ in range(2))
    for solver in (one, other):
        solver.run(iterations=10, curve=False)
    with monkeypatch.context() as patch:
        patch.setattr("rlccfr.engine.bundled.fill_policies", interrupted)
        with pytest.raises(KeyboardInterrupt):
            one.run(iterations=1, curve=False)
    other.run(iterations=1, curve=False)
    assert_same(one, other)


def interrupted(*arguments):
    raise KeyboardInterrupt


def test_an_interrupted_cut_is_made_again(monkeypatch):
    tree = rlccfr.load_game("leduc(ranks=5)")
    with monkeypatch.context() as patch:
        patch.setattr(bundles, "_placed", interrupted)
        with pytest.raises(KeyboardInterrupt):
            rlccfr.Solver(tree, "cfr_plus")
    assert is_bundled(rlccfr.Solver(tree, "cfr_plus"))


def test_runs_saved_before_there_were_bundles_go_on_over_infosets(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        without_bundles(patch)
        before = rlccfr.Solver(game("leduc"), "dcfr")
        before.run(iterations=20, curve=False)
        before.save(tmp_path / "run.npz")
        before.run(iterations=20, curve=False)
    after = rlccfr.Solver.load(tmp_path / "run.npz")
    assert not is_bundled(after)
    after.run(iterations=20, curve=False)
    assert_same(before, after)


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_runs_converge_from_the_uniform_policy(name, monkeypatch):
    """Where regrets are 0, rounding may decide the next policy, so the two runs may part."""
    one = rlccfr.Solver(game(name), "cfr_plus")
    assert is_bundled(one)
    without_bundles(monkeypatch)
    other = rlccfr.Solver(game(name), "cfr_plus")
    found, expected = (solver.run(iterations=300, curve=False).exploitability for solver in (one, other))
    assert found < 1.5 * expected + 1e-12


def test_runs_with_a_curve_blends_and_breaks_are_those_without(tmp_path):
    """Reading the tables, saving and restoring leave the iterates as they are, bit for bit."""
    for rule in ("dcfr", "pcfr_plus", WITH_MOMENTUM):
        whole, parts = (rlccfr.Solver(game("leduc"), rule) for _ in range(2))
        whole.run(iterations=60, curve=False)
        parts.run(iterations=20)
        parts.save(tmp_path / "run.npz")
        parts = rlccfr.Solver.load(tmp_path / "run.npz")
        assert is_bundled(parts)
        parts.run(iterations=40)
        assert_same(whole, parts)
        blended = rlccfr.Solver(game("leduc"), rule, blend=True)
        assert is_bundled(blended)
        assert blended.run(iterations=60).exploitability <= whole.result().exploitability


def test_a_switch_of_rules_leaves_and_enters_bundles():
    solver = rlccfr.Solver(game("kuhn"), "cfr_plus")
    reference = rlccfr.Solver(game("kuhn"), "cfr_plus")
    for one in (solver, reference):
        one.run(iterations=10, curve=False)
    solver.switch(update_rule="hedge")
    assert not is_bundled(solver)
    solver.switch(update_rule="cfr_plus")
    assert is_bundled(solver)
    assert np.array_equal(regrets(solver), regrets(reference))
    for one in (solver, reference):
        one.run(iterations=10, curve=False)
    assert_alike(solver, reference)


def test_regrets_that_no_run_has_are_left_to_passes_over_infosets():
    """Passes over bundles take the policy from the regrets, and regrets without a choice to be 0."""
    tree = game("liars_dice(numdice=1,dice_sides=3)")
    solver = rlccfr.Solver(tree, "cfr_plus")
    assert is_bundled(solver)
    place(solver, 1, policy=tree.uniform_policy(), regret=np.random.default_rng(1).uniform(size=tree.num_sequences))
    assert not is_bundled(solver)
    place(solver, 1, regret=np.ones(tree.num_sequences))
    assert not is_bundled(solver)


def test_games_of_tiny_payoffs_are_left_to_passes_over_infosets(tmp_path, monkeypatch):
    """Their regrets may sum to less than 1e-300, which passes over bundles take for 0."""
    monkeypatch.setattr(bundles, "LEAST_FILL", 0.0)
    tiny = rlccfr.matrix_game([[1e-302, 0.0], [0.0, 2e-302]])
    assert not is_bundled(rlccfr.Solver(tiny, "cfr_plus"))
    assert is_bundled(rlccfr.Solver(rlccfr.matrix_game([[1.0, 0.0], [0.0, 2.0]]), "cfr_plus"))


@pytest.mark.parametrize("blend", [False, True])
def test_runs_that_follow_a_schedule_are_those_over_infosets(blend, monkeypatch):
    """They make the same decisions and looks, and their momentum begins anew where it is switched on."""
    tree = game("liars_dice(numdice=1,dice_sides=4)")
    one = rlccfr.Solver(tree, control="schedule", blend=blend)
    assert is_bundled(one)
    without_bundles(monkeypatch)
    other = rlccfr.Solver(tree, control="schedule", blend=blend)
    for solver in (one, other):
        solver.run(iterations=400, curve=False)
    assert_same(one, other)
    assert str(control_memory(one)) == str(control_memory(other))  # NaN equals NaN as a text
    assert one.result().exploitability == other.result().exploitability


def test_a_saved_run_that_follows_a_schedule_goes_on_bit_for_bit(tmp_path):
    whole, part = (rlccfr.Solver(game("leduc"), control="schedule") for _ in range(2))
    for solver in (whole, part):
        solver.run(iterations=150, curve=False)
    part.save(tmp_path / "run.npz")
    loaded = rlccfr.Solver.load(tmp_path / "run.npz")
    assert is_bundled(loaded)
    for solver in (loaded, whole):
        solver.run(iterations=150, curve=False)
    assert_same(loaded, whole)


@pytest.mark.parametrize("power", [3.0, 1.7, lambda iteration: 2.0])
def test_unusual_powers_are_left_to_passes_over_infosets(power):
    """Powers of eight lanes take long, and overflow sooner."""
    rule = UpdateRule(momentum=Momentum(weight=0.1, power=power), exact_only=True)
    assert not is_bundled(rlccfr.Solver(game("leduc"), rule))


def test_momentum_that_is_reset_is_reset_in_published_tables():
    """A checkpoint that is written between a decision and its first iteration must not keep the old sums."""
    solver = rlccfr.Solver(game("liars_dice(numdice=1,dice_sides=4)"), control="schedule")
    assert is_bundled(solver)
    solver.run(iterations=100, curve=False)
    stepper = engine_stepper(solver)
    table = stepper.tables.state
    table[:, 0] = 1.0
    stepper._bundled.clear_movement()
    assert not stepper.tables.state.any()
    assert not stepper._bundled._movement.any()


def test_episodes_see_the_run_at_each_decision():
    """A schedule does not look at the run, but an episode records what it would see."""
    run = ControlRun(game("leduc"), controller_named("schedule"), 64)
    errors = run.episode().errors
    assert (np.diff(errors) < 0).all()


def test_an_episode_is_copied_after_another_of_the_same_length():
    run = ControlRun(game("leduc"), controller_named("schedule"), 64)
    run.episode()
    copy.deepcopy(run)
    run.episode(np.full((len(run.marks), 3), (4, 3, 2)))
    assert np.array_equal(copy.deepcopy(run)._stepper.tables.policy_sum, run._stepper.tables.policy_sum)


def test_controllers_that_look_at_a_run_and_short_runs_go_over_infosets():
    assert not is_bundled(rlccfr.Solver(game("leduc"), control="shipped"))
    assert not is_bundled(rlccfr.Solver(game("kuhn"), control="schedule"))
    assert is_bundled(rlccfr.Solver(game("kuhn"), control="schedule", blend=True))


@pytest.mark.parametrize(
    "components", [{"abstraction": "cfr_br"}, {"update_rule": "hedge"}, {"update_rule": "controlled"}]
)
def test_other_runs_go_over_infosets(components):
    assert not is_bundled(rlccfr.Solver(game("kuhn"), **{"update_rule": "cfr_plus", **components}))


def test_nodes_are_counted_as_over_infosets(monkeypatch):
    one = rlccfr.Solver(game("leduc"), "cfr_plus")
    without_bundles(monkeypatch)
    other = rlccfr.Solver(game("leduc"), "cfr_plus")
    assert one.run(nodes=10**5).nodes_touched == other.run(nodes=10**5).nodes_touched
