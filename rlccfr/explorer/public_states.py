"""What both players have seen: the public states of any compiled game, computed from its infosets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from rlccfr.games.flat_tree import GameTree
from rlccfr.games.records import CHANCE

Levels = list[tuple[np.ndarray, np.ndarray, np.ndarray]]
"""Histories of each depth, their parents, and their indices among their siblings."""


class PublicStates(NamedTuple):
    """The public states of a game, those nearer to the root first.

    Attributes:
        of_history: (histories,): the public state of each history.
        parent: (states,): each state's parent; -1 for the state of the root.
    """

    of_history: np.ndarray
    parent: np.ndarray


def public_states(tree: GameTree) -> PublicStates:
    """Return the public states of a game.

    Two histories of the same depth are linked if a player can't distinguish them, or can't distinguish a history below
    the first from a history below the second. Histories that a chain of links connects share a public state, so a
    public state is common knowledge; see Kovařík et al., "Rethinking formal models of partially observable multiagent
    decision making", AIJ 2022. An infoset says what a player knows at a decision: histories that the player can't
    distinguish there could not be distinguished before. At chance nodes and after a player's last decision, infosets
    say nothing. There, the player is assumed to know the names of all moves since the player's last infoset.
    """
    levels: Levels = [(np.zeros(1, np.int64), np.full(1, -1), np.zeros(1, np.int64)), *tree.levels()]
    knowledge = _knowledge(tree, levels)
    says_nothing = _infosets_say_nothing(tree, levels)
    component = np.full(tree.num_histories, -1)
    place = np.zeros(tree.num_histories, np.int64)  # index of each history among those of its depth
    # From the deepest histories up: if histories can't be distinguished, their parents can't either.
    for depth in range(len(levels) - 1, -1, -1):
        histories = levels[depth][0]
        place[histories] = np.arange(len(histories))
        links = []
        for player in (0, 1):
            decides = tree.histories["actor"][histories] == player
            linked = histories[decides | says_nothing[player, histories]]
            links.append(_links(knowledge[player, linked], place[linked]))
        if depth + 1 < len(levels):
            children, parents, _ = levels[depth + 1]
            links.append(_links(component[children], place[parents]))
        component[histories] = _components(len(histories), links)
    return _numbered(tree, levels, component)


def _knowledge(tree: GameTree, levels: Levels) -> np.ndarray:
    """Return numbers, (2, histories), for what each player knows: equal numbers at one depth mean equal knowledge."""
    knowledge = np.zeros((2, tree.num_histories), np.int64)
    for histories, parents, _ in levels[1:]:
        for player in (0, 1):
            decides = tree.histories["actor"][histories] == player
            # At the player's decisions, knowledge is the infoset; elsewhere, it is what the player knew before and the
            # name of the last move.
            infoset_or_before = np.where(decides, tree.histories["infoset"][histories], knowledge[player, parents])
            last_move = np.where(decides, -1, tree.edge_action[histories])
            facts = np.stack([decides, infoset_or_before, last_move], axis=1)
            knowledge[player, histories] = np.unique(facts, axis=0, return_inverse=True)[1].ravel()
    return knowledge


def _infosets_say_nothing(tree: GameTree, levels: Levels) -> np.ndarray:
    """Return a mask of the histories at which infosets do not say what each player knows, (2, histories).

    These are the chance nodes, and the histories from which the player makes no further decision.
    """
    acts_below = np.stack([tree.histories["actor"] == player for player in (0, 1)])
    for histories, parents, _ in reversed(levels[1:]):
        for player in (0, 1):
            np.logical_or.at(acts_below[player], parents, acts_below[player, histories])
    says_nothing: np.ndarray = ~acts_below | (tree.histories["actor"] == CHANCE)
    return says_nothing


def _numbered(tree: GameTree, levels: Levels, component: np.ndarray) -> PublicStates:
    """Number the components of all depths from the root on.

    States of one depth are ordered by their parents. States with the same parent are ordered by the smallest number of
    an action that leads to each state.

    Args:
        tree: the game.
        levels: histories, their parents, and their indices among siblings, depth by depth.
        component: (histories,) component of each history among those of its depth.
    """
    of_history = np.empty_like(component)
    parents_by_depth = []
    num_states = 0
    for histories, parents, _ in levels:
        size = int(component[histories].max()) + 1
        parent_state = np.full(size, -1)
        first_action = np.full(size, np.iinfo(np.int64).max)
        np.minimum.at(first_action, component[histories], tree.edge_action[histories])
        if parents[0] >= 0:  # not the root
            parent_state[component[histories]] = of_history[parents]
        order = np.lexsort((first_action, parent_state))
        rank = np.empty_like(order)
        rank[order] = np.arange(size)
        of_history[histories] = num_states + rank[component[histories]]
        parents_by_depth.append(parent_state[order])
        num_states += size
    return PublicStates(of_history, np.concatenate(parents_by_depth))


def _links(group: np.ndarray, member: np.ndarray) -> np.ndarray:
    """Return links, (2, k), that chain the members of each group."""
    order = np.argsort(group, kind="stable")
    group = group[order]
    member = member[order]
    is_same_group = group[1:] == group[:-1]
    return np.stack([member[:-1][is_same_group], member[1:][is_same_group]])


def _components(count: int, links: list[np.ndarray]) -> np.ndarray:
    """Return the connected component of each of ``count`` members, numbered in the order of their first members."""
    ends = np.concatenate(links, axis=1)
    graph = sparse.coo_array((np.ones(ends.shape[1], np.bool_), (ends[0], ends[1])), (count, count))
    component: np.ndarray = csgraph.connected_components(graph, directed=False)[1]
    return component
