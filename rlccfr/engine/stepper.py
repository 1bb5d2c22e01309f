"""Base classes of steppers, which advance a run; each kind of iteration has one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from rlccfr.engine.binding import Binding
from rlccfr.engine.evaluation import evaluated
from rlccfr.engine.state import RunState
from rlccfr.errors import ComponentError
from rlccfr.game import RunTables
from rlccfr.games.centring import centred_game
from rlccfr.games.flat_tree import SequenceForm
from rlccfr.kernels.handles import prepare_handles
from rlccfr.kernels.layout import RUN, Tables

if TYPE_CHECKING:
    from rlccfr.games.merging.bucketed import BucketedGame
    from rlccfr.games.merging.merged import MergedGame

CHUNK = 4096
"""Largest number of iterations per kernel call; it bounds the schedule's memory."""


State = TypeVar("State", bound=RunTables)


class Stepper(ABC, Generic[State]):
    """Base of objects that advance the tables of a run under one binding.

    Args:
        state: the run's tables, which the stepper changes in place.
        binding: the components.
        previous: the previous stepper, if its models are still valid.

    Raises:
        ComponentError: the game lacks something that the components need.
    """

    learns: ClassVar[bool] = False
    """Whether policies come from models, so that an iteration may take a while."""

    sparse: bool = False
    """Whether evaluation is slow, so that a curve should have few points and, by default, only the average policy's."""

    notice: str = ""
    """One line that a user should read before the run; empty if there is nothing to say."""

    def __init__(self, state: State, binding: Binding, previous: Stepper[State] | None = None) -> None:
        self.state = state
        self.binding = binding

    @property
    def blends(self) -> bool:
        """Whether the run makes blends; see :mod:`rlccfr.engine.blending`."""
        return False

    @property
    def nodes_per_iteration(self) -> int:
        """Number of histories, or of private states, that an iteration by exact passes touches."""
        passes = 4 if self.binding.abstraction.best_response else 2
        return passes * int(self.state.game.pass_size)

    @abstractmethod
    def advance(self, iterations: int, max_nodes: int) -> None:
        """Run at most ``iterations`` iterations, and stop once ``max_nodes`` more histories have been touched.

        A stepper may stop earlier: after some iterations, or within one, which the next call then continues.
        """

    @abstractmethod
    def average_sums(self) -> np.ndarray:
        """Return an array (m,) proportional to the average policy at each infoset of the game."""

    @abstractmethod
    def current_sums(self) -> np.ndarray:
        """Return what :meth:`average_sums` returns, for the current policy; the caller may change the array."""

    @property
    def centre(self) -> float:
        """Constant that was subtracted from all payoffs to player 0; see :mod:`rlccfr.games.centring`."""
        return 0.0

    @abstractmethod
    def average_value(self) -> tuple[float, float, float]:
        """Return player 0's value of the average policy, and each player's value of a best response to it.

        A value is the player's own expected utility under centred payoffs: player 0's lack ``centre``, and player 1's
        contain it.
        """

    @abstractmethod
    def current_value(self) -> tuple[float, float, float]:
        """Return what :meth:`average_value` returns, for the current policy."""

    def abstract_value(self) -> tuple[float, float, float]:
        """Return what :meth:`average_value` returns, for the game in which infosets are merged into buckets.

        Best responses are then those inside the abstraction.
        """
        return self.average_value()

    @abstractmethod
    def is_finite(self) -> bool:
        """Return whether all tables and models are finite; infinities and NaN never disappear again."""

    @property
    def costs(self) -> dict[str, float] | None:
        """What an iteration is expected to use of each kind of budget: ``iterations`` (1), ``nodes`` and ``seconds``.

        None if the stepper needs no :meth:`set_horizon`.
        """
        return None

    @property
    def unfinished(self) -> bool:
        """Whether the last call of :meth:`advance` stopped within an iteration."""
        return False

    @property
    def progress(self) -> tuple[int, ...]:
        """Position within the iteration, if the average may change there while no nodes are touched; else ()."""
        return ()

    def set_horizon(self, iterations: int) -> None:
        """Set how many iterations the run is meant to have in all.

        Args:
            iterations: number of iterations; 0 if it is not fixed.
        """

    def finish_near(self, exploitability: float, target: float) -> bool:
        """Call :meth:`finish` and return its result if finishing is likely to reach a target; otherwise return False.

        Args:
            exploitability: exploitability of the average policy.
            target: exploitability to reach.
        """
        return False

    def finish(self) -> bool:
        """End the run, which may be continued later; return whether the average policy may have changed."""
        return False

    def enter(self) -> None:
        """Prepare to continue from the run's tables after a switch of components."""

    def publish(self) -> None:
        """Bring the run's tables up to date if the stepper works on copies of them."""

    def draw_policy(self, rng: np.random.Generator) -> np.ndarray:
        """Return a policy (m,) drawn from the average policy's mixture; see :meth:`rlccfr.Solver.draw_policy`.

        Raises:
            ComponentError: this stepper keeps no mixture, or has run no iteration.
        """
        raise ComponentError(
            "policies are drawn only under an update rule with average='value_networks', after an iteration"
        )

    def saved(self) -> dict[str, np.ndarray]:
        """Return the arrays outside the tables that the next iteration depends on, by name."""
        return {}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Restore the arrays that :meth:`saved` returned."""


class StepperKind(NamedTuple):
    """A kind of iteration: ``serves`` says whether it can run a binding, and ``path`` is its stepper's import path.

    A stepper's module is imported only when it is needed, since some of these modules import many others.
    """

    serves: Callable[[Binding], bool]
    path: str


class FlatStepper(Stepper[RunState]):
    """Base of steppers over a compiled game; steppers whose policies come from the tables override only ``advance``."""

    def __init__(self, state: RunState, binding: Binding, previous: Stepper[RunState] | None = None) -> None:
        super().__init__(state, binding, previous)
        prepare_handles(RUN)  # now, because the first iteration makes such a handle, and its time counts
        self._evaluate_whole = None if state.merged is None else WholeEvaluator(state.merged)
        self.sparse = self._evaluate_whole is not None and self._evaluate_whole.slow

    @property
    def form(self) -> SequenceForm:
        """The sequence form that iterations run over: the game, or a quotient whose tables determine the game's."""
        return self.state.game

    @property
    def tables(self) -> Tables:
        """The tables over the sequences of ``form``."""
        return self.state.tables

    def own_sums(self) -> np.ndarray:
        """Return an array over the sequences of ``form``, proportional to the run's result at each infoset.

        The result is the average policy, unless the rule's output is the current policy.
        """
        return self.tables.policy if self.binding.rule.output == "current" else self.tables.policy_sum

    def average_sums(self) -> np.ndarray:
        return self.expanded(self._run_sums())

    def current_sums(self) -> np.ndarray:
        self.publish()
        return self.expanded(self.state.tables.policy).copy()

    def _run_sums(self) -> np.ndarray:
        """Return an array over the run's sequences, proportional to the average policy at each infoset."""
        return self.form.over_all_members(self.own_sums())

    def expanded(self, table: np.ndarray) -> np.ndarray:
        """Return a table over the run's sequences, expanded to the solver's game; infosets get their bucket's entries.

        Without buckets, the table is returned as it is.
        """
        merged = self.state.merged
        return table if merged is None else merged.expand(table)

    def average_value(self) -> tuple[float, float, float]:
        if self._evaluate_whole is None:
            return self.abstract_value()
        return self._evaluate_whole(self._run_sums())

    def abstract_value(self) -> tuple[float, float, float]:
        return evaluated(self.form, self.form.normalised(self.own_sums()))

    def current_value(self) -> tuple[float, float, float]:
        if self._evaluate_whole is None:
            return evaluated(self.form, self.tables.policy)
        self.publish()
        return self._evaluate_whole(self.state.tables.policy)

    @property
    def centre(self) -> float:
        return self.state.game.centre

    def is_finite(self) -> bool:
        return all(np.isfinite(table).all() for table in (*self.tables, *self.state.history_values.values()))


