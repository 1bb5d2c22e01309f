"""What several tests need."""

from __future__ import annotations

from functools import cache

import numpy as np

import rlccfr
from rlccfr.games.flat_tree import GameTree

SMALL_DICE = "liars_dice(numdice=1,dice_sides=3)"
FORGETFUL = (  # universal_poker whose information states forget the order of two public cards
    "universal_poker(betting=limit,numPlayers=2,numRounds=3,blind=1 1,raiseSize=2 4 4,firstPlayer=1 1 1,"
    "maxRaises=1 1 1,numSuits=2,numRanks=2,numHoleCards=1,numBoardCards=0 1 1)"
)


@cache
def game(name: str, restore_recall: bool | None = None) -> GameTree:
    """A compiled game, once a process."""
    return rlccfr.load_game(name, restore_recall=restore_recall)


def random_policy(tree: GameTree, seed: int) -> rlccfr.Policy:
    """A policy with probabilities at random, about a third of them 0."""
    rng = np.random.default_rng(seed)
    weights = rng.random(tree.num_sequences) * (rng.random(tree.num_sequences) > 0.3)
    return rlccfr.Policy.from_sums(tree, weights)


def rows(tree: GameTree, table: np.ndarray) -> dict[str, np.ndarray]:
    """A table over sequences as the reference keeps it: by player and information state."""
    second = int(tree.view.infoset_begin[1])
    return {f"{int(i >= second)} {key}": table[tree.infoset_sequences(i)] for i, key in enumerate(tree.infoset_keys)}
