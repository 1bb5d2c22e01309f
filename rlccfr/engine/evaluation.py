"""Evaluation of policies over a compiled game or a quotient, with one evaluator for each."""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np

from rlccfr.games.centring import centred_game
from rlccfr.games.flat_tree import GameTree, SequenceForm
from rlccfr.kernels.handles import handle_of
from rlccfr.kernels.layout import GAME, SCRATCH, Game, scratch_for
from rlccfr.kernels.passes.sequence_form import best_responses, evaluate


class PolicyEvaluator:
    """Evaluator of the policies of one game or quotient; :func:`evaluator_of` keeps an evaluator for each.

    All threads share its working memory. This is safe: kernels hold the GIL, so only one thread at a time runs a
    kernel.
    """

    def __init__(self, form: SequenceForm) -> None:
        self._game = handle_of(Game.of(form), GAME)
        self._scratch = handle_of(scratch_for(form), SCRATCH)

    def __call__(self, policy: np.ndarray) -> tuple[float, float, float]:
        """Return player 0's value of a policy (m,), and each player's value of a best response to it.

        A value is the player's own expected utility.
        """
        return evaluate(self._game, self._scratch, policy)  # type: ignore[no-any-return]


def better_of(
    form: SequenceForm, kept_sums: np.ndarray, kept_values: Sequence[float] | np.ndarray, sums: np.ndarray
) -> np.ndarray:
    """Return policy sums, (m,): for each player, the kept sums or ``sums``, whichever are less exploitable.

    Args:
        kept_sums: (m,) policy sums.
        kept_values: (2,) for each player, the opponent's value of a best response to the player's kept policy.
        sums: (m,) other policy sums.
    """
    better_sums = kept_sums.copy()
    values = evaluated(form, form.normalised(sums))  # player 0's value, then each player's best response
    for player in range(2):
        opponent_response = values[2 - player]
        if opponent_response < kept_values[player]:
            sequences = form.sequences_of(player)
            better_sums[sequences] = sums[sequences]
    return better_sums


_evaluators: WeakKeyDictionary[SequenceForm, PolicyEvaluator] = WeakKeyDictionary()


def evaluated(form: SequenceForm, policy: np.ndarray) -> tuple[float, float, float]:
    """Evaluate a policy, (m,), over a game or quotient; see :class:`PolicyEvaluator`.

    Raises:
        PolicyError: the numbers are not probabilities.
    """
    form.check_policy(policy)
    return evaluator_of(form)(policy)


def centred_values(game: GameTree, policy: np.ndarray) -> tuple[float, float, float, float]:
    """Evaluate a policy, (m,), without losing digits to a constant that is part of all payoffs.

    Returns:
        The game's centre (:mod:`rlccfr.games.centring`), and what :class:`PolicyEvaluator` returns once the centre has
        been subtracted from all payoffs.
    """
    centred = centred_game(game)
    return centred.centre, *evaluator_of(centred)(policy)


def best_responses_to(game: GameTree, policy: np.ndarray) -> np.ndarray:
    """Return both players' best responses to a policy, (m,): 1 for the action taken at an infoset, else 0.

    Args:
        policy: (m,) probabilities.
    """
    form = centred_game(game)  # a constant in all payoffs changes nothing, but costs digits
    scratch = scratch_for(form)
    best_responses(form.view, policy, scratch)
    return scratch.response.copy()


def evaluator_of(form: SequenceForm) -> PolicyEvaluator:
    """Return the evaluator of a game or quotient, which is made at first use."""
    evaluator = _evaluators.get(form)
    if evaluator is None:
        evaluator = _evaluators[form] = PolicyEvaluator(form)
    return evaluator
