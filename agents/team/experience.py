"""The experience of a team: the algorithms measured in each situation, and their outcomes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rlccfr.catalog import Cell
from rlccfr.envs.measuring.evaluator import Measurement
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.reward import Costs, costs


class Situation(NamedTuple):
    """A decision point: a game, an engine seed, a budget, and the episode's algorithms so far (none at its start).

    The reward weights are not part of a situation, since a measurement gives the rewards under any weights.
    """

    game: str
    engine_seed: int
    budget: Budget
    cells: tuple[Cell, ...] = ()

    def after(self, cell: Cell) -> Situation:
        """Return the episode's next decision point, after ``cell`` has run."""
        return self._replace(cells=(*self.cells, cell))


@dataclass(frozen=True, eq=False)
class Outcome:
    """The outcome of an algorithm in a situation.

    Attributes:
        observations: observations of agents A, B and C at their turns, under the reward weights of the episode; float32
            of shape (3, OBSERVATION_SIZE).
        costs: the error cost e on each scale, and the speed cost s.
        done: whether the episode ended.
        cell_id: id of the measurement.
        cpu_seconds: engine CPU seconds of the measurement; 0 if the run failed.
    """

    observations: np.ndarray
    costs: Costs
    done: bool
    cell_id: str
    cpu_seconds: float

    @classmethod
    def of(cls, observations: np.ndarray, measured: Measurement, done: bool) -> Outcome:
        """Return the outcome of a measurement."""
        seconds = measured.cpu_seconds if measured.ok else 0.0
        return cls(observations, costs(measured), done, measured.cell_id, seconds)


class Experience:
    """Outcomes by situation and algorithm; each outcome is one evaluation.

    Situations are in the order of their first measurements, and so are the algorithms in each situation.
    """

    def __init__(self) -> None:
        self._outcomes: dict[Situation, dict[Cell, Outcome]] = {}

    def add(self, situation: Situation, cell: Cell, outcome: Outcome) -> None:
        """Add an outcome, in place of an earlier one of the same algorithm in the same situation."""
        self._outcomes.setdefault(situation, {})[cell] = outcome

    def at(self, situation: Situation) -> Mapping[Cell, Outcome]:
        """Return the outcomes in a situation, by algorithm."""
        return self._outcomes.get(situation, {})

    @property
    def starts(self) -> list[Situation]:
        """The measured situations that begin an episode."""
        return [situation for situation in self._outcomes if not situation.cells]

    @property
    def cpu_seconds(self) -> float:
        """Engine CPU seconds of all measurements; a deterministic run, which engine seeds share, counts once."""
        seconds_by_run = {outcome.cell_id: outcome.cpu_seconds for _, _, outcome in self}
        return sum(seconds_by_run.values())

    def __iter__(self) -> Iterator[tuple[Situation, Cell, Outcome]]:
        for situation, outcomes in self._outcomes.items():
            for cell, outcome in outcomes.items():
                yield situation, cell, outcome

    def __len__(self) -> int:
        return sum(map(len, self._outcomes.values()))

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the experience as arrays that can be saved without pickling."""
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
        """Return the experience that :meth:`to_arrays` turned into arrays.

        Raises:
            KeyError, TypeError, ValueError: the arrays are not from :meth:`to_arrays`.
        """
        experience = cls()
        entries: list[dict[str, Any]] = json.loads(str(arrays["entries"]))
        for entry, observations in zip(entries, arrays["observations"], strict=True):
            cells = tuple(Cell(*cell) for cell in entry["cells"])
            experience.add(
                Situation(entry["game"], entry["engine_seed"], Budget(*entry["budget"]), cells),
                Cell(*entry["cell"]),
                Outcome(observations, Costs(*entry["costs"]), entry["done"], entry["cell_id"], entry["cpu_seconds"]),
            )
        return experience
