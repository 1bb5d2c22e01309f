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
    WALK_MEMORY,
    WalkMemory,
    WalkTables,
    frames_for,
    path_for,
)

kernels.announce(kernels.WALKS, "walks")

from rlccfr.kernels.walks.quick_iterations import quick_iterations  # noqa: E402
from rlccfr.kernels.walks.sampled_iterations import sampled_iterations  # noqa: E402

_balanced: WeakKeyDictionary[GameTree, np.ndarray] = WeakKeyDictionary()


class QuickStepper(FlatStepper):
    """Stepper for external and outcome sampling with simple rules, in a special kernel."""

    def __init__(self, state: RunState, binding: Binding, previous: Stepper[RunState] | None = None) -> None:
        super().__init__(state, binding, previous)
        self._path = handle_of(path_for(state.game), PATH)

    def advance(self, iterations: int, max_nodes: int) -> None:
        state, binding = self.state, self.binding
        quick_iterations(
            state.game_handle,
            state.run_handle,
            self._path,
            binding.rule_handle,
            binding.sampling_handle,
            binding.rows(state.iteration + 1, min(iterations, CHUNK)),
            max_nodes,
        )


_PAUSED = ("gain", "mass", "visited", "num_visited", "response")
"""Working arrays of walks that an unfinished iteration depends on; so it does on exact values of histories."""

_PLACE = "place"
"""Name under which the place in an unfinished iteration is saved, with these arrays."""


class WalkStepper(FlatStepper):
    """Stepper for every sampler that walks, with every rule and abstraction that use no models.

    An iteration of many walks may be left unfinished: the next call of :meth:`advance` goes on with it. Meanwhile, the
    average policy includes the walks done, and regrets and current policies are those before the iteration. A switch
    of components drops the rest of the iteration, and the regrets that its walks have gathered.
    """

    def __init__(self, state: RunState, binding: Binding, previous: Stepper[RunState] | None = None) -> None:
        super().__init__(state, binding, previous)
        self._memory = walk_memory(state, binding)
        self._memory_handle = handle_of(self._memory, WALK_MEMORY)

    def advance(self, iterations: int, max_nodes: int) -> None:
        state, binding = self.state, self.binding
        first, iterations = state.iteration + 1, min(iterations, CHUNK)
        sampled_iterations(
            state.game_handle,
            state.run_handle,
            self._memory_handle,
            binding.rule_handle,
            binding.sampling_handle,
            binding.procedure,
            binding.rows(first, iterations),
            binding.sampler.schedule(first, iterations),
            max_nodes,
        )

    @property
    def _paused(self) -> tuple[str, ...]:
        return (*_PAUSED, "history_value") if self.binding.plan.oracle else _PAUSED

    @property
    def unfinished(self) -> bool:
        return bool(self._memory.place.any())

    def saved(self) -> dict[str, np.ndarray]:
        if not self.unfinished:
            return {}
        return {_PLACE: self._memory.place, **{name: getattr(self._memory.tables, name) for name in self._paused}}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        if _PLACE in saved:
            self._memory.place[:] = saved[_PLACE]
            for name in self._paused:
                getattr(self._memory.tables, name)[:] = saved[name]


def walk_memory(state: RunState, binding: Binding) -> WalkMemory:
    """Return the memory of walks: the run's tables, and working arrays that are clean between iterations."""
    game, policy = state.game, state.tables.policy
    tables = WalkTables(
        policy=policy,
        response=state.scratch.response if binding.abstraction.best_response else policy,
        policy_sum=state.tables.policy_sum,
        gain=np.zeros(game.num_sequences),
        baseline=state.baseline,
        uniform_count=state.uniform_count,
        visits=state.visits,
        mass=np.full(game.num_infosets, UNVISITED),
        visited=np.zeros(game.num_infosets, np.uint32),
        num_visited=game.view.infoset_begin[:2].astype(np.int64),
        explore=balanced_policy(game) if binding.plan.balanced else np.zeros(0),
        history_value=values_for(state, binding),
        history_visits=visits_for(state, binding),
    )
    return WalkMemory(tables, frames_for(game), handle_of(binding.draws, DRAWS), np.zeros(2, np.int64))


def balanced_policy(game: GameTree) -> np.ndarray:
    """Return the policy (m,) that takes an action in proportion to the number of own sequences that end below it.

    A sequence ends if its player does not move after it. Of a player's Z such sequences, this policy plays each with
    probability at least 1 / Z, since the infosets after an action share its sequences, and only one of them is met. It
    is computed once for each game.
    """
    if game not in _balanced:
        view = game.view
        first = view.first_sequence.astype(np.int64)
        ends = np.zeros(game.num_sequences + 2)
        policy = np.empty(game.num_sequences)
        for infoset in range(game.num_infosets - 1, -1, -1):  # infosets come after their parents
            own = slice(first[infoset], first[infoset + 1])
            ends[own] = np.maximum(ends[own], 1.0)
            total = ends[own].sum()
            policy[own] = ends[own] / total
            ends[view.parent[infoset]] += total
        _balanced[game] = policy
    return _balanced[game]


def values_for(state: RunState, binding: Binding) -> np.ndarray:
    """Return the values of histories that a sampler's walks read, (rows, histories); (1, 0) if they read none.

    Values that are learned are kept in the state, so that they survive a switch and come back after one to another
    sampler. Initially they are 0; unless they are baselines that walks learn, those at the game's ends are the payoffs.
    """
    game, plan = state.game, binding.plan
    if not plan.by_history:
        return np.zeros((1, 0))
    rows = 2 if binding.abstraction.best_response else 1  # then each traverser meets another opponent
    if plan.oracle:
        return np.zeros((rows, game.num_histories))
    kind = "fitted" if plan.fitted else "replacing" if plan.values_replace else "baselines"
    name = f"{kind}_{rows}"
    if name not in state.history_values:
        values = state.history_values[name] = np.zeros((rows, game.num_histories))
        if kind != "baselines":
            ends = game.histories["actor"] == TERMINAL
            values[:, ends] = utility_of(game.histories)[ends]
    return state.history_values[name]


def visits_for(state: RunState, binding: Binding) -> np.ndarray:
    """Return the number of walks through each history, (histories,), if a model of values needs it; else (0,)."""
    if not binding.plan.fitted:
        return np.zeros(0)
    rows = 2 if binding.abstraction.best_response else 1  # as many as of values
    return state.history_values.setdefault(f"visits_{rows}", np.zeros(state.game.num_histories))
