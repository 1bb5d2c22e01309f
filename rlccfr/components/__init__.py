"""The components of an algorithm: an update rule, a sampler and an abstraction. All three are data.

The engine reads their fields and knows no algorithm by name; the algorithms themselves are in :mod:`rlccfr.catalog`.
Update rules and abstractions may use fitted models in place of tables: see :mod:`rlccfr.networks.settings`.

Words and shapes used below:

- An *infoset* (information set) holds the histories that a player can't tell apart. It has A actions.
- Its *instantaneous regrets*, (A,), belong to one iteration. They tell how much more each action is worth than the
  current policy, weighted by the *mass*: the reach of the opponent and chance. Its *regrets* are their sum.
- Its *policy sum*, (A,), is the sum of the policies played. The average policy is proportional to it.
- A *walk* goes through the tree for one player, the *traverser*, and estimates that player's instantaneous regrets.
  Own nodes and own actions are the traverser's. An *exact pass* computes these regrets without drawing anything.
- A *schedule* gives a number for each iteration. Iterations are counted from 1.
- A *plain function* works on the arrays of one infoset, and the engine compiles it with Numba. It writes its result
  into one of these arrays; only ``mixture`` returns a number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rlccfr.components.abstraction import Abstraction as Abstraction
from rlccfr.components.component import Component as Component
from rlccfr.components.controller import Controller as Controller
from rlccfr.components.guarantee import Guarantee as Guarantee
from rlccfr.components.schedules import SCHEDULE_COLUMNS as SCHEDULE_COLUMNS
from rlccfr.components.schedules import UNIT as UNIT
from rlccfr.components.schedules import ZERO as ZERO
from rlccfr.components.schedules import Schedule as Schedule
from rlccfr.components.schedules import always as always
from rlccfr.components.schedules import schedule_rows
from rlccfr.errors import ComponentError
from rlccfr.networks.settings import Networks

WALKS = ("all", "one", "subset")
"""Values of a sampler's ``chance``, ``opponent`` and ``traverser``; only ``traverser`` may be ``"subset"``."""

SHARED_CHANCE = ("public", "opponent", "own")
"""Values that only a sampler's ``chance`` may have: what is drawn once for all histories that players see alike."""


