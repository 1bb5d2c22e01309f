"""What :func:`rlccfr.solve` returns."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rlccfr.game import Game
from rlccfr.policy import Policy
from rlccfr.result import RunResult

if TYPE_CHECKING:
    from rlccfr.engine.linear_program import ExactSolution
    from rlccfr.solver import Solver


@dataclass(frozen=True)
class Solution:
    """A policy, how good it is, and how it was found.

    Attributes:
        game: the game; with a lock, the locked one.
        method: how the policy was found: ``"linear program"`` or ``"iterations"``.
        why: one line on what was done and why.
        policy: both players' policies.
        exploitability: NashConv / 2 of the policy, in the game's units; NaN in a game represented by OpenSpiel's states
            that is too large to be compiled.
        value: the policy's value to player 0, in the game's units; the game's value if the exploitability is 0.
        target: exploitability that was to be reached, in the game's units; None if only a budget was given.
        cpu_seconds: CPU seconds by part: ``"predicting"``, ``"linear program"``, ``"iterations"`` (in the engine's main
            thread, with blends), and ``"other"``: the engine's other threads, measurements during a run, and loading
            kernels.
        predicted_seconds: CPU seconds that were predicted for the method used first; NaN without a prediction.
        result: totals and curve of the iterations; None if there were none.
        program: solution of the linear program; None if none was solved.
        solver: the solver that made the iterations, to continue its run; None if there were no iterations.
        interrupted: whether Ctrl-C ended the work; the policy is then the best found until then.
    """

    game: Game
    method: str
    why: str
    policy: Policy
    exploitability: float
    value: float
    target: float | None
    cpu_seconds: dict[str, float]
    predicted_seconds: float
    result: RunResult | None = field(default=None, repr=False)
    program: ExactSolution | None = field(default=None, repr=False)
    solver: Solver | None = field(default=None, repr=False)
    interrupted: bool = False

    @property
    def reached(self) -> bool:
        """Whether the exploitability is at most the target; True without a target."""
        return self.target is None or self.exploitability <= self.target

    def __str__(self) -> str:
        total = sum(self.cpu_seconds.values())
        quality = "not known" if math.isnan(self.exploitability) else f"{self.exploitability:.3g}"
        return f"{self.game.name}: exploitability {quality} in {total:.2g} CPU seconds, by {self.why}"
