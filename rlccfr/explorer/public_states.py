"""What both players have seen: the public states of any compiled game, found from its infosets alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from rlccfr.games.flat_tree import GameTree
from rlccfr.games.records import CHANCE

Levels = list[tuple[np.ndarray, np.ndarray, np.ndarray]]


class PublicStates(NamedTuple):
    """The public states of a game, those nearer to the root first.

    Attributes:
        of_history: (histories,): the public state of each history.
        parent: (states,): the state before each one; -1 for the root's.
    """

    of_history: np.ndarray
    parent: np.ndarray


def public_states(tree: GameTree) -> PublicStates:
    """Return the public states.

    Two histories of the same depth share a public state if a player can't tell them apart, or can't tell apart two
    histories below them, and so on from history to history. That is the closure of what the players can't tell apart,
    their common knowledge; see Kovařík et al., "Rethinking formal models of partially observable multiagent decision
    making", AIJ 2022. Infosets say what a player knows at own decisions, and so what the player did not know before.
    Where they say nothing, at chance nodes and after a player's last decision, the player is taken to know the names of
    all moves since the last own infoset.
    """
    levels: Levels = [(np.zeros(1, np.int64), np.full(1, -1), np.zeros(1, np.int64)), *tree.levels()]
    known, silent = _known(tree, levels), _silent(tree, levels)
    joined = np.full(tree.num_histories, -1)
    place = np.zeros(tree.num_histories, np.int64)
    for depth in range(len(levels) - 1, -1, -1):
        histories = levels[depth][0]
        place[histories] = np.arange(len(histories))
        links = []
        for player in (0, 1):
            own = histories[(tree.histories["actor"][histories] == player) | silent[player, histories]]
            links.append(_links(known[player, own], place[own]))
        if depth + 1 < len(levels):
            below, above, _ = levels[depth + 1]
            links.append(_links(joined[below], place[above]))
        joined[histories] = _components(len(histories), links)
    return _numbered(tree, levels, joined)


def _known(tree: GameTree, levels: Levels) -> np.ndarray:
    """Return for each player a number, (2, histories), that is equal where the player knows the same, at one depth."""
    found = np.zeros((2, tree.num_histories), np.int64)
    for histories, above, _ in levels[1:]:
        for player in (0, 1):
            decides = tree.histories["actor"][histories] == player
            known = np.where(decides, tree.histories["infoset"][histories], found[player, above])
            seen = np.where(decides, -1, tree.edge_action[histories])
            pairs = np.stack([decides, known, seen], axis=1)
            found[player, histories] = np.unique(pairs, axis=0, return_inverse=True)[1].ravel()
    return found


def _silent(tree: GameTree, levels: Levels) -> np.ndarray:
    """Return where infosets say nothing of what each player knows, (2, histories)."""
    acts = np.stack([tree.histories["actor"] == player for player in (0, 1)])
    for histories, above, _ in reversed(levels[1:]):
        for player in (0, 1):
            np.logical_or.at(acts[player], above, acts[player, histories])
    found: np.ndarray = ~acts | (tree.histories["actor"] == CHANCE)
    return found


def _numbered(tree: GameTree, levels: Levels, joined: np.ndarray) -> PublicStates:
    """Number the components of all depths from the root on, those below one state by the first action to each."""
    found, parents, count = np.empty_like(joined), [], 0
    for histories, above, _ in levels:
        size = int(joined[histories].max()) + 1
        parent, action = np.full(size, -1), np.full(size, np.iinfo(np.int64).max)
        np.minimum.at(action, joined[histories], tree.edge_action[histories])
        if above[0] >= 0:
            parent[joined[histories]] = found[above]
        order = np.lexsort((action, parent))
        rank = np.empty_like(order)
        rank[order] = np.arange(size)
        found[histories] = count + rank[joined[histories]]
        parents.append(parent[order])
        count += size
    return PublicStates(found, np.concatenate(parents))


def _links(group: np.ndarray, member: np.ndarray) -> np.ndarray:
    """Return links, (2, k), that connect the members of each group."""
    order = np.argsort(group, kind="stable")
    group, member = group[order], member[order]
    same = group[1:] == group[:-1]
    return np.stack([member[:-1][same], member[1:][same]])


def _components(count: int, links: list[np.ndarray]) -> np.ndarray:
    """Return the component of each of ``count`` members, numbered by their first members."""
    ends = np.concatenate(links, axis=1)
    graph = sparse.coo_array((np.ones(ends.shape[1], np.bool_), (ends[0], ends[1])), (count, count))
    found: np.ndarray = csgraph.connected_components(graph, directed=False)[1]
    return found
