"""The state of one run, and the calls of the kernels on it: the seam between Python and compiled code."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from rlccfr import kernels
from rlccfr.components import Abstraction, Sampler, UpdateRule
from rlccfr.errors import ComponentError
from rlccfr.games.flat_tree import GameTree
from rlccfr.interrupts import uninterrupted

kernels.prepare_cache()

from rlccfr.engine.binding import flags_of, is_quick, plan_of  # noqa: E402
from rlccfr.kernels.layout import AVERAGE, NEGATIVE, POSITIVE, Tables, scratch_for  # noqa: E402
from rlccfr.kernels.passes.exact_iterations import exact_iterations, refresh_policies  # noqa: E402
from rlccfr.kernels.plain import inclusion_function, mixture_function, policy_map_function, reweight_function  # noqa: E402
from rlccfr.kernels.walks.quick_iterations import path_for, quick_iterations  # noqa: E402
from rlccfr.kernels.walks.sampled_iterations import sampled_iterations, settle_all  # noqa: E402
from rlccfr.kernels.walks.walk_layout import ONE, UNVISITED, WalkTables, frames_for  # noqa: E402

if TYPE_CHECKING:
    from rlccfr.engine.learned import Learning

CHUNK = 4096
"""Most iterations handed to a kernel at once; bounds the schedule's memory."""

AHEAD = 256
"""Iterations whose schedule is evaluated at once at least: so many rows cost hardly more than one."""


