"""Generated poker: hands from a random joint distribution, random hand strengths, and random stakes."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from rlccfr.games.generated.spiel import CHANCE, TERMINAL, Parameter, Rules, register

FOLD, CALL, RAISE = 0, 1, 2
NAMES = ("Fold", "Call", "Raise")
ANTE = 1.0
VERSION = 1
"""Version of the generator. It is part of the seed of all draws, so another version makes other games from a seed."""


class Table(NamedTuple):
    """The public state of a game after both hands are dealt."""

    over: int  # number of betting rounds that are over
    board: int  # -1 before it is dealt
    to_move: int  # the player who acts next
    paid: tuple[float, float]  # what each player has put into the pot
    raises: int  # in this round
    acted: bool  # whether a player has acted in this round
    folded: int  # the player who has folded, or -1


class Poker(Rules):
    """Two betting rounds with a public board dealt in between, or one betting round without a board.

    Each player gets a hand; the pair is drawn from a random joint distribution. Each player has a table with a random
    strength for each hand and board; strengths are whole numbers, so that ties happen. The player with the greater
    strength wins the pot.

    Args:
        seed: seed of all draws.
        hands: number of hands that a player can have.
        boards: number of boards; 1 means one round of betting without a board.
        raises: largest number of raises in a round.
    """

    def __init__(self, seed: int, hands: int, boards: int, raises: int) -> None:
        # RandomState, since its draws are the same in all versions of NumPy.
        random = np.random.RandomState([VERSION, seed, hands, boards, raises])
        self.raises = raises
        self.rounds = 1 if boards == 1 else 2
        pair = random.exponential(size=(hands, hands))
        self.pair_probability = pair / pair.sum()  # (hands, hands): player 0's hand, player 1's
        board = random.exponential(size=(hands, hands, boards))
        self.board_probability = board / board.sum(axis=2, keepdims=True)  # (hands, hands, boards), given the pair
        self.strength = random.randint(2 * hands, size=(2, hands, boards))  # by player, its hand and the board
        self.stakes = np.cumprod(random.choice([1.0, 1.5, 2.0, 3.0], size=self.rounds))
        self.most_actions = len(NAMES)
        self.most_outcomes = max(hands, boards)
        self.table_after = lru_cache(maxsize=4096)(self._table)
        self.longest_path = 3 + self.rounds * (raises + 2)
        self.largest_payoff = ANTE + raises * float(self.stakes.sum())

    def _table(self, past: tuple[int, ...]) -> Table:
        """Return the public state after these deals and actions."""
        table = Table(0, -1 if self.rounds == 2 else 0, 0, (ANTE, ANTE), 0, False, -1)
        for action in past[2:]:
            table = table._replace(board=action) if self._awaits_board(table) else self._after(table, action)
        return table

    def _awaits_board(self, table: Table) -> bool:
        return table.over == 1 and table.board < 0

    def _after(self, table: Table, action: int) -> Table:
        """Return the public state after a player's action."""
        mover = table.to_move
        paid = list(table.paid)
        if action == FOLD:
            return table._replace(folded=mover)
        paid[mover] = paid[1 - mover]
        if action == RAISE:
            paid[mover] += float(self.stakes[table.over])
            return table._replace(paid=(paid[0], paid[1]), raises=table.raises + 1, acted=True, to_move=1 - mover)
        if table.acted:
            return table._replace(paid=(paid[0], paid[1]), over=table.over + 1, raises=0, acted=False, to_move=0)
        return table._replace(acted=True, to_move=1 - mover)

    def actor(self, past: tuple[int, ...]) -> Any:
        if len(past) < 2:
            return CHANCE
        table = self.table_after(past)
        if table.folded >= 0 or table.over == self.rounds:
            return TERMINAL
        return CHANCE if self._awaits_board(table) else table.to_move

    def actions(self, past: tuple[int, ...]) -> list[int]:
        table = self.table_after(past)
        faces_raise = table.paid[0] != table.paid[1]
        return [FOLD] * faces_raise + [CALL] + [RAISE] * (table.raises < self.raises)

    def outcomes(self, past: tuple[int, ...]) -> list[tuple[int, float]]:
        if not past:
            chances = self.pair_probability.sum(axis=1)
        elif len(past) == 1:
            chances = self.pair_probability[past[0]] / self.pair_probability[past[0]].sum()
        else:
            chances = self.board_probability[past[0], past[1]]
        return [(outcome, float(chance)) for outcome, chance in enumerate(chances)]

    def utility(self, past: tuple[int, ...]) -> float:
        table = self.table_after(past)
        if table.folded >= 0:
            return table.paid[1] if table.folded == 1 else -table.paid[0]
        first, second = (self.strength[player, past[player], table.board] for player in (0, 1))
        return float(np.sign(first - second)) * table.paid[0]

    def seen(self, past: tuple[int, ...], player: int) -> str:
        return " ".join(map(str, (f"player {player}:", *past[player : player + 1], "|", *past[2:])))

    def name(self, past: tuple[int, ...], action: int) -> str:
        return NAMES[action] if self.actor(past) in (0, 1) else str(action)


register(
    "random_poker",
    "Poker made from a seed",
    {
        "seed": Parameter(0, 0, 2**31 - 1),
        "hands": Parameter(4, 2, 64),
        "boards": Parameter(3, 1, 64),
        "raises": Parameter(2, 1, 8),
    },
    Poker,
)