class WholeEvaluator:
    """Evaluates policies of buckets in the whole game, whose infosets are merged into these buckets.

    The values of the last two policies, the average and the current one, are kept, since computing them takes seconds
    in a large public-tree game.

    Attributes:
        slow: whether evaluating takes seconds.
    """

    def __init__(self, merged: MergedGame | BucketedGame) -> None:
        whole: Any = merged.whole
        self._merged: Any = merged
        self._is_public = not whole.form.has_histories
        self.slow = self._is_public and whole.is_large
        self._last_values: list[tuple[np.ndarray, tuple[float, float, float]]] = []  # of at most two policies

    def __call__(self, sums: np.ndarray) -> tuple[float, float, float]:
        """Return player 0's value of a policy, and each player's value of a best response to it.

        Args:
            sums: (sequences of buckets,) numbers to which the policy is proportional at each bucket.
        """
        policy = self._merged.tree.normalised(sums)
        for last_policy, last_values in self._last_values:
            if np.array_equal(last_policy, policy):
                return last_values
        whole_policy = self._merged.expand(policy)
        if self._is_public:
            from rlccfr.engine.public.evaluation import public_values  # which loads the kernels of public trees

            values = public_values(self._merged.whole, whole_policy)
        else:
            values = evaluated(centred_game(self._merged.whole), whole_policy)
        self._last_values = [*self._last_values[-1:], (policy, values)]
        return values
