"""Expected payoffs of a policy at each infoset, and what each action would gain there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rlccfr.games.flat_tree import GameTree
from rlccfr.games.records import CHANCE


class InfosetFigures(NamedTuple):
    """Figures of a policy at each of n infosets and m sequences, if both players follow it.

    Values are those of the infoset's owner, in the game's units, and assume that the owner's own moves lead to the
    infoset. They are NaN at infosets to which the moves of the opponent and of chance never lead.

    Attributes:
        reach: (n,): probability that the infoset is reached.
        value: (n,): expected payoff there.
        gain: (m,): by how much an action's expected payoff exceeds ``value``, if the owner takes the action and then
            follows the policy. In an equilibrium, no gain is above 0 at infosets that the owner's own moves reach.
    """

    reach: np.ndarray
    value: np.ndarray
    gain: np.ndarray


class HistoryFigures(NamedTuple):
    """Figures of a policy at each history, if both players follow it.

    Attributes:
        parent: (histories,): each history's parent; -1 for the root.
        sequence: (histories,): the sequence of the action that leads to it; -1 after a chance node and at the root.
        reach: (3, histories): probabilities that player 0's moves, player 1's moves, and chance's moves lead to it.
        value: (histories,): player 0's expected payoff there.
    """

    parent: np.ndarray
    sequence: np.ndarray
    reach: np.ndarray
    value: np.ndarray


def figures_of_histories(tree: GameTree, probabilities: np.ndarray) -> HistoryFigures:
    """Return the figures of a policy, (m,), at each history."""
    histories = tree.histories
    levels = list(tree.levels())
    figures = HistoryFigures(
        parent=np.full(tree.num_histories, -1),
        sequence=np.full(tree.num_histories, -1),
        reach=np.ones((3, tree.num_histories)),
        value=tree.utility.copy(),
    )
    move_probability = tree.probability.copy()
    # From the root down: a move's probability is a factor of the reach of the one who makes it.
    for level, parents, action in levels:
        actor = histories["actor"][parents]
        by_player = actor < CHANCE
        figures.parent[level] = parents
        figures.sequence[level[by_player]] = histories["first_sequence"][parents[by_player]] + action[by_player]
        move_probability[level[by_player]] = probabilities[figures.sequence[level[by_player]]]
        figures.reach[:, level] = figures.reach[:, parents]
        figures.reach[actor, level] *= move_probability[level]
    # From the leaves up: values are means over the moves.
    for level, parents, _ in reversed(levels):
        np.add.at(figures.value, parents, move_probability[level] * figures.value[level])
    return figures


def figures_of_infosets(tree: GameTree, histories: HistoryFigures) -> InfosetFigures:
    """Return the figures of a policy at each infoset from those at each history."""
    actor = tree.histories["actor"]
    infoset = tree.histories["infoset"]
    sign = np.where(actor == 0, 1.0, -1.0)  # values of histories are to player 0
    # Histories of an infoset are weighted by the reach of the opponent and of chance, as counterfactual values are.
    decisions = np.flatnonzero(actor < CHANCE)
    weight = histories.reach[1 - actor[decisions], decisions] * histories.reach[CHANCE, decisions]
    infoset_mass = np.bincount(infoset[decisions], weight, tree.num_infosets)
    infoset_value = np.bincount(
        infoset[decisions], weight * sign[decisions] * histories.value[decisions], tree.num_infosets
    )
    action_value = counterfactual_values(tree, histories)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = infoset_value / infoset_mass
        gain = action_value / infoset_mass[tree.owner] - value[tree.owner]
    reach = np.bincount(infoset[decisions], histories.reach[:, decisions].prod(axis=0), tree.num_infosets)
    return InfosetFigures(reach, value, gain)


def counterfactual_values(tree: GameTree, histories: HistoryFigures) -> np.ndarray:
    """Return the counterfactual value of each action to its player, (m,), from the figures at each history.

    It is the expected payoff after the action, weighted by the opponent's reach and chance's reach.
    """
    after_move = np.flatnonzero(histories.sequence >= 0)
    parents = histories.parent[after_move]
    actor = tree.histories["actor"][parents]
    sign = np.where(actor == 0, 1.0, -1.0)  # values of histories are to player 0
    weight = histories.reach[1 - actor, parents] * histories.reach[CHANCE, parents] * sign
    values = weight * histories.value[after_move]
    return np.bincount(histories.sequence[after_move], values, tree.num_sequences)
