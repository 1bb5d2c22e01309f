"""Labels of chance's outcomes in a compiled game, by which histories share draws.

What chance does is a public outcome, which both players see, and each player's private state. A walk may draw the
public outcome and one player's state, and take all states that the other player may have. All histories at one public
node in which the drawn states are equal then share one draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rlccfr.games.flat_tree import GameTree
from rlccfr.games.public.derived import PublicTree
from rlccfr.games.public.view import ranges
from rlccfr.games.records import CHANCE


@dataclass(frozen=True, eq=False)
class ChanceLabels:
    """Labels of a game's outcomes of chance.

    A history of chance below which nobody acts draws nothing.

    Attributes:
        draw: (histories,) number of the draw that a history of chance shares; -1 where nothing is drawn.
        label: (histories,) label of the outcome that leads to a history; -1 for none, and for outcomes of
            probability 0. The labels of one draw are neighbours.
        first_label: (draws + 1,) the first label of each draw, and the number of labels.
        probability: (labels,) probability of each label, given that one of the draw's histories is reached by chance.
    """

    draw: np.ndarray
    label: np.ndarray
    first_label: np.ndarray
    probability: np.ndarray


def chance_labels(game: GameTree, drawn: Sequence[int | None]) -> list[ChanceLabels]:
    """Return labels for each way to draw.

    Args:
        drawn: for each way, the player whose private state is drawn beside the public outcome; None for neither.

    Raises:
        GameError: players hide more than what chance has dealt them.
    """
    tree = PublicTree(game)
    outcomes = _outcomes(game, tree)
    return [_labels(game, outcomes, player) for player in drawn]


@dataclass(frozen=True, eq=False)
class _Outcomes:
    """All outcomes of chance above decisions, one entry each.

    Attributes:
        parent, child: histories before and after it.
        node, deal: public node before it, and deal after it.
        rows_before, rows_after: (outcomes, 2) each player's row of the deals before and after it.
        reach: product of chance's probabilities up to and with it.
    """

    parent: np.ndarray
    child: np.ndarray
    node: np.ndarray
    deal: np.ndarray
    rows_before: np.ndarray
    rows_after: np.ndarray
    reach: np.ndarray


def _outcomes(game: GameTree, tree: PublicTree) -> _Outcomes:
    """Return a game's outcomes of chance with probabilities other than 0.

    Raises:
        GameError: an infoset belongs to two public nodes.
    """
    settled = tree.settled()
    tree.sequences(settled)  # checks that no infoset belongs to two public nodes
    parent, rows_before = np.zeros(game.num_histories, np.int64), np.zeros((game.num_histories, 2), np.int64)
    found = []
    for node, (kind, count, first, deal) in enumerate(tree.nodes):
        if kind != CHANCE:
            continue
        members = tree.members[node]
        children = game.histories["num_children"][members].astype(np.int64)
        parent[ranges(game.histories["first_child"][members], children)] = np.repeat(members, children)
        rows_before[members] = settled[deal]
        for below in range(first, first + count):
            own, after = tree.members[below], tree.nodes[below][3]
            place = np.broadcast_to(np.array([node, after]), (len(own), 2))
            found.append((own, place, settled[after], tree.deals[after].probability))
    if not found:
        found = [(np.zeros(0, np.int64), np.zeros((0, 2), np.int64), np.zeros((0, 2), np.int64), np.zeros(0))]
    child, place, rows_after, reach = (np.concatenate(part) for part in zip(*found, strict=True))
    possible = reach > 0
    child, place, rows_after, reach = child[possible], place[possible], rows_after[possible], reach[possible]
    before = parent[child]
    return _Outcomes(before, child, place[:, 0], place[:, 1], rows_before[before], rows_after, reach)


def _labels(game: GameTree, outcomes: _Outcomes, player: int | None) -> ChanceLabels:
    """Return labels for draws of public outcomes, and of the states of a player if one is given."""
    before, after = [outcomes.node], [outcomes.deal]
    if player is not None:
        before.append(outcomes.rows_before[:, player])
        after.append(outcomes.rows_after[:, player])
    keys, draws = np.unique(np.stack(before, axis=1), axis=0, return_inverse=True)
    draws = draws.reshape(-1)
    keys_below, labels = np.unique(np.stack([draws, *after], axis=1), axis=0, return_inverse=True)
    labels = labels.reshape(-1)
    draw, label = np.full((2, game.num_histories), -1, np.int32)
    draw[outcomes.parent], label[outcomes.child] = draws, labels
    first_label = np.searchsorted(keys_below[:, 0], np.arange(len(keys) + 1))
    mass = np.bincount(labels, outcomes.reach, len(keys_below))
    total = np.bincount(keys_below[:, 0], mass, len(keys))
    return ChanceLabels(draw, label, first_label, mass / total[keys_below[:, 0]])
