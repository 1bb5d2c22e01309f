"""The engine compared with the plain-Python reference, which shares no code with it."""

from __future__ import annotations

import numpy as np
import pyspiel
import pytest
from reference_rules import RULES, TabularReference, discounted_sum
from support import SMALL_DICE, assert_rows_equal, game, place, place_both, policy_sums, regrets, rows

import rlccfr
from rlccfr.reference import exploitability, regret_matching
from rlccfr.registry import update_rules


def power(k: float, exponent: float) -> float:
    return k**exponent / (k**exponent + 1) if k > 0 else 0.0


FOLDS = {
    "cfr": (lambda t: (1.0, 1.0), -np.inf, 0.0),
    "cfr_plus": (lambda t: (1.0, 1.0), 0.0, 1.0),
    "lcfr": (lambda t: ((t - 1) / t,) * 2, -np.inf, 1.0),
    "lcfr_plus": (lambda t: ((t - 1) / t,) * 2, 0.0, 1.0),
    "dcfr": (lambda t: (power(t - 1, 1.5), power(t - 1, 0.0)), -np.inf, 2.0),
    "dcfr_plus": (lambda t: (power(t - 1, 1.5),) * 2, 0.0, 4.0),
    "ecfr": (lambda t: (1.0, 1.0), -np.inf, 0.0),
    "ecfr_plus": (lambda t: (1.0, 1.0), 0.0, 1.0),
}


def turn_based(tree):
    """Return OpenSpiel's game behind a compiled one."""
    return pyspiel.load_game_as_turn_based(tree.openspiel_name)


@pytest.mark.slow
@pytest.mark.parametrize("abstraction", ["none", "cfr_br"])
@pytest.mark.parametrize("name", ["kuhn", "leduc"])
@pytest.mark.parametrize("rule", FOLDS)
def test_exact_passes_are_the_references(rule, name, abstraction):
    """Regrets and policy sums agree after a few iterations from random regrets, where nothing ties.

    Against best responses no regret is negative at the start: best responses to pure policies tie, and rounding would
    decide.
    """
    tree, iterations = game(name), 6 if name == "kuhn" else 1
    discount, floor, gamma = FOLDS[rule]
    theirs = TabularReference(
        turn_based(tree),
        new_regrets=lambda R, r, t: discounted_sum(R, r, discount, t, floor),
        gamma=gamma,
        best_response=abstraction == "cfr_br",
        kappa=5.0 if rule.startswith("ecfr") else None,
        payoff_range=tree.utility_range,
    )
    ours = rlccfr.Solver(tree, rule, abstraction=abstraction)
    start = np.random.default_rng(1).normal(size=tree.num_sequences)
    start = np.abs(start) if abstraction == "cfr_br" else np.maximum(start, floor)
    place_both(ours, theirs, 3, start)
    for _ in range(iterations):
        theirs.iterate()
    ours.run(iterations=iterations, curve=False)
    assert_rows_equal(tree, regrets(ours), theirs.regrets)
    assert_rows_equal(tree, policy_sums(ours), theirs.policy_sums)


def assert_tables_agree(tree, ours, theirs, what):
    ours = rows(tree, ours)
    for key, row in theirs.items():
        assert np.abs(ours[key] - row).max() < 1e-10, (what, key, ours[key], row)


