"""OpenSpiel's states, names of actions and policies for a compiled game."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from open_spiel.python import policy as openspiel_policy

from rlccfr.games.flat_tree import GameTree
from rlccfr.games.openspiel import openspiel_game
from rlccfr.games.records import CHANCE


def edge_names(tree: GameTree, numbers: np.ndarray | None = None) -> list[str]:
    """Return OpenSpiel's name of the action that leads to each history; empty for the root.

    Args:
        numbers: indices of the histories whose names are needed; those of others may be empty. By default, all.
    """
    names = [""] * tree.num_histories
    for number, state in states_of(tree, None if numbers is None else _with_ancestors(tree, numbers)):
        for child in _children(tree, number):
            names[child] = state.action_to_string(state.current_player(), int(tree.edge_action[child]))
    return names


def sequence_names(tree: GameTree) -> list[str]:
    """Return OpenSpiel's name of each sequence's action, at one of the infoset's histories."""
    names = [""] * tree.num_sequences
    decisions = np.flatnonzero(tree.histories["actor"] < CHANCE)
    first_of_infoset = decisions[np.unique(tree.histories["infoset"][decisions], return_index=True)[1]]
    first_histories = set(first_of_infoset.tolist())
    for number, state in states_of(tree, _with_ancestors(tree, first_of_infoset)):
        if number in first_histories:
            sequences = tree.infoset_sequences(int(tree.histories["infoset"][number]))
            player = int(tree.histories["actor"][number])
            names[sequences] = [state.action_to_string(player, int(a)) for a in tree.sequence_action[sequences]]
    return names


def _with_ancestors(tree: GameTree, numbers: np.ndarray) -> np.ndarray:
    """Return a mask, (histories,), of the histories with these indices and of all histories above them."""
    parent = np.full(tree.num_histories, -1)
    for level, above, _ in tree.levels():
        parent[level] = above
    # Go up one generation at a time, until all ancestors are in the mask.
    mask = np.zeros(tree.num_histories, np.bool_)
    while len(numbers):
        mask[numbers] = True
        above = np.unique(parent[numbers])
        numbers = above[(above >= 0) & ~mask[above]]
    return mask


def states_of(tree: GameTree, selected: np.ndarray | None = None) -> Iterator[tuple[int, Any]]:
    """Yield the index of each history that has children, and OpenSpiel's state there.

    Args:
        selected: mask of the histories to yield; it must include all their ancestors. By default all are yielded.
    """
    pending = [(0, openspiel_game(tree).new_initial_state())]
    while pending:
        number, state = pending.pop()
        yield number, state
        for child in _children(tree, number):
            if tree.histories["num_children"][child] and (selected is None or selected[child]):
                pending.append((child, state.child(int(tree.edge_action[child]))))


def _children(tree: GameTree, number: int) -> range:
    first = int(tree.histories["first_child"][number])
    return range(first, first + int(tree.histories["num_children"][number]))


def to_openspiel(tree: GameTree, probabilities: np.ndarray) -> openspiel_policy.Policy:
    """Return the OpenSpiel policy for probabilities over sequences, (m,).

    It is a ``TabularPolicy``, which has a row for each information state. If infosets share an information state, it is
    a ``Policy`` that finds the infoset by the history. Infosets may do so if the game was compiled with
    ``restore_recall``, or if both players have the same information state.
    """
    game = openspiel_game(tree)
    if tree.restore_recall or len(set(tree.infoset_keys)) < tree.num_infosets:
        return _HistoryPolicy(game, tree, probabilities)
    tabular = openspiel_policy.TabularPolicy(game)
    for infoset, key in enumerate(tree.infoset_keys):
        sequences = tree.infoset_sequences(infoset)
        row = tabular.policy_for_key(key)
        row[:] = 0.0
        row[tree.sequence_action[sequences]] = probabilities[sequences]
    return tabular


class _HistoryPolicy(openspiel_policy.Policy):  # type: ignore[misc]
    """Policy that finds a state's probabilities by following the state's actions through the compiled tree."""

    def __init__(self, game: Any, tree: GameTree, probabilities: np.ndarray):
        super().__init__(game, list(range(game.num_players())))
        self._tree = tree
        self._probabilities = probabilities

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        history = 0
        for action in state.history():
            (history,) = (child for child in _children(self._tree, history) if self._tree.edge_action[child] == action)
        sequences = self._tree.infoset_sequences(int(self._tree.histories["infoset"][history]))
        return {
            int(action): float(probability)
            for action, probability in zip(
                self._tree.sequence_action[sequences], self._probabilities[sequences], strict=True
            )
        }
