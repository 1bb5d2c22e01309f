"""What policies of a game are worth, evaluated often: nothing is set up twice."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from rlccfr.games.flat_tree import GameTree
from rlccfr.kernels.handles import handle_of
from rlccfr.kernels.layout import SCRATCH, VIEW, scratch_for
from rlccfr.kernels.passes.sequence_form import evaluate


class PolicyEvaluator:
    """Evaluates policies of one game; :func:`evaluator_of` keeps one for each.

    Its working memory is shared by all threads, of which one at a time is inside a kernel: kernels hold the GIL.
    """

    def __init__(self, game: GameTree) -> None:
        self._scratch = scratch_for(game)
        self._view = game.view  # the handles hold addresses only
        self._handles = handle_of(self._view, VIEW), handle_of(self._scratch, SCRATCH)

    def __call__(self, policy: np.ndarray) -> tuple[float, float, float]:
        """Player 0's value of a policy (m,), and both players' values of a best response to it."""
        view, scratch = self._handles
        return evaluate(view, scratch, policy)  # type: ignore[no-any-return]


_evaluators: WeakKeyDictionary[GameTree, PolicyEvaluator] = WeakKeyDictionary()


def evaluator_of(game: GameTree) -> PolicyEvaluator:
    """The game's evaluator, made at the first use."""
    found = _evaluators.get(game)
    if found is None:
        found = _evaluators[game] = PolicyEvaluator(game)
    return found
