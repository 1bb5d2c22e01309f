"""Evaluation of policies, with one working memory per game."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from rlccfr.games.flat_tree import GameTree
from rlccfr.kernels.handles import handle_of
from rlccfr.kernels.layout import GAME, SCRATCH, Game, scratch_for
from rlccfr.kernels.passes.sequence_form import evaluate


class PolicyEvaluator:
    """Evaluator of one game's policies; :func:`evaluator_of` keeps one per game.

    All threads share its working memory. This is safe: kernels hold the GIL, so only one thread at a time runs a
    kernel.
    """

    def __init__(self, game: GameTree) -> None:
        self._game = handle_of(Game.of(game), GAME)
        self._scratch = handle_of(scratch_for(game), SCRATCH)

    def __call__(self, policy: np.ndarray) -> tuple[float, float, float]:
        """Return player 0's value of a policy (m,), and each player's value of a best response to it.

        A value is the player's own expected utility.
        """
        return evaluate(self._game, self._scratch, policy)  # type: ignore[no-any-return]


_evaluators: WeakKeyDictionary[GameTree, PolicyEvaluator] = WeakKeyDictionary()


def evaluator_of(game: GameTree) -> PolicyEvaluator:
    """Return the game's evaluator, which is made at first use."""
    found = _evaluators.get(game)
    if found is None:
        found = _evaluators[game] = PolicyEvaluator(game)
    return found
