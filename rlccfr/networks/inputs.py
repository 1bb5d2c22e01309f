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

    matrix: np.ndarray  # (rows, d) float32, features in [-1, 1]
    num_outputs: int  # of each row
    position: np.ndarray  # (m,): index of each sequence in the flattened outputs, (rows, num_outputs)
    infoset: np.ndarray  # (rows,): the player's infoset, counted from 0; for a model of histories, the row itself
    cards: tuple[np.ndarray, ...] = ()  # columns of cards, grouped by the time at which they are dealt; may be ()


def inputs_of(game: GameTree, player: int, *, per_sequence: bool, cards: bool = False) -> Inputs:
    """Return one player's inputs.

    Columns that never vary are left out; the others are scaled to [-1, 1].

    Args:
        per_sequence: whether a row stands for a sequence, rather than for an infoset.
        cards: whether to find the columns that stand for cards.

    Raises:
        ComponentError: the game offers no information state tensors, or ``cards`` is set and no column stands for a
            card.
    """
    infosets = game.infosets_of(player)
    sequences = game.sequences_of(player)
    features = _scaled(infoset_features(game)[infosets])
    num_actions = np.diff(game.view.first_sequence)[infosets]
    infoset = np.repeat(np.arange(len(num_actions)), num_actions)  # of each sequence
    # The player's actions in the whole game, and the place of each sequence's action among them.
    actions, action_column = np.unique(game.sequence_action[sequences], return_inverse=True)
    card_groups = _card_columns(game, infosets, features) if cards else ()
    if per_sequence:
        one_hot_action = np.eye(len(actions))[action_column]
        return Inputs(
            matrix=np.hstack([features[infoset], one_hot_action]).astype(np.float32),
            num_outputs=1,
            position=np.arange(len(infoset)),
            infoset=infoset,
            cards=card_groups,
        )
    return Inputs(
        matrix=features.astype(np.float32),
        num_outputs=len(actions),
        position=infoset * len(actions) + action_column,
        infoset=np.arange(len(num_actions)),
        cards=card_groups,
    )


def _card_columns(game: GameTree, infosets: slice, features: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the columns that stand for cards, grouped by the least number of moves after which they are not 0.

    A column stands for a card if it takes several values after the same moves of both players.

    Args:
        infosets: the player's infosets.
        features: (player's infosets, d) features.

    Raises:
        ComponentError: there is no such column.
    """
    moves = moves_before(game)[infosets]
    rows_by_moves: dict[tuple[int, ...], list[int]] = {}
    for row, moves_of_row in enumerate(moves):
        rows_by_moves.setdefault(moves_of_row, []).append(row)
    is_card = np.any([np.ptp(features[rows], axis=0) > 0 for rows in rows_by_moves.values()], axis=0)
    num_moves = np.array([len(moves_of_row) for moves_of_row in moves])
    groups: dict[int, list[int]] = {}
    for column in np.flatnonzero(is_card):
        # Cards of one round first show after the same number of moves.
        first_seen = int(num_moves[features[:, column] != 0].min())
        groups.setdefault(first_seen, []).append(int(column))
    if not groups:
        raise ComponentError(
            f"model='cards' needs cards, but in {game.name!r} no card is dealt that a player sees: use model='mlp'"
        )
    return tuple(np.array(groups[first_seen]) for first_seen in sorted(groups))


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
