"""Labels of chance outcomes in a compiled game, for algorithms that sample one outcome for several histories.

Chance deals a public outcome, which both players see, and a private state to each player. A walk down the tree may draw
the public outcome and one player's state, and follow all states that the other player may have. Then all histories of a
public node that agree in the states drawn earlier share one draw: it draws a label, and each of them continues with its
outcomes that have this label.
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
    """Labels of a game's chance outcomes.

    Nothing is drawn at a chance history below which nobody acts.

    Attributes:
        draw: (histories,) for each chance history, the index of its draw; -1 where nothing is drawn.
        label: (histories,) label of the chance outcome that leads to a history; -1 if there is none, or if it has
            probability 0. The labels of one draw are consecutive.
        first_label: (draws + 1,) the first label of each draw, and the number of labels.
        probability: (labels,) probability of each label, given that chance leads to one of the draw's histories.
    """

    draw: np.ndarray
    label: np.ndarray
    first_label: np.ndarray
    probability: np.ndarray


def chance_labels(game: GameTree, drawn: Sequence[int | None]) -> list[ChanceLabels]:
    """Return the labels of a game's chance outcomes, for each of several ways to draw them.

    Args:
        drawn: for each way, the player whose private state is drawn along with the public outcome; None
            if only the public outcome is drawn.

    Raises:
        GameError: players hide more than what chance has dealt them.
    """
    tree = PublicTree(game)
    outcomes = _outcomes(game, tree)
    return [_labels_of_draws(game, outcomes, player) for player in drawn]


@dataclass(frozen=True, eq=False)
class _Outcomes:
    """Chance outcomes of positive probability, one entry each, at chance histories that some decision follows.

    Attributes:
        parent, child: (outcomes,) histories before and after the outcome.
        node, deal: (outcomes,) public node before the outcome, and deal after it.
        rows_before, rows_after: (outcomes, 2) each player's row of the deals before and after the outcome.
        reach: (outcomes,) product of the probabilities of the chance outcomes up to and including this one.
    """

    parent: np.ndarray
    child: np.ndarray
    node: np.ndarray
    deal: np.ndarray
    rows_before: np.ndarray
    rows_after: np.ndarray
    reach: np.ndarray


def _outcomes(game: GameTree, tree: PublicTree) -> _Outcomes:
    """Return a game's chance outcomes.

    Raises:
        GameError: an infoset belongs to two public nodes.
    """
    settled = tree.settled()
    tree.sequences(settled)  # checks that no infoset belongs to two public nodes
    # The parent of each history that follows a chance history, and each player's row at each chance history.
    parent = np.zeros(game.num_histories, np.int64)
    rows_before = np.zeros((game.num_histories, 2), np.int64)
    child_chunks = [np.zeros(0, np.int64)]
    node_chunks = [np.zeros(0, np.int64)]
    deal_chunks = [np.zeros(0, np.int64)]
    rows_after_chunks = [np.zeros((0, 2), np.int64)]
    reach_chunks = [np.zeros(0)]
    for node, (kind, num_children, first_child, deal) in enumerate(tree.nodes):
        if kind != CHANCE:
            continue
        members = tree.members[node]
        counts = game.histories["num_children"][members].astype(np.int64)
        parent[ranges(game.histories["first_child"][members], counts)] = np.repeat(members, counts)
        rows_before[members] = settled[deal]
        for child_node in range(first_child, first_child + num_children):
            children = tree.members[child_node]
            child_deal = tree.nodes[child_node][3]
            # A child's members are in the order of its deal's histories, as are the deal's rows and probabilities.
            child_chunks.append(children)
            node_chunks.append(np.full(len(children), node))
            deal_chunks.append(np.full(len(children), child_deal))
            rows_after_chunks.append(settled[child_deal])
            reach_chunks.append(tree.deals[child_deal].probability)
    reach = np.concatenate(reach_chunks)
    # An outcome of probability 0 is never drawn, so it gets no label.
    possible = reach > 0
    child = np.concatenate(child_chunks)[possible]
    parent_of_child = parent[child]
    return _Outcomes(
        parent=parent_of_child,
        child=child,
        node=np.concatenate(node_chunks)[possible],
        deal=np.concatenate(deal_chunks)[possible],
        rows_before=rows_before[parent_of_child],
        rows_after=np.concatenate(rows_after_chunks)[possible],
        reach=reach[possible],
    )


def _labels_of_draws(game: GameTree, outcomes: _Outcomes, player: int | None) -> ChanceLabels:
    """Return labels for draws of public outcomes and, if ``player`` is given, of this player's private states."""
    before = [outcomes.node]
    after = [outcomes.deal]
    if player is not None:
        before.append(outcomes.rows_before[:, player])
        after.append(outcomes.rows_after[:, player])
    # Histories that agree in all of ``before`` share a draw. Of their outcomes, those that agree in all of ``after``
    # share a label.
    draw_keys, draw_of_outcome = np.unique(np.stack(before, axis=1), axis=0, return_inverse=True)
    draw_of_outcome = draw_of_outcome.reshape(-1)
    label_keys, label_of_outcome = np.unique(np.stack([draw_of_outcome, *after], axis=1), axis=0, return_inverse=True)
    label_of_outcome = label_of_outcome.reshape(-1)
    draw_of_label = label_keys[:, 0]
    draw = np.full(game.num_histories, -1, np.int32)
    draw[outcomes.parent] = draw_of_outcome
    label = np.full(game.num_histories, -1, np.int32)
    label[outcomes.child] = label_of_outcome
    first_label = np.searchsorted(draw_of_label, np.arange(len(draw_keys) + 1))
    label_mass = np.bincount(label_of_outcome, outcomes.reach, len(label_keys))
    draw_mass = np.bincount(draw_of_label, label_mass, len(draw_keys))
    return ChanceLabels(draw, label, first_label, label_mass / draw_mass[draw_of_label])
