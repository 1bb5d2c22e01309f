"""Linear programs solved by HiGHS: one at a time, and in a thread of its own, so that Ctrl-C takes effect."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rlccfr.engine.sequence_program import SequenceProgram
from rlccfr.errors import BudgetError, RLCCFRError

if TYPE_CHECKING:
    import highspy

POLL = 0.05
"""Seconds between two checks of whether HiGHS has ended."""

LEAST_ENTRY = 1e-12
"""HiGHS drops entries of a program that are smaller than this; it allows no lower limit."""

LEAST_TOLERANCE = 1e-10
"""Least tolerance that HiGHS allows."""

_one_program_at_a_time = threading.Lock()
"""Lock that each program holds: highspy has one lock for all its instances, so two programs at a time would fail."""


class ProgramSolution(NamedTuple):
    """The values of a program's variables, and the dual values of its rows."""

    variables: np.ndarray
    duals: np.ndarray


@dataclass(frozen=True, eq=False)
class HighsRun:
    """A program that HiGHS has taken.

    Attributes:
        highs: HiGHS with the program.
        program, name, limit, report: the arguments of :func:`open_program`.
    """

    highs: highspy.Highs
    program: SequenceProgram
    name: str
    limit: float | None
    report: Callable[[], object]

    def solve(self) -> ProgramSolution:
        """Solve the program, from the last basis if there is one.

        Raises:
            BudgetError: the time limit has passed.
            RLCCFRError: HiGHS did not solve the program.
        """
        import highspy

        # HiGHS runs in a thread of its own, and this one waits: so Ctrl-C is seen.
        self.highs.startSolve()
        while not self.highs.wait(POLL)[0]:
            self.report()
        status = self.highs.getModelStatus()
        solution = self.highs.getSolution()
        if status == highspy.HighsModelStatus.kTimeLimit:
            raise BudgetError(
                f"the linear program of {self.name!r} was not solved in {self.limit:g} seconds; allow more time, or "
                "iterate instead"
            )
        if status != highspy.HighsModelStatus.kOptimal:
            raise RLCCFRError(
                f"the linear program of {self.name!r} was not solved: HiGHS reports "
                f"{self.highs.modelStatusToString(status)!r}; iterate instead"
            )
        return ProgramSolution(np.array(solution.col_value), np.array(solution.row_dual))

    def solve_again(self) -> ProgramSolution | None:
        """Continue at the least tolerances; None if HiGHS does not solve the program so."""
        self.program.rescale(self.highs)
        for tolerance in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
            self.highs.setOptionValue(tolerance, LEAST_TOLERANCE)
        try:
            return self.solve()
        except RLCCFRError:  # the first solution stands
            return None


@contextmanager
def open_program(
    program: SequenceProgram, name: str, limit: float | None, report: Callable[[], object]
) -> Iterator[HighsRun]:
    """Pass a program to HiGHS, which keeps it until the block is left; leaving it also stops a solve in progress.

    Args:
        program: the linear program.
        name: the game's name, for errors.
        limit: time limit in seconds, by the clock; None for none.
        report: function called every :data:`POLL` seconds while HiGHS works.

    Raises:
        RLCCFRError: HiGHS does not accept the program's numbers.
    """
    import highspy

    with _one_program_at_a_time, highspy.Highs() as highs:  # type: ignore[no-untyped-call]
        highs.silent()
        highs.setOptionValue("threads", 1)
        highs.setOptionValue("small_matrix_value", LEAST_ENTRY)
        if limit is not None:
            highs.setOptionValue("time_limit", float(limit))
        highs.HandleUserInterrupt = True  # else leaving the block could not stop a solve in progress
        if highs.passModel(program.model()) == highspy.HighsStatus.kError:
            raise RLCCFRError(f"the linear program of {name!r} has numbers that HiGHS does not accept; iterate instead")
        yield HighsRun(highs, program, name, limit, report)
