"""Evaluation of policies, with one working memory per game."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from rlccfr.engine.reduced import quotient_for_passes
from rlccfr.games.flat_tree import GameTree, SequenceForm
from rlccfr.games.quotient import Quotient
from rlccfr.kernels.handles import handle_of
from rlccfr.kernels.layout import GAME, SCRATCH, Game, scratch_for
from rlccfr.kernels.passes.sequence_form import evaluate


class _Prepared(NamedTuple):
    """A game, or its quotient, with working memory: handles, as the kernel takes them."""

    game: Any
    scratch: Any


class PolicyEvaluator:
    """Evaluator of one game's policies; :func:`evaluator_of` keeps one per game.

    Policies that are equal in each class of sequences are evaluated over the game's quotient, where that takes less
    time.

    All threads share its working memory. This is safe: kernels hold the GIL, so only one thread at a time runs a
    kernel.
    """

    def __init__(self, game: GameTree) -> None:
        self._game = game
        self._whole = self._prepared(game)

    @cached_property
    def _quotient(self) -> Quotient | None:
        return quotient_for_passes(self._game)

    @cached_property
    def _reduced(self) -> _Prepared:
        assert self._quotient is not None
        return self._prepared(self._quotient)

    def _prepared(self, form: SequenceForm) -> _Prepared:
        game = handle_of(Game(self._game.histories, form.view), GAME)
        return _Prepared(game, handle_of(scratch_for(form), SCRATCH))

    def __call__(self, policy: np.ndarray) -> tuple[float, float, float]:
        """Return player 0's value of a policy (m,), and each player's value of a best response to it.

        A value is the player's own expected utility.
        """
        quotient = self._quotient
        if quotient is None or not quotient.is_constant(policy):
            return evaluate(*self._whole, policy)  # type: ignore[no-any-return]
        return evaluate(*self._reduced, policy[quotient.member])  # type: ignore[no-any-return]


_evaluators: WeakKeyDictionary[GameTree, PolicyEvaluator] = WeakKeyDictionary()


def evaluator_of(game: GameTree) -> PolicyEvaluator:
    """Return the game's evaluator, which is made at first use."""
    found = _evaluators.get(game)
    if found is None:
        found = _evaluators[game] = PolicyEvaluator(game)
    return found
