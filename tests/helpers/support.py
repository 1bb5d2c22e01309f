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


def place(
    solver: rlccfr.Solver, iteration: int, regret: np.ndarray | None = None, policy: np.ndarray | None = None
) -> None:
    """Put a solver after an iteration, with these cumulative regrets, or none, and this policy, or the matching one."""
    engine = solver._engine
    engine.counts[0] = iteration
    engine.regret[:] = 0.0 if regret is None else regret
    if policy is None:
        policy = rlccfr.Policy.from_sums(solver.game, np.maximum(engine.regret, 0)).probabilities
    engine.policy[:] = policy


def regrets(solver: rlccfr.Solver) -> np.ndarray:
    """(m,) cumulative regrets, the newest with weight 1."""
    return solver._engine.true_regret()


def policy_sum(solver: rlccfr.Solver) -> np.ndarray:
    """(m,) weighted sum of the players' reach-weighted policies, the newest with weight 1."""
    return solver._engine.true_policy_sum()


def rows(tree: GameTree, table: np.ndarray) -> dict[str, np.ndarray]:
    """A table over sequences as the reference keeps it: by player and information state."""
    second = int(tree.view.infoset_begin[1])
    return {f"{int(i >= second)} {key}": table[tree.infoset_sequences(i)] for i, key in enumerate(tree.infoset_keys)}
