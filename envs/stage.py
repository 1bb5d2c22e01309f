"""One agent's turn as an environment; partners pick for the other two agents."""

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

    Partners pick at the beginning of each segment; the agent sees the picks that come before its own turn.

    Args:
        stage: axis of the agent, ``"update_rule"``, ``"sampler"`` or ``"abstraction"``.
        partners: for each other axis, an id of the catalog, or ``"random"`` (the default) for a new draw in each
            segment, among the algorithms that can run.
        kwargs: arguments of :class:`SelectorEnv`.

    Raises:
        RLCCFRError: an invalid argument.
    """

    arguments = (*SelectorEnv.arguments, "stage", "partners")

    def __init__(self, stage: str = "update_rule", partners: Mapping[str, str] | None = None, **kwargs: Any) -> None:
        if stage not in AXES:
            raise RLCCFRError(f"stage must be one of {', '.join(AXES)}, not {stage!r}")
        self.stage = stage
        self._axis = AXES.index(stage)
        super().__init__(**kwargs)
        others = [axis for axis in AXES if axis != stage]
        if not isinstance(partners or {}, Mapping):
            raise RLCCFRError(f'partners look like {{"{others[0]}": "random"}}, not {partners!r}')
        given = dict(partners or {})
        for axis, id in given.items():
            if axis not in others:
                raise RLCCFRError(f"partners pick for {' and '.join(others)}, not for {axis!r}")
            ids = self.catalog.axes[AXES.index(axis)]
            if id != RANDOM and id not in ids:
                raise RLCCFRError(f"partner {axis!r} must be 'random' or one of {', '.join(ids)}, not {id!r}")
        self.partners = {axis: given.get(axis, RANDOM) for axis in others}
        if not self._partners_choices():
            raise RLCCFRError(f"no algorithm of the catalog with the partners {given} can run here; name others")
        self._partner_cell = self._partners_choices()[0]

    def action_masks(self) -> np.ndarray:
        """Return which components can run with the partners' picks: bool, shape (number of the stage's components,)."""
        return np.array([why_unavailable(self._with(id)) is None for id in self.catalog.axes[self._axis]])

    def _partners_choices(self) -> list[Cell]:
        """Return the algorithms that can run and contain the partners' fixed picks."""
        fixed = {axis: id for axis, id in self.partners.items() if id != RANDOM}
        return [
            cell
            for cell in self.catalog
            if all(getattr(cell, axis) == id for axis, id in fixed.items()) and why_unavailable(cell) is None
        ]

    def _begin_segment(self) -> None:
        choices = self._partners_choices()
        self._partner_cell = choices[int(self.np_random.integers(len(choices)))]

    def _observation(self) -> np.ndarray:
        over = len(self._history) >= self.segments
        return self.observe(() if over else self._partner_cell[: self._axis])

    def _with(self, id: str) -> Cell:
        return self._partner_cell._replace(**{self.stage: id})

    def _action_space(self) -> spaces.Space[Any]:
        return spaces.Discrete(self.catalog.shape[self._axis])

    def _cell(self, action: Any) -> Cell:
        return self._with(self.catalog.axes[self._axis][checked_index(action, self.catalog.shape[self._axis])])

    def _reward(self, rewards: tuple[float, float, float]) -> float:
        return rewards[self._axis]
