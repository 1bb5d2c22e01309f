"""What is asked of an evaluator, and what it answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import pandas as pd

from rlccfr.catalog import Cell
from rlccfr.errors import BudgetError

Unit = Literal["iterations", "seconds", "nodes"]
Status = Literal["ok", "failed", "timeout", "out_of_memory", "unavailable"]


@dataclass(frozen=True)
class Budget:
    """How long an episode may solve: iterations, engine CPU seconds, or histories touched.

    Raises:
        BudgetError: an amount that is not positive and finite, or a fraction of an iteration or node.
    """

    unit: Unit
    amount: float

    def __post_init__(self) -> None:
        if self.unit not in ("iterations", "seconds", "nodes"):
            raise BudgetError(f"a budget is in iterations, seconds or nodes, not {self.unit!r}")
        if isinstance(self.amount, bool) or not (math.isfinite(self.amount) and self.amount > 0):
            raise BudgetError(f"a budget must be positive and finite, not {self.amount!r}")
        if self.unit != "seconds" and self.amount != int(self.amount):
            raise BudgetError(f"a budget in {self.unit} must be whole, not {self.amount!r}")

    def __str__(self) -> str:
        return f"{self.amount:.15g} {self.unit.removesuffix('s') if self.amount == 1 else self.unit}"


@dataclass(frozen=True)
class Request:
    """One measurement: the triples of an episode so far, run in turn on one solver.

    Attributes:
        game: a name or OpenSpiel string that :func:`rlccfr.load_game` takes.
        cells: one triple a segment; each runs for ``budget / segments``.
        budget: of the whole episode.
        segments: decision points of the episode, at least ``len(cells)``.
        seed: of the engine.
    """

    game: str
    cells: tuple[Cell, ...]
    budget: Budget
    segments: int = 1
    seed: int = 0


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
    """Answers requests: by running the engine, or from a table of recorded runs."""

    def measure(self, request: Request) -> Measurement:
        """The measured result; the same request gets the same answer.

        Failing runs raise nothing: ``status`` says what happened.
        """
        ...

    def known(self, request: Request) -> bool:
        """Whether ``measure`` would answer without running anything."""
        ...

    def result(self, cell_id: str) -> dict[str, Any]:
        """The full record behind a measurement, ``curve`` as a DataFrame among it."""
        ...

    def frame(self) -> pd.DataFrame:
        """Every record as a row, without curves."""
        ...