def assert_iterates_agree(ours, theirs, iterations):
    """Compare policies, regrets and weighted policy sums after each iteration, and at the end both exploitabilities."""
    tree = ours.game
    for _ in range(iterations):
        theirs.iterate()
        ours.run(iterations=1, curve=False)
        newest = theirs.average_weight()
        sums = {key: [s / newest for s in row] for key, row in theirs.policy_sums.items()}
        average = {key: regret_matching(row) for key, row in sums.items()}
        if ours.update_rule.output == "current":
            average = theirs.policy
        played = {key: row for key, row in average.items() if sum(sums[key]) > 1e-6}  # else it is mostly rounding
        # VAD-CFR gives the first policy of player 1 no weight, since it has seen no regrets of that player yet.
        # Extragradient steps average nothing before the first policy that follows from a probe.
        has_averaged = any(map(sum, sums.values()))
        assert len(played) > len(average) / (6 if ours.update_rule.id == "vad_cfr" else 2) or not has_averaged
        assert_tables_agree(tree, ours.current_policy().probabilities, theirs.policy, "current policy")
        assert_tables_agree(tree, ours.average_policy().probabilities, played, "average policy")
        assert_tables_agree(tree, regrets(ours), theirs.regrets, "regrets")
        assert_tables_agree(tree, policy_sums(ours), sums, "policy sum")
    for policy, expected in ((ours.average_policy(), average), (ours.current_policy(), theirs.policy)):
        lost = exploitability(theirs.game, expected)
        assert policy.exploitability() == pytest.approx(lost, rel=0, abs=1e-10)


@pytest.mark.parametrize(
    ("name", "iterations"), [("kuhn", 12), (SMALL_DICE, 12), pytest.param("leduc", 3, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("rule", RULES)
def test_the_extended_rules_go_on_as_the_references(rule, name, iterations):
    """The rules start after iteration 3 from positive random regrets.

    At some infosets all actions have the same value. From regrets of 0, rounding would decide there between a pure and
    the uniform policy.
    """
    tree, done = game(name), 3
    ours, theirs = rlccfr.Solver(tree, rule), RULES[rule](turn_based(tree))
    start = np.random.default_rng(1).random(tree.num_sequences)
    place_both(ours, theirs, done, start)
    assert_iterates_agree(ours, theirs, iterations)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "iterations"), [("kuhn", 12), ("leduc", 2)])
@pytest.mark.parametrize("rule", RULES)
def test_the_extended_rules_begin_as_the_references(rule, name, iterations):
    """The rules start without regrets, from a random first policy, since some regrets tie after a uniform one.

    The papers leave the first policy open. Small Liar's dice is left out, because at some of its infosets all actions
    have the same value, whatever the opponent does.
    """
    if rule.startswith("aod_cfr") and name == "leduc":
        pytest.skip("some of the first regrets are 0 but for rounding, and the rule weighs regrets by their signs")
    tree = game(name)
    ours, theirs = rlccfr.Solver(tree, rule), RULES[rule](turn_based(tree))
    first = rlccfr.Policy.from_sums(tree, np.random.default_rng(1).random(tree.num_sequences)).probabilities
    place(ours, 0, policy=first)
    theirs.policy = {key: list(row) for key, row in rows(tree, first).items()}
    assert_iterates_agree(ours, theirs, iterations)


@pytest.mark.parametrize(("mode", "negative"), [("published", -1e-4), ("rlccfr", -0.2)])
def test_ecfr_with_the_weight_of_the_same_iteration_by_hand(mode, negative):
    """At one infoset, W = e^(r - mean r); in Li et al.'s form alone, a negative regret becomes W beta."""
    rule = update_rules.resolve({"id": "ecfr", "mode": mode})
    instant, state = np.array([0.6, -0.2]), np.zeros((2, 1))
    rule.reweight(instant, 1.0, state, rule.schedule(1, 1)[0, 5:], 2.0)
    weights = np.exp([0.4, -0.4])
    assert state[:, 0] == pytest.approx(weights)
    assert instant == pytest.approx([weights[0] * 0.6, weights[1] * negative])


@pytest.mark.parametrize(("mode", "reached"), [("rlccfr", 1.34e-4), ("published", 6.94e-4)])
def test_ecfr_without_beta_ends_lower_on_kuhn(mode, reached):
    """The figures are those of an independent implementation after 10,000 iterations."""
    result = rlccfr.Solver(game("kuhn"), {"id": "ecfr", "mode": mode}).run(iterations=10_000, curve=False)
    assert result.exploitability == pytest.approx(reached, rel=5e-3)
