"""The engine against the plain-Python reference, which shares no code with it."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from support import game, rows

import rlccfr


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


@pytest.mark.parametrize("abstraction", ["none", "cfr_br"])
@pytest.mark.parametrize("name", ["kuhn", "leduc"])
@pytest.mark.parametrize("rule", FOLDS)
def test_exact_passes_are_the_references(rule, name, abstraction):
    """Regrets and policy sums after a few iterations from regrets at random, where nothing ties.

    Against best responses none begins negative: best responses to pure policies tie, and rounding would decide.
    """
    tree, iterations = game(name), 6 if name == "kuhn" else 1
    discount, floor, gamma = FOLDS[rule]
    theirs = reference.Reference(
        reference.load(tree.openspiel_name),
        fold=lambda R, r, t: reference.plain(R, r, discount, t, floor),
        gamma=gamma,
        best_response=abstraction == "cfr_br",
        kappa=5.0 if rule.startswith("ecfr") else None,
        payoff_range=tree.utility_range,
    )
    ours = rlccfr.Solver(tree, rule, abstraction=abstraction)
    start = np.random.default_rng(1).normal(size=tree.num_sequences)
    start = np.abs(start) if abstraction == "cfr_br" else np.maximum(start, floor)
    ours._engine.regret[:] = start
    ours._engine.policy[:] = rlccfr.Policy.from_sums(tree, np.maximum(start, 0)).probabilities
    ours._engine.counts[0] = theirs.t = 3
    for key, row in rows(tree, start).items():
        theirs.regret[key] = list(row)
        theirs.policy[key] = reference.match(list(row))
    for _ in range(iterations):
        theirs.iterate()
    ours.run(iterations=iterations, curve=False)
    for key, row in rows(tree, ours._engine.true_regret()).items():
        assert row == pytest.approx(np.array(theirs.regret[key]), abs=1e-12), key
    for key, row in rows(tree, ours._engine.true_policy_sum()).items():
        assert row == pytest.approx(np.array(theirs.policy_sum[key]), abs=1e-12), key


def test_published_ecfr_by_hand():
    """One infoset: W = e^(r - mean r), a negative regret becomes W beta."""
    from rlccfr.catalog.update_rules import weigh_by_own_advantage

    instant, state = np.array([0.6, -0.2]), np.zeros((2, 1))
    weigh_by_own_advantage(instant, 1.0, state, np.array([-1e-4]), 2.0)
    weights = np.exp([0.4, -0.4])
    assert state[:, 0] == pytest.approx(weights)
    assert instant == pytest.approx([weights[0] * 0.6, weights[1] * -1e-4])
    result = rlccfr.Solver(game("kuhn"), {"id": "ecfr", "mode": "published"}).run(iterations=50)
    assert np.isfinite(result.exploitability)
