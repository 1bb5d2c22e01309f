"""Features of infosets and of histories: the inputs of models."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from rlccfr.errors import ComponentError
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.openspiel import openspiel_game

_infoset_features_of: WeakKeyDictionary[GameTree, np.ndarray] = WeakKeyDictionary()
_history_features_of: WeakKeyDictionary[GameTree, np.ndarray] = WeakKeyDictionary()


def infoset_features(game: GameTree) -> np.ndarray:
    """Return OpenSpiel's information state tensors, (n, d) float32; they are made at first use and kept with the game.

    If recall was restored, two infosets may share a tensor. Each tensor is then followed by a second one of equal size,
    the mean over the tensors of the infoset and of its owner's earlier infosets. So infosets at which the same
    observations were made in different orders have different features.

    Raises:
        ComponentError: the game does not provide such tensors.
    """
    if game not in _infoset_features_of:
        _infoset_features_of[game] = _infoset_features(game)
    return _infoset_features_of[game]


def history_features(game: GameTree) -> np.ndarray:
    """Return features of the histories where a player moves, ordered by their indices, float32.

    A row has both players' information state tensors, of d numbers each, and then the last action, one-hot. The latter
    part is 0 at the root and after a chance outcome. The action is included because tensors do not show it where both
    players move at the same time. Like those of :func:`infoset_features`, the features are made at first use.

    Returns:
        Array (number of these histories, 2 d + number of distinct actions of the game).

    Raises:
        ComponentError: the game does not provide such tensors.
    """
    if game not in _history_features_of:
        _history_features_of[game] = _history_features(game)
    return _history_features_of[game]


def _history_features(game: GameTree) -> np.ndarray:
    """Compute the features that :func:`history_features` returns."""
    opened = _with_tensors(game)
    histories = game.histories
    size = opened.information_state_tensor_size()
    row_of_history = np.cumsum(histories["infoset"] >= 0) - 1  # valid for histories where a player moves
    num_rows = row_of_history[-1] + 1
    tensors = np.empty((num_rows, 2, size), np.float32)
    last_action = np.zeros((num_rows, opened.num_distinct_actions()), np.float32)  # one-hot
    stack = [(0, -1, opened.new_initial_state())]
    while stack:
        number, action, state = stack.pop()
        record = histories[number]
        if record["infoset"] >= 0:
            row = row_of_history[number]
            tensors[row] = [state.information_state_tensor(player) for player in (0, 1)]
            if action >= 0:
                last_action[row, action] = 1.0
        first_child = int(record["first_child"])
        for child in range(first_child, first_child + int(record["num_children"])):
            action = int(game.edge_action[child])
            stack.append((child, action if record["infoset"] >= 0 else -1, state.child(action)))
    return np.hstack([tensors.reshape(len(tensors), -1), last_action])


def _with_tensors(game: GameTree) -> Any:
    """Return the OpenSpiel game that a game was compiled from.

    Raises:
        ComponentError: it does not provide information state tensors.
    """
    if not game.openspiel_name:
        raise ComponentError(f"buckets of {game.name!r} have no tensors, which models need; use tabular components")
    opened = openspiel_game(game)
    if not opened.get_type().provides_information_state_tensor:
        raise ComponentError(
            f"{game.name!r} has no information state tensors, which models need; use tabular components"
        )
    return opened


def _infoset_features(game: GameTree) -> np.ndarray:
    opened = _with_tensors(game)
    tensors = np.empty((game.num_infosets, opened.information_state_tensor_size()), np.float32)
    for infoset, actions in enumerate(_paths(game)):
        state = opened.new_initial_state()
        for action in actions:
            state.apply_action(action)
        tensors[infoset] = state.information_state_tensor(state.current_player())
    return np.hstack([tensors, _means_over_past(game, tensors)]) if game.restore_recall else tensors


def moves_before(game: GameTree) -> list[tuple[int, ...]]:
    """Return, for each infoset, the actions of both players that lead to one of its histories."""
    from rlccfr.games.locked_tree import LockedTree

    if isinstance(game, LockedTree):  # locked decisions are chance nodes in it
        moves = moves_before(game.lock.game)
        return [moves[infoset] for infoset in game.kept_infosets]
    return [tuple(actions) for actions in _paths(game, chance=False)]


def _paths(game: GameTree, *, chance: bool = True) -> list[list[int]]:
    """Return, for each infoset, OpenSpiel's actions that lead to one of its histories.

    Args:
        chance: whether to include chance outcomes.
    """
    histories = game.histories
    inner = np.flatnonzero(histories["num_children"])
    counts = histories["num_children"][inner].astype(np.int64)
    children = np.repeat(histories["first_child"][inner] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
    parent = np.full(len(histories), -1)
    parent[children] = np.repeat(inner, counts)
    decisions = np.flatnonzero(histories["infoset"] >= 0)
    last_history = np.empty(game.num_infosets, np.int64)  # of each infoset
    last_history[histories["infoset"][decisions]] = decisions
    paths = []
    for history in last_history.tolist():
        actions = []
        while history > 0:
            above = int(parent[history])
            if chance or histories["infoset"][above] >= 0:
                actions.append(int(game.edge_action[history]))
            history = above
        paths.append(actions[::-1])
    return paths


def _means_over_past(game: GameTree, tensors: np.ndarray) -> np.ndarray:
    """Return, for each infoset, (n, d), the mean of its own tensor and the tensors of its owner's earlier infosets."""
    owner = game.owner
    total = tensors.copy()
    count = np.ones((game.num_infosets, 1), np.float32)
    for infoset, parent in enumerate(game.view.parent.tolist()):  # parents come first
        if parent < game.num_sequences:
            infoset_before = owner[parent]
            total[infoset] += total[infoset_before]
            count[infoset] += count[infoset_before]
    return total / count
