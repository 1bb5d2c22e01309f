"""Generated games of hidden moves: two players with private types move, and may or may not see each other's moves."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from rlccfr.games.generated.spiel import CHANCE, TERMINAL, Parameter, Rules, register

VERSION = 1
"""Version of the generator. It is part of the seed of all draws, so another version makes other games from a seed."""

MOST_ENDS = 4_000_000
"""Largest number of terminal histories of a game; each of them needs a random number."""


class Moves(Rules):
    """A fixed number of moves by two players, each of whom has a type that the opponent does not know.

    Each game draws who makes each move, and what the opponent sees of it. The opponent may see which action it was, see
    it except that two of the actions look alike, or see nothing. Player 0's payoff is a sum of entries of random
    tables. There is a table for each pair of successive moves, with an entry for each choice of both types and both
    actions, and one table with an entry for each choice of the types and all actions.

    Args:
        seed: seed of all draws.
        types: number of types of each player; the pair of types is drawn from a random joint distribution.
        moves: number of moves.
        actions: number of actions at each move.
    """

    def __init__(self, seed: int, types: int, moves: int, actions: int) -> None:
        if types**2 * actions**moves > MOST_ENDS:
            raise ValueError(
                f"a game of {types} types, {moves} moves and {actions} actions has too many terminal histories: reduce "
                "one of these numbers"
            )
        # RandomState, since its draws are the same in all versions of NumPy.
        random = np.random.RandomState([VERSION, seed, types, moves, actions])
        self.num_moves = moves
        self.num_actions = actions
        pair = random.exponential(size=(types, types))
        self.pair_probability = pair / pair.sum()
        self.mover = (np.arange(moves) + (random.random_sample(moves) < 0.2)) % 2
        self.looks = np.stack([self._draw_looks(random) for _ in range(moves)])
        self.pair_payoffs = random.normal(size=(moves, types, types, actions, actions))
        self.path_payoffs = random.normal(size=(types, types, *(actions,) * moves))
        self.most_actions = actions
        self.most_outcomes = types
        self.longest_path = 2 + moves
        self.largest_payoff = float(np.abs(self.pair_payoffs).max() * moves + np.abs(self.path_payoffs).max())

    def _draw_looks(self, random: np.random.RandomState) -> np.ndarray:
        """Return what the opponent sees of each action: a number; actions with equal numbers look alike."""
        looks = np.arange(self.num_actions)
        lot = random.random_sample()
        if lot < 0.3:  # all actions look alike
            return np.zeros_like(looks)
        if lot < 0.6:  # two of them do
            first, second = random.choice(self.num_actions, 2, replace=False)
            looks[first] = looks[second]
        return looks

    def actor(self, past: tuple[int, ...]) -> Any:
        moves_so_far = len(past) - 2  # the first two entries are the players' types
        if moves_so_far < 0:
            return CHANCE
        return TERMINAL if moves_so_far == self.num_moves else int(self.mover[moves_so_far])

    def actions(self, past: tuple[int, ...]) -> list[int]:
        return list(range(self.num_actions))

    def outcomes(self, past: tuple[int, ...]) -> list[tuple[int, float]]:
        chances = (
            self.pair_probability.sum(axis=1)
            if not past
            else self.pair_probability[past[0]] / self.pair_probability[past[0]].sum()
        )
        return [(outcome, float(chance)) for outcome, chance in enumerate(chances)]

    def utility(self, past: tuple[int, ...]) -> float:
        types = past[:2]
        moves = past[2:]
        pair_payoffs = sum(self.pair_payoffs[(k, *types, *pair)] for k, pair in enumerate(pairwise(moves)))
        return float(pair_payoffs + self.path_payoffs[past])

    def seen(self, past: tuple[int, ...], player: int) -> str:
        words = [f"player {player}:", *past[player : player + 1], "|"]
        for k, action in enumerate(past[2:]):
            words.append(f"own {action}" if self.mover[k] == player else f"{self.looks[k, action]}")
        return " ".join(map(str, words))

    def name(self, past: tuple[int, ...], action: int) -> str:
        return str(action)


register(
    "random_moves",
    "A game of hidden moves made from a seed",
    {
        "seed": Parameter(0, 0, 2**31 - 1),
        "types": Parameter(3, 1, 16),
        "moves": Parameter(6, 1, 12),
        "actions": Parameter(2, 2, 6),
    },
    Moves,
)
