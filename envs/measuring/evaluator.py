"""The interface of evaluators, and the measurements that they return."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import pandas as pd

from rlccfr.catalog import Cell
from rlccfr.envs.measuring.request import Budget, Request
from rlccfr.policy import EXACT

Status = Literal["ok", "failed", "timeout", "out_of_memory", "unavailable"]

CONVERGED = 0.1
"""Largest exploitability of a run that has converged, as a multiple of the uniform policy's."""

NOT_CONVERGED = f"not converged (exploitability above {CONVERGED:g} times the uniform policy's): "
"""Beginning of a sentence about an algorithm whose run has not converged."""


@dataclass(frozen=True)
class Measurement:
    """One run's measurement at the end of its last segment; costs and rewards are computed from it.

    Attributes:
        cell_id: id of the measurement's record, for ``Evaluator.result``.
        status: ``"ok"``, or the kind of failure; after a failure, measured numbers are NaN, and counts are 0.
        exploitability: NashConv / 2 of the average policy, in the game's units.
        nash_conv: NashConv of the average policy, in the game's units.
        uniform_exploitability: NashConv / 2 of the uniform policy, in the game's units; it makes games comparable.
        throughput: iterations per engine CPU second, cumulative over the segments.
        reference_throughput: throughput of plain CFR (exact, no abstraction), measured in alternation with the run.
        cpu_seconds: engine CPU seconds of the run.
        nodes_touched: number of histories touched.
        iterations: number of iterations.
        unit: unit of exploitability in rewards: the big blind, or 1 in a game without blinds.
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
    unit: float = 1.0

    @property
    def ok(self) -> bool:
        """Whether the run succeeded."""
        return self.status == "ok"

    @property
    def speed(self) -> float:
        """Throughput as a multiple of plain CFR's."""
        return self.throughput / self.reference_throughput

    @property
    def converged(self) -> bool:
        """Whether the run succeeded with an exploitability of at most a tenth of the uniform policy's."""
        bound = max(CONVERGED * self.uniform_exploitability, EXACT)  # rounding counts as 0
        return self.ok and self.exploitability <= bound


class Evaluator(Protocol):
    """A source of measurements: it answers requests by running the engine, or from a table of recorded runs.

    Subclasses inherit ``seeds`` and ``timed_again``, which only a table needs to override.
    """

    @abstractmethod
    def measure(self, request: Request) -> Measurement:
        """Return the measurement that a request asks for; the same request gets the same answer.

        A failed run raises no error: the measurement's ``status`` says what happened.

        Raises:
            RLCCFRError: an invalid request, or a measurement that a table lacks.
        """

    @abstractmethod
    def known(self, request: Request) -> bool:
        """Return whether ``measure`` would answer without running anything."""

    @abstractmethod
    def result(self, cell_id: str) -> dict[str, Any]:
        """Return the full record of a measurement, with its ``curve`` as a DataFrame."""

    @abstractmethod
    def frame(self) -> pd.DataFrame:
        """Return every record as a row, without curves."""

    def seeds(self, game: str, cell: Cell) -> tuple[int, ...]:
        """Return the engine seeds that requests for an algorithm may have; () if all may, or if a table has no run."""
        return ()

    def timed_again(self, game: str, cell: Cell, budget: Budget) -> Measurement | None:
        """Return the measurement of the run with seed 0 at the speed of its second timing; None if timed only once."""
        return None
