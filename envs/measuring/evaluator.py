"""What measures requests, and what it answers."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import pandas as pd

from rlccfr.catalog import Cell
from rlccfr.envs.measuring.request import Budget, Request

Status = Literal["ok", "failed", "timeout", "out_of_memory", "unavailable"]


@dataclass(frozen=True)
class Measurement:
    """What was measured at the end of the last segment; everything else is computed from it.

    Attributes:
        cell_id: names the record in the store; ``Evaluator.result`` finds it by this.
        status: ``"ok"``, or why there is no number; the numbers are then NaN.
        exploitability: NashConv / 2 of the average policy.
        uniform_exploitability: the same of the uniform policy, which makes games comparable.
        throughput: iterations per engine CPU second, cumulative over the segments.
        reference_throughput: the same of plain CFR (exact, no abstraction), measured in alternation.
    """

    cell_id: str
    status: Status
    exploitability: float
    nash_conv: float
    uniform_exploitability: float
    throughput: float
    reference_throughput: float
    cpu_seconds: float
    nodes_touched: int
    iterations: int

    @property
    def ok(self) -> bool:
        return self.status == "ok"

    @property
    def converged(self) -> bool:
        """Exploitability at most a tenth of the uniform policy's."""
        return self.ok and self.exploitability <= 0.1 * self.uniform_exploitability


class Evaluator(Protocol):
    """Answers requests, by running the engine or from a table of recorded runs.

    Subclasses inherit what needs no table.
    """

    @abstractmethod
    def measure(self, request: Request) -> Measurement:
        """Return the measured result; the same request gets the same answer.

        A run that fails raises nothing: ``status`` says what happened.
        """

    @abstractmethod
    def known(self, request: Request) -> bool:
        """Return whether ``measure`` would answer without running anything."""

    @abstractmethod
    def result(self, cell_id: str) -> dict[str, Any]:
        """Return the full record behind a measurement, with its ``curve`` as a DataFrame."""

    @abstractmethod
    def frame(self) -> pd.DataFrame:
        """Return every record as a row, without curves."""

    def seeds(self, game: str, cell: Cell) -> tuple[int, ...]:
        """Return the engine seeds that alone can be asked for; () where any can."""
        return ()

    def timed_again(self, game: str, cell: Cell, budget: Budget) -> Measurement | None:
        """Return the run by seed 0 at the speed of a second timing; None where there was none."""
        return None
