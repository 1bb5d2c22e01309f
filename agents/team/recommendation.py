"""The recommendation of a team."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rlccfr.catalog import AXES, Cell
from rlccfr.envs.measuring.evaluator import NOT_CONVERGED, Measurement
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.reward import Preset
from rlccfr.files import none_for_nan


@dataclass(frozen=True)
class Recommendation:
    """The team's greedy picks for a game, with their measurement.

    Attributes:
        game, budget, preset: game, budget and reward weights that were picked for.
        cells: one algorithm per segment.
        measurement: measurement of the whole episode.
        rewards: rewards of agents A, B and C at the episode's end.
    """

    game: str
    budget: Budget
    preset: Preset
    cells: tuple[Cell, ...]
    measurement: Measurement
    rewards: tuple[float, float, float]

    @property
    def cell(self) -> Cell:
        """The last segment's algorithm; by default, an episode has one segment, so this is the only algorithm."""
        return self.cells[-1]

    @property
    def exploitability(self) -> float:
        """NashConv / 2 of the average policy; NaN if the run failed."""
        return self.measurement.exploitability

    @property
    def throughput(self) -> float:
        """Iterations per engine CPU second; NaN if the run failed."""
        return self.measurement.throughput

    @property
    def mean_reward(self) -> float:
        """R̄, the mean of the three rewards."""
        return sum(self.rewards) / 3

    @property
    def converged(self) -> bool:
        """Whether the run succeeded with an exploitability of at most a tenth of the uniform policy's."""
        return self.measurement.converged

    def to_row(self) -> dict[str, Any]:
        """Return the recommendation as a JSON-able dict; exploitability and throughput of a failed run are None."""
        numbers = {"exploitability": self.exploitability, "throughput": self.throughput, "reward": self.mean_reward}
        return {
            "game": self.game,
            "budget": {"unit": self.budget.unit, "amount": self.budget.amount},
            "preset": self.preset.name,
            "scale": self.preset.scale,
            **self.cell._asdict(),
            "segments": [cell._asdict() for cell in self.cells],
            **{name: none_for_nan(value) for name, value in numbers.items()},
            "rewards": dict(zip(AXES, self.rewards, strict=True)),
            "converged": self.converged,
            "status": self.measurement.status,
        }

    def __str__(self) -> str:
        picks = ", then ".join(map(str, self.cells))
        state = "" if self.converged else NOT_CONVERGED
        return (
            f"{state}{self.game}, {self.budget}, {self.preset}: {picks} "
            f"(exploitability {self.exploitability:.3g}, {self.throughput:,.0f} iterations/s, mean reward "
            f"{self.mean_reward:.3g})"
        )
