"""What a policy is worth at each infoset, and what each action would gain there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rlccfr.games.flat_tree import GameTree
from rlccfr.games.records import CHANCE


class Analysis(NamedTuple):
    """Figures of a policy at each of n infosets and m sequences, if both players follow it.

    Values are in the game's units, to the infoset's owner, who is taken to have played to reach the infoset. They are
    NaN at infosets that the opponent and chance never reach.

    Attributes:
        reach: (n,): probability that the infoset is reached.
        value: (n,): expected payoff there.
        gain: (m,): by how much an action's expected payoff exceeds ``value``, if the owner takes it and then follows
            the policy. In an equilibrium, none is above 0 at infosets that the owner's own moves reach.
    """

    reach: np.ndarray
    value: np.ndarray
    gain: np.ndarray


class Histories(NamedTuple):
    """Figures of a policy at each history, if both players follow it.

    Attributes:
        above: (histories,): the history above; -1 for the root.
        taken: (histories,): the sequence that leads to it; -1 after chance and at the root.
        reach: (3, histories): probability that player 0's moves, player 1's and chance's lead to it.
        value: (histories,): player 0's expected payoff there.
    """

    above: np.ndarray
    taken: np.ndarray
    reach: np.ndarray
    value: np.ndarray


def followed(tree: GameTree, probabilities: np.ndarray) -> Histories:
    """Return the figures of a policy, (m,), at each history."""
    histories, levels = tree.histories, list(tree.levels())
    found = Histories(
        above=np.full(tree.num_histories, -1),
        taken=np.full(tree.num_histories, -1),
        reach=np.ones((3, tree.num_histories)),
        value=tree.utility.copy(),
    )
    step = tree.probability.copy()
    for level, above, place in levels:
        actor = histories["actor"][above]
        decided = actor < CHANCE
        found.above[level] = above
        found.taken[level[decided]] = histories["first_sequence"][above[decided]] + place[decided]
        step[level[decided]] = probabilities[found.taken[level[decided]]]
        found.reach[:, level] = found.reach[:, above]
        found.reach[actor, level] *= step[level]
    for level, above, _ in reversed(levels):
        np.add.at(found.value, above, step[level] * found.value[level])
    return found


def analysed(tree: GameTree, along: Histories) -> Analysis:
    """Return the figures of a policy at each infoset from those at each history."""
    actor, infoset = tree.histories["actor"], tree.histories["infoset"]
    decides = np.flatnonzero(actor < CHANCE)
    others = along.reach[1 - actor[decides], decides] * along.reach[CHANCE, decides]
    sign = np.where(actor == 0, 1.0, -1.0)
    mass = np.bincount(infoset[decides], others, tree.num_infosets)
    own = np.bincount(infoset[decides], others * sign[decides] * along.value[decides], tree.num_infosets)
    moved = np.flatnonzero(along.taken >= 0)
    above = along.above[moved]
    weight = along.reach[1 - actor[above], above] * along.reach[CHANCE, above] * sign[above]
    action = np.bincount(along.taken[moved], weight * along.value[moved], tree.num_sequences)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = own / mass
        gain = action / mass[tree.owner] - value[tree.owner]
    reach = np.bincount(infoset[decides], along.reach[:, decides].prod(axis=0), tree.num_infosets)
    return Analysis(reach, value, gain)
