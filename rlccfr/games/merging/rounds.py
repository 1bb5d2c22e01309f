"""Buckets of private states, round by round, in a compiled game in which only chance hides anything.

Boards are not distinguished: an infoset's bucket is given by its betting line and by the buckets that its player's
private states have been in so far.
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
"""Function that returns private states' buckets, (states,), from their features, (states, k), and masses, (states,)."""

NONE = "use abstraction='none' instead"
"""Advice at the end of errors about buckets of hands."""


class Rounds:
    """The private states of a game at each deal; a deal is a group of histories, as in :attr:`PublicTree.deals`.

    Attributes:
        tree: the public tree.
        rows: for each deal, both players' private states, (histories, 2).
        above: for each deal and player, (states,): for each private state, the state that the player had at the deal
            before.
        mass: for each deal and player, the probability of each private state, (states,).
        parent: (deals,) the deal from which each deal follows; -1 for the first.
        line: (nodes,) index of the betting line that leads to each public node; chance outcomes are not distinguished.
        dealt_on: (deals,) index of the betting line that ends with each deal's chance move.

    Raises:
        GameError: players hide more than what chance has dealt them.
    """

    def __init__(self, game: GameTree) -> None:
        self.game = game
        self.tree = PublicTree(game)
        self.rows = self.tree.settled()
        self.tree.sequences(self.rows)  # checks that no infoset belongs to two public nodes
        self.above: list[list[np.ndarray]] = []
        self.mass: list[list[np.ndarray]] = []
        for deal, rows in zip(self.tree.deals, self.rows, strict=True):
            above = [np.zeros(rows[:, player].max() + 1, np.int64) for player in range(2)]
            for player in range(2):
                above[player][rows[:, player]] = deal.above[:, player]
            self.above.append(above)
            self.mass.append([np.bincount(rows[:, player], deal.probability) for player in range(2)])
        self.parent = np.full(len(self.rows), -1)
        self.dealt_on = np.zeros(len(self.rows), np.int64)
        self.line = np.zeros(len(self.tree.nodes), np.int64)
        self._number_lines()

    def _number_lines(self) -> None:
        """Fill ``line``, ``dealt_on`` and ``parent``."""
        line_numbers: dict[tuple[int, int], int] = {}  # by the line before and the action; -1 stands for chance
        for node, (kind, num_children, first_child, deal) in enumerate(self.tree.nodes):
            for k in range(num_children):
                child = first_child + k
                step = (int(self.line[node]), -1 if kind == CHANCE else k)
                self.line[child] = line_numbers.setdefault(step, len(line_numbers) + 1)
                if kind == CHANCE:
                    child_deal = self.tree.nodes[child][3]
                    self.parent[child_deal] = deal
                    self.dealt_on[child_deal] = self.line[child]

    def decides(self, deal: int, player: int) -> bool:
        """Return whether a player acts between a deal and the next chance move."""
        return self.tree.deals[deal].rows[player] is not None

    def split(self, features: list[list[np.ndarray]], splitter: Splitter) -> np.ndarray:
        """Return the bucket of each infoset, (n,).

        Private states of a betting line that shared a bucket at the previous deal may be split; those in different
        buckets stay in different buckets.

        Args:
            features: for each deal and player, features of private states, (states, k).
            splitter: function that splits private states.
        """
        # First, buckets of private states. Lines are in the game's order, so the previous deal already has buckets.
        bucket = [[np.zeros(len(rows), np.int64) for rows in above] for above in self.above]
        for player in range(2):
            for line in np.unique(self.dealt_on):
                deals = [deal for deal in np.flatnonzero(self.dealt_on == line).tolist() if self.parent[deal] >= 0]
                self._split_line(deals, player, features, splitter, bucket)

        # Then, buckets of infosets: one for each betting line and bucket of its player's private states.
        infoset_bucket = np.zeros(self.game.num_infosets, np.int64)
        numbers: dict[tuple[int, int, int], int] = {}
        for node, (kind, _, _, deal) in enumerate(self.tree.nodes):
            if kind >= CHANCE:
                continue
            line = int(self.line[node])
            row_buckets = bucket[deal][kind].tolist()
            number_of = {b: numbers.setdefault((kind, line, b), len(numbers)) for b in set(row_buckets)}
            row_numbers = np.array([number_of[b] for b in row_buckets])
            infosets = self.game.histories["infoset"][self.tree.members[node]]
            infoset_bucket[infosets] = row_numbers[self.rows[deal][:, kind]]
        return infoset_bucket

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
        buckets_before = [bucket[self.parent[deal]][player][self.above[deal][player]] for deal in deals]
        if not any(self.decides(deal, player) for deal in deals):
            for deal, bucket_before in zip(deals, buckets_before, strict=True):
                bucket[deal][player] = bucket_before
            return
        # States of all deals are split together, since boards are not distinguished.
        mass = np.concatenate([self.mass[deal][player] for deal in deals])
        line_features = np.concatenate([features[deal][player] for deal in deals])
        new_bucket = split_within(np.concatenate(buckets_before), line_features, mass, splitter)
        ends = np.cumsum([len(bucket_before) for bucket_before in buckets_before])[:-1]
        for deal, deal_bucket in zip(deals, np.split(new_bucket, ends), strict=True):
            bucket[deal][player] = deal_bucket


