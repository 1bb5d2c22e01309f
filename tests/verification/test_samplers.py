"""Every sampler's estimates of regrets, average increments and reach have the exact pass as their mean."""

from __future__ import annotations

import numpy as np
import pytest
from support import SMALL_DICE, game, random_policy

import rlccfr
from rlccfr.registry import samplers
from rlccfr.testing import Estimates, own_draws, smallest_p

BATCHES = 400
WALKS = 5_000  # per batch
LEVEL = 1e-3

SAMPLERS = {
    "chance": {},
    "outcome": {},
    "external": {},
    "probing": {},
    # Hyperparameters that leave actions out, which the defaults do only after about a million walks.
    "average_strategy": {"epsilon": 0.3, "beta": 1.0, "tau": 2.0},
    "variance_reduced": {},
    "variance_reduced(key='history')": {},
    "variance_reduced(key='history',weighted=False)": {},
    "variance_reduced(key='oracle')": {},
    "balanced": {},
    "escher(value='oracle')": {},
    "escher(value='oracle',explores='actions',weighted=True)": {},
    "dream": {},
    "robust_k": {},
    "mixed_internal": {},
    "mixed_linear": {"horizon": 2},
    "mixed_exponential": {"half_life": 1.0},
    "mixed_locus": {"horizon": 0, "visits": 10.0},
    "public_chance": {},
    "opponent_public_chance": {},
    "self_public_chance": {},
}
SHARING = tuple(SAMPLERS)[-3:]
"""Samplers that draw once for many histories; they need a game in which only chance hides anything."""


def interior_policy(tree, seed: int) -> np.ndarray:
    weights = 0.7 + np.random.default_rng(seed).random(tree.num_sequences)
    return rlccfr.Policy.from_sums(tree, weights).probabilities


def compared(sampler: str, tree, policy, player: int, count: int = WALKS, response=None) -> list[dict]:
    """Return a row per kind of estimate, with the smallest p of all that were tested."""
    made = samplers.resolve({"id": sampler, **SAMPLERS[sampler]})
    found = Estimates.of(made, tree, policy, player, batches=BATCHES, walks=count, response=response, seed=player)
    played = policy if response is None else response
    expected = Estimates.exact(tree, policy, player, played, own_draws(made, tree, policy))
    rows = []
    for what, batches, mean in zip(Estimates._fields, found, expected):
        if what == "increments" and response is not None:
            continue  # against a response, exact passes add up the averages
        p, tested = smallest_p(batches, mean)
        rows.append({"sampler": sampler, "game": tree.name, "traverser": player, "estimate of": what,
                     "tested": tested, "smallest p (Holm)": p})  # fmt: skip
    return rows


@pytest.mark.verify
@pytest.mark.parametrize(
    ("sampler", "name"),
    [(id, name) for id in SAMPLERS for name in ("kuhn", "goofspiel", "leduc")
     if not (id in SHARING and name == "goofspiel")],
)  # fmt: skip
def test_estimates_are_unbiased(sampler, name, figures):
    tree, count = game(name), WALKS // 10 if sampler in SHARING else WALKS  # such walks touch more histories
    rows = [row for player in (0, 1) for row in compared(sampler, tree, interior_policy(tree, 11), player, count)]
    figures(f"Unbiased estimates: {sampler} on {name}", rows, f"{BATCHES * count:,} walks per player; level {LEVEL:g}.")
    assert min(row["smallest p (Holm)"] for row in rows) > LEVEL


def test_every_sampler_is_compared():
    samplers.resolve("external")  # loads the catalog
    drawing = {name for name in set(samplers.names.values()) if not samplers.resolve(name).exact}
    assert drawing == {name.partition("(")[0] for name in SAMPLERS}


@pytest.mark.slow
@pytest.mark.parametrize("opponent", ["policy", "pure response"])
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_estimates_on_kuhn_are_unbiased(sampler, opponent):
    """This is a short form of the test above, with zeros in the policy, and against a fixed response as in CFR-BR."""
    tree = game("kuhn")
    policy = random_policy(tree, 2).probabilities
    response = None
    if opponent != "policy":
        response = np.zeros(tree.num_sequences)
        response[tree.view.first_sequence[:-1] + np.arange(tree.num_infosets) % 2] = 1.0
    rows = [row for player in (0, 1) for row in compared(sampler, tree, policy, player, 500, response)]
    assert min(row["smallest p (Holm)"] for row in rows) > LEVEL / (2 * len(SAMPLERS))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["leduc", "leduc_poker(suit_isomorphism=True)", SMALL_DICE, "random_poker(seed=1)"])
@pytest.mark.parametrize("sampler", SHARING)
def test_estimates_from_shared_draws_are_unbiased(sampler, name):
    tree = game(name)
    rows = [row for player in (0, 1) for row in compared(sampler, tree, interior_policy(tree, 11), player, 50)]
    assert min(row["smallest p (Holm)"] for row in rows) > LEVEL / (4 * len(SHARING))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kuhn", "leduc"])
@pytest.mark.parametrize("sampler", ["variance_reduced", "probing", "variance_reduced(key='history')"])
def test_baselines_and_probes_reduce_the_variance(sampler, name):
    """The variance of regrets from ten walks, summed over sequences, is at least a fifth below outcome sampling's.

    Both samplers have the same exploration. Baselines are learned during the first half of the walks, which is left
    out.
    """
    tree, batches = game(name), 2_000
    for player in (0, 1):
        policy, variances = interior_policy(tree, 11), []
        for id in ("outcome", sampler):
            made = samplers.resolve({"id": id, "exploration": 0.6})
            found = Estimates.of(made, tree, policy, player, batches=batches, walks=10, seed=player).regrets
            variances.append(found[batches // 2 :, tree.sequences_of(player)].var(axis=0).sum())
        assert variances[1] < 0.8 * variances[0]


def test_a_biased_estimate_is_found():
    """The tests above can fail: they tell the regrets of another policy apart."""
    tree = game("kuhn")
    policy, other = interior_policy(tree, 11), interior_policy(tree, 12)
    found = Estimates.of(samplers["external"].make(), tree, policy, 0, batches=BATCHES, walks=WALKS)
    assert smallest_p(found.regrets, Estimates.exact(tree, other, 0, other).regrets)[0] < LEVEL
