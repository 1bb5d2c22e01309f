"""Draws of chance that histories share, for samplers that tell public outcomes from private states."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from rlccfr.components import SHARED_CHANCE, Sampler
from rlccfr.errors import ComponentError, GameError
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.public.kinds import Game
from rlccfr.games.public.labels import ChanceLabels, chance_labels
from rlccfr.games.public.view import PublicGame
from rlccfr.kernels.walks.walk_layout import SharedDraws

_DRAWN: dict[str, tuple[int, int] | None] = {"public": None, "opponent": (1, 0), "own": (0, 1)}
"""For each traverser, the player whose private state is drawn; None if no state is."""

_KNOWN: WeakKeyDictionary[GameTree, dict[str, SharedDraws]] = WeakKeyDictionary()


def shared_draws(game: Game, sampler: Sampler) -> SharedDraws:
    """Return the draws that a sampler shares among a game's histories; none for other samplers and public-tree games.

    They are computed once for each game.

    Raises:
        ComponentError: the game has no public tree.
    """
    if sampler.exact or sampler.chance not in SHARED_CHANCE or isinstance(game, PublicGame):
        nothing = np.zeros((2, 0), np.int32)
        return SharedDraws(nothing, nothing, np.zeros(1, np.int64), np.zeros(0), np.zeros(0))
    known = _KNOWN.setdefault(game, {})
    if sampler.chance not in known:
        drawn = _DRAWN[sampler.chance]
        try:
            labels = chance_labels(game, drawn or (None,))
        except GameError as error:
            name = repr(sampler.id) if sampler.id else f"chance={sampler.chance!r}"
            raise ComponentError(f"{name} needs a public tree, but {error}; take sampler='chance' instead") from None
        known[sampler.chance] = _of(labels)
    return known[sampler.chance]


def _of(labels: list[ChanceLabels]) -> SharedDraws:
    """Return the draws of both traversers from one labelling each, or from one for both."""
    draws = [len(one.first_label) - 1 for one in labels]
    first = np.cumsum([0, *(len(one.probability) for one in labels)])
    probability = np.concatenate([one.probability for one in labels])
    begin = np.concatenate([one.first_label[:-1] + start for one, start in zip(labels, first, strict=False)])
    begin = np.append(begin, first[-1])
    total = np.concatenate([[0.0], np.cumsum(probability)])
    cumulative = total[1:] - np.repeat(total[begin[:-1]], np.diff(begin))
    draw = np.stack([_raised(one.draw, by) for one, by in zip(labels, (0, draws[0]), strict=False)])
    label = np.stack([_raised(one.label, by) for one, by in zip(labels, first, strict=False)])
    if len(labels) == 1:
        draw, label = np.repeat(draw, 2, axis=0), np.repeat(label, 2, axis=0)
    return SharedDraws(draw, label, begin, probability, cumulative)


def _raised(numbers: np.ndarray, by: int) -> np.ndarray:
    """Return numbers, of which -1 stays as it is and all others are raised."""
    raised: np.ndarray = np.where(numbers < 0, -1, numbers + by).astype(np.int32)
    return raised
