"""Samplers: which part of the tree an iteration visits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rlccfr.components.component import Component
from rlccfr.components.schedules import Schedule, schedule_rows
from rlccfr.errors import ComponentError
from rlccfr.networks.settings import HistoryNetwork

SHARED_CHANCE = ("public", "opponent", "own")
"""Values of ``chance`` with which a public outcome is drawn once for all histories with the same public past."""


@dataclass(frozen=True, kw_only=True)
class Sampler(Component):
    """Rule that chooses which children a walk visits at each node.

    The engine accounts for the probability of visiting a child, so that every estimate is unbiased, except with
    learned ``values`` or with ``weighted=False``.

    Args:
        exact: whether an exact pass over the whole tree replaces walks; the other fields are then unused.
        chance, opponent: children visited at chance nodes and at the opponent's nodes: ``"all"``, or ``"one"``,
            drawn with its true probability. ``chance`` may also distinguish public outcomes from private states. A
            public outcome is then drawn once for all histories with the same public past. With ``"public"``, all
            private states of both players are visited. With ``"opponent"``, the opponent's private state is drawn, and
            all private states of the traverser are visited; with ``"own"``, the traverser's is drawn, and all of the
            opponent's are visited. These three values need a game in which only chance hides anything.
        traverser: which of the traverser's actions are visited: ``"all"``; ``"one"``, drawn from the policy mixed with
            exploration; or a ``"subset"``, drawn by ``inclusion`` or ``subset_size``.
        internal_share: share of walks that are internal: they visit one of the traverser's actions, all actions of the
            opponent and all chance outcomes. The other walks are external, so ``chance``, ``opponent`` and
            ``traverser`` must have their defaults. Whether a walk is internal is drawn when it begins.
        exploration: share of exploration, in [0, 1], in the probabilities with which one of the traverser's actions is
            drawn; the rest is the policy.
        explores: what exploration makes equally likely: all ``"actions"`` of an infoset; or all of the traverser's
            ``"sequences"`` that end below the infoset, so that an action's probability is proportional to the number of
            these sequences below the action.
        probe: whether one on-policy roll-out estimates the value of each of the traverser's actions that is not
            visited.
        baseline_rate: step size, in [0, 1], of learned baselines, which reduce variance; 0 for none.
        baseline: what has a baseline: each ``"sequence"``; or each ``"history"``, at chance nodes too. With
            ``"oracle"``, the baselines are the histories' exact values, which need a pass over the tree. With
            ``"network"``, the baselines are a network's values of the histories. Neither of the last two uses
            ``baseline_rate``.
        values: values of histories from which regrets are computed; None to compute regrets from the values that the
            walk returns. ``"oracle"`` uses the exact values, which need a pass over the tree. ``"table"`` uses a table
            of values: each walk sets the values of its nodes to the means of their children's values. ``"network"``
            uses a network's values.
        network: settings of the network, if ``baseline`` or ``values`` is ``"network"``.
        weighted: whether regrets are divided by the probability of the traverser's draws. If they are not, the expected
            estimates at an infoset are its regrets times that probability. This does not affect regret matching if
            the probability never changes, as with ``exploration=1``; otherwise iterations are reweighted, and no regret
            bound is known.
        inclusion: plain function ``f(policy, count, parameters, probability)`` that fills ``probability``, (A,). Each
            action is visited with its probability, in (0, 1], independently of the others. ``policy``, (A,), is the
            current policy; ``count``, (A,), is the policy sum that equal weights of all iterations would give.
        subset_size: number of the traverser's actions visited, in place of ``inclusion``; all subsets of this size are
            equally likely.
        mixture: plain function ``f(policy, count, visits, parameters)`` that returns the probability, in [0, 1], with
            which all of the traverser's actions at an infoset are visited, rather than one. ``visits`` is the number of
            earlier walks through the infoset; ``policy`` and ``count`` are as for ``inclusion``.
        one_draw: whether a mixture draws its random number once per walk rather than at every node.
        parameters: numbers, or schedules of numbers, whose values ``inclusion`` or ``mixture`` receives as an array.

    Raises:
        ComponentError: a field has an unknown value or one out of range, or the fields contradict each other.

    Examples:
        Chance sampling: one outcome at each chance node, and all actions of both players.

        >>> import rlccfr
        >>> from rlccfr.components import Sampler
        >>> solver = rlccfr.Solver(rlccfr.load_game("kuhn"), "cfr", Sampler(chance="one", opponent="all"))
        >>> solver.run(iterations=2000).exploitability < 0.05
        True
    """

    exact: bool = False
    chance: Literal["all", "one", "public", "opponent", "own"] = "one"
    opponent: Literal["all", "one"] = "one"
    traverser: Literal["all", "one", "subset"] = "all"
    internal_share: float = 0.0
    exploration: float = 0.0
    explores: Literal["actions", "sequences"] = "actions"
    probe: bool = False
    baseline_rate: float = 0.0
    baseline: Literal["sequence", "history", "oracle", "network"] = "sequence"
    values: Literal["table", "oracle", "network"] | None = None
    network: HistoryNetwork | None = None
    weighted: bool = True
    inclusion: Callable[..., None] | None = None
    subset_size: int = 0
    mixture: Callable[..., float] | None = None
    one_draw: bool = False
    parameters: tuple[float | Schedule, ...] = ()

    def schedule(self, first: int, count: int) -> np.ndarray:
        """Return the parameters of iterations ``first`` to ``first + count - 1``, shape (count, len(parameters)).

        Raises:
            ComponentError: a parameter's schedule fails, or returns a number that is not finite.
        """
        columns = {f"parameters[{k}]": parameter for k, parameter in enumerate(self.parameters)}
        return schedule_rows(self.title, columns, first, count - 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("internal_share", "exploration", "baseline_rate"):
            share = getattr(self, name)
            if not 0.0 <= share <= 1.0:
                raise ComponentError(f"{name} must lie in [0, 1], not {share!r}")
        # How the traverser's actions are drawn.
        if (self.traverser == "subset") != (self.inclusion is not None or self.subset_size > 0):
            raise ComponentError("give an inclusion function or a subset_size if traverser='subset', and only then")
        if self.inclusion is not None and self.subset_size:
            raise ComponentError("give an inclusion function or a subset_size, not both")
        if self.mixture is not None and (self.traverser != "one" or self.probe or self.baseline_rate):
            raise ComponentError("a mixture needs traverser='one', without probes and baselines")
        # Mixes of internal and external walks, and what exploration makes equally likely.
        takes = (self.traverser, self.chance, self.opponent)
        is_external = takes == ("all", "one", "one")
        if self.internal_share and (not is_external or self.exact or self.probe or self.baseline_rate):
            raise ComponentError(
                "internal_share needs external sampling (the default chance, opponent and traverser), without probes "
                "or baselines"
            )
        if self.explores == "sequences" and self.traverser != "one":
            raise ComponentError("explores='sequences' needs traverser='one'")
        # Baselines and values of histories, and their networks.
        if self.baseline == "history" and not self.baseline_rate:
            raise ComponentError("baseline='history' needs a baseline_rate")
        if self.values is not None and (self.baseline_rate or self.baseline != "sequence"):
            raise ComponentError("with values=, baselines have no effect: leave out values= or the baselines' settings")
        if ("network" in (self.values, self.baseline)) != (self.network is not None):
            raise ComponentError("give network= if values='network' or baseline='network', and only then")
        is_one_path = takes == ("one", "one", "one") and self.mixture is None and not self.probe
        if (self.by_history or not self.weighted) and not is_one_path:
            raise ComponentError(
                "values=, weighted=False, and baselines other than 'sequence' need walks of one path: set "
                "traverser='one', and leave out chance, opponent, mixture and probe"
            )
        if not (self.weighted or self.by_history):
            raise ComponentError(
                "weighted=False needs values of histories: set values=, or a baseline other than 'sequence'"
            )

    @property
    def learns(self) -> bool:
        return self.network is not None

    @property
    def most_taken(self) -> int:
        """Largest number of the traverser's actions that a walk without ``mixture`` visits at a node; 0 for all."""
        return 1 if self.traverser == "one" else self.subset_size

    @property
    def by_history(self) -> bool:
        """Whether walks need values of histories."""
        return self.values is not None or self.baseline != "sequence"
