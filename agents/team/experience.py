"""What a team has measured: for each situation the cells tried there, and what came of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rlccfr.catalog import Cell
from rlccfr.envs.measuring.evaluator import Measurement
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.reward import Preset, Scale, costs


class Situation(NamedTuple):
    """A decision point: a game, an engine seed, a budget, and the triples of the episode so far (none at its start).

    Without the agents' weights: what was measured there tells what it is worth under any.
    """

    game: str
    engine_seed: int
    budget: Budget
    cells: tuple[Cell, ...] = ()

    def after(self, cell: Cell) -> Situation:
        """The next decision point of the same episode."""
        return self._replace(cells=(*self.cells, cell))


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of a cell.

    Attributes:
        observations: float32 of shape (3, OBSERVATION_SIZE): what agents A, B and C saw when their turns came, under
            the weights of that time.
        costs: e and s.
        done: whether the episode ended.
        cell_id: of the measurement.
        cpu_seconds: that measuring took in the engine; 0 where the run failed.
    """

    observations: np.ndarray
    costs: tuple[float, float]
    done: bool
    cell_id: str
    cpu_seconds: float

    @classmethod
    def of(cls, observations: np.ndarray, measured: Measurement, scale: Scale, done: bool) -> Outcome:
        """What a measurement comes to on a scale."""
        seconds = measured.cpu_seconds if measured.ok else 0.0
        return cls(observations, costs(measured, scale), done, measured.cell_id, seconds)

    def mean_reward(self, preset: Preset) -> float:
        """R-bar."""
        return sum(preset.rewards(*self.costs)) / 3


class Experience:
    """Outcomes by situation and cell, in the order of measuring. Each is one evaluation."""

    def __init__(self) -> None:
        self._outcomes: dict[Situation, dict[Cell, Outcome]] = {}

    def add(self, situation: Situation, cell: Cell, outcome: Outcome) -> None:
        """Keep one; an outcome of the same situation and cell is replaced."""
        self._outcomes.setdefault(situation, {})[cell] = outcome

    def at(self, situation: Situation) -> Mapping[Cell, Outcome]:
        """The cells tried in a situation."""
        return self._outcomes.get(situation, {})

    @property
    def starts(self) -> list[Situation]:
        """The situations that begin an episode and where something was measured."""
        return [situation for situation in self._outcomes if not situation.cells]

    @property
    def cpu_seconds(self) -> float:
        """That all measuring took; what several engine seeds share ran once."""
        return sum({outcome.cell_id: outcome.cpu_seconds for _, _, outcome in self}.values())

    def __iter__(self) -> Iterator[tuple[Situation, Cell, Outcome]]:
        for situation, outcomes in self._outcomes.items():
            for cell, outcome in outcomes.items():
                yield situation, cell, outcome

    def __len__(self) -> int:
        return sum(map(len, self._outcomes.values()))

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Arrays without pickles, for an archive."""
        entries = [
            {
                "game": situation.game,
                "engine_seed": situation.engine_seed,
                "budget": [situation.budget.unit, situation.budget.amount],
                "cells": situation.cells,
                "cell": cell,
                "costs": outcome.costs,
                "done": outcome.done,
                "cell_id": outcome.cell_id,
                "cpu_seconds": outcome.cpu_seconds,
            }
            for situation, cell, outcome in self
        ]
        observations = [outcome.observations for _, _, outcome in self]
        return {"entries": np.array(json.dumps(entries)), "observations": np.array(observations, dtype=np.float32)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Experience:
        """What :meth:`to_arrays` gave. Raises KeyError, TypeError or ValueError for anything else."""
        experience = cls()
        entries: list[dict[str, Any]] = json.loads(str(arrays["entries"]))
        for entry, observations in zip(entries, arrays["observations"], strict=True):
            cells = tuple(Cell(*cell) for cell in entry["cells"])
            e, s = entry["costs"]
            experience.add(
                Situation(entry["game"], entry["engine_seed"], Budget(*entry["budget"]), cells),
                Cell(*entry["cell"]),
                Outcome(observations, (e, s), entry["done"], entry["cell_id"], entry["cpu_seconds"]),
            )
        return experience
