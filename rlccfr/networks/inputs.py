"""Inputs of models: one matrix per player, and the place of each sequence in a model's output."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rlccfr.games.features import history_features, infoset_features
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


def inputs_of(game: GameTree, player: int, *, per_sequence: bool) -> Inputs:
    """Return one player's inputs.

    Columns that never vary are left out; the others are scaled to [-1, 1].

    Args:
        per_sequence: whether a row stands for a sequence, rather than for an infoset.

    Raises:
        ComponentError: the game offers no information state tensors.
    """
    infosets, sequences = game.infosets_of(player), game.sequences_of(player)
    features = _scaled(infoset_features(game)[infosets])
    counts = np.diff(game.view.first_sequence)[infosets]
    infoset = np.repeat(np.arange(len(counts)), counts)
    actions, column = np.unique(game.sequence_action[sequences], return_inverse=True)
    if not per_sequence:
        return Inputs(
            features.astype(np.float32), len(actions), infoset * len(actions) + column, np.arange(len(counts))
        )
    matrix = np.hstack([features[infoset], np.eye(len(actions))[column]]).astype(np.float32)
    return Inputs(matrix, 1, np.arange(len(infoset)), infoset)


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
