"""What a run of a deep rule keeps beside its networks: counts and progress. There are no tables over infosets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rlccfr.errors import ComponentError
from rlccfr.game import RunTables


@dataclass(frozen=True, eq=False)
class WalkedTables:
    """The state of a run without tables, which its stepper changes in place; see :class:`rlccfr.game.RunTables`.

    Attributes:
        game: the solver's game.
        seed: seed of the walks and the models.
        counts: (2,) iterations done and histories met.
        progress: (2,) which part of the present iteration comes next, and how much of it is done.
    """

    game: Any
    seed: int
    counts: np.ndarray
    progress: np.ndarray
    merged: ClassVar[None] = None
    chosen_dtype: ClassVar[None] = None

    @classmethod
    def at_start(cls, game: Any, seed: int, dtype: str | None = None) -> WalkedTables:
        """Return the state before the first iteration."""
        return cls(game, seed, np.zeros(2, np.int64), np.zeros(2, np.int64))

    @property
    def iteration(self) -> int:
        """Number of iterations done."""
        return int(self.counts[0])

    @property
    def nodes(self) -> int:
        """Number of histories met."""
        return int(self.counts[1])

    def ready_for(self, binding: Any) -> RunTables:
        """Return this state; if the components need tables and the run has not begun, return a new state with tables.

        Raises:
            ComponentError: the components need tables, and the run has begun.
        """
        if not binding.rule.learns:
            if not self._has_begun:
                tables: RunTables = self.game.form.part("run_tables").at_start(self.game, self.seed, None)
                return tables.ready_for(binding)
            raise ComponentError(
                f"{binding.rule.title} needs tables, and this run on {self.game.name!r} has only networks: start a "
                "new run"
            )
        return self

    @property
    def _has_begun(self) -> bool:
        return bool(self.iteration or self.progress.any())

    def refresh(self, binding: Any) -> None:
        """Check that the run has not begun; the engine calls this when a rule or its networks are new.

        Raises:
            ComponentError: the run has begun, with networks of another rule.
        """
        if self._has_begun:
            raise ComponentError(
                f"the networks of a run on {self.game.name!r} can't change to those of {binding.rule.title}: start a "
                "new run"
            )

    def true_regret(self) -> np.ndarray:
        """Raise an error, because a run of networks has no table of regrets.

        Raises:
            ComponentError: always.
        """
        raise ComponentError(f"a run of networks on {self.game.name!r} has no table of regrets")

    def saved(self) -> dict[str, np.ndarray]:
        """Return the counts and the progress, by name."""
        return {"counts": self.counts, "progress": self.progress}

    def restored(self, saved: Mapping[str, np.ndarray]) -> WalkedTables:
        """Overwrite the counts and the progress in place; return the state."""
        self.counts[:] = saved["counts"]
        self.progress[:] = saved["progress"]
        return self
