"""Runs over the quotient of a game, where this gives the same iterates, or over its infosets in another order."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from rlccfr.engine.binding import Binding
from rlccfr.engine.state import RunState
from rlccfr.games.bundles import Bundles, bundles_of
from rlccfr.games.centring import centred_game
from rlccfr.games.flat_tree import GameTree, SequenceForm
from rlccfr.games.quotient import Quotient, quotient_of
from rlccfr.games.records import BUNDLE_LANES, SequenceView
from rlccfr.kernels.handles import handle_of
from rlccfr.kernels.layout import GAME, RUN, Game, Run, Tables, scratch_for

LEAST_GAIN = 1.3
"""Passes run over a game's quotient if passes over the game are predicted to take at least this many times as long.

Threads share passes over bundles if one thread is predicted to take at least as many times as long.
"""

COSTS = (2.48, 0.17, 7.83, 2.8)
"""Nanoseconds of an iteration per unit of each of the :func:`cost_terms`.

Only their ratios matter for the choice of a quotient; predicted times use the nanoseconds.

Fitted to CFR+ by ``python -m benchmarks.reduction --fit``.
"""


BUNDLED_COSTS = (9.67, 0.971)
"""Nanoseconds of an iteration over bundles per unit of each of the :func:`bundled_cost_terms`.

Fitted to CFR+ by ``python -m benchmarks.bundles --fit``.
"""

STEERED_SHARE = 0.86
"""Factor from CFR+'s time over bundles to the time that the default's laws expect.

The laws are fitted to passes over infosets, and steered runs gain more from bundles than CFR+ does. Measured by
``python -m benchmarks.bundles --steered``.
"""

_costs: WeakKeyDictionary[SequenceForm, float] = WeakKeyDictionary()
"""Results of :func:`_cost_of`, by form."""


def quotient_for_passes(game: GameTree) -> Quotient | None:
    """Return a game's quotient; None if passes over it are not predicted to be :data:`LEAST_GAIN` times as fast."""
    quotient = quotient_of(game)
    if quotient is None or _cost_of(centred_game(game)) < LEAST_GAIN * _cost_of(quotient):
        return None
    return quotient


def iteration_cost(game: GameTree) -> float:
    """Predict the nanoseconds of an exact iteration, in the unit of the default's laws of time.

    Over infosets, they are those of CFR+. Over bundles, steered runs gain more than CFR+ does, which the number allows
    for (:data:`STEERED_SHARE`).
    """
    form = quotient_for_passes(game) or centred_game(game)
    bundles = bundles_of(form)
    return _cost_of(form) if bundles is None else STEERED_SHARE * bundled_cost(bundles)


def _cost_of(form: SequenceForm) -> float:
    """Return :func:`pass_cost` of a sequence form; it is computed once for each form."""
    if form not in _costs:
        _costs[form] = pass_cost(form.view)
    return _costs[form]


def pass_cost(view: SequenceView) -> float:
    """Predict the nanoseconds of an exact iteration over a sequence form."""
    return sum(cost * term for cost, term in zip(COSTS, cost_terms(view), strict=True))


def cost_terms(view: SequenceView) -> tuple[int, int, int, int]:
    """Return the numbers on which the time of an exact iteration depends.

    Returns:
        Four numbers: the number of sequences; the number of payoffs that player 0 reads plus the number that player 1
        reads; the number of blocks of payoffs, of both players together; and again the number of sequences if the form
        has twins, else 0.
    """
    num_sequences = int(view.first_sequence[-1])
    num_payoffs = int(payoffs_of(view.blocks_0).sum() + payoffs_of(view.blocks_1).sum())
    num_blocks = len(view.blocks_0) + len(view.blocks_1)
    return num_sequences, num_payoffs, num_blocks, len(view.twin)


def bundled_cost(bundles: Bundles) -> float:
    """Predict the nanoseconds of an exact iteration over bundles."""
    return sum(cost * term for cost, term in zip(BUNDLED_COSTS, bundled_cost_terms(bundles), strict=True))


def bundled_cost_terms(bundles: Bundles) -> tuple[int, int]:
    """Return the numbers on which the time of an iteration over bundles depends: of their actions, and of lines."""
    return bundles.num_entries // BUNDLE_LANES, int(bundles.view.lines["lines"].sum())


def payoffs_of(blocks: np.ndarray) -> np.ndarray:
    """Return how many payoffs a player reads in each of its blocks, (blocks,), including zeros that pad lines."""
    num_payoffs: np.ndarray = blocks["stride"].astype(np.int64) * (blocks["opponent_end"] - blocks["opponent"])
    return num_payoffs


class RunCopy:
    """A copy of a run's tables over a quotient of its game.

    The quotient may have all of the game's infosets, in another order.

    Attributes:
        quotient: the quotient, with M sequences.
        tables: the run's tables, (M,) each, over the quotient's sequences.
        game_handle, run_handle: handles, as kernels take them.
    """

    def __init__(self, state: RunState, quotient: Quotient) -> None:
        self.quotient = quotient
        self._run_tables = state.tables
        self.tables = Tables(*(np.ascontiguousarray(table[quotient.member]) for table in state.tables))
        self.game_handle = handle_of(Game.of(quotient), GAME)
        arrays = Run(self.tables, state.scale, state.rng, state.counts, scratch_for(quotient))
        self.run_handle = handle_of(arrays, RUN)
        self._counts = state.counts
        self._published_at = state.iteration

    def mark_changed(self) -> None:
        """Say that the tables have changed, although the number of iterations may be the same."""
        self._published_at = -1

    def publish(self) -> None:
        """Copy each class's entries to all its members in the run's tables, unless these are already up to date."""
        iteration = int(self._counts[0])
        if iteration == self._published_at:
            return
        for table, run_table in zip(self.tables, self._run_tables, strict=True):
            run_table[...] = table[self.quotient.place]
        self._published_at = iteration  # last, so that a publication that Ctrl-C has cut short is made again


def quotient_for_run(state: RunState, binding: Binding) -> Quotient | None:
    """Return a game's quotient; None if a run over it might give other iterates, or would save little time.

    The iterates are the same if the tables are constant on classes, and if the update rule treats an infoset's actions
    alike (ADR 20).
    """
    if not (binding.options.reduce and binding.rule.treats_actions_alike):
        return None
    quotient = quotient_for_passes(state.game)
    if quotient is None or not all(map(quotient.is_constant, state.tables)):
        return None
    return quotient