@dataclass(frozen=True, kw_only=True)
class UpdateRule(Component):
    """Rule that turns regrets into policies, and policies into an average.

    Iteration t updates an infoset with regrets R, instantaneous regrets r and policy sum S as follows::

        R <- max(D R + W r, floor)
        S <- average_decay S + increment
        policy <- policy_map(D' R + prediction W r)

    D is ``positive_discount`` where R > 0, else ``negative_discount``. W is the effect of ``reweight``, 1 without it.
    The increment is the policy, weighted by its owner's reach of the infoset. The last line takes the next
    iteration's prediction and parameters. D' is the next iteration's discount if that prediction is not 0, and 1
    otherwise.

    The newest regret and the newest policy always have weight 1, so that rules can be switched during a run. To give
    iteration t the weight t, multiply the past by (t - 1) / t.

    Args:
        positive_discount: schedule of D for positive regrets, at least 0.
        negative_discount: schedule of D for all other regrets, at least 0.
        floor: least value of a regret; -inf for none.
        average_decay: schedule of the factor on the policy sum, at least 0.
        prediction: schedule of the weight with which the policy counts the newest regrets once more.
        reweight: plain function ``f(instant_regret, mass, state, parameters, utility_range)`` that changes
            ``instant_regret``, (A,). ``mass`` is the opponent's and chance's reach in these regrets. ``state``,
            (A, len(arrays)), holds the rule's own tables, which the function may change. ``utility_range`` is the
            game's largest payoff minus its smallest. A sixth argument, ``regret``, is a copy of R, (A,), at the start
            of the iteration. None leaves the regrets as they are.
        policy_map: plain function ``f(row, state, parameters, utility_range)`` that turns the regrets in ``row``,
            (A,), into a policy. None is regret matching: a policy proportional to positive regrets.
        parameters: schedules whose values ``reweight`` and ``policy_map`` receive as an array.
        arrays: names of tables that the solver keeps for the rule, one number per infoset and action, 0 at first.
        average_weight: one of ``arrays``, which multiplies each action's increment; needs ``exact_only``.
        uses_mass: whether exact passes must compute ``mass``, which is undefined there otherwise. Walks always do.
        fallback: policy of regret matching if no regret is positive: ``"uniform"``; or ``"argmax"``, the action with
            the largest regret (uniform if all regrets are equal).
        exact_only: whether to refuse samplers, because the rule is not sound with estimated regrets.
        symmetric: whether ``reweight`` and ``policy_map`` treat all actions alike: permuted rows get the same results,
            permuted. Exact passes may then run over infosets' classes, see :class:`rlccfr.Solver`.
        networks: settings of networks that learn advantages; None for a tabular rule. The tables are updated
            beside the networks, for a later switch to another rule.
        controller: networks that choose the discounts, the floor, the decay and the prediction during the run, in place
            of the schedules; None for schedules.

    Raises:
        ComponentError: the fields contradict each other, or a schedule of a rule with networks fails.
    """

    positive_discount: Schedule = UNIT
    negative_discount: Schedule = UNIT
    floor: float = -np.inf
    average_decay: Schedule = UNIT
    prediction: Schedule = ZERO
    reweight: Callable[..., None] | None = None
    policy_map: Callable[..., None] | None = None
    parameters: tuple[Schedule, ...] = ()
    arrays: tuple[str, ...] = ()
    average_weight: str | None = None
    uses_mass: bool = False
    fallback: Literal["uniform", "argmax"] = "uniform"
    exact_only: bool = False
    symmetric: bool = False
    networks: Networks | None = None
    controller: Controller | None = None

    def __post_init__(self) -> None:
        if self.controller is not None and (self.learns or not (self.exact_only and self.only_predicts)):
            raise ComponentError("a rule with a controller must be exact_only and predict, without functions")
        if self.average_weight is not None and not self.exact_only:
            raise ComponentError("a rule with average_weight must be exact_only: walks add to the average unweighted")
        if self.networks:
            self._check_networks(self.networks)

    def _check_networks(self, networks: Networks) -> None:
        """Check that the networks reproduce the tabular rule if they fit exactly."""
        special = self.policy_map is not None or self.average_weight is not None or self.prediction is not ZERO
        if special or self.floor not in (0.0, -np.inf):
            raise ComponentError(
                "a rule with networks must match regrets: no policy_map, average_weight or prediction; floor 0 or -inf"
            )
        if (self.reweight is None) != (networks.action_weight is None):
            raise ComponentError("networks need an action_weight if and only if the rule has a reweight")
        rows = self.schedule(1, 100)
        if not networks.relabel and (self.floor == 0.0 or not np.array_equal(rows[:, 0], rows[:, 1])):
            raise ComponentError("networks must relabel if the rule has a floor or unequal discounts")

    @classmethod
    def controlled_by(cls, controller: Controller) -> UpdateRule:
        """Return the update rule whose discounts, floor, decay and prediction a controller chooses during the run."""
        return cls(prediction=UNIT, exact_only=True, controller=controller)

    def same_as(self, other: Component) -> bool:
        """Return whether both are the same rule; a controller's file may have changed since it was read."""
        return super().same_as(other) and isinstance(other, UpdateRule) and self.controller is other.controller

    @property
    def learns(self) -> bool:
        return self.networks is not None

    @property
    def is_plain(self) -> bool:
        """Whether the rule is regret matching without functions or a prediction: the kernels' fastest path."""
        return self._matches and self.prediction is ZERO

    @property
    def only_predicts(self) -> bool:
        """Whether the rule is regret matching with a prediction, but without functions: nearly as fast."""
        return self._matches and self.prediction is not ZERO

    @property
    def _matches(self) -> bool:
        return self.reweight is None and self.policy_map is None and self.fallback == "uniform"

    @property
    def treats_actions_alike(self) -> bool:
        """Whether permuted rows of regrets get the same policies, permuted."""
        return self._matches or (self.symmetric and self.fallback == "uniform")

    def schedule(self, first: int, count: int) -> np.ndarray:
        """Return the rows of iterations ``first`` to ``first + count``, shape (count + 1, 5 + len(parameters)).

        Raises:
            ComponentError: a schedule fails, or gives a number that is out of range.
        """
        columns: dict[str, Schedule | float] = {name: getattr(self, name) for name in SCHEDULE_COLUMNS}
        columns |= {f"parameters[{index}]": schedule for index, schedule in enumerate(self.parameters)}
        return schedule_rows(self.id or "the rule", columns, first, count)


