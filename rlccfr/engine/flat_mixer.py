"""Mixtures of policies over a sequence form, for :mod:`rlccfr.engine.blending`."""

from __future__ import annotations

import numpy as np

from rlccfr.engine.blending import MEMORY_LIMIT, Respond, tries_for
from rlccfr.engine.evaluation import evaluated
from rlccfr.engine.reduced import pass_cost
from rlccfr.games.flat_tree import SequenceForm
from rlccfr.kernels.blending.cuts import fill_payoffs, fill_reach, respond
from rlccfr.kernels.handles import handle_of
from rlccfr.kernels.layout import GAME, LEAST_ERROR, SCRATCH, Game, scratch_for

TRY_TIME = 1.0
"""Nanoseconds, per window and sequence, that one try takes for both players; see :mod:`rlccfr.engine.blending`."""

SEARCH_ARRAYS = 2
"""Number of arrays, (windows, sequences) each, that a search needs."""


class FlatMixer:
    """Mixer of policies over a compiled game or a quotient; see :class:`rlccfr.engine.blending.Mixer`.

    Payoffs against a mixture are mixtures of payoffs. So the passes over the payoffs are made once per plan, and a best
    response to a mixture then takes one sweep over the sequences.

    Args:
        form: the sequence form that the run's passes run over.
        utility_range: the game's largest payoff less its smallest.
    """

    def __init__(self, form: SequenceForm, utility_range: float) -> None:
        self.form = form
        self.size = form.num_sequences + 2  # with the two empty sequences
        self.dtype = np.dtype(np.float64)
        # Of passes over infosets, which a search makes, too. A run over bundles is faster, but keeps the same windows.
        self.iteration_time = pass_cost(form.view)
        self.memory_limit = MEMORY_LIMIT
        self.least_gap = LEAST_ERROR * utility_range
        self._game = handle_of(Game.of(form), GAME)
        self._scratch = handle_of(scratch_for(form), SCRATCH)

    def search_time(self, count: int, tries: int) -> float:
        return count * self.iteration_time + tries * count * self.form.num_sequences * TRY_TIME

    def most_tries(self, count: int, nanoseconds: float) -> int:
        """Return the largest number of tries, whatever the time: in small games, blends are worth their cost."""
        return tries_for(count)

    def bytes_for(self, count: int) -> int:
        return SEARCH_ARRAYS * self.dtype.itemsize * count * self.form.num_sequences

    def fill_plan(self, sums: np.ndarray, plan: np.ndarray) -> None:
        fill_reach(self._game, self.form.normalised(sums), plan)

    def mix(self, player: int, weights: np.ndarray, plans: np.ndarray, sums: np.ndarray) -> None:
        sequences = self.form.sequences_of(player)
        sums[sequences] = weights @ plans[:, sequences]

    def values(self, sums: np.ndarray) -> tuple[float, float, float]:
        return evaluated(self.form, self.form.normalised(sums))

    def responder(self, plans: np.ndarray, average_value: float) -> Respond:
        payoffs = np.zeros((len(plans), self.size))
        work = np.zeros((2, self.size))
        for plan, plan_payoffs in zip(plans, payoffs, strict=True):
            fill_payoffs(self._game, self._scratch, plan, plan_payoffs)
        # Subtract each player's value of the average policies, so that the empty sequences' payoffs lie about 0.
        payoffs[:, -2:] += (-average_value, average_value)

        def respond_to(player: int, weights: np.ndarray, cut: np.ndarray) -> float:
            return float(respond(self._game, 1 - player, weights, payoffs, work, cut))

        return respond_to
