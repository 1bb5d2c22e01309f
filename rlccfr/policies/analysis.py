"""What a policy is worth at each infoset, and what each action would gain there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rlccfr.games.flat_tree import CHANCE, GameTree


class Analysis(NamedTuple):
    """Figures of a policy at each of n infosets and m sequences, if both players follow it.

    Values are in the game's units, to the infoset's owner, who is taken to have played to reach the infoset. They are
    NaN where the opponent and chance never lead.

    Attributes:
        reach: (n,): probability that the infoset is reached.
        value: (n,): expected payoff there.
        gain: (m,): what an action's expected payoff exceeds ``value`` by, if the owner takes it and then follows the
            policy. In an equilibrium, none is above 0.
    """

    reach: np.ndarray
    value: np.ndarray
    gain: np.ndarray


def analysed(tree: GameTree, probabilities: np.ndarray) -> Analysis:
    """Return the figures of a policy, (m,), by one pass over the histories."""
    histories = tree.histories
    levels = list(tree.levels())
    sequence = np.full(tree.num_histories, -1)  # the sequence that leads to each history
    reach = np.ones((3, tree.num_histories))  # by player 0's, player 1's and chance's moves
    for level, above, place in levels:
        actor = histories["actor"][above]
        decided = actor < CHANCE
        sequence[level[decided]] = histories["first_sequence"][above[decided]] + place[decided]
        reach[:, level] = reach[:, above]
        step = np.where(decided, probabilities[sequence[level]], tree.probability[level])
        reach[actor, level] *= step
    value = tree.utility.copy()
    for level, above, _ in reversed(levels):
        step = np.where(sequence[level] >= 0, probabilities[sequence[level]], tree.probability[level])
        np.add.at(value, above, step * value[level])
    decides = np.flatnonzero(histories["actor"] < CHANCE)
    infoset, player = histories["infoset"][decides], histories["actor"][decides]
    sign = np.where(player == 0, 1.0, -1.0)
    others = reach[1 - player, decides] * reach[CHANCE, decides]
    mass = np.bincount(infoset, others, tree.num_infosets)
    own = np.bincount(infoset, others * sign * value[decides], tree.num_infosets)
    taken = np.flatnonzero(sequence >= 0)
    above = _above(levels, tree.num_histories)[taken]
    weight = np.where(histories["actor"][above] == 0, reach[1, above], -reach[0, above]) * reach[CHANCE, above]
    action = np.bincount(sequence[taken], weight * value[taken], tree.num_sequences)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = own / mass
        gain = action / mass[tree.owner] - found[tree.owner]
    return Analysis(np.bincount(infoset, reach[:, decides].prod(axis=0), tree.num_infosets), found, gain)


def _above(levels: list[tuple[np.ndarray, np.ndarray, np.ndarray]], count: int) -> np.ndarray:
    """Return the history above each history, (count,); -1 for the root."""
    found = np.full(count, -1)
    for level, above, _ in levels:
        found[level] = above
    return found
