"""Bluff (liar's dice) with two players: the public tree of one round; its payoffs are the values of later rounds.

Faces are 1 to 5 and a star, which counts as any face. A bid names a quantity and a face. A new bid raises the quantity,
or the face at the same quantity. Instead of bidding, a player may call the last bid. The bid holds if the number of
all dice that show its face or a star is at least its quantity. If it holds, the bidder wins the round; otherwise the
caller does. The loser removes a die, and the winner begins the next round. A player without dice has lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import factorial, prod

import numpy as np

from rlccfr.games.public.claims import check_public
from rlccfr.games.public.nodes import number_outcomes, tables_of
from rlccfr.games.public.records import DEAL, DICE, NODE, PublicView
from rlccfr.games.public.view import PublicGame, ranges

FACES = "12345*"

VALUES = {(1, 1): -0.0271318, (2, 1): 0.616507}
"""Values of the rest of the game to the player who begins, keyed by its number of dice and the opponent's.

They were computed by ``python -m benchmarks.bluff``, with errors of at most 6e-6.
"""


@dataclass(frozen=True)
class Bluff:
    """The rules of a game that begins with some dice for each player.

    Attributes:
        dice: number of dice of each player; player 0 begins.
    """

    dice: tuple[int, int]

    @property
    def num_bids(self) -> int:
        """Number of possible bids. Bids only rise, so each set of bids can be made in just one order."""
        return len(FACES) * sum(self.dice)

    def least_entries(self) -> int:
        """Return the number of table entries, without building the game."""
        return int(2**self.num_bids - 1) * sum(len(list(rolls(dice))) for dice in self.dice)

    def payoffs(self) -> tuple[float, float]:
        """Return what player 0 gets if it wins the round, and if it loses the round."""
        dice_0, dice_1 = self.dice
        # A player without dice has lost. Otherwise the winner begins the next round, in which the loser has a die less.
        if_won = 1.0 if dice_1 == 1 else VALUES[dice_0, dice_1 - 1]
        if_lost = -1.0 if dice_0 == 1 else -VALUES[dice_1, dice_0 - 1]
        return if_won, if_lost

    def build(self, name: str) -> PublicGame:
        """Build the game."""
        chunks, moves = zip(*self._levels(), strict=True)
        nodes = np.concatenate(chunks)
        rolls_of = [list(rolls(dice)) for dice in self.dice]  # each player's possible rolls
        num_rolls = [len(own_rolls) for own_rolls in rolls_of]
        deals = np.zeros(1, DEAL)
        deals["rows"] = num_rolls
        # Player 1's rolls come after player 0's in all arrays over private states.
        deals["edge"] = [0, num_rolls[0]]
        deals["share"] = 1.0
        # At calls, ``table`` holds the bid already, and 0 is added there.
        nodes["table"] += tables_of(nodes["kind"], nodes["num_children"], nodes["deal"], deals["rows"])
        outcomes = number_outcomes(nodes)
        weights = [np.array([ways(roll) for roll in own_rolls], float) for own_rolls in rolls_of]
        all_rolls = rolls_of[0] + rolls_of[1]
        payoffs = self.payoffs()
        no_hands = np.zeros((0, 2), np.uint8)
        view = PublicView(
            nodes=nodes,
            deals=deals,
            above=np.zeros(len(all_rolls), np.int32),
            weight=np.concatenate(weights),
            payoffs=np.array(payoffs),
            hand_end=np.zeros(0, np.int32),
            hands=no_hands,
            firsts=no_hands,
            group_end=np.zeros(0, np.int32),
            outcomes=outcomes,
            matches=np.array([[matching(roll, face) for face in FACES] for roll in all_rolls], np.uint8),
            reach=np.ones(len(all_rolls)),
            same=np.zeros(0, np.int32),
        )
        game = PublicGame(
            name=name,
            view=view,
            # Probability of one ordered outcome of all dice; the weights count the outcomes of each roll.
            pair_probability=len(FACES) ** -float(sum(self.dice)),
            mass=(weights[0], weights[1]),
            utility_range=payoffs[0] - payoffs[1],
            depth=self.num_bids + 1,
            moves=np.concatenate(moves),
            private_names=tuple(tuple("".join(roll) for roll in own_rolls) for own_rolls in rolls_of),
        )
        return check_public(game)

    def _levels(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the nodes of each level, from the root down, with the names of the actions that lead to them."""
        # Bids are numbered from the lowest; a bid is followed by any higher one, or by a call.
        last_bid = np.full(1, -1)
        is_call = np.zeros(1, bool)
        actor = 0
        begin = 0
        while len(last_bid):
            nodes = np.zeros(len(last_bid), NODE)
            nodes["kind"] = np.where(is_call, DICE, actor)
            later_bids = self.num_bids - 1 - last_bid
            may_call = last_bid >= 0
            nodes["num_children"] = np.where(is_call, 0, later_bids + may_call)
            counts = nodes["num_children"].astype(np.int64)
            begin += len(nodes)
            nodes["first_child"] = begin + np.cumsum(counts) - counts
            nodes["table"] = np.where(is_call, last_bid, 0)
            nodes["payoff"] = 1.0 if actor == 0 else -1.0  # after a call, the player who would act next made the bid
            yield nodes, self._names(last_bid, is_call)
            bid_before = np.repeat(last_bid, counts)
            child = ranges(last_bid + 1, counts)  # a bid, or num_bids for a call
            is_call = child == self.num_bids
            last_bid = np.where(is_call, bid_before, child)
            actor = 1 - actor

    def _names(self, last_bid: np.ndarray, is_call: np.ndarray) -> np.ndarray:
        """Return the name of the action that leads to each node: a quantity and a face, or ``call``."""
        bids = [f"{quantity + 1}{face} " for quantity in range(sum(self.dice)) for face in FACES]
        names = np.array([*bids, ""], "S5")[last_bid]  # at the root, last_bid is -1: the empty name
        return np.where(is_call, np.bytes_("call"), names)


def rolls(dice: int) -> Iterator[tuple[str, ...]]:
    """Yield all different rolls of ``dice`` dice; the order of the dice in a roll does not matter."""
    return combinations_with_replacement(FACES, dice)


def ways(roll: tuple[str, ...]) -> int:
    """Return the number of ordered outcomes of the dice that give this roll."""
    return factorial(len(roll)) // prod(map(factorial, Counter(roll).values()))


def matching(roll: tuple[str, ...], face: str) -> int:
    """Return the number of dice that show a face or a star."""
    return sum(die in (face, FACES[-1]) for die in roll)
