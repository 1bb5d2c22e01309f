"""Chance draws that histories share, for samplers that distinguish public outcomes from private states."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from rlccfr.components import SHARED_CHANCE, Sampler
from rlccfr.errors import ComponentError, GameError
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.public.labels import ChanceLabels, chance_labels
from rlccfr.kernels.walks.walk_layout import SharedDraws

_DRAWN_PLAYER: dict[str, tuple[int, int] | None] = {"public": None, "opponent": (1, 0), "own": (0, 1)}
"""For each value of a sampler's ``chance``: the players whose private states are drawn in walks of player 0 and of
player 1; None if no private state is drawn."""

NO_DRAWS = SharedDraws(
    np.zeros((2, 0), np.int32), np.zeros((2, 0), np.int32), np.zeros(1, np.int64), np.zeros(0), np.zeros(0)
)

_draws_of_games: WeakKeyDictionary[GameTree, dict[str, SharedDraws]] = WeakKeyDictionary()


def shared_draws(game: GameTree, sampler: Sampler) -> SharedDraws:
    """Return the draws that a sampler shares among a game's histories; they are computed once for each game.

    There are none for samplers that share no draws.

    Raises:
        ComponentError: the game has no public tree.
    """
    if sampler.exact or sampler.chance not in SHARED_CHANCE:
        return NO_DRAWS
    draws_by_chance = _draws_of_games.setdefault(game, {})
    if sampler.chance not in draws_by_chance:
        drawn_player = _DRAWN_PLAYER[sampler.chance]
        try:
            labels = chance_labels(game, drawn_player or (None,))
        except GameError as error:
            name = repr(sampler.id) if sampler.id else f"chance={sampler.chance!r}"
            raise ComponentError(f"{name} needs a public tree, but {error}; use sampler='chance' instead") from None
        draws_by_chance[sampler.chance] = _joined(labels)
    return draws_by_chance[sampler.chance]


def _joined(labels: list[ChanceLabels]) -> SharedDraws:
    """Return the draws of both traversers, from one labelling per traverser or from a labelling that both share."""
    # With two labellings, the second one's draws and labels are numbered after the first one's.
    draw_offsets = np.cumsum([0, *(len(labelling.first_label) - 1 for labelling in labels)])
    label_offsets = np.cumsum([0, *(len(labelling.probability) for labelling in labels)])
    draws = []
    outcome_labels = []
    first_labels = []
    for labelling, draw_offset, label_offset in zip(labels, draw_offsets, label_offsets, strict=False):
        draws.append(_shifted(labelling.draw, draw_offset))
        outcome_labels.append(_shifted(labelling.label, label_offset))
        first_labels.append(labelling.first_label[:-1] + label_offset)
    draw = np.stack(draws)
    label = np.stack(outcome_labels)
    if len(labels) == 1:  # both traversers share the draws
        draw = np.repeat(draw, 2, axis=0)
        label = np.repeat(label, 2, axis=0)
    first_label = np.append(np.concatenate(first_labels), label_offsets[-1])
    probability = np.concatenate([labelling.probability for labelling in labels])
    total = np.concatenate([[0.0], np.cumsum(probability)])
    cumulative = total[1:] - np.repeat(total[first_label[:-1]], np.diff(first_label))
    return SharedDraws(draw, label, first_label, probability, cumulative)


def _shifted(numbers: np.ndarray, offset: int) -> np.ndarray:
    """Return ``numbers + offset`` as int32, but -1 where a number is -1, which stands for none."""
    shifted: np.ndarray = np.where(numbers < 0, -1, numbers + offset).astype(np.int32)
    return shifted