class Engine:
    """The tables of one run, and the three components that work on them.

    In a sampled run the regrets and policy sums are held in running scales (see kernels/sampled.py): read
    regrets through :meth:`true_regret`, and policy sums in proportion only.

    Args:
        seed: of the walks.
        simultaneous: both players move from the same policies, rather than in alternation.
        pre_averaging: average both players before their updates; exact passes only.
        walks: per player and iteration.
    """

    def __init__(
        self, game: GameTree, seed: int, *, simultaneous: bool = False, pre_averaging: bool = False, walks: int = 1
    ) -> None:
        self.game = game
        self.seed = seed
        self.simultaneous = simultaneous
        self.pre_averaging = pre_averaging
        self.walks = walks
        self.counts = np.zeros(2, np.int64)  # raised inside the kernels, so that it is right even after Ctrl-C
        self.scale = np.ones((2, 3))
        self.rng = np.random.SeedSequence(seed).generate_state(1, np.uint64)
        self.regret = np.zeros(game.num_sequences)
        self.policy = game.uniform_policy()
        self.policy_sum = np.zeros(game.num_sequences)
        self.baseline = np.zeros(game.num_sequences)
        self.uniform_count = np.zeros(game.num_sequences)
        self.visits = np.zeros(game.num_infosets)
        self.rule_arrays: dict[str, np.ndarray] = {}  # of rules bound before; the bound one's are in _state
        self.scratch = scratch_for(game)
        self._frames, self._path = frames_for(game), path_for(game)
        self._gain, self._mass = np.zeros(game.num_sequences), np.full(game.num_infosets, UNVISITED)
        self._visited = np.zeros(game.num_infosets, np.uint32)
        self._num_visited = game.view.infoset_begin[:2].astype(np.int64)
        self._rule: UpdateRule | None = None
        self._abstraction: Abstraction
        self._learning: Learning | None = None
        self.tables: Tables

    @property
    def iteration(self) -> int:
        """Iterations done."""
        return int(self.counts[0])

    @property
    def nodes(self) -> int:
        """Histories touched."""
        return int(self.counts[1])

    def bind(self, rule: UpdateRule, sampler: Sampler, abstraction: Abstraction) -> float:
        """Take up components, at the start or in mid-run; if that fails, those bound before stay as they were.

        A change of rule flushes: pending discounts are applied, then the new rule's floor and policy map, to
        the whole table, since infosets that walks do not visit would miss them.

        Returns:
            CPU seconds of fitting models to what the tables hold; 0 without models.

        Raises:
            ComponentError: the combination is not sound, or models are asked for and the game has nothing to see.
        """
        if rule.exact_only and not sampler.exact:
            raise ComponentError(f"{rule.id!r} in this mode is not sound with estimates; use sampler='none'")
        if self.pre_averaging and not (sampler.exact or self.simultaneous):
            raise ComponentError("averaging='pre' needs sampler='none' or simultaneous updates; use 'matching'")
        rule_arguments = (
            flags_of(rule),
            reweight_function(rule.reweight),
            policy_map_function(rule.policy_map),
            self.game.utility_range or 1.0,  # 0 if nothing is at stake; rules divide by it
        )
        walk_functions = inclusion_function(sampler.inclusion), mixture_function(sampler.mixture)
        rows = rule.schedule(self.iteration + 1, 0)
        new = self._rule is None or not (rule.same_as(self._rule) and abstraction.fits_as(self._abstraction))
        learning = self._learning_of(rule, sampler, abstraction, new)
        attributes = dict(vars(self))
        tables = [(table, table.copy()) for table in (self.regret, self.policy, self.policy_sum, self.scale)]
        with uninterrupted():
            try:
                self._take_up(rule, sampler, abstraction, rule_arguments, walk_functions)
                self._rows, self._rows_from, self._ahead = rows, self.iteration + 1, AHEAD
                if new:
                    refresh_policies(self.game.view, self.tables, rows[0], rule.floor, *rule_arguments)
                self._learning = learning
                return learning.begin(entering=new and self.iteration > 0) if learning else 0.0
            except BaseException:
                vars(self).update(attributes)
                for table, before in tables:
                    table[...] = before
                raise

    def _take_up(
        self,
        rule: UpdateRule,
        sampler: Sampler,
        abstraction: Abstraction,
        rule_arguments: tuple[Any, ...],
        walk_functions: tuple[Any, ...],
    ) -> None:
        """Bring the tables to true units, and make those of the components."""
        if self._rule is not None:
            settle_all(self.game.view, self.tables, self.scale)
            self.rule_arrays = self.rule_arrays | self.arrays_of_rule()
        self._rule, self._sampler, self._abstraction = rule, sampler, abstraction
        self.rule_arguments, self._walk_functions = rule_arguments, walk_functions
        self._state = np.zeros((self.game.num_sequences, len(rule.arrays)))
        for column, name in enumerate(rule.arrays):
            self._state[:, column] = self.rule_arrays.get(name, 0.0)
        self.tables = Tables(self.regret, self.policy, self.policy_sum, self._state)
        self._bind_walks(sampler, abstraction)

    def _learning_of(self, rule: UpdateRule, sampler: Sampler, abstraction: Abstraction, new: bool) -> Learning | None:
        """Where policies come from models: what runs the iterations, with the models as they are unless ``new``."""
        if not (rule.learns or abstraction.learns):
            return None
        from rlccfr.engine.learned import Learning  # not before it is needed: it loads PyTorch

        players = None if new or self._learning is None else self._learning.players
        # Weakly: in a cycle, memories and models would wait for the collector, which counts objects and not their size.
        return Learning(weakref.proxy(self), rule, sampler, abstraction, players)

    @property
    def learns(self) -> bool:
        """Whether policies come from models, so that an iteration may take a while."""
        return self._learning is not None

    def _bind_walks(self, sampler: Sampler, abstraction: Abstraction) -> None:
        self._plan = plan_of(sampler)
        slow = abstraction.best_response or self.simultaneous or self.walks > 1
        self._quick = is_quick(self._plan, self.rule_arguments[0]) and not slow
        self.walk_tables = WalkTables(
            policy=self.policy,
            response=self.scratch.response if abstraction.best_response else self.policy,
            policy_sum=self.policy_sum,
            gain=self._gain,
            baseline=self.baseline,
            uniform_count=self.uniform_count,
            visits=self.visits,
            mass=self._mass,
            visited=self._visited,
            num_visited=self._num_visited,
        )

    def advance(self, iterations: int, max_nodes: int) -> int:
        """Run up to so many iterations (tables: at most CHUNK), stopping once ``max_nodes`` histories were touched.

        Returns the number of iterations run.
        """
        assert self._rule is not None
        view, rule = self.game.view, self._rule
        best_response, before = self._abstraction.best_response, self.iteration
        if self._learning:
            self._learning.advance(iterations, max_nodes)
        elif self._sampler.exact:
            per_iteration = (4 if best_response else 2) * self.game.num_histories
            iterations = min(iterations, CHUNK, -(-max_nodes // per_iteration))
            exact_iterations(
                view, self.tables, self.scratch, self.schedule(iterations),
                best_response, self.simultaneous, self.pre_averaging,
                *self.rule_arguments, self.counts, per_iteration,
            )  # fmt: skip
        elif self._quick:
            plan, iterations = self._plan, min(iterations, CHUNK)
            quick_iterations(
                self.game.histories, view, self.tables, self._path, self.rng, self.scale,
                self.schedule(iterations), max_nodes, plan.traverser == ONE, plan.exploration,
                rule.only_predicts, self.counts,
            )  # fmt: skip
        else:
            iterations = min(iterations, CHUNK)
            sampled_iterations(
                self.game.histories, view, self.tables, self.walk_tables, self.scratch, self._frames, self.rng,
                self.scale, self.schedule(iterations), self.walks, max_nodes, self._plan,
                *self._walk_functions, self._sampler.schedule(self.iteration + 1, iterations),
                best_response, self.simultaneous, *self.rule_arguments, self.counts,
            )  # fmt: skip
        return self.iteration - before

    def schedule(self, count: int) -> np.ndarray:
        """The bound rule's rows for the next ``count`` iterations and the one after, see ``UpdateRule.schedule``."""
        assert self._rule is not None
        first = self.iteration + 1
        skip = first - self._rows_from
        if skip < 0 or skip + count >= len(self._rows):
            try:
                self._rows = self._rule.schedule(first, max(count, self._ahead))
            except Exception:  # perhaps only of an iteration that nobody asked for: a schedule may end
                self._ahead = 0
                self._rows = self._rule.schedule(first, count)
            self._rows_from, skip = first, 0
        return self._rows[skip : skip + count + 1]

    def walk_arguments(self) -> tuple[Any, ...]:
        """What the walk kernel takes of the bound sampler: plan, functions, parameters, tables, stack, random state."""
        parameters = self._sampler.schedule(self.iteration + 1, 1)[0]
        return self._plan, *self._walk_functions, parameters, self.walk_tables, self._frames, self.rng

    def true_regret(self) -> np.ndarray:
        """(m,) cumulative regrets, the newest with weight 1."""
        scale = np.empty((len(self.regret), 2))
        for player in (0, 1):
            scale[self.game.sequences_of(player)] = self.scale[player, [POSITIVE, NEGATIVE]]
        return self.regret / np.where(self.regret > 0, scale[:, 0], scale[:, 1])

    def true_policy_sum(self) -> np.ndarray:
        """(m,) weighted sum of the players' reach-weighted policies, the newest with weight 1."""
        true = self.policy_sum.copy()
        for player in (0, 1):
            true[self.game.sequences_of(player)] /= self.scale[player, AVERAGE]
        return true

    def is_finite(self) -> bool:
        """Whether every table and model holds numbers still; infinities and NaN are for ever."""
        tables = (self.regret, self.policy, self.policy_sum, self._state)
        return all(np.isfinite(table).all() for table in tables) and (not self._learning or self._learning.is_finite())

    def arrays_of_rule(self) -> dict[str, np.ndarray]:
        """The bound rule's own tables by name."""
        assert self._rule is not None
        return {name: self._state[:, column].copy() for column, name in enumerate(self._rule.arrays)}

    def state(self) -> dict[str, np.ndarray]:
        """Everything that the next iteration depends on, but for the components."""
        rule_arrays = self.rule_arrays | self.arrays_of_rule()
        learned = self._learning.state() if self._learning else {}
        return {
            **{f"learned_{name}": array for name, array in learned.items()},
            "counts": self.counts,
            "scale": self.scale,
            "rng": self.rng,
            "regret": self.regret,
            "policy": self.policy,
            "policy_sum": self.policy_sum,
            "baseline": self.baseline,
            "uniform_count": self.uniform_count,
            "visits": self.visits,
            **{f"rule_{name}": array for name, array in rule_arrays.items()},
        }

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Take up a saved state; the components must be bound already."""
        assert self._rule is not None
        for name in ("counts", "scale", "rng", "regret", "policy", "policy_sum", "baseline", "uniform_count", "visits"):
            getattr(self, name)[...] = state[name]
        for name, array in state.items():
            if name.startswith("rule_"):
                self.rule_arrays[name.removeprefix("rule_")] = array
        for column, name in enumerate(self._rule.arrays):
            self._state[:, column] = self.rule_arrays[name]
        if self._learning:
            learned = {name.removeprefix("learned_"): a for name, a in state.items() if name.startswith("learned_")}
            self._learning.restore(learned)

    def average_sums(self) -> np.ndarray:
        """(m,) in proportion to the average policy: the policy sum, or what a model says."""
        return self._learning.average_sums() if self._learning else self.policy_sum

    def draw_policy(self, rng: np.random.Generator) -> np.ndarray:
        """(m,) see :meth:`rlccfr.Solver.draw_policy`."""
        if self._learning is None:
            raise ComponentError("policies are drawn only under an update rule with average='value_networks'")
        return self._learning.draw_policy(rng)
