from __future__ import annotations

import numpy as np
import pytest
from numba import njit
from scipy import sparse

from rlccfr.games.payoff_blocks import DENSE_FILL, payoff_blocks
from rlccfr.kernels.passes.sequence_form import gradient_pass, reach_pass


def products(blocks, payoff, own, opponent, reach, size):
    out = np.zeros(size)
    for block in blocks:
        lines = payoff[block["payoff"] :][: block["stride"] * int(block["opponent_end"] - block["opponent"])]
        lines = lines.reshape(-1, block["stride"])
        for line, sequence in zip(lines, opponent[block["opponent"] : block["opponent_end"]]):
            here = own[block["own"] : block["own_end"]]
            np.add.at(out, here, block["factor"] * line[: len(here)] * reach[sequence])
    return out


@pytest.mark.parametrize("density", [0.02, 0.2, 0.7])
def test_blocks_hold_the_matrix_whatever_its_density(density):
    rng = np.random.default_rng(0)
    full = np.where(rng.random((60, 60)) < density, rng.random((60, 60)) - 0.5, 0.0)
    matrix = sparse.csr_array(full)
    held = payoff_blocks(matrix)
    reach = rng.random(60)
    first = products(held["blocks_0"], held["payoff_0"], held["leaf_0"], held["leaf_1"], reach, 60)
    second = products(held["blocks_1"], held["payoff_1"], held["leaf_1"], held["leaf_0"], reach, 60)
    assert first == pytest.approx(matrix @ reach, abs=1e-12)
    assert second == pytest.approx(-(matrix.T @ reach), abs=1e-12)
    if density < DENSE_FILL / 2:  # cut into lines, where a block has one of player 0's sequences
        assert len(held["payoff_1"]) <= 4 * matrix.nnz


def test_blocks_equal_but_for_a_factor_share_their_payoffs():
    rng = np.random.default_rng(1)
    one, other = rng.normal(size=(2, 5, 3))
    factors = [1.0, -2.0, 1 / 3, 1e-9, 7e11]
    matrix = sparse.block_diag([factor * one for factor in factors] + [other], format="csr")
    size = max(matrix.shape)
    matrix.resize(size, size)
    held = payoff_blocks(sparse.csr_array(matrix))
    assert len(held["payoff_0"]) == 2 * 3 * 8  # two patterns of three lines of five, padded
    for block, factor in zip(held["blocks_0"][: len(factors)], factors):
        reach = np.zeros(size)
        reach[held["leaf_1"][block["opponent"]]] = 1.0
        found = products([block], held["payoff_0"], held["leaf_0"], held["leaf_1"], reach, size)
        assert found == pytest.approx(matrix @ reach, abs=1e-14 * abs(factor))


@pytest.mark.slow
def test_gradient_pass_reads_the_blocks_so():
    from support import game, random_policy

    from rlccfr.kernels.layout import scratch_for

    @njit
    def gradient_against(view, player, policy, scratch):
        reach_pass(view, 1 - player, policy, scratch.reach)
        gradient_pass(view, player, scratch.reach, scratch)

    tree = game("leduc")
    scratch, policy = scratch_for(tree), random_policy(tree, 3).probabilities
    view, size = tree.view, tree.num_sequences + 2
    for player, blocks, payoff, own, opponent in (
        (0, view.blocks_0, view.payoff_0, view.leaf_0, view.leaf_1),
        (1, view.blocks_1, view.payoff_1, view.leaf_1, view.leaf_0),
    ):
        gradient_against(view, player, policy, scratch)
        expected = products(blocks, payoff, own, opponent, scratch.reach, size)
        mine = tree.sequences_of(player)
        assert scratch.gradient[mine] == pytest.approx(expected[mine], abs=1e-14)
