"""Buckets of private states, round by round, in a compiled game in which only chance hides anything.

Boards are not told apart: an infoset's bucket is its betting line, with its player's buckets of private states so far.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rlccfr.errors import ComponentError, GameError
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.public.derived import PublicTree
from rlccfr.games.public.records import CHANCE, MATRIX
from rlccfr.games.records import TERMINAL

Splitter = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Function of the features (states, k) and masses (states,) of private states that returns buckets, (states,)."""

NONE = "take abstraction='none' instead"


class Rounds:
    """The private states of a game at each deal; a deal is what both players have seen right after chance's moves.

    Attributes:
        tree: the public tree.
        rows: for each deal, both players' private states, (histories, 2).
        above: for each deal and player, the private state at the deal before, (states,).
        mass: for each deal and player, the probability of each private state, (states,).
        parent: (deals,) the deal before each deal; -1 for the first.
        line: (nodes,) number of the betting line that leads to each public node; outcomes of chance count as alike.
        dealt_on: (deals,) the line right after the chance of each deal.

    Raises:
        GameError: players hide more than what chance has dealt them.
    """

    def __init__(self, game: GameTree) -> None:
        self.game, self.tree = game, PublicTree(game)
        self.rows = self.tree.settled()
        self.tree.sequences(self.rows)  # checks that no infoset belongs to two public nodes
        self.above: list[list[np.ndarray]] = []
        self.mass: list[list[np.ndarray]] = []
        for deal, rows in zip(self.tree.deals, self.rows, strict=True):
            above = [np.zeros(rows[:, i].max() + 1, np.int64) for i in range(2)]
            for i in range(2):
                above[i][rows[:, i]] = deal.above[:, i]
            self.above.append(above)
            self.mass.append([np.bincount(rows[:, i], deal.probability) for i in range(2)])
        self.parent, self.dealt_on = np.full(len(self.rows), -1), np.zeros(len(self.rows), np.int64)
        self.line = np.zeros(len(self.tree.nodes), np.int64)
        self._number_lines()

    def _number_lines(self) -> None:
        """Fill ``line``, ``dealt_on`` and ``parent``."""
        numbers: dict[tuple[int, int], int] = {}
        for node, (kind, count, first, deal) in enumerate(self.tree.nodes):
            for k in range(count):
                step = (int(self.line[node]), -1 if kind == CHANCE else k)
                self.line[first + k] = numbers.setdefault(step, len(numbers) + 1)
                if kind == CHANCE:
                    below = self.tree.nodes[first + k][3]
                    self.parent[below], self.dealt_on[below] = deal, self.line[first + k]

    def decides(self, deal: int, player: int) -> bool:
        """Return whether a player acts at a deal before chance moves again."""
        return self.tree.deals[deal].rows[player] is not None

    def split(self, features: list[list[np.ndarray]], splitter: Splitter) -> np.ndarray:
        """Return the bucket of each infoset, (n,).

        Private states of a betting line that were in one bucket before are split; the others stay apart.

        Args:
            features: for each deal and player, features of private states, (states, k).
            splitter: function that splits private states.
        """
        bucket = [[np.zeros(len(rows), np.int64) for rows in above] for above in self.above]
        for player in range(2):
            for line in np.unique(self.dealt_on):
                deals = [d for d in np.flatnonzero(self.dealt_on == line).tolist() if self.parent[d] >= 0]
                self._split_line(deals, player, features, splitter, bucket)
        found = np.zeros(self.game.num_infosets, np.int64)
        keys: dict[tuple[int, int, int], int] = {}
        for node, (kind, _, _, deal) in enumerate(self.tree.nodes):
            if kind >= CHANCE:
                continue
            members = self.tree.members[node]
            own = bucket[deal][kind]
            numbers = {b: keys.setdefault((kind, int(self.line[node]), b), len(keys)) for b in set(own.tolist())}
            of_row = np.array([numbers[b] for b in own.tolist()])
            found[self.game.histories["infoset"][members]] = of_row[self.rows[deal][:, kind]]
        return found

    def _split_line(
        self,
        deals: list[int],
        player: int,
        features: list[list[np.ndarray]],
        splitter: Splitter,
        bucket: list[list[np.ndarray]],
    ) -> None:
        """Set the buckets of a player's private states at the deals that follow one betting line."""
        if not deals:
            return
        before = [bucket[self.parent[d]][player][self.above[d][player]] for d in deals]
        if not any(self.decides(d, player) for d in deals):
            for d, own in zip(deals, before, strict=True):
                bucket[d][player] = own
            return
        mass = np.concatenate([self.mass[d][player] for d in deals])
        feature = np.concatenate([features[d][player] for d in deals])
        now = split_within(np.concatenate(before), feature, mass, splitter)
        ends = np.cumsum([len(own) for own in before])[:-1]
        for d, own in zip(deals, np.split(now, ends), strict=True):
            bucket[d][player] = own


