"""Generated games of hidden moves: players with types move in turn, and each may see the other's move or not."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from rlccfr.games.generated.spiel import CHANCE, TERMINAL, Parameter, Rules, register

VERSION = 1
"""Version of the games that seeds stand for; part of the seed of all draws."""

MOST_ENDS = 4_000_000
"""Most ends of a game, each of which has a random number."""


class Moves(Rules):
    """A fixed number of moves by two players, each of whom has a type that the other one does not know.

    Who moves at each step is drawn per game. So is what the opponent sees of each action: all of it, part of it (two
    actions look alike), or nothing. The payoff is a sum of random tables: one for each two successive moves with the
    types, and one for the types and all moves together.

    Args:
        types: number of types of each player; their pair is drawn from a random joint distribution.
        moves: number of moves.
        actions: number of actions at each move.
    """

    def __init__(self, seed: int, types: int, moves: int, actions: int) -> None:
        if types**2 * actions**moves > MOST_ENDS:
            raise ValueError(f"a game of {types} types, {moves} moves and {actions} actions has too many ends")
        random = np.random.RandomState([VERSION, seed, types, moves, actions])  # its draws never change
        self.count, self.choices = moves, actions
        pair = random.exponential(size=(types, types))
        self.pair = pair / pair.sum()
        self.mover = (np.arange(moves) + (random.random_sample(moves) < 0.2)) % 2
        self.shown = np.stack([self._shown(random) for _ in range(moves)])
        self.parts = random.normal(size=(moves, types, types, actions, actions))
        self.whole = random.normal(size=(types, types, *(actions,) * moves))
        self.most_actions, self.most_outcomes, self.longest = actions, types, 2 + moves
        self.most = float(np.abs(self.parts).max() * moves + np.abs(self.whole).max())

    def _shown(self, random: np.random.RandomState) -> np.ndarray:
        """Return what the opponent sees of each action: a number; actions with equal numbers look alike."""
        looks = np.arange(self.choices)
        kind = random.random_sample()
        if kind < 0.3:
            return np.zeros_like(looks)
        if kind < 0.6:
            one, other = random.choice(self.choices, 2, replace=False)
            looks[one] = looks[other]
        return looks

    def actor(self, past: tuple[int, ...]) -> Any:
        made = len(past) - 2
        if made < 0:
            return CHANCE
        return TERMINAL if made == self.count else int(self.mover[made])

    def actions(self, past: tuple[int, ...]) -> list[int]:
        return list(range(self.choices))

    def outcomes(self, past: tuple[int, ...]) -> list[tuple[int, float]]:
        chances = self.pair.sum(axis=1) if not past else self.pair[past[0]] / self.pair[past[0]].sum()
        return [(outcome, float(chance)) for outcome, chance in enumerate(chances)]

    def utility(self, past: tuple[int, ...]) -> float:
        types, made = past[:2], past[2:]
        parts = sum(self.parts[(k, *types, *pair)] for k, pair in enumerate(pairwise(made)))
        return float(parts + self.whole[past])

    def seen(self, past: tuple[int, ...], player: int) -> str:
        parts = [f"player {player}:", *past[player : player + 1], "|"]
        for k, action in enumerate(past[2:]):
            parts.append(f"own {action}" if self.mover[k] == player else f"{self.shown[k, action]}")
        return " ".join(map(str, parts))

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