@dataclass(frozen=True, kw_only=True)
class Sampler(Component):
    """Choice of the children that a walk takes at each node.

    The engine accounts for the probability with which a child was taken, so that every estimate is unbiased, except
    with learned ``values`` or without weights.

    Args:
        exact: whether an exact pass over the whole tree replaces walks; the other fields are then unused.
        chance, opponent: children taken at nodes of chance and of the opponent: ``"all"``, or ``"one"``, drawn with
            its true probability. ``chance`` may also tell what is public from private states. A public outcome is then
            drawn once for all histories with the same public past. With ``"public"``, all private states are taken.
            With ``"opponent"``, the opponent's private state is drawn as well. With ``"own"``, the traverser's is.
            These three need a game in which only chance hides anything.
        traverser: own actions taken: ``"all"``; ``"one"``, drawn from the policy mixed with exploration; or a
            ``"subset"``, drawn by ``inclusion`` or ``subset_size``.
        exploration: share of exploration where one own action is drawn; the rest is the policy.
        explores: unit of exploration: all ``"actions"`` of an infoset are equally likely; or all own ``"sequences"``
            that end below it, so that an action is as likely as the number of those below it.
        probe: whether each own action that is not taken is valued by one on-policy roll-out.
        baseline_rate: step size of learned baselines, which reduce variance; 0 for none.
        baseline: what has a baseline: each ``"sequence"``; or each ``"history"``, at chance nodes too. ``"oracle"`` has
            the histories' exact values, which take a pass over the tree, and does not use ``baseline_rate``.
        values: values of histories from which regrets follow in place of the walk's values; None for the walk's.
            ``"oracle"`` has the exact ones, which take a pass over the tree. With ``"table"``, each walk sets the
            values of its nodes to the means of their children's.
        weighted: whether regrets are divided by the probability of the traverser's own draws. Without that, the mean
            estimates at an infoset are its regrets times that probability. Regret matching does not mind this if the
            probability never changes, as with ``exploration=1``; else iterations are reweighted, and no bound is known.
        inclusion: plain function ``f(policy, count, parameters, probability)`` that fills ``probability``, (A,). Each
            own action is taken with its probability, in (0, 1], independently of the others. ``policy``, (A,), is the
            current policy; ``count``, (A,), is the policy sum that equal weights of all iterations would give.
        subset_size: number of own actions taken, in place of ``inclusion``; all subsets of this size are equally
            likely.
        mixture: plain function ``f(policy, count, visits, parameters)`` that returns the probability, in [0, 1], with
            which all own actions of an infoset are taken, rather than one. ``visits`` is the number of earlier walks
            through the infoset; ``policy`` and ``count`` are as for ``inclusion``.
        one_draw: whether a mixture draws its random number once per walk, not at every node.
        parameters: numbers, or schedules of numbers, whose values ``inclusion`` or ``mixture`` receives as an array.

    Raises:
        ComponentError: a field has an unknown value, or the fields contradict each other.
    """

    exact: bool = False
    chance: Literal["all", "one", "public", "opponent", "own"] = "one"
    opponent: Literal["all", "one"] = "one"
    traverser: Literal["all", "one", "subset"] = "all"
    exploration: float = 0.0
    explores: Literal["actions", "sequences"] = "actions"
    probe: bool = False
    baseline_rate: float = 0.0
    baseline: Literal["sequence", "history", "oracle"] = "sequence"
    values: Literal["table", "oracle"] | None = None
    weighted: bool = True
    inclusion: Callable[..., None] | None = None
    subset_size: int = 0
    mixture: Callable[..., float] | None = None
    one_draw: bool = False
    parameters: tuple[float | Schedule, ...] = ()

    def schedule(self, first: int, count: int) -> np.ndarray:
        """Return the parameters of iterations ``first`` to ``first + count - 1``, shape (count, len(parameters))."""
        t = np.arange(first, first + count, dtype=np.float64)
        rows = np.empty((count, len(self.parameters)))
        for k, parameter in enumerate(self.parameters):
            rows[:, k] = parameter(t) if callable(parameter) else parameter
        return rows

    def __post_init__(self) -> None:
        fields = (("chance", (*WALKS[:2], *SHARED_CHANCE)), ("opponent", WALKS[:2]), ("traverser", WALKS))
        for field_, choices in fields:
            if getattr(self, field_) not in choices:
                raise ComponentError(f"{field_} must be one of {', '.join(choices)}, not {getattr(self, field_)!r}")
        if (self.traverser == "subset") != (self.inclusion is not None or self.subset_size > 0):
            raise ComponentError("traverser='subset', and only this one, needs an inclusion function or a subset_size")
        if self.inclusion is not None and self.subset_size:
            raise ComponentError("give an inclusion function or a subset_size, not both")
        if self.mixture is not None and (self.traverser != "one" or self.probe or self.baseline_rate):
            raise ComponentError("a mixture needs traverser='one', without probes and baselines")
        if not isinstance(self.weighted, bool):
            raise ComponentError(f"weighted must be True or False, not {self.weighted!r}")
        if self.explores not in ("actions", "sequences"):
            raise ComponentError(f"explores must be 'actions' or 'sequences', not {self.explores!r}")
        if self.explores == "sequences" and self.traverser != "one":
            raise ComponentError("explores='sequences' needs traverser='one'")
        if self.baseline not in ("sequence", "history", "oracle"):
            raise ComponentError(f"baseline must be 'sequence', 'history' or 'oracle', not {self.baseline!r}")
        if self.baseline == "history" and not self.baseline_rate:
            raise ComponentError("baseline='history' needs a baseline_rate")
        if self.values not in (None, "table", "oracle"):
            raise ComponentError(f"values must be 'table', 'oracle' or None, not {self.values!r}")
        if self.values is not None and (self.baseline_rate or self.baseline != "sequence"):
            raise ComponentError("values take the place of the walk's, so that baselines have no use: leave one out")
        path = (self.traverser, self.chance, self.opponent) == ("one",) * 3
        if (self.by_history or not self.weighted) and not (path and self.mixture is None and not self.probe):
            raise ComponentError("values of histories and unweighted regrets need walks of one path, without probes")
        if not (self.weighted or self.by_history):
            raise ComponentError("unweighted regrets need values of histories, or baselines of histories")

    @property
    def by_history(self) -> bool:
        """Whether walks need values of histories."""
        return self.values is not None or self.baseline != "sequence"
