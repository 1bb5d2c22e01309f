"""What several tests need."""

from __future__ import annotations

from functools import cache

import numpy as np
from numba import njit

import rlccfr
from rlccfr.game_tree import GameTree
from rlccfr.kernels.handles import inclusion_of
from rlccfr.kernels.walk import walk

SMALL_DICE = "liars_dice(numdice=1,dice_sides=3)"
FORGETFUL = (  # universal_poker whose information states forget the order of two public cards
    "universal_poker(betting=limit,numPlayers=2,numRounds=3,blind=1 1,raiseSize=2 4 4,firstPlayer=1 1 1,"
    "maxRaises=1 1 1,numSuits=2,numRanks=2,numHoleCards=1,numBoardCards=0 1 1)"
)


@cache
def game(name: str, restore_recall: bool | None = None) -> GameTree:
    """A compiled game, once a process."""
    return rlccfr.load_game(name, restore_recall=restore_recall)


def walks(solver: rlccfr.Solver, traverser: int, count: int, weight: float) -> None:
    """Add the estimates of so many walks to the engine's tables, each with a weight, and fold nothing."""
    engine = solver._engine
    _walks(
        count, solver.game.histories, traverser, weight, engine._plan, engine._inclusion, engine._parameters,
        engine._walk_tables, engine._frames, engine.rng,
    )  # fmt: skip


@njit(error_model="numpy", _nrt=False)  # not cached: the cache would not notice a change of walk
def _walks(count, histories, traverser, weight, plan, inclusion, parameters, tables, frames, rng):
    function = inclusion_of(inclusion)
    for _ in range(count):
        walk(histories, traverser, weight, weight, plan, function, parameters, tables, frames, rng)


def random_policy(tree: GameTree, seed: int) -> rlccfr.Policy:
    """A policy with probabilities at random, about a third of them 0."""
    rng = np.random.default_rng(seed)
    weights = rng.random(tree.num_sequences) * (rng.random(tree.num_sequences) > 0.3)
    return rlccfr.Policy.from_sums(tree, weights)


def rows(tree: GameTree, table: np.ndarray) -> dict[str, np.ndarray]:
    """A table over sequences as the reference keeps it: by player and information state."""
    second = int(tree.view.infoset_begin[1])
    return {f"{int(i >= second)} {key}": table[tree.infoset_sequences(i)] for i, key in enumerate(tree.infoset_keys)}
