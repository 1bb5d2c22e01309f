"""Iterations by sampled walks through the history view."""

from __future__ import annotations

from collections.abc import Mapping
from weakref import WeakKeyDictionary

import numpy as np

from rlccfr import kernels
from rlccfr.engine.binding import Binding
from rlccfr.engine.state import RunState
from rlccfr.engine.stepper import CHUNK, FlatStepper, Stepper
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.records import TERMINAL, utility_of
from rlccfr.kernels.handles import handle_of
from rlccfr.kernels.walks.walk_layout import (
    DRAWS,
    PATH,
    UNVISITED,
    WALK_STATE,
    WalkState,
    WalkTables,
    frames_for,
    path_for,
)

kernels.announce(kernels.WALKS, "walks")

from rlccfr.kernels.walks.quick_iterations import quick_iterations  # noqa: E402
from rlccfr.kernels.walks.sampled_iterations import sampled_iterations  # noqa: E402

_balanced_policies: WeakKeyDictionary[GameTree, np.ndarray] = WeakKeyDictionary()


class QuickStepper(FlatStepper):
    """Stepper for external and outcome sampling with simple rules, in a special kernel."""

    def __init__(self, state: RunState, binding: Binding, previous: Stepper[RunState] | None = None) -> None:
        super().__init__(state, binding, previous)
        self._path = handle_of(path_for(state.game), PATH)

    def advance(self, iterations: int, max_nodes: int) -> None:
        state = self.state
        binding = self.binding
        quick_iterations(
            state.game_handle,
            state.run_handle,
            self._path,
            binding.rule_handle,
            binding.sampling_handle,
            binding.rows(state.iteration + 1, min(iterations, CHUNK)),
            max_nodes,
        )


_UNFINISHED = ("gain", "mass", "visited", "num_visited", "response")
"""Names of the working arrays on which an unfinished iteration depends, besides exact values of histories."""

_PROGRESS = "place"
"""Name under which the progress of an unfinished iteration is saved, beside the arrays in ``_UNFINISHED``."""


class WalkStepper(FlatStepper):
    """Stepper for every sampler that walks, with every rule and abstraction that use no models.

    An iteration of many walks may be left unfinished: the next call of :meth:`advance` continues it. Until then, the
    average policy includes the walks done, while regrets and current policies are those before the iteration. A switch
    of components drops the iteration's remaining walks, and the regrets from its walks so far.
    """

    def __init__(self, state: RunState, binding: Binding, previous: Stepper[RunState] | None = None) -> None:
        super().__init__(state, binding, previous)
        self._walk_state = new_walk_state(state, binding)
        self._walk_state_handle = handle_of(self._walk_state, WALK_STATE)

    def advance(self, iterations: int, max_nodes: int) -> None:
        state = self.state
        binding = self.binding
        first = state.iteration + 1
        iterations = min(iterations, CHUNK)
        sampled_iterations(
            state.game_handle,
            state.run_handle,
            self._walk_state_handle,
            binding.rule_handle,
            binding.sampling_handle,
            binding.procedure,
            binding.rows(first, iterations),
            binding.sampler.schedule(first, iterations),
            max_nodes,
        )

    @property
    def unfinished(self) -> bool:
        return bool(self._walk_state.progress.any())

    def _unfinished_arrays(self) -> dict[str, np.ndarray]:
        """Return by name the arrays that an unfinished iteration depends on; they are not copied."""
        names = (*_UNFINISHED, "history_value") if self.binding.plan.oracle else _UNFINISHED
        return {
            _PROGRESS: self._walk_state.progress,
            **{name: getattr(self._walk_state.tables, name) for name in names},
        }

    def saved(self) -> dict[str, np.ndarray]:
        return self._unfinished_arrays() if self.unfinished else {}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        if _PROGRESS in saved:
            for name, array in self._unfinished_arrays().items():
                array[:] = saved[name]


