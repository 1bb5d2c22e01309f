"""A run's tables on the quotient of its game, where that gives the same iterates."""

from __future__ import annotations

import numpy as np

from rlccfr.engine.binding import Binding
from rlccfr.engine.state import RunState
from rlccfr.games.quotient import Quotient, quotient_of
from rlccfr.kernels.handles import handle_of
from rlccfr.kernels.layout import GAME, PARAMETERS, RUN, Game, Run, Tables, scratch_for

PROBES = ((0.3, -0.7, 0.3, 1.1), (-0.2, -0.2, -1.5, -0.4), (0.0, 2.5, 0.1, 0.0))
"""Regrets of four actions on which a rule's functions are called to see whether they treat all actions alike."""

TURNED = np.array([2, 3, 1, 0])
"""Another order of the four actions."""


class ReducedRun:
    """The tables of a run, with one row of sequences per class of infosets.

    Attributes:
        game_handle, run_handle: handles, as kernels take them.
    """

    def __init__(self, state: RunState, quotient: Quotient) -> None:
        self._quotient, self._full = quotient, state.tables
        self._tables = Tables(*(np.ascontiguousarray(table[quotient.member]) for table in state.tables))
        self.game_handle = handle_of(Game(state.game.histories[:0], quotient.view), GAME)
        arrays = Run(self._tables, state.scale, state.rng, state.counts, scratch_for(quotient))
        self.run_handle = handle_of(arrays, RUN)

    def publish(self) -> None:
        """Copy each class's row to the rows of all its infosets in the run's own tables."""
        for table, full in zip(self._tables, self._full, strict=True):
            full[...] = table[self._quotient.place]


def reduced_run(state: RunState, binding: Binding) -> ReducedRun | None:
    """Return a run's tables on the quotient; None if its iterates may differ there, or if it would save little.

    The iterates are the same if the tables are constant on classes, and if the update rule treats an infoset's actions
    alike (ADR 20).
    """
    if not binding.options.reduce or binding.flags.argmax_fallback or not treats_actions_alike(binding):
        return None
    quotient = quotient_of(state.game)
    if quotient is None or not all(map(quotient.is_constant, state.tables)):
        return None
    return ReducedRun(state, quotient)


def treats_actions_alike(binding: Binding) -> bool:
    """Return whether the functions of a rule give permuted regrets the same results, permuted."""
    if not (binding.flags.reweights or binding.flags.maps_policy):
        return True
    try:
        return all(_treats_alike(binding, np.array(probe)) for probe in PROBES)
    except Exception:  # another author's function may not take such regrets
        return False


def _treats_alike(binding: Binding, probe: np.ndarray) -> bool:
    state = np.abs(np.add.outer(probe, np.arange(len(binding.rule.arrays), dtype=float)))
    expected = _called(binding, probe.copy(), state.copy())
    turned = _called(binding, probe[TURNED], state[TURNED])
    return all(np.allclose(one[TURNED], other, 1e-9) for one, other in zip(expected, turned, strict=True))


def _called(binding: Binding, row: np.ndarray, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a row of regrets and its arrays after the rule's functions have changed them."""
    rule, parameters, mass, utility_range = binding.rule, binding.rows(1, 0)[0, PARAMETERS:], 0.5, 2.0
    if rule.reweight is not None:
        past = (row.copy(),) if binding.flags.reads_regret else ()
        rule.reweight(row, mass, state, parameters, utility_range, *past)
    if rule.policy_map is not None:
        rule.policy_map(row, state, parameters, utility_range)
    return row, state