def split_within(before: np.ndarray, features: np.ndarray, mass: np.ndarray, splitter: Splitter) -> np.ndarray:
    """Return new buckets of private states, (states,), that split those before.

    Args:
        before: (states,) bucket of each private state in the round before.
        features: (states, k) what the splitter looks at.
        mass: (states,) mass of each private state.
    """
    found, count = np.zeros(len(before), np.int64), 0
    for one in np.unique(before):
        own = np.flatnonzero(before == one)
        found[own] = count + np.unique(splitter(features[own], mass[own]), return_inverse=True)[1].reshape(-1)
        count = int(found[own].max()) + 1
    return found


def rounds_of(game: GameTree, name: str) -> Rounds:
    """Return a game's private states round by round.

    Args:
        name: component that needs them.

    Raises:
        ComponentError: the game has no public tree.
    """
    try:
        return Rounds(game)
    except GameError as error:
        raise ComponentError(f"{name!r} needs a public tree, but {error}; {NONE}") from None


def hand_strengths(rounds: Rounds, name: str) -> list[list[np.ndarray]]:
    """Return, for each deal at which hands are shown down, both players' hand strengths, (states,); others are empty.

    A hand strength is P(win) + P(tie) / 2 against what the other player may hold.

    Raises:
        ComponentError: payoffs do not compare hands alike after all betting.
    """
    tree, found = rounds.tree, [[np.zeros(0), np.zeros(0)] for _ in rounds.rows]
    shown: dict[int, np.ndarray] = {}
    tied: dict[int, np.ndarray] = {}
    for (kind, _, _, deal), members in zip(tree.nodes, tree.members, strict=True):
        if kind != MATRIX or (rounds.game.histories["actor"][members] != TERMINAL).any():
            continue
        sign = np.sign(tree.value[members])
        if sign.min() == sign.max():  # pays alike whatever is held: a fold, or a board on which all hands tie
            if sign[0] == 0:
                tied[deal] = sign
            continue
        if deal in shown and not np.array_equal(shown[deal], sign):
            raise ComponentError(f"{name!r} needs hands that have an order, which {rounds.game.name!r} has not; {NONE}")
        shown[deal] = sign
    for deal, sign in (tied | shown).items():
        probability = tree.deals[deal].probability
        for player, wins in enumerate(((1 + sign) / 2, (1 - sign) / 2)):
            rows, mass = rounds.rows[deal][:, player], rounds.mass[deal][player]
            total = np.bincount(rows, probability * wins)
            found[deal][player] = np.divide(total, mass, out=np.full(len(mass), 0.5), where=mass > 0)
    return found


def expected_over_boards(rounds: Rounds, last: list[list[np.ndarray]], name: str) -> list[list[np.ndarray]]:
    """Return features of private states at all deals: those of the last deals, averaged over the outcomes before them.

    Args:
        last: for each deal and player, features (states, k) or numbers (states,); empty where there are none.

    Returns:
        For each deal and player, features (states, k).

    Raises:
        ComponentError: after some deal, hands are never shown down.
    """
    width = max((own.reshape(len(own), -1).shape[1] for pair in last for own in pair if len(own)), default=1)
    found = [[np.zeros((len(above), width)) for above in pair] for pair in rounds.above]
    weight = [[np.zeros(len(above)) for above in pair] for pair in rounds.above]
    for deal in range(len(found) - 1, -1, -1):
        for player in range(2):
            own, mass = last[deal][player], rounds.mass[deal][player]
            if len(own):
                found[deal][player] = own.reshape(len(own), -1).astype(float)
                weight[deal][player] = np.ones(len(own))
            else:
                sums, total = found[deal][player], weight[deal][player]
                found[deal][player] = np.divide(sums, total[:, None], out=np.zeros_like(sums), where=total[:, None] > 0)
            parent = rounds.parent[deal]
            if parent >= 0:
                known = mass * (weight[deal][player] > 0)
                above = rounds.above[deal][player]
                np.add.at(found[parent][player], above, found[deal][player] * known[:, None])
                np.add.at(weight[parent][player], above, known)
    bare = any(
        (weight[deal][player] == 0).any() and rounds.decides(deal, player)
        for deal in range(len(found))
        for player in range(2)
    )
    if bare:
        raise ComponentError(
            f"{name!r} needs hands that are shown down, as in poker, which {rounds.game.name!r} lacks; {NONE}"
        )
    return found
