"""Every sampler's estimates have the exact pass as their mean: regrets and average increments."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from support import game, walks

import rlccfr
from rlccfr.kernels.exact import gradient_pass, reach_pass, value_pass
from rlccfr.kernels.layout import scratch_for

BATCHES = 400
WALKS = 5_000  # a batch
LEVEL = 1e-3

SAMPLERS = {
    "chance": {},
    "outcome": {},
    "external": {},
    "probing": {},
    # Parameters that leave actions out, which the defaults do only after about a million walks.
    "average_strategy": {"epsilon": 0.3, "beta": 1.0, "tau": 2.0},
    "variance_reduced": {},
}


def interior_policy(tree, seed: int) -> np.ndarray:
    weights = 0.7 + np.random.default_rng(seed).random(tree.num_sequences)
    return rlccfr.Policy.from_sums(tree, weights).probabilities


def exact(tree, policy: np.ndarray, player: int) -> tuple[np.ndarray, np.ndarray]:
    """Instantaneous regrets of ``player``, and the other's average increments."""
    scratch = scratch_for(tree)
    for p in (0, 1):
        reach_pass(tree.view, p, policy, scratch.reach)
    gradient_pass(tree.view, player, scratch.reach, scratch.gradient, scratch.leaf)
    counts = np.diff(tree.view.first_sequence)
    increments = np.repeat(tree.view.chance_weight, counts) * scratch.reach[:-2]
    value_pass(tree.view, player, policy, scratch.gradient)
    return scratch.gradient[:-2], increments


def estimates(solver: rlccfr.Solver, policy: np.ndarray, player: int) -> tuple[np.ndarray, np.ndarray]:
    """Means of BATCHES batches of WALKS walks, shape (BATCHES, m) each."""
    engine, tree = solver._engine, solver.game
    tables, other = engine._walk_tables, tree.sequences_of(1 - player)
    tables.policy[:] = policy
    regrets, increments = np.empty((2, BATCHES, tree.num_sequences))
    for batch in range(BATCHES):
        tables.policy_sum[:] = 0
        tables.gain[:] = 0
        walks(solver, player, WALKS, 1 / WALKS)
        regrets[batch], increments[batch] = tables.gain, tables.policy_sum
        tables.mass[:] = 0
        tables.num_visited[:] = tree.view.infoset_begin[:2]
    assert not increments[:, [s for s in range(tree.num_sequences) if not other.start <= s < other.stop]].any()
    return regrets, increments


def worst(batches: np.ndarray, expected: np.ndarray) -> tuple[float, int]:
    """The smallest Holm-corrected p of "the mean is ``expected``", and how many were tested."""
    mean, error = batches.mean(0), batches.std(0, ddof=1) / np.sqrt(BATCHES)
    fixed = error < 1e-12 * max(1.0, np.abs(expected).max())
    assert mean[fixed] == pytest.approx(expected[fixed], abs=1e-10)
    z = (mean[~fixed] - expected[~fixed]) / error[~fixed]
    if not len(z):
        return 1.0, 0
    return float(min(1.0, 2 * stats.t.sf(np.abs(z).max(), BATCHES - 1) * len(z))), len(z)


@pytest.mark.verify
@pytest.mark.parametrize("name", ["kuhn", "goofspiel", "leduc"])
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_estimates_are_unbiased(sampler, name, figures):
    tree = game(name)
    policy, rows = interior_policy(tree, 11), []
    for player in (0, 1):
        solver = rlccfr.Solver(tree, "cfr", {"id": sampler, **SAMPLERS[sampler]}, seed=player)
        rng = np.random.default_rng(7)
        solver._engine.uniform_count[:] = rng.random(tree.num_sequences)
        mine, other = tree.sequences_of(player), tree.sequences_of(1 - player)
        regret, increment = exact(tree, policy, player)
        regrets, increments = estimates(solver, policy, player)
        for what, batches, expected in (
            ("regrets", regrets[:, mine], regret[mine]),
            ("average increments", increments[:, other], increment[other]),
        ):
            p, count = worst(batches, expected)
            rows.append(
                {"sampler": sampler, "game": name, "traverser": player, "estimate of": what,
                 "tested": count, "smallest p (Holm)": p}
            )  # fmt: skip
    figures(f"Unbiased: {sampler} on {name}", rows, f"{BATCHES * WALKS:,} walks each; level {LEVEL:g}.")
    assert min(row["smallest p (Holm)"] for row in rows) > LEVEL


def test_a_biased_estimate_is_found():
    """The test above can fail: regrets of another policy are told apart."""
    tree = game("kuhn")
    solver = rlccfr.Solver(tree, "cfr", "external")
    regrets, _ = estimates(solver, interior_policy(tree, 11), 0)
    mine = tree.sequences_of(0)
    wrong, _ = exact(tree, interior_policy(tree, 12), 0)
    assert worst(regrets[:, mine], wrong[mine])[0] < LEVEL