def split_within(before: np.ndarray, features: np.ndarray, mass: np.ndarray, splitter: Splitter) -> np.ndarray:
    """Split the buckets of the round before; return the new bucket of each private state, (states,).

    Args:
        before: (states,) bucket of each private state in the round before.
        features: (states, k) features by which the splitter splits them.
        mass: (states,) mass of each private state.
        splitter: function that splits private states.
    """
    bucket = np.zeros(len(before), np.int64)
    num_buckets = 0
    for bucket_before in np.unique(before):
        members = np.flatnonzero(before == bucket_before)
        split = splitter(features[members], mass[members])
        bucket[members] = num_buckets + np.unique(split, return_inverse=True)[1].reshape(-1)
        num_buckets = int(bucket[members].max()) + 1
    return bucket


def rounds_of(game: GameTree, name: str) -> Rounds:
    """Return a game's private states round by round.

    Args:
        name: name of the component that needs the rounds, for the error.

    Raises:
        ComponentError: the game has no public tree.
    """
    try:
        return Rounds(game)
    except GameError as error:
        raise ComponentError(f"{name!r} needs a public tree, but {error}; {NONE}") from None


def hand_strengths(rounds: Rounds, name: str) -> list[list[np.ndarray]]:
    """Return for each deal both players' hand strengths, (states,); they are empty for a deal without showdowns.

    A hand strength is P(win) + P(tie) / 2 against the opponent's possible private states.

    Raises:
        ComponentError: which hand wins depends on the betting.
    """
    tree = rounds.tree
    shown: dict[int, np.ndarray] = {}  # for each deal, who wins at each history
    tied: dict[int, np.ndarray] = {}  # the same for deals at which all hands tie
    for (kind, _, _, deal), members in zip(tree.nodes, tree.members, strict=True):
        if kind != MATRIX or (rounds.game.histories["actor"][members] != TERMINAL).any():
            continue
        sign = np.sign(tree.value[members])
        if sign.min() == sign.max():  # the winner does not depend on the hands: a fold, or a board on which all tie
            if sign[0] == 0:
                tied[deal] = sign
            continue
        if deal in shown and not np.array_equal(shown[deal], sign):
            raise ComponentError(
                f"{name!r} needs the same order of hands at all showdowns, but in {rounds.game.name!r} the order "
                f"depends on the betting; {NONE}"
            )
        shown[deal] = sign

    strengths = [[np.zeros(0), np.zeros(0)] for _ in rounds.rows]
    for deal, sign in (tied | shown).items():
        probability = tree.deals[deal].probability
        for player, wins in enumerate(((1 + sign) / 2, (1 - sign) / 2)):
            rows = rounds.rows[deal][:, player]
            mass = rounds.mass[deal][player]
            total = np.bincount(rows, probability * wins)
            strengths[deal][player] = np.divide(total, mass, out=np.full(len(mass), 0.5), where=mass > 0)
    return strengths


def expected_over_boards(rounds: Rounds, last: list[list[np.ndarray]], name: str) -> list[list[np.ndarray]]:
    """Return features of private states at all deals; at all but the last deals, they are means over later outcomes.

    Args:
        last: for each deal and player, features (states, k) or (states,) if it is a last deal; empty otherwise.

    Returns:
        For each deal and player, features (states, k).

    Raises:
        ComponentError: there is a deal after which some private states never come to a showdown.
    """
    widths = [table.reshape(len(table), -1).shape[1] for of_players in last for table in of_players if len(table)]
    width = max(widths, default=1)
    features = [[np.zeros((len(above), width)) for above in of_players] for of_players in rounds.above]
    weight = [[np.zeros(len(above)) for above in of_players] for of_players in rounds.above]
    # Deals are numbered after their parents. In this order, a deal's mean is complete when it is added to its parent's.
    for deal in range(len(features) - 1, -1, -1):
        for player in range(2):
            last_features = last[deal][player]
            mass = rounds.mass[deal][player]
            if len(last_features):
                features[deal][player] = last_features.reshape(len(last_features), -1).astype(float)
                weight[deal][player] = np.ones(len(last_features))
            else:
                sums = features[deal][player]
                total = weight[deal][player][:, None]
                features[deal][player] = np.divide(sums, total, out=np.zeros_like(sums), where=total > 0)
            parent = rounds.parent[deal]
            if parent >= 0:
                # Only states that come to a showdown have features, so only these count in the mean.
                shown_mass = mass * (weight[deal][player] > 0)
                above = rounds.above[deal][player]
                np.add.at(features[parent][player], above, features[deal][player] * shown_mass[:, None])
                np.add.at(weight[parent][player], above, shown_mass)
    # A state at which its player does not act needs no bucket, and so no features.
    never_shown = any(
        (weight[deal][player] == 0).any() and rounds.decides(deal, player)
        for deal in range(len(features))
        for player in range(2)
    )
    if never_shown:
        raise ComponentError(
            f"{name!r} needs a game with showdowns, as in poker, but some hands of {rounds.game.name!r} never come to "
            f"one; {NONE}"
        )
    return features