def new_walk_state(state: RunState, binding: Binding) -> WalkState:
    """Return the arrays of the walk kernel: the run's tables, and working arrays that are clean between iterations."""
    game = state.game
    policy = state.tables.policy
    tables = WalkTables(
        policy=policy,
        # Without best responses both names are one array, so walks of either player see each update at once.
        response=state.scratch.response if binding.abstraction.best_response else policy,
        policy_sum=state.tables.policy_sum,
        gain=np.zeros(game.num_sequences),
        baseline=state.baseline,
        uniform_count=state.uniform_count,
        visits=state.visits,
        mass=np.full(game.num_infosets, UNVISITED),
        visited=np.zeros(game.num_infosets, np.uint32),
        # Each player's list of visited infosets ends where it begins: both are empty.
        num_visited=game.view.infoset_begin[:2].astype(np.int64),
        explore=balanced_policy(game) if binding.plan.balanced else np.zeros(0),
        history_value=values_for(state, binding),
        history_visits=visits_for(state, binding),
    )
    return WalkState(tables, frames_for(game), handle_of(binding.draws, DRAWS), np.zeros(2, np.int64))


def balanced_policy(game: GameTree) -> np.ndarray:
    """Return the policy (m,) that plays an action in proportion to the number of final sequences at or below it.

    A sequence is final if its player does not move after it. If the player has Z final sequences, this policy plays
    each of them with probability at least 1 / Z. The probability may be larger: an action's number includes the final
    sequences below all infosets that may follow the action, but a play meets only one of these infosets. The policy is
    computed once for each game.
    """
    if game not in _balanced_policies:
        view = game.view
        first = view.first_sequence.astype(np.int64)
        num_ends = np.zeros(game.num_sequences + 2)  # at or below each sequence
        policy = np.empty(game.num_sequences)
        for infoset in range(game.num_infosets - 1, -1, -1):  # infosets come after their parents
            sequences = slice(first[infoset], first[infoset + 1])
            # A sequence without infosets below it is final itself.
            num_ends[sequences] = np.maximum(num_ends[sequences], 1.0)
            total = num_ends[sequences].sum()
            policy[sequences] = num_ends[sequences] / total
            num_ends[view.parent[infoset]] += total
        _balanced_policies[game] = policy
    return _balanced_policies[game]


def values_for(state: RunState, binding: Binding) -> np.ndarray:
    """Return the values of histories that a sampler's walks read, (rows, histories); (1, 0) if they read none.

    There is one row, or one per traverser if opponents play best responses. Values that are learned are kept in the
    state, so a run that switches to another sampler and back has them again. Initially they are 0, except at terminal
    histories, where they are the payoffs; baselines that walks learn are 0 there, too.
    """
    game = state.game
    plan = binding.plan
    if not plan.by_history:
        return np.zeros((1, 0))
    rows = _rows_of_values(binding)
    if plan.oracle:  # computed again in each iteration
        return np.zeros((rows, game.num_histories))
    if plan.fitted:
        kind = "fitted"
    elif plan.values_replace:
        kind = "replacing"
    else:
        kind = "baselines"
    name = f"{kind}_{rows}"
    if name not in state.history_values:
        values = np.zeros((rows, game.num_histories))
        if kind != "baselines":
            is_end = game.histories["actor"] == TERMINAL
            values[:, is_end] = utility_of(game.histories)[is_end]
        state.history_values[name] = values
    return state.history_values[name]


def visits_for(state: RunState, binding: Binding) -> np.ndarray:
    """Return the number of walks through each history, (histories,), if a model of values needs it; else (0,)."""
    if not binding.plan.fitted:
        return np.zeros(0)
    name = f"visits_{_rows_of_values(binding)}"
    return state.history_values.setdefault(name, np.zeros(state.game.num_histories))


def _rows_of_values(binding: Binding) -> int:
    """Return the number of rows in which values of histories are kept.

    It is 2 if opponents play best responses, since the policies that are played then depend on who traverses;
    otherwise, it is 1.
    """
    return 2 if binding.abstraction.best_response else 1
