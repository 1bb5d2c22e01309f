"""What an algorithm is made of: an update rule, a sampler, an abstraction. All three are data.

Two of them may learn from data rather than tabulate: see :mod:`rlccfr.networks.settings`.

The engine reads these fields and knows no algorithm by name; the algorithms themselves are in
:mod:`rlccfr.catalog`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from rlccfr.errors import ComponentError, first_line
from rlccfr.networks.settings import Approximator, Networks

Schedule = Callable[[np.ndarray], Any]
"""From iterations t = 1, 2, ... (float array) to a value each, or one value for all."""

WALKS = ("all", "one", "subset")
"""How a walk goes on at a node."""

_NOTHING: Mapping[str, Any] = MappingProxyType({})


def always(value: float) -> Schedule:
    """The schedule that is ``value`` at every iteration."""
    return lambda t: value


UNIT = always(1.0)
ZERO = always(0.0)


SCHEDULE_COLUMNS = ("positive_discount", "negative_discount", "floor", "average_decay", "prediction")
"""The columns of a rule's schedule, before its parameters."""


@dataclass(frozen=True, kw_only=True)
class Component:
    """Common to all three; the registry fills in both fields."""

    id: str = ""
    hyperparameters: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)

    @property
    def learns(self) -> bool:
        """Whether a model that is fitted to data takes the place of a table."""
        return False

    @property
    def spec(self) -> dict[str, Any]:
        """What makes this component again: ``{"id": ..., **hyperparameters}``, JSON-able."""
        return {"id": self.id, **self.hyperparameters}

    def same_as(self, other: Component) -> bool:
        """Whether both were made alike; such as have no id are alike only if they are one object."""
        return self is other or (bool(self.id) and type(self) is type(other) and self.spec == other.spec)


