"""Every sampler's estimates have the exact pass as their mean: regrets, average increments and reach."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats
from support import game, random_policy, walks

import rlccfr
from rlccfr.kernels.exact import gradient_pass, mass_pass, reach_pass, value_pass
from rlccfr.kernels.layout import scratch_for
from rlccfr.kernels.walk import UNVISITED

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


class Estimates(NamedTuple):
    """Of one player's walks; (m,), (m,) and (n,), or as many rows of these as there are batches."""

    regrets: np.ndarray  # of the traverser
    increments: np.ndarray  # of the other's policy sum
    mass: np.ndarray  # reach of the traverser's infosets by the other and chance


def exact(tree, policy: np.ndarray, player: int, response: np.ndarray) -> Estimates:
    """What the estimates are of, by exact passes; ``response`` is what the other plays."""
    scratch = scratch_for(tree)
    reach_pass(tree.view, 1 - player, policy, scratch.reach)
    increments = np.repeat(tree.view.chance_weight, np.diff(tree.view.first_sequence)) * scratch.reach[:-2]
    reach_pass(tree.view, 1 - player, response, scratch.reach)
    gradient_pass(tree.view, player, scratch.reach, scratch.gradient, scratch.leaf)
    mass_pass(tree.view, player, scratch.reach, scratch.mass)
    value_pass(tree.view, player, policy, scratch.gradient)
    return Estimates(scratch.gradient[:-2], increments, scratch.mass)


def estimates(solver: rlccfr.Solver, policy: np.ndarray, player: int, count: int = WALKS) -> Estimates:
    """Means of BATCHES batches of ``count`` walks."""
    engine, tree = solver._engine, solver.game
    tables, other = engine._walk_tables, tree.sequences_of(1 - player)
    tables.policy[:] = policy
    found = Estimates(*(np.empty((BATCHES, size)) for size in (*[tree.num_sequences] * 2, tree.num_infosets)))
    for batch in range(BATCHES):
        tables.policy_sum[:] = 0
        tables.gain[:] = 0
        walks(solver, player, count, 1 / count)
        found.regrets[batch], found.increments[batch] = tables.gain, tables.policy_sum
        found.mass[batch] = np.where(tables.mass == UNVISITED, 0.0, tables.mass)
        tables.mass[:] = UNVISITED
        tables.num_visited[:] = tree.view.infoset_begin[:2]
    own = [s for s in range(tree.num_sequences) if not other.start <= s < other.stop]
    assert not found.increments[:, own].any()
    return found


def worst(batches: np.ndarray, expected: np.ndarray) -> tuple[float, int]:
    """The smallest Holm-corrected p of "the mean is ``expected``", and how many were tested."""
    mean, error = batches.mean(0), batches.std(0, ddof=1) / np.sqrt(BATCHES)
    fixed = error < 1e-12 * max(1.0, np.abs(expected).max())
    assert mean[fixed] == pytest.approx(expected[fixed], abs=1e-10)
    z = (mean[~fixed] - expected[~fixed]) / error[~fixed]
    if not len(z):
        return 1.0, 0
    return float(min(1.0, 2 * stats.t.sf(np.abs(z).max(), BATCHES - 1) * len(z))), len(z)


def compared(sampler: str, tree, policy, player: int, count: int = WALKS, response=None) -> list[dict]:
    """A row for each kind of estimate, with the smallest p of all that were tested."""
    abstraction = "none" if response is None else "cfr_br"
    solver = rlccfr.Solver(tree, "cfr", {"id": sampler, **SAMPLERS[sampler]}, abstraction, seed=player)
    solver._engine.uniform_count[:] = np.random.default_rng(7).random(tree.num_sequences)
    if response is not None:
        solver._engine._walk_tables.response[:] = response
    found = estimates(solver, policy, player, count)
    expected = exact(tree, policy, player, policy if response is None else response)
    mine, other = tree.sequences_of(player), tree.sequences_of(1 - player)
    parts = {
        "regrets": (found.regrets[:, mine], expected.regrets[mine]),
        "average increments": (found.increments[:, other], expected.increments[other]),
        "mass": (found.mass[:, tree.infosets_of(player)], expected.mass[tree.infosets_of(player)]),
    }
    if response is not None:  # averages are then added up by exact passes
        del parts["average increments"]
    rows = []
    for what, (batches, mean) in parts.items():
        p, tested = worst(batches, mean)
        rows.append({"sampler": sampler, "game": tree.name, "traverser": player, "estimate of": what,
                     "tested": tested, "smallest p (Holm)": p})  # fmt: skip
    return rows


@pytest.mark.verify
@pytest.mark.parametrize("name", ["kuhn", "goofspiel", "leduc"])
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_estimates_are_unbiased(sampler, name, figures):
    tree = game(name)
    rows = [row for player in (0, 1) for row in compared(sampler, tree, interior_policy(tree, 11), player)]
    figures(f"Unbiased: {sampler} on {name}", rows, f"{BATCHES * WALKS:,} walks each; level {LEVEL:g}.")
    assert min(row["smallest p (Holm)"] for row in rows) > LEVEL


@pytest.mark.parametrize("opponent", ["policy", "pure response"])
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_estimates_on_kuhn_are_unbiased(sampler, opponent):
    """The same in short, with zeros in the policy, and against a fixed response as in CFR-BR."""
    tree = game("kuhn")
    policy = random_policy(tree, 2).probabilities
    response = None
    if opponent != "policy":
        firsts = tree.view.first_sequence[:-1]
        response = np.zeros(tree.num_sequences)
        response[firsts + np.arange(tree.num_infosets) % 2] = 1.0
    rows = [row for player in (0, 1) for row in compared(sampler, tree, policy, player, 500, response)]
    assert min(row["smallest p (Holm)"] for row in rows) > LEVEL / 12  # twelve such tests


def test_a_biased_estimate_is_found():
    """The tests above can fail: regrets of another policy are told apart."""
    tree = game("kuhn")
    policy, other = interior_policy(tree, 11), interior_policy(tree, 12)
    found = estimates(rlccfr.Solver(tree, "cfr", "external"), policy, 0)
    mine = tree.sequences_of(0)
    assert worst(found.regrets[:, mine], exact(tree, other, 0, other).regrets[mine])[0] < LEVEL
