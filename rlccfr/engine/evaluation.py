"""Evaluation of policies: a game's working memory is set up only once."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from rlccfr.games.flat_tree import GameTree
from rlccfr.kernels.handles import handle_of
from rlccfr.kernels.layout import SCRATCH, VIEW, scratch_for
from rlccfr.kernels.passes.sequence_form import evaluate


class PolicyEvaluator:
    """Evaluator of one game's policies; :func:`evaluator_of` keeps one per game.

    All threads share its working memory. Only one of them at a time is inside a kernel, since kernels hold the GIL.
    """

    def __init__(self, game: GameTree) -> None:
        self._scratch = scratch_for(game)
        self._view = game.view  # kept alive here: the handles hold addresses only
        self._handles = handle_of(self._view, VIEW), handle_of(self._scratch, SCRATCH)

    def __call__(self, policy: np.ndarray) -> tuple[float, float, float]:
        """Return player 0's value of a policy (m,), and both players' values of a best response to it."""
        view, scratch = self._handles
        return evaluate(view, scratch, policy)  # type: ignore[no-any-return]


_evaluators: WeakKeyDictionary[GameTree, PolicyEvaluator] = WeakKeyDictionary()


def evaluator_of(game: GameTree) -> PolicyEvaluator:
    """Return the game's evaluator, made at first use."""
    found = _evaluators.get(game)
    if found is None:
        found = _evaluators[game] = PolicyEvaluator(game)
    return found
