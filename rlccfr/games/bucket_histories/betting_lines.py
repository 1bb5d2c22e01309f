"""The betting of a limit hold'em game, as one small tree per round.

A *betting line* is what the players have done in the rounds before. In limit betting, every line continues with the
same tree of actions: only the chips at stake differ. So a round is described by one tree, and by the payoffs of each
line. A pass goes through the tree once, with vectors over the lines.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlccfr.games.bucket_histories.records import LINE_NODE
from rlccfr.games.public.betting import ROUND_ENDS, Round
from rlccfr.games.public.holdem import Holdem
from rlccfr.games.public.records import CHANCE, FOLD


@dataclass(frozen=True, eq=False)
class BettingRound:
    """A round's tree of actions, and the lines on which it is played.

    A line of the next round is a line of this round, continued to an end of this tree at which nobody has folded. Its
    index is ``end * num_lines + line``.

    Attributes:
        nodes: (nodes,) of type LINE_NODE, in breadth-first order, so that siblings are neighbours.
        moves: the action that leads to each node: f, c or r; nothing at the root.
        num_lines: number of lines that lead to the round.
        columns: number of table entries of each player for one bucket history, all lines included.
        num_folds: number of leaves at which a player folds.
        num_ends: number of leaves at which the betting ends without a fold.
        fold_payoffs: (folds * lines,) player 0's payoff where a player folds.
        pots: (ends * lines,) chips that each player has put in where the betting ends.
    """

    nodes: np.ndarray
    moves: tuple[str, ...]
    num_lines: int
    columns: tuple[int, int]
    num_folds: int
    num_ends: int
    fold_payoffs: np.ndarray
    pots: np.ndarray

    @property
    def num_decisions(self) -> tuple[int, int]:
        """Number of each player's decision nodes, all lines included."""
        counts = [int((self.nodes["kind"] == player).sum()) * self.num_lines for player in range(2)]
        return counts[0], counts[1]

    @property
    def depth(self) -> int:
        """Number of actions on the longest path through the tree."""
        depths = np.zeros(len(self.nodes), np.int64)
        for node, record in enumerate(self.nodes):
            first_child = int(record["first_child"])
            depths[first_child : first_child + int(record["num_children"])] = depths[node] + 1
        return int(depths.max())

    def children(self, node: int) -> range:
        """Return the indices of a node's children; the range is empty for a leaf."""
        first_child = int(self.nodes["first_child"][node])
        return range(first_child, first_child + int(self.nodes["num_children"][node]))

    def path(self, node: int) -> str:
        """Return the actions that lead from the root to a node, such as ``cr``."""
        steps = ""
        while node:
            steps = self.moves[node] + steps
            node = self.parent(node)
        return steps

    def parent(self, node: int) -> int:
        """Return the parent of a node other than the root."""
        first_children = self.nodes["first_child"]
        holds_node = (first_children <= node) & (node < first_children + self.nodes["num_children"])
        return int(np.flatnonzero(holds_node)[0])


def betting_rounds(rules: Holdem) -> list[BettingRound]:
    """Return the betting of each round of a game.

    Examples:
        >>> from rlccfr.games.public.names import rules_of
        >>> [round.num_lines for round in betting_rounds(rules_of("texas_holdem"))]
        [1, 7, 63, 567]
    """
    rounds: list[BettingRound] = []
    spent_before = [rules.blinds]  # chips of both players on each line that leads to the round
    for number in range(len(rules.board)):
        trees = {spent: rules.round_of(number, spent) for spent in spent_before}
        betting = _betting_round([trees[spent] for spent in spent_before])
        rounds.append(betting)
        spent_before = [(int(pot), int(pot)) for pot in betting.pots]
    return rounds


def _betting_round(trees: list[Round]) -> BettingRound:
    """Return a round of betting from the tree of each line; the trees differ only in their payoffs."""
    tree = trees[0]
    num_lines = len(trees)
    nodes = np.zeros(tree.size, LINE_NODE)
    nodes["kind"] = tree.kinds
    nodes["num_children"] = tree.counts
    nodes["first_child"] = tree.first_child
    is_end = nodes["kind"] == ROUND_ENDS
    is_fold = nodes["kind"] == FOLD
    # Leaves of each kind are numbered in their order.
    nodes["leaf"][is_end] = np.arange(is_end.sum())
    nodes["leaf"][is_fold] = np.arange(is_fold.sum())
    # A decision's entries are ordered by action, then by line.
    columns = [0, 0]
    for node in np.flatnonzero(nodes["kind"] < CHANCE).tolist():
        player = int(nodes["kind"][node])
        nodes["column"][node] = columns[player]
        columns[player] += int(nodes["num_children"][node]) * num_lines
    fold_payoffs = np.array([[tree.payoffs[node] for tree in trees] for node in np.flatnonzero(is_fold).tolist()])
    pots = np.array([[tree.ends[node].spent for tree in trees] for node in np.flatnonzero(is_end).tolist()])
    return BettingRound(
        nodes=nodes,
        moves=tuple(tree.moves),
        num_lines=num_lines,
        columns=(columns[0], columns[1]),
        num_folds=int(is_fold.sum()),
        num_ends=int(is_end.sum()),
        fold_payoffs=fold_payoffs.reshape(-1).astype(float),
        pots=pots.reshape(-1).astype(float),
    )
