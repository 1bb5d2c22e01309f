"""Samplers of the catalogs against what they are made of."""

from __future__ import annotations

import numpy as np
import pytest
from support import game

import rlccfr
from rlccfr.components import Sampler
from rlccfr.errors import ComponentError
from rlccfr.registry import samplers
from rlccfr.testing import Estimates, check_sampler

TREE = "kuhn"


def estimates(sampler, walks=1_000):
    """Return the estimates of single walks of player 0 from the uniform policy."""
    tree = game(TREE)
    return Estimates.of(samplers.resolve(sampler), tree, tree.uniform_policy(), 0, batches=walks, walks=1)


def test_without_internal_walks_the_mix_is_external_sampling():
    tree = game(TREE)
    runs = [
        rlccfr.Solver(tree, "cfr_plus", sampler, seed=1).run(iterations=500, curve=False)
        for sampler in ("mixed_internal(rho=1.0)", "external")
    ]
    assert runs[0].exploitability == runs[1].exploitability
    assert runs[0].nodes_touched == runs[1].nodes_touched


def test_internal_walks_take_one_own_action_and_all_others():
    """On Kuhn poker, player 0 moves first, then after a pass and a bet.

    A walk meets all 6 deals, so a single own action is drawn at each of the 6 first moves. Its value is averaged over
    the deals, which leaves the regrets of a card without the variance of the other card's draw.
    """
    drawn = estimates("mixed_internal(rho=0.0)")
    assert (drawn.mass[:, :3] > 0).all()  # the first moves with each of three cards
    walks = rlccfr.Solver(game(TREE), "cfr", "mixed_internal(rho=0.0)", seed=0)
    touched = walks.run(iterations=1, curve=False).nodes_touched
    assert touched > rlccfr.Solver(game(TREE), "cfr", "external", seed=0).run(iterations=1, curve=False).nodes_touched


def test_the_share_of_internal_walks_is_constant():
    """An internal walk meets all of the three cards, an external one meets one; rho = 0.25, at 5 standard errors."""
    cards = (estimates("mixed_internal(rho=0.25)", walks=4_000).mass[:, :3] > 0).sum(axis=1)
    assert set(np.unique(cards)) == {1, 3}
    assert (cards == 1).mean() == pytest.approx(0.25, abs=5 * (0.25 * 0.75 / 4_000) ** 0.5)


@pytest.mark.parametrize("rho", [0.0, 0.3, 1.0])
def test_the_mix_is_unbiased_for_every_share(rho):
    check_sampler({"id": "mixed_internal", "rho": rho}, walks=20_000)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"internal_share": 1.5}, r"internal_share must lie in \[0, 1\], not 1.5"),
        ({"internal_share": 0.5, "traverser": "one"}, "internal_share needs external sampling"),
        ({"internal_share": 0.5, "probe": True}, "internal_share needs external sampling"),
    ],
)
def test_a_share_of_internal_walks_needs_external_walks(fields, message):
    with pytest.raises(ComponentError, match=message):
        Sampler(exploration=0.6, **fields)


def test_a_linear_share_needs_a_horizon():
    with pytest.raises(ComponentError, match=r"horizon must lie in \[1, "):
        samplers.resolve("mixed_linear(horizon=0)")
    assert samplers.resolve("mixed_linear(horizon=1)").schedule(1, 3)[:, 0].tolist() == [1.0, 0.0, 0.0]