@dataclass(frozen=True, kw_only=True)
class UpdateRule(Component):
    """How estimated regrets become a policy and policies an average.

    At iteration t, for one infoset with regrets R, estimated instantaneous regrets r and policy sum S::

        R <- max(D R + W r, floor)        D: positive_discount where R > 0, else negative_discount
        S <- average_decay S + increment
        policy <- policy_map(D' R + prediction r)    D': the next iteration's discount where prediction is not 0

    Every schedule is in units where the newest weight is 1, so that rules can be switched in mid-run.

    Args:
        reweight: plain function ``f(instant_regret, mass, state, parameters, utility_range)`` that changes an
            infoset's instantaneous regrets (A,) in place (the W above); ``mass`` is the opponent's and
            chance's reach in them, ``state`` (A, len(arrays)) the rule's own tables.
        policy_map: plain function ``f(row, state, parameters, utility_range)`` that turns regrets (A,) into a
            policy in place; None is regret matching.
        parameters: schedules handed to both functions as an array.
        arrays: names of per-sequence tables that the solver keeps for the rule, zero at first.
        uses_mass: have ``mass`` computed; without, it is 0 in exact passes.
        average_weight: one of ``arrays``; weighs each action's increment of the policy sum.
        fallback: the policy where no regret is positive.
        exact_only: refuse samplers, because the rule is not sound with estimates.
        networks: learn advantages by networks; the tables then follow as a shadow, for what comes after.
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
    networks: Networks | None = None

    def __post_init__(self) -> None:
        if self.average_weight is not None and not self.exact_only:
            raise ComponentError("a rule with average_weight must be exact_only: walks add to the average unweighted")
        if self.networks:
            self._check_networks(self.networks)

    def _check_networks(self, networks: Networks) -> None:
        """With an exact fit the rule is to be the tabular one, which the networks must be told enough for."""
        special = self.policy_map is not None or self.average_weight is not None or self.prediction is not ZERO
        if special or self.floor not in (0.0, -np.inf):
            raise ComponentError(
                "a rule with networks matches regrets: no policy_map, average_weight or prediction, and floor 0 or none"
            )
        if (self.reweight is None) != (networks.action_weight is None):
            raise ComponentError("networks need an action_weight where the rule has a reweight, and only there")
        rows = self.schedule(1, 100)
        if not networks.relabel and (self.floor == 0.0 or not np.array_equal(rows[:, 0], rows[:, 1])):
            raise ComponentError("networks must relabel where the rule has a floor or unequal discounts")

    @property
    def learns(self) -> bool:
        return self.networks is not None

    @property
    def is_plain(self) -> bool:
        """Regret matching on regrets as they come: what the fastest path of the kernels does."""
        return self._matches and self.prediction is ZERO

    @property
    def only_predicts(self) -> bool:
        """Regret matching on regrets as they come and a prediction: nearly as fast."""
        return self._matches and self.prediction is not ZERO

    @property
    def _matches(self) -> bool:
        return self.reweight is None and self.policy_map is None and self.fallback == "uniform"

    def schedule(self, first: int, count: int) -> np.ndarray:
        """Rows for iterations first .. first + count, shape (count + 1, 5 + len(parameters))."""
        t = np.arange(first, first + count + 1, dtype=np.float64)
        columns: dict[str, Schedule | float] = {name: getattr(self, name) for name in SCHEDULE_COLUMNS}
        columns |= {f"parameters[{index}]": schedule for index, schedule in enumerate(self.parameters)}
        rows = np.empty((count + 1, len(columns)))
        for k, (name, column) in enumerate(columns.items()):
            what = f"{name} of {self.id or 'the rule'}"
            try:
                with np.errstate(all="ignore"):  # what comes of it is looked at here
                    rows[:, k] = column(t) if callable(column) else column
            except (TypeError, ValueError, LookupError) as error:
                raise ComponentError(
                    f"{what} must turn an array of iterations, shape ({count + 1},), into as many numbers, by NumPy's "
                    f"functions: {first_line(error)}"
                ) from None
            wrong = np.isnan(rows[:, k]) if name == "floor" else ~np.isfinite(rows[:, k])
            if name.endswith(("discount", "decay")):
                wrong |= rows[:, k] < 0
            if wrong.any():
                at = int(np.argmax(wrong))
                least = " of at least 0" if name.endswith(("discount", "decay")) else ""
                raise ComponentError(
                    f"{what} is {rows[at, k]:g} at iteration {first + at}, not a finite number{least}; "
                    "iterations count from 1"
                )
        return rows


@dataclass(frozen=True, kw_only=True)
class Sampler(Component):
    """How a walk goes through the tree; every walk's estimate is unbiased.

    Args:
        exact: no walk, an exact pass over the whole tree; the other fields are then unused.
        chance, opponent: walk ``all`` children, or ``one`` drawn by its true probability.
        traverser: walk ``all`` own actions, ``one`` drawn with ``exploration`` (share of the uniform policy),
            or a ``subset``, each action independently by ``inclusion``.
        probe: value each own action that is not walked by one on-policy roll-out.
        baseline_rate: step of the learned baselines that reduce variance; 0 for none.
        inclusion: plain function ``f(policy, count, parameters, probability)`` that fills an infoset's
            inclusion probabilities (A,) of a subset; ``count`` is the average policy's sum at uniform weight.
        subset_size: instead of ``inclusion``: so many own actions, all such subsets equally likely.
        mixture: plain function ``f(policy, count, visits, parameters)``: the probability with which ``all`` own
            actions are walked at an infoset rather than ``one``; ``visits`` counts earlier walks through it.
        one_draw: a mixture's random number is drawn once a walk, not at every node.
        parameters: numbers, or schedules of them, handed to the function as an array.
    """

    exact: bool = False
    chance: Literal["all", "one"] = "one"
    opponent: Literal["all", "one"] = "one"
    traverser: Literal["all", "one", "subset"] = "all"
    exploration: float = 0.0
    probe: bool = False
    baseline_rate: float = 0.0
    inclusion: Callable[..., None] | None = None
    subset_size: int = 0
    mixture: Callable[..., float] | None = None
    one_draw: bool = False
    parameters: tuple[float | Schedule, ...] = ()

    def schedule(self, first: int, count: int) -> np.ndarray:
        """Parameters of iterations first .. first + count - 1, shape (count, len(parameters))."""
        t = np.arange(first, first + count, dtype=np.float64)
        rows = np.empty((count, len(self.parameters)))
        for k, parameter in enumerate(self.parameters):
            rows[:, k] = parameter(t) if callable(parameter) else parameter
        return rows

    def __post_init__(self) -> None:
        for field_, choices in (("chance", WALKS[:2]), ("opponent", WALKS[:2]), ("traverser", WALKS)):
            if getattr(self, field_) not in choices:
                raise ComponentError(f"{field_} must be one of {', '.join(choices)}, not {getattr(self, field_)!r}")
        if (self.traverser == "subset") != (self.inclusion is not None or self.subset_size > 0):
            raise ComponentError("traverser='subset' needs an inclusion function or a subset_size, and only it does")
        if self.inclusion is not None and self.subset_size:
            raise ComponentError("give an inclusion function or a subset_size, not both")
        if self.mixture is not None and (self.traverser != "one" or self.probe or self.baseline_rate):
            raise ComponentError("a mixture needs traverser='one', without probes and baselines")


@dataclass(frozen=True, kw_only=True)
class Abstraction(Component):
    """What stands for the opponent.

    Args:
        best_response: the opponent plays an exact best response to the current policy, not its own policy.
        regressor: play from a function of infoset and action that is fitted to the regrets (or, under a rule with
            networks, to the advantages), rather than from the regrets themselves.
        bootstrap: the fitted values also replace the regrets, so that the next ones are added to them.
        traversals: walks of each player an iteration, unless the rule has a number of its own; 0: the solver's.
    """

    best_response: bool = False
    regressor: Approximator | None = None
    bootstrap: bool = False
    traversals: int = 0

    @property
    def learns(self) -> bool:
        return self.regressor is not None

    def fits_as(self, other: Abstraction) -> bool:
        """Whether models under both are alike."""
        return (self.regressor, self.bootstrap) == (other.regressor, other.bootstrap)


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """What is published about the convergence of algorithms that have a component.

    An algorithm has a guarantee where each of its three components has one for its kind of iteration.

    Attributes:
        exact: the theorem for exact passes; empty if there is none.
        sampled: the theorem for unbiased, bounded estimates; empty if there is none.
        exact_open, sampled_open: why there is none.
        exact_fit: of a deep rule, the id of the tabular rule that it is with an exact fit.
        fitted: of a deep rule, theorems of its own for samplers, by their ids.
    """

    exact: str = ""
    sampled: str = ""
    exact_open: str = ""
    sampled_open: str = ""
    exact_fit: str = ""
    fitted: Mapping[str, str] = field(default_factory=dict)
