"""Inputs of models: one matrix per player, and the place of each sequence in a model's output."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rlccfr.errors import ComponentError
from rlccfr.games.features import history_features, infoset_features, moves_before
from rlccfr.games.flat_tree import GameTree


class Inputs(NamedTuple):
    """Inputs of one player's model, for n infosets and m sequences.

    Each row stands either for an infoset, with one output per action of the player, or for a sequence, with one output
    and the sequence's action among the features.
    """

    matrix: np.ndarray  # (rows, d) float32
    num_outputs: int
    position: np.ndarray  # (m,): place of each sequence in the flattened (rows, num_outputs)
    infoset: np.ndarray  # (rows,): the player's infoset, counted from 0; for a model of histories, the row itself
    cards: tuple[np.ndarray, ...] = ()  # columns of cards, a group for each time at which cards are dealt; if wanted


def inputs_of(game: GameTree, player: int, *, per_sequence: bool, cards: bool = False) -> Inputs:
    """Return one player's inputs.

    Columns that never vary are left out; the others are scaled to [-1, 1].

    Args:
        per_sequence: whether a row stands for a sequence, rather than for an infoset.
        cards: whether to tell apart the columns of cards.

    Raises:
        ComponentError: the game offers no information state tensors, or nothing in them is a card.
    """
    infosets, sequences = game.infosets_of(player), game.sequences_of(player)
    features = _scaled(infoset_features(game)[infosets])
    counts = np.diff(game.view.first_sequence)[infosets]
    infoset = np.repeat(np.arange(len(counts)), counts)
    actions, column = np.unique(game.sequence_action[sequences], return_inverse=True)
    groups = _cards(game, infosets, features) if cards else ()
    if not per_sequence:
        position = infoset * len(actions) + column
        return Inputs(features.astype(np.float32), len(actions), position, np.arange(len(counts)), groups)
    matrix = np.hstack([features[infoset], np.eye(len(actions))[column]]).astype(np.float32)
    return Inputs(matrix, 1, np.arange(len(infoset)), infoset, groups)


def _cards(game: GameTree, infosets: slice, features: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the columns that depend on chance, grouped by the number of moves before which they are 0.

    A column is a card's if it takes several values after the same moves of both players.

    Raises:
        ComponentError: there is no such column.
    """
    moves = moves_before(game)[infosets]
    rows: dict[tuple[int, ...], list[int]] = {}
    for row, way in enumerate(moves):
        rows.setdefault(way, []).append(row)
    varies = np.any([np.ptp(features[own], axis=0) > 0 for own in rows.values()], axis=0)
    length = np.array([len(way) for way in moves])
    groups: dict[int, list[int]] = {}
    for column in np.flatnonzero(varies):
        groups.setdefault(int(length[features[:, column] != 0].min()), []).append(int(column))
    if not groups:
        raise ComponentError(f"nothing that players see in {game.name!r} is dealt: take model='mlp'")
    return tuple(np.array(groups[first]) for first in sorted(groups))


def inputs_of_histories(game: GameTree) -> Inputs:
    """Return the inputs of a model of histories: a row and an output for each history where a player moves.

    Raises:
        ComponentError: the game offers no information state tensors.
    """
    features = _scaled(history_features(game))
    rows = np.arange(len(features))
    return Inputs(features.astype(np.float32), 1, rows, rows)


def _scaled(features: np.ndarray) -> np.ndarray:
    """Return the columns that vary, scaled to [-1, 1]."""
    features = features[:, np.ptp(features, axis=0) > 0] if len(features) else features[:, :0]
    scaled: np.ndarray = features / np.abs(features).max(axis=0, initial=0.0)
    return scaled
