"""CFR+ in NumPy and SciPy: the sequence form without compiled kernels."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from rlccfr.games.flat_tree import GameTree


class SparseCFRPlus:
    """Alternating CFR+ with linear averaging: one sparse product for the payoffs, array operations level by level.

    Its iterates equal the engine's; ``tests/benchmarks/test_scipy_cfr.py`` compares them.
    """

    def __init__(self, game: GameTree) -> None:
        self._t = 0
        payoff = _payoff(game)
        self._payoff = (payoff, (-payoff.T).tocsr())
        counts = np.diff(game.view.first_sequence)
        self._levels = [_levels(game, player) for player in (0, 1)]
        self._sequences = [game.sequences_of(player) for player in (0, 1)]
        self._chance = np.repeat(game.view.chance_weight, counts)
        self.regret = np.zeros(game.num_sequences)
        self.policy = game.uniform_policy()
        self.policy_sum = np.zeros(game.num_sequences)
        self._reach = np.ones(payoff.shape[0])
        for player in (0, 1):
            self._update_reach(player)

    def iterate(self) -> None:
        """Update each player once."""
        self._t += 1
        for player in (0, 1):
            other = self._sequences[1 - player]
            self.policy_sum[other] *= (self._t - 1) / self._t
            self.policy_sum[other] += self._chance[other] * self._reach[other]
            self._update(player)
            self._update_reach(player)

    def _update(self, player: int) -> None:
        gradient = self._payoff[player] @ self._reach
        for level in reversed(self._levels[player]):
            own = level.sequences
            values = np.add.reduceat(self.policy[own] * gradient[own], level.starts)
            gradient[level.parents] += np.bincount(level.child_of, values, len(level.parents))
            regret = np.maximum(self.regret[own] + gradient[own] - values[level.row], 0.0)
            self.regret[own] = regret
            total = np.add.reduceat(regret, level.starts)[level.row]
            self.policy[own] = np.divide(regret, total, out=level.uniform.copy(), where=total > 0)

    def _update_reach(self, player: int) -> None:
        for level in self._levels[player]:
            self._reach[level.sequences] = self._reach[level.above] * self.policy[level.sequences]


class _Level:
    """A player's infosets that have the same number of the player's moves before them.

    Attributes:
        sequences: the sequences of these infosets, infoset after infoset.
        row: index, within the level, of each sequence's infoset.
        starts: index in ``sequences`` at which each infoset's sequences begin.
        above: the sequence before each sequence's infoset.
        parents: the sequences before the infosets, each once.
        child_of: index in ``parents`` of the sequence before each infoset.
        uniform: the uniform policy's probability of each sequence's action.
    """

    def __init__(self, game: GameTree, infosets: np.ndarray) -> None:
        first = game.view.first_sequence
        counts = np.diff(first.astype(np.int64))[infosets]
        self.sequences = np.concatenate([np.arange(first[i], first[i + 1], dtype=np.int64) for i in infosets])
        self.row = np.repeat(np.arange(len(infosets)), counts)
        self.starts = np.cumsum(counts) - counts
        parent = game.view.parent[infosets].astype(np.int64)
        self.above = parent[self.row]
        self.parents, self.child_of = np.unique(parent, return_inverse=True)
        self.uniform = 1.0 / np.repeat(counts, counts)


def _levels(game: GameTree, player: int) -> list[_Level]:
    infosets = np.arange(game.num_infosets)[game.infosets_of(player)]
    owner = np.repeat(np.arange(game.num_infosets), np.diff(game.view.first_sequence))
    depth = np.zeros(game.num_infosets, np.int64)
    for infoset in infosets:  # parents come first
        parent = game.view.parent[infoset]
        depth[infoset] = depth[owner[parent]] + 1 if parent < game.num_sequences else 0
    return [_Level(game, infosets[depth[infosets] == level]) for level in np.unique(depth[infosets])]


def _payoff(game: GameTree) -> sparse.csr_array:
    """Return player 0's payoffs, summed over chance; rows and columns are sequences, the empty ones last."""
    view, rows, columns, values = game.view, [], [], []
    for block in view.blocks_0:
        own = view.leaf_0[block["own"] : block["own_end"]]
        for line, opponent in enumerate(view.leaf_1[block["opponent"] : block["opponent_end"]]):
            at = block["payoff"] + line * block["stride"]
            rows.append(own)
            columns.append(np.full(len(own), opponent))
            values.append(block["factor"] * view.payoff_0[at : at + len(own)])
    size = game.num_sequences + 2
    triple = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    matrix = sparse.coo_array(triple, (size, size)).tocsr()
    matrix.eliminate_zeros()
    return matrix
