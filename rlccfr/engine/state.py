"""The tables of one run: everything that a switch of components keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rlccfr.components.update_rule import MOVEMENT
from rlccfr.engine.binding import Binding
from rlccfr.games.centring import centred_game
from rlccfr.games.flat_tree import GameTree
from rlccfr.kernels.handles import handle_of
from rlccfr.kernels.layout import (
    AVERAGE,
    GAME,
    NEGATIVE,
    POSITIVE,
    RUN,
    TABLES,
    Game,
    Run,
    Scratch,
    Tables,
    scratch_for,
)
from rlccfr.kernels.walks.scales import settle_all

if TYPE_CHECKING:
    from rlccfr.games.merging.bucketed import BucketedGame
    from rlccfr.games.merging.merged import MergedGame

_SAVED_ARRAYS = ("counts", "scale", "rng", "baseline", "uniform_count", "visits")
_SAVED_TABLES = ("regret", "policy", "policy_sum")

_RULE = "rule_"
"""Prefix, in a file, of the names of arrays that update rules have declared."""

_VALUES = "values_"
"""Prefix, in a file, of the names of arrays in ``RunState.history_values``."""


@dataclass(frozen=True, eq=False)
class RunState:
    """The arrays of a run, which steppers change in place; the game has m sequences and n infosets.

    A sampled run stores regrets and policy sums times running scales (see kernels/walks/scales.py). So read regrets
    through :meth:`true_regret`. Read policy sums through :meth:`true_policy_sum`, unless only the proportions within an
    infoset matter.

    Attributes:
        game: the game to which the run's tables belong: the solver's game, or its abstract game of buckets. The payoffs
            in its sequence form are centred (:mod:`rlccfr.games.centring`).
        seed: seed of the walks and the models.
        tables: regrets, current policy and policy sum, (m,) each, and the p arrays that the update rule declares,
            (m, p), as ``tables.state``.
        columns: names of the rule's arrays, one per column of ``tables.state``.
        shelved: (m,) arrays that earlier update rules have declared, by name.
        counts: (2,) iterations done and histories touched. Kernels count, so the numbers are correct after Ctrl-C.
        scale: (2, 3) running scales of each player's positive regrets, negative regrets and policy sum.
        rng: (1,) state of the walks' generator.
        baseline: (m,) learned values that reduce the variance of walks, in player 0's utility, which is not centred.
        uniform_count: (m,) policy sum in which all iterations have the same weight, for samplers that read it.
        visits: (n,) for each infoset, how many of its owner's walks have passed through it; for samplers that read it.
        scratch: working memory, overwritten by every pass.
        merged: the solver's game with the map from its infosets to buckets, if ``game`` is the abstract game of these
            buckets; else None.
        history_values: arrays that walks have learned, by purpose: values of histories, (rows, histories), and numbers
            of visits, (histories,). Values are not centred. See :func:`rlccfr.engine.walks.values_for` and
            :func:`rlccfr.engine.walks.visits_for`.
    """

    game: GameTree
    seed: int
    tables: Tables
    columns: tuple[str, ...]
    shelved: Mapping[str, np.ndarray]
    counts: np.ndarray
    scale: np.ndarray
    rng: np.ndarray
    baseline: np.ndarray
    uniform_count: np.ndarray
    visits: np.ndarray
    scratch: Scratch
    merged: MergedGame | BucketedGame | None = None
    history_values: dict[str, np.ndarray] = field(default_factory=dict)

    @classmethod
    def at_start(
        cls, game: GameTree, seed: int, dtype: str | None = None, merged: MergedGame | BucketedGame | None = None
    ) -> RunState:
        """Return the state before the first iteration: the uniform policy, and zeros.

        Args:
            dtype: not used, because these tables are in double precision.
            merged: see :class:`RunState`.
        """
        game = centred_game(game)
        size = game.num_sequences
        return cls(
            game=game,
            seed=seed,
            # Regrets of 0 mean the uniform policy. A rule's own arrays come when it is bound; see :meth:`ready_for`.
            tables=Tables(np.zeros(size), game.uniform_policy(), np.zeros(size), np.zeros((size, 0))),
            columns=(),
            shelved={},
            counts=np.zeros(2, np.int64),
            scale=np.ones((2, 3)),
            rng=np.random.SeedSequence(seed).generate_state(1, np.uint64),
            baseline=np.zeros(size),
            uniform_count=np.zeros(size),
            visits=np.zeros(game.num_infosets),
            scratch=scratch_for(game),
            merged=merged,
        )

    chosen_dtype: ClassVar[None] = None

    @cached_property
    def game_handle(self) -> Any:
        """Handle of the game's history view and sequence view, as kernels take it."""
        return handle_of(Game.of(self.game), GAME)

    @cached_property
    def run_handle(self) -> Any:
        """Handle of the run's arrays that kernels change."""
        return handle_of(Run(self.tables, self.scale, self.rng, self.counts, self.scratch), RUN)

    @property
    def iteration(self) -> int:
        """Number of iterations done."""
        return int(self.counts[0])

    @property
    def nodes(self) -> int:
        """Number of histories touched."""
        return int(self.counts[1])

    def ready_for(self, binding: Binding) -> RunState:
        """Return a state for a binding: with the arrays that its rule declares, and with running scales of 1.

        The tables are copies, so this state stays valid. Both states share the arrays that a switch of components does
        not change.
        """
        shelved = self.rule_arrays()
        names = binding.rule.arrays
        rule_arrays = np.zeros((self.game.num_sequences, len(names)))
        for column, name in enumerate(names):
            # The momentum array sums recent changes of regrets; it lacks those made while another rule ran.
            is_stale = name == MOVEMENT and MOVEMENT not in self.columns
            rule_arrays[:, column] = 0.0 if is_stale else shelved.get(name, 0.0)
        regret, policy, policy_sum, _ = self.tables
        tables = Tables(regret.copy(), policy.copy(), policy_sum.copy(), rule_arrays)
        scale = self.scale.copy()
        settle_all(self.game.view, tables, scale)
        return replace(
            self,
            tables=tables,
            scale=scale,
            columns=names,
            shelved=shelved,
            history_values=dict(self.history_values),  # a binding that fails must leave no new arrays here
        )

    def refresh(self, binding: Binding) -> None:
        """After a switch of rules, raise regrets to the floor and set every infoset's policy from its regrets."""
        from rlccfr.kernels.passes.refreshed_policies import refresh_policies

        next_row = binding.rows(self.iteration + 1, 0)[0]
        tables = handle_of(self.tables, TABLES)
        refresh_policies(self.game_handle, tables, binding.rule_handle, next_row, binding.rule.floor)

    def rule_arrays(self) -> dict[str, np.ndarray]:
        """Return copies of all arrays that rules have declared, (m,) by name."""
        return {**self.shelved, **self.own_arrays()}

    def own_arrays(self) -> dict[str, np.ndarray]:
        """Return copies of the arrays that the current rule declares, (m,) by name."""
        return {name: self.tables.state[:, column].copy() for column, name in enumerate(self.columns)}

    def true_regret(self) -> np.ndarray:
        """Return the cumulative regrets, (m,), scaled so that the newest iteration's regrets have weight 1."""
        regret = self.tables.regret
        scales = np.empty((len(regret), 2))  # of positive and of negative regrets
        for player in (0, 1):
            scales[self.game.sequences_of(player)] = self.scale[player, [POSITIVE, NEGATIVE]]
        return regret / np.where(regret > 0, scales[:, 0], scales[:, 1])

    def true_policy_sum(self) -> np.ndarray:
        """Return the policy sum, (m,), scaled so that the newest iteration's reach-weighted policy has weight 1."""
        policy_sum = self.tables.policy_sum.copy()
        for player in (0, 1):
            policy_sum[self.game.sequences_of(player)] /= self.scale[player, AVERAGE]
        return policy_sum

    def saved(self) -> dict[str, np.ndarray]:
        """Return the arrays that the next iteration depends on, by their names in a file."""
        return {
            **{name: getattr(self, name) for name in _SAVED_ARRAYS},
            **{name: getattr(self.tables, name) for name in _SAVED_TABLES},
            **{f"{_VALUES}{name}": array for name, array in self.history_values.items()},
            **{f"{_RULE}{name}": array for name, array in self.rule_arrays().items()},
        }

    def restored(self, saved: Mapping[str, np.ndarray]) -> RunState:
        """Overwrite the arrays in place with those that :meth:`saved` returned; return a state that has all of them.

        Arrays of update rules other than the current one are only in the returned state.
        """
        for name in _SAVED_ARRAYS:
            getattr(self, name)[...] = saved[name]
        for name in _SAVED_TABLES:
            getattr(self.tables, name)[...] = saved[name]
        for name in saved:
            if name.startswith(_VALUES):
                values = self.history_values.setdefault(name.removeprefix(_VALUES), np.empty_like(saved[name]))
                values[...] = saved[name]
        rule_arrays = {name.removeprefix(_RULE): saved[name] for name in saved if name.startswith(_RULE)}
        for column, name in enumerate(self.columns):
            self.tables.state[:, column] = rule_arrays[name]
        return replace(self, shelved=rule_arrays)
