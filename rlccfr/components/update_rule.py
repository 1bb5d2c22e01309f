"""Update rules: how regrets become policies, and policies become an average."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rlccfr.components.component import Component
from rlccfr.components.controller import Controller
from rlccfr.components.schedules import MOMENTUM_COLUMNS, SCHEDULE_COLUMNS, UNIT, ZERO, Schedule, schedule_rows
from rlccfr.errors import ComponentError
from rlccfr.networks.settings import Networks

MOVEMENT = "movement"
"""Name of the table that a rule with momentum keeps: the running sum M of the changes of R, see :class:`Momentum`."""


@dataclass(frozen=True, kw_only=True)
class Momentum:
    """Momentum of regrets: policies in proportion to max(D' R + prediction r + weight M, 0)^power.

    R, r, D' and prediction are those of :class:`UpdateRule`. M is a running sum of the changes of R: M <- memory M +
    (R after the iteration - R before it). M tells how far R is ahead of its running mean: if the run began with this
    rule, M = R - S, where S <- memory S + (1 - memory) R is the running mean of the R before each iteration. On a
    switch to the rule, M is 0.

    Args:
        weight: schedule of the weight of M in the policy.
        memory: schedule of the factor on the earlier M, from 0 to 1.
        power: schedule of the power, at least 1; the powers 1, 1.5 and 2 are computed fastest.

    Raises:
        ComponentError: a memory or a power is out of range; raised when the schedules are read.
    """

    weight: Schedule | float
    memory: Schedule | float = 0.9
    power: Schedule | float = 1.0


@dataclass(frozen=True, kw_only=True)
class UpdateRule(Component):
    """Rule that turns regrets into policies, and policies into an average.

    Iteration t updates an infoset with regrets R, instantaneous regrets r and policy sum S as follows::

        R <- max(D R + W r, floor)
        S <- average_decay S + increment
        policy <- policy_map(D' R + prediction W r)

    D is ``positive_discount`` where R > 0, else ``negative_discount``. W is the effect of ``reweight``, 1 without it.
    The increment is the policy that was played in iteration t, weighted by its player's own reach of the infoset. The
    last line uses the next iteration's prediction and parameters. D' is the next iteration's discount if that
    prediction is not 0, and 1 otherwise.

    The newest regrets and the newest policy always have weight 1, so that rules can be switched during a run. To give
    iteration t the weight t, multiply the earlier sum by (t - 1) / t.

    r is an action's counterfactual value minus the infoset's value, which is the mean of the actions' values under the
    policy, or what ``regularise`` returns.

    Whether the players are updated in alternation or at once is an option of the run (``simultaneous`` of
    :class:`rlccfr.Solver`), unless the rule is ``simultaneous``.

    Args:
        positive_discount: schedule of D for positive regrets, at least 0.
        negative_discount: schedule of D for all other regrets, at least 0.
        floor: least value of a regret; -inf for none.
        average_decay: schedule of the factor on the policy sum, at least 0.
        prediction: schedule of the weight with which the newest regrets are counted once more in the policy.
        reweight: plain function ``f(instant_regret, mass, state, parameters, utility_range)`` that changes
            ``instant_regret``, (A,). ``mass`` is the reach of the opponent and chance, a factor of these regrets.
            ``state``, (A, len(arrays)), holds the rule's own tables, which the function may change. ``utility_range``
            is the game's largest payoff minus its smallest. A function with a sixth argument, ``regret``, also receives
            a copy of R, (A,), at the start of the iteration. None leaves the regrets as they are.
        policy_map: plain function ``f(row, state, parameters, utility_range)`` that turns the regrets in ``row``,
            (A,), into a policy. None is regret matching: a policy proportional to positive regrets.
        regularise: plain function ``f(values, policy, reach, state, parameters, utility_range)`` that may change the
            counterfactual ``values`` of an infoset's actions, (A,), and returns the infoset's value, which is passed
            up: infosets further up see regularised values, too. ``policy``, (A,), is the policy that was played.
            ``reach``, (A,), is the player's own reach of each action: the product of the probabilities with which the
            player played its actions up to and including this one. Needs ``exact_only``; excludes models, best
            responses, several threads and public trees. With None, the values stay as they are, and an infoset's value
            is their mean under ``policy``.
        parameters: schedules whose values ``reweight``, ``policy_map`` and ``regularise`` receive as an array.
        arrays: names of tables that the solver keeps for the rule, one number per infoset and action, 0 at first. The
            tables are kept while another rule runs.
        average_weight: name of one of ``arrays``, whose entry for an action multiplies the action's increment of the
            policy sum; needs ``exact_only``. None for no such factor.
        uses_mass: whether exact passes must compute ``mass``; without it, ``mass`` is undefined in exact passes. Walks
            always compute it.
        fallback: policy of regret matching if no regret is positive: ``"uniform"``; or ``"argmax"``, the action with
            the largest regret (uniform if all regrets are equal).
        exact_only: whether the rule runs by exact passes only, because it is not sound with estimated regrets.
        symmetric: whether the rule's functions treat all actions alike: if an infoset's rows are permuted, the results
            are permuted in the same way. Exact passes may then run over classes of infosets; see ``reduce`` of
            :class:`rlccfr.Solver`.
        simultaneous: whether the rule is defined only for updates of both players against the same policies. Runs of
            the rule then make such updates, whatever the run's option says. Needs ``exact_only``; excludes models and
            public trees.
        output: the policy that is the run's result: ``"average"``; or ``"current"``, for a rule whose last policy
            converges. ``"current"`` needs ``exact_only``, and excludes models, blends and public trees.
        networks: settings of networks that learn advantages; None for a tabular rule. The tables are updated, too, for
            a later switch to another rule.
        momentum: the momentum of regrets; None for no momentum. It takes the place of ``policy_map``, needs
            ``exact_only``, and can't be combined with functions, arrays or networks.
        controller: networks that choose the discounts, the floor, the decay, the prediction and the momentum during the
            run, in place of the schedules; None to use the schedules.

    Raises:
        ComponentError: a field has a wrong value, the fields contradict each other, or a schedule of a rule with
            networks fails.

    Examples:
        Linear CFR+: iteration t has the weight t, and no regret is negative.

        >>> from rlccfr.components import UpdateRule
        >>> share = lambda t: (t - 1) / t
        >>> rule = UpdateRule(positive_discount=share, negative_discount=share, average_decay=share, floor=0.0)
        >>> rule.schedule(first=1, count=2)[:, 0]  # D in iterations 1 to 3
        array([0.        , 0.5       , 0.66666667])
    """

    positive_discount: Schedule = UNIT
    negative_discount: Schedule = UNIT
    floor: float = -np.inf
    average_decay: Schedule = UNIT
    prediction: Schedule = ZERO
    reweight: Callable[..., None] | None = None
    policy_map: Callable[..., None] | None = None
    regularise: Callable[..., float] | None = None
    parameters: tuple[Schedule, ...] = ()
    arrays: tuple[str, ...] = ()
    average_weight: str | None = None
    uses_mass: bool = False
    fallback: Literal["uniform", "argmax"] = "uniform"
    exact_only: bool = False
    symmetric: bool = False
    simultaneous: bool = False
    output: Literal["average", "current"] = "average"
    networks: Networks | None = None
    momentum: Momentum | None = None
    controller: Controller | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.momentum is not None:
            self._check_momentum()
            object.__setattr__(self, "arrays", (MOVEMENT,))  # the dataclass is frozen
        if self.controller is not None:
            self._check_controller(self.controller)
        if self.average_weight is not None and not self.exact_only:
            raise ComponentError("a rule with average_weight needs exact_only=True: walks do not apply the weight")
        if self.needs_exact_tables and (self.learns or self.controller is not None or not self.exact_only):
            raise ComponentError(
                "a rule with regularise, simultaneous=True or output='current' needs exact_only=True, and takes no "
                "networks or controller"
            )
        if self.networks:
            self._check_networks(self.networks)

    def _check_controller(self, controller: Controller) -> None:
        """Check that no other field conflicts with the controller, and that the rule has what the controller sets.

        Raises:
            ComponentError: a field conflicts, or the rule lacks a prediction or momentum.
        """
        has_prediction = self.prediction is not ZERO and (self.momentum is not None or self._matches_regrets)
        if self.learns or not (self.exact_only and has_prediction):
            raise ComponentError(
                "a rule with a controller needs exact_only=True, a prediction and fallback='uniform', and takes no "
                "functions and no networks"
            )
        if controller.has_momentum and self.momentum is None:
            raise ComponentError(
                "a rule whose controller chooses momentum needs momentum from the start: use UpdateRule.controlled_by"
            )

    def _check_momentum(self) -> None:
        """Check that no other field conflicts with the momentum.

        Raises:
            ComponentError: a field conflicts.
        """
        functions = (self.reweight, self.policy_map, self.regularise)
        has_functions = any(function is not None for function in functions) or bool(self.parameters)
        has_arrays = self.arrays not in ((), (MOVEMENT,)) or self.average_weight is not None
        if has_functions or has_arrays or self.learns or self.fallback != "uniform" or not self.exact_only:
            raise ComponentError(
                "a rule with momentum needs exact_only=True and fallback='uniform', and takes no functions, "
                "parameters, arrays or networks"
            )

    def _check_networks(self, networks: Networks) -> None:
        """Check that the rule with networks would equal the tabular rule if the networks fitted exactly.

        Raises:
            ComponentError: the rule would differ.
        """
        only_matches_regrets = self.policy_map is None and self.average_weight is None and self.prediction is ZERO
        if not only_matches_regrets or self.floor not in (0.0, -np.inf):
            raise ComponentError(
                "a rule with networks must use regret matching: no policy_map, average_weight or prediction, and a "
                "floor of 0 or -inf"
            )
        if (self.reweight is None) != (networks.action_weight is None):
            raise ComponentError("networks need an action_weight if and only if the rule has a reweight")
        # Without relabelling, a discount only changes the weights of old data. The fit then equals the discounted
        # regrets only if positive and negative regrets have the same discounts; 100 iterations are checked.
        discounts = self.schedule(1, 100)[:, :2]
        if not networks.relabel and (self.floor == 0.0 or not np.array_equal(discounts[:, 0], discounts[:, 1])):
            raise ComponentError(
                "networks must relabel old data if the rule has a floor or unequal discounts: set relabel=True"
            )

    @classmethod
    def controlled_by(cls, controller: Controller) -> UpdateRule:
        """Return the update rule whose settings a controller chooses during the run.

        The settings are the discounts, the floor, the decay and the prediction, and the momentum if a choice has any.
        """
        momentum = Momentum(weight=0.0, memory=0.0) if controller.has_momentum else None
        return cls(prediction=UNIT, exact_only=True, momentum=momentum, controller=controller)

    def same_as(self, other: Component) -> bool:
        """Return whether both rules have the same spec and the same controller object.

        Controllers are not compared by file, because a controller's file may have changed since it was read.
        """
        return super().same_as(other) and isinstance(other, UpdateRule) and self.controller is other.controller

    @property
    def learns(self) -> bool:
        return self.networks is not None

    @property
    def needs_exact_tables(self) -> bool:
        """Whether the rule needs exact passes and tables.

        It does if it regularises values, updates both players simultaneously, or has its last policy as the result.
        """
        return self.regularise is not None or self.simultaneous or self.output == "current"

    @property
    def is_plain(self) -> bool:
        """Whether the rule is plain regret matching without a prediction, for which kernels have their fastest path."""
        return self._matches_regrets and self.prediction is ZERO

    @property
    def only_predicts(self) -> bool:
        """Whether the rule is plain regret matching with a prediction; kernels are nearly as fast as without one."""
        return self._matches_regrets and self.prediction is not ZERO

    @property
    def _matches_regrets(self) -> bool:
        """Whether the rule is plain regret matching, with or without a prediction.

        Such a rule has no ``reweight``, ``policy_map``, ``regularise`` or momentum, and its policy is uniform where no
        regret is positive.
        """
        functions = (self.reweight, self.policy_map, self.regularise)
        has_functions = any(function is not None for function in functions)
        return not has_functions and self.momentum is None and self.fallback == "uniform"

    @property
    def treats_actions_alike(self) -> bool:
        """Whether permuting an infoset's regrets permutes its policy in the same way, and changes nothing else."""
        return self._matches_regrets or self.momentum is not None or (self.symmetric and self.fallback == "uniform")

    def schedule(self, first: int, count: int) -> np.ndarray:
        """Return the rule's schedules at iterations ``first`` to ``first + count``, (count + 1, 5 + len(parameters)).

        The columns are :data:`SCHEDULE_COLUMNS`, then the parameters. If the rule has momentum, its weight, memory and
        power take the place of the parameters.

        Raises:
            ComponentError: a schedule fails, or returns a number that is out of range.
        """
        columns: dict[str, Schedule | float] = {name: getattr(self, name) for name in SCHEDULE_COLUMNS}
        columns |= {f"parameters[{index}]": schedule for index, schedule in enumerate(self.parameters)}
        if self.momentum is not None:
            columns |= {f"momentum.{name}": getattr(self.momentum, name) for name in MOMENTUM_COLUMNS}
        return schedule_rows(self.id or "the rule", columns, first, count)
