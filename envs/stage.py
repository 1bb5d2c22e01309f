"""One agent's turn as an environment, in which partners pick for the other two agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from rlccfr.catalog import AXES, Cell
from rlccfr.envs.measuring.identity import why_unavailable
from rlccfr.envs.selector import SelectorEnv, checked_index
from rlccfr.errors import RLCCFRError

RANDOM = "random"


class SelectorStageEnv(SelectorEnv):
    """``rlccfr/SelectorStage-v0``: :class:`SelectorEnv` in which one agent picks and gets its own R.

    Partners pick for the two other axes at the beginning of each segment. The agent sees the picks for earlier axes, in
    the order update rule, sampler, abstraction.

    **Action.** ``Discrete``; an index into the components of ``stage``.

    =================== ==================================
    ``stage``           Values
    =================== ==================================
    ``"update_rule"``   0 .. ``catalog.shape[0] - 1``
    ``"sampler"``       0 .. ``catalog.shape[1] - 1``
    ``"abstraction"``   0 .. ``catalog.shape[2] - 1``
    =================== ==================================

    **Observation.** That of :class:`SelectorEnv`, with the picks made before the agent's turn; after the last segment
    there are no picks.

    ========== =============================== ==========================================
    Index      Meaning                         Known to
    ========== =============================== ==========================================
    33 - 55    update rule of this segment     the stages ``sampler`` and ``abstraction``
    56 - 72    sampler of this segment         the stage ``abstraction``
    73 - 75    abstraction of this segment     none, so 0
    ========== =============================== ==========================================

    **Reward.** The agent's own R = 1 - (alpha e + beta s), with the weights of its axis: ``info["reward_<stage>"]``.

    **End of the episode.** As in :class:`SelectorEnv`.

    **Options of reset.** Those of :class:`SelectorEnv`. The partners are arguments of the environment.

    Args:
        stage: axis of the agent, ``"update_rule"``, ``"sampler"`` or ``"abstraction"``.
        partners: for each other axis, an id of the catalog, or ``"random"`` (the default). In each segment, an
            algorithm is drawn from those that can run and have the given ids; a random partner picks the component
            that this algorithm has on the partner's axis.
        kwargs: arguments of :class:`SelectorEnv`.

    Attributes:
        stage: as the argument.
        partners: the id, or ``"random"``, for each of the two other axes.

    Raises:
        RLCCFRError: an invalid argument, or partners with which no algorithm of the catalog can run here.
        TypeError: an unknown argument.

    Examples:
        >>> env = SelectorStageEnv("sampler", partners={"update_rule": "cfr_plus"}, games="kuhn")
        >>> env.action_space
        Discrete(7)
        >>> env.partners
        {'update_rule': 'cfr_plus', 'abstraction': 'random'}
    """

    arguments = (*SelectorEnv.arguments, "stage", "partners")

    def __init__(self, stage: str = "update_rule", partners: Mapping[str, str] | None = None, **kwargs: Any) -> None:
        if stage not in AXES:
            raise RLCCFRError(f"stage must be one of {', '.join(AXES)}, not {stage!r}")
        self.stage = stage
        self._axis = AXES.index(stage)
        super().__init__(**kwargs)
        partner_axes = [axis for axis in AXES if axis != stage]
        if not isinstance(partners or {}, Mapping):
            raise RLCCFRError(f'partners must be a dict such as {{"{partner_axes[0]}": "random"}}, not {partners!r}')
        named_partners = dict(partners or {})
        for axis, id in named_partners.items():
            if axis not in partner_axes:
                raise RLCCFRError(f"partners pick for {' and '.join(partner_axes)}, not for {axis!r}")
            ids = self.catalog.axes[AXES.index(axis)]
            if id != RANDOM and id not in ids:
                raise RLCCFRError(f"the partner for {axis!r} must be 'random' or one of {', '.join(ids)}, not {id!r}")
        self.partners = {axis: named_partners.get(axis, RANDOM) for axis in partner_axes}
        algorithms = self._partners_algorithms()
        if not algorithms:
            raise RLCCFRError(
                f"no algorithm of the catalog with the partners {named_partners} can run here: choose other partners"
            )
        self._partners_algorithm = algorithms[0]  # the agent's pick replaces its component on the agent's axis

    def action_masks(self) -> np.ndarray:
        """Return which components can run with the partners' picks: bool, shape (number of the stage's components,)."""
        return np.array([why_unavailable(self._with(id)) is None for id in self.catalog.axes[self._axis]])

    def _partners_algorithms(self) -> list[Cell]:
        """Return the algorithms that can run and contain the partners' fixed picks."""
        fixed_picks = {axis: id for axis, id in self.partners.items() if id != RANDOM}
        return [
            algorithm
            for algorithm in self.catalog
            if all(getattr(algorithm, axis) == id for axis, id in fixed_picks.items())
            and why_unavailable(algorithm) is None
        ]

    def _begin_segment(self) -> None:
        algorithms = self._partners_algorithms()
        self._partners_algorithm = algorithms[int(self.np_random.integers(len(algorithms)))]

    def _observation(self) -> np.ndarray:
        is_over = len(self._history) >= self.segments
        earlier_picks = () if is_over else self._partners_algorithm[: self._axis]
        return self.observe(earlier_picks)

    def _with(self, id: str) -> Cell:
        """Return the algorithm with the partners' picks, and this component on the agent's axis."""
        return self._partners_algorithm._replace(**{self.stage: id})

    def _action_space(self) -> spaces.Space[Any]:
        return spaces.Discrete(self.catalog.shape[self._axis])

    def _algorithm(self, action: Any) -> Cell:
        index = checked_index(action, self.catalog.shape[self._axis])
        return self._with(self.catalog.axes[self._axis][index])

    def _reward(self, rewards: tuple[float, float, float]) -> float:
        return rewards[self._axis]
