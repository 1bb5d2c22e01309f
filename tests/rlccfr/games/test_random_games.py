"""The engine on random games, compared with linear programs and the plain reference, which share no code with it."""

from __future__ import annotations

from random import Random

import numpy as np
import pyspiel
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from random_games import RandomGame
from reference_rules import RULES, TabularReference, discounted_sum
from support import place, place_both, random_policy, regrets, rows

import rlccfr
from rlccfr.catalog import Catalog
from rlccfr.reference import infoset_of, regret_matching

SEEDS, DEPTHS = st.integers(0, 2**32 - 1), st.integers(1, 5)
TABULAR = list(Catalog.extended_tabular())
TOLERANCE = 1e-7
"""Precision to which HiGHS solves a linear program."""


def games(examples):
    """Return settings that try a number of games, the same ones each time."""
    quiet = [HealthCheck.function_scoped_fixture]  # the folder may be shared: each game replaces the last
    return settings(max_examples=examples, derandomize=True, deadline=None, suppress_health_check=quiet, database=None)


def drawn(seed, depth, folder):
    theirs = RandomGame(Random(seed), depth)
    return theirs, rlccfr.load_game(theirs.write(folder / "game.efg"))


def policy_rows(theirs, tree, policy):
    """Return for each player the rows of a policy by the drawn game's infosets."""
    ours = rows(tree, policy.probabilities)
    found = [{}, {}]

    def visit(node, state):
        if node.actor in (0, 1):
            found[node.actor][node.infoset] = ours[infoset_of(state)]
        for child, action in zip(node.children, state.legal_actions() if node.children else (), strict=True):
            visit(child, state.child(action))

    visit(theirs.root, pyspiel.load_game_as_turn_based(tree.openspiel_name).new_initial_state())
    return found


def plans(theirs, tree, policy):
    """Return both players' realisation plans of a policy, over the drawn game's sequences."""
    both = []
    for player, own in enumerate(policy_rows(theirs, tree, policy)):
        plan = np.zeros(theirs.counts[player])
        plan[0] = 1.0
        for infoset, (parent, first, count) in enumerate(theirs.sequences[player]):
            plan[first : first + count] = plan[parent] * own[infoset]
        both.append(plan)
    return both


@pytest.mark.slow
@games(150)
@given(seed=SEEDS, depth=DEPTHS)
def test_values_and_best_responses_are_the_linear_programs(seed, depth, tmp_path):
    theirs, tree = drawn(seed, depth, tmp_path)
    policy = random_policy(tree, seed % 1000)
    values, (first, second) = policy.values(), plans(theirs, tree, policy)
    assert values.game[0] == pytest.approx(first @ (theirs.payoffs() @ second), abs=1e-12)
    assert values.best_response[0] == pytest.approx(theirs.best_response(0, second), abs=TOLERANCE)
    assert values.best_response[1] == pytest.approx(theirs.best_response(1, first), abs=TOLERANCE)


@pytest.mark.slow
@games(150)
@given(seed=SEEDS, depth=DEPTHS, rule=st.sampled_from(["cfr", "cfr_plus", "dcfr", "pcfr_plus"]))
def test_the_solvers_value_is_as_near_the_linear_programs_as_it_says(seed, depth, rule, tmp_path):
    """A pair of policies' value differs from the game's by at most what both players could gain."""
    theirs, tree = drawn(seed, depth, tmp_path)
    solver = rlccfr.Solver(tree, rule)
    solver.run(iterations=500, curve=False)
    values = solver.average_policy().values()
    assert values.nash_conv >= -1e-12
    assert abs(values.game[0] - theirs.value()) <= values.nash_conv + TOLERANCE
    # Zinkevich et al., Regret minimization in games with incomplete information, 2007, theorem 4
    bound = tree.utility_range * tree.num_infosets * np.sqrt(3 / 500)
    assert rule != "cfr" or values.nash_conv <= bound + 1e-12


FOLDS = {
    "cfr": (lambda t: (1.0, 1.0), -np.inf, 0.0),
    "cfr_plus": (lambda t: (1.0, 1.0), 0.0, 1.0),
    "lcfr": (lambda t: ((t - 1) / t,) * 2, -np.inf, 1.0),
}


@pytest.mark.slow
@games(60)
@given(seed=SEEDS, depth=DEPTHS, rule=st.sampled_from(sorted(FOLDS)))
def test_iterations_are_the_references(seed, depth, rule, tmp_path):
    """The iterations start from random regrets, where nothing ties."""
    _, tree = drawn(seed, depth, tmp_path)
    discount, floor, gamma = FOLDS[rule]
    theirs = TabularReference(
        pyspiel.load_game_as_turn_based(tree.openspiel_name),
        new_regrets=lambda R, r, t: discounted_sum(R, r, discount, t, floor),
        gamma=gamma,
    )
    ours = rlccfr.Solver(tree, rule)
    start = np.maximum(np.random.default_rng(seed).normal(size=tree.num_sequences), floor)
    theirs.iteration = 3
    place(ours, 3, start)
    for key, row in rows(tree, start).items():
        theirs.regrets[key], theirs.policy[key] = list(row), regret_matching(list(row))
    for _ in range(5):
        theirs.iterate()
    ours.run(iterations=5, curve=False)
    for key, row in rows(tree, regrets(ours)).items():
        assert row == pytest.approx(np.array(theirs.regrets[key]), abs=1e-12), key


@pytest.mark.slow
@games(50)
@given(seed=SEEDS, depth=DEPTHS, rule=st.sampled_from(sorted(RULES)))
def test_iterations_of_later_rules_are_the_references(seed, depth, rule, tmp_path):
    """As above; AOD-CFR is left out where a regret is 0 but for rounding, since it weighs regrets by their signs."""
    _, tree = drawn(seed, depth, tmp_path)
    theirs = RULES[rule](pyspiel.load_game_as_turn_based(tree.openspiel_name))
    ours = rlccfr.Solver(tree, rule)
    place_both(ours, theirs, 3, np.random.default_rng(seed).random(tree.num_sequences))
    for _ in range(5):
        theirs.iterate()
        if rule.startswith("aod_cfr"):
            assume(all(abs(R) > 1e-9 for row in theirs.regrets.values() for R in row))
    ours.run(iterations=5, curve=False)
    for key, row in rows(tree, regrets(ours)).items():
        assert row == pytest.approx(np.array(theirs.regrets[key]), abs=1e-10), key
    for key, row in rows(tree, ours.current_policy().probabilities).items():
        assert row == pytest.approx(np.array(theirs.policy[key]), abs=1e-9), key


@pytest.mark.slow
@games(150)
@given(seed=SEEDS, depth=DEPTHS, cell=st.sampled_from(TABULAR))
def test_every_algorithm_runs_on_every_game(seed, depth, cell, tmp_path):
    """On any game, exploitability is finite, at least 0 and at most the utility range."""
    _, tree = drawn(seed, depth, tmp_path)
    result = rlccfr.Solver(tree, *cell, seed=seed).run(iterations=30)
    exploitability = result.curve["exploitability"]
    assert np.isfinite(exploitability).all()
    assert (exploitability >= -1e-12).all()
    assert (exploitability <= tree.utility_range + 1e-12).all()
