"""Solving a game in the way that is predicted to be soonest: ``rlccfr.solve(game)`` and ``rlccfr solve GAME``.

There are two ways. A linear program solves a compiled game exactly; its time is predicted from the game's size. All
other games, and coarse targets, take iterations by the best measured algorithm for the game's form
(:attr:`rlccfr.game.Form.best_run`). For a compiled game these are exact passes that a controller steers, with blends;
the number of iterations to a target is predicted by a law that is fitted to measured games.

A prediction may be wrong, so it is corrected on the way. A linear program that takes much longer than predicted is
given up, and iterations begin. Iterations end as soon as their own curve says that a linear program would be sooner.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlccfr.errors import BudgetError, RLCCFRError, whole_number
from rlccfr.game import Game, checked_game, policy_class
from rlccfr.limits import checked_seconds, run_while_sooner, target_of
from rlccfr.policy import Policy
from rlccfr.result import RunResult
from rlccfr.solver import Solver

if TYPE_CHECKING:
    from rlccfr.engine.linear_program import ExactSolution

TARGET = "1e-6x"
"""Target without a target or a budget: this share of the uniform policy's exploitability."""

SECONDS = 60.0
"""CPU seconds after which such a run ends."""

ITERATIONS_LAW = (0.69, 0.46)
"""Law for the number of iterations to a target, by exact passes that are steered and blended.

With d the number of decades from the uniform policy's exploitability to the target, the logarithm (base 10) of the
number is the polynomial with these coefficients in d, the constant first. This law and the next were fitted by
``python -m benchmarks.default --fit``.
"""

SECONDS_LAW = (0.009, 3.6, 270.0)
"""Law for the CPU seconds of a run, with deciding, blending and measuring.

They are the first number, plus the time of an exact iteration (:func:`rlccfr.engine.reduced.pass_cost`) times the sum
of the third number and of the second one for each iteration.
"""

MARGIN = 2.0
"""A linear program is begun in a budget only if it is this many times its predicted time."""

PATIENCE = 3.0
"""A linear program is given up after this multiple of its predicted time."""

LEAST_PATIENCE = 0.5
"""CPU seconds that a linear program always gets."""

LEAST_BLENDED = 200
"""Least number of iterations of a run that blends are worth; below it they cost more than they gain."""

WRONG = 2.0
"""Factor by which a time may differ from its prediction before the solution says so."""

WORTH_SAYING = 0.1
"""Least CPU seconds of which that is said."""


@dataclass(frozen=True)
class Solution:
    """A policy, how good it is, and how it was found.

    Attributes:
        game: the game.
        method: ``"linear program"`` or ``"iterations"``.
        why: one line on what was done and why.
        policy: both players' policies.
        exploitability: NashConv / 2 of the policy, in the game's units.
        value: player 0's value of the policy in the game's units; of a policy without exploitability, the game's value.
        target: exploitability that was to be reached, in the game's units; None if only a budget was given.
        cpu_seconds: CPU seconds by part: ``"predicting"``, ``"linear program"``, ``"iterations"`` (with blends) and
            ``"measuring"`` (best responses on the way, and all else).
        predicted_seconds: CPU seconds that the way taken first was predicted to need; NaN without a prediction.
        result: totals and curve of the iterations; None if there were none.
        program: solution of the linear program; None if none was solved.
        solver: solver of the iterations, which can go on; None if there were none.
        interrupted: whether Ctrl-C ended the work; the policy is what there was by then.
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
        return f"{self.game.name}: exploitability {self.exploitability:.3g} in {total:.2g} CPU seconds, {self.why}"


def solve(
    game: Game | str | Path,
    *,
    until: float | str | None = None,
    seconds: float | None = None,
    iterations: int | None = None,
    threads: int = 1,
    progress: Callable[[float], None] | None = None,
) -> Solution:
    """Solve a game in the way that is predicted to be soonest.

    Without a target and a budget, the target is a millionth of the uniform policy's exploitability, and the budget a
    minute of CPU time. Use :class:`rlccfr.Solver` to choose the algorithm yourself.

    Args:
        game: a game, or a name or file that :func:`rlccfr.load_game` takes.
        until: target, an exploitability: a number in the game's units, or a text as for :meth:`rlccfr.Solver.run`.
        seconds: budget in CPU seconds of linear program, iterations and blends; measuring on the way is not counted.
        iterations: budget in iterations; no linear program is then solved.
        threads: number of threads of exact passes; results are the same.
        progress: function called repeatedly with the share that is done.

    Returns:
        The solution. After Ctrl-C it holds the policy so far, unless only a linear program had begun.

    Raises:
        BudgetError: the target or the budget is invalid, or both kinds of budget are given.
        GameError: the game is unknown, or can't be solved.

    Examples:
        >>> import rlccfr
        >>> solution = rlccfr.solve("kuhn")
        >>> solution.method, round(solution.value, 4), solution.exploitability < 1e-9
        ('linear program', -0.0556, True)
        >>> rlccfr.solve("kuhn", iterations=100).method
        'iterations'
    """
    if isinstance(game, (str, Path)):
        from rlccfr.games.names import load_game

        loaded = load_game(game)
    else:
        loaded = checked_game(game)
    if seconds is not None and iterations is not None:
        raise BudgetError("give at most one budget: seconds= or iterations=")
    if until is None and seconds is None and iterations is None:
        until = TARGET
        seconds = SECONDS
    work = _Work(
        game=loaded,
        target=None if until is None else target_of(loaded, until),
        seconds=None if seconds is None else checked_seconds(seconds),
        iterations=None if iterations is None else whole_number(iterations, "iterations", 1, BudgetError),
        threads=threads,
        progress=progress,
    )
    return work.done()


@dataclass
class _Work:
    """A game, how far it is to be solved (see :func:`solve`), and what has been done.

    Attributes:
        program_seconds: CPU seconds that a linear program is predicted to take; infinite if there is none for the game
            and the budget, or if it was given up.
        run_seconds: CPU seconds that iterations are predicted to take to the target; NaN without a prediction.
        spent: CPU seconds by part; see :class:`Solution`.
        reasons: what was done and why, to be joined in one line.
    """

    game: Any
    target: float | None
    seconds: float | None
    iterations: int | None
    threads: int
    progress: Callable[[float], None] | None
    program_seconds: float = math.inf
    run_seconds: float = math.nan
    spent: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    reasons: list[str] = field(default_factory=list)

    def done(self) -> Solution:
        """Do the work."""
        self._predict()
        if self._program_comes_first():
            solution = self._by_program(f"a linear program, predicted to take {_in_words(self.program_seconds)}")
            if solution is not None:
                return solution
        return self._by_iterations()

    def _predict(self) -> None:
        """Predict both ways, where there are laws for them: for compiled games."""
        begin = time.process_time()
        if self.game.form.has_histories:
            if self.iterations is None:
                from rlccfr.engine.linear_program import predicted_time

                self.program_seconds = predicted_time(self.game).seconds
            if self.target is not None:
                uniform = policy_class(self.game).uniform(self.game).exploitability()
                decades = math.log10(max(uniform / self.target, 1.0))
                logarithm = sum(factor * decades**power for power, factor in enumerate(ITERATIONS_LAW))
                start, per_iteration, measuring = SECONDS_LAW
                self.run_seconds = start + (measuring + per_iteration * 10**logarithm) * self._iteration_seconds()
        self.spent["predicting"] += time.process_time() - begin

    def _iteration_seconds(self) -> float:
        """Return the CPU seconds that an exact iteration over a compiled game is predicted to take."""
        from rlccfr.engine.reduced import pass_cost, quotient_for_passes

        form = quotient_for_passes(self.game) or self.game
        return 1e-9 * pass_cost(form.view)

    def _program_comes_first(self) -> bool:
        """Return whether to begin with a linear program: whether it fits into the budget, and is predicted sooner."""
        if self.seconds is not None and MARGIN * self.program_seconds > self.seconds:
            return False
        # Without a target, the linear program is the better way wherever it fits, since its policy is exact.
        return self.program_seconds < (math.inf if self.target is None else self.run_seconds)

    def _by_program(self, reason: str) -> Solution | None:
        """Solve a linear program; return None if it fails, takes far longer than predicted, or misses the target."""
        from rlccfr.engine.linear_program import solve_exactly

        predicted = self.program_seconds
        patience = max(PATIENCE * predicted, LEAST_PATIENCE)
        if self.seconds is not None:
            patience = min(patience, self._seconds_left())
        self.program_seconds = math.inf  # it is not tried again
        begin = time.process_time()
        try:
            program = solve_exactly(self.game, seconds=patience, progress=self.progress)
        except RLCCFRError as error:
            self.reasons.append(f"{reason}, was given up ({error})")
            return None
        finally:
            self.spent["linear program"] += time.process_time() - begin
        if self.target is not None and program.exploitability > self.target:
            self.reasons.append(f"{reason}, missed the target ({program.caveat})")
            return None
        reason += _surprise(predicted, program.cpu_seconds)
        if self.target is not None and not math.isnan(self.run_seconds):
            reason += f"; iterations were predicted to take {_in_words(self.run_seconds)}"
        return Solution(
            game=self.game,
            method="linear program",
            why="; ".join([*self.reasons, reason]),
            policy=program.policy,
            exploitability=program.exploitability,
            value=program.value,
            target=self.target,
            cpu_seconds={part: seconds for part, seconds in self.spent.items() if seconds},
            predicted_seconds=predicted,
            program=program,
        )

    def _by_iterations(self) -> Solution:
        """Iterate for the budget or to the target, or until a linear program is predicted to reach that sooner."""
        solver = self._solver()
        interrupted = False
        try:
            result = self._run(solver)
            while not result.reached and math.isfinite(self.program_seconds) and self._seconds_left() > 0:
                self.reasons.append(f"{_algorithm_of(solver)} for {_in_words(solver.cpu_seconds)}")
                reason = f"then a linear program, predicted to be sooner with {_in_words(self.program_seconds)}"
                solution = self._by_program(reason)
                if solution is not None:
                    return replace(solution, result=result, solver=solver)
                result = self._run(solver)
        except KeyboardInterrupt:
            result = replace(solver.result(), target=self.target)
            interrupted = True
        self.reasons.append(_algorithm_of(solver))
        if not math.isnan(self.run_seconds):
            self.reasons[-1] += f", predicted to take {_in_words(self.run_seconds)}"
            self.reasons[-1] += _surprise(self.run_seconds, solver.cpu_seconds) if result.reached else ""
        return Solution(
            game=self.game,
            method="iterations",
            why="; ".join(self.reasons),
            policy=solver.average_policy(),
            exploitability=result.exploitability,
            value=solver.values().game[0],
            target=self.target,
            cpu_seconds={part: seconds for part, seconds in self.spent.items() if seconds},
            predicted_seconds=self.run_seconds,
            result=result,
            solver=solver,
            interrupted=interrupted,
        )

    def _solver(self) -> Solver:
        """Return the solver of the best measured run for the game's form."""
        arguments = dict(self.game.form.best_run)
        if arguments.get("blend") and self._iterations_in_budget() < LEAST_BLENDED:
            del arguments["blend"]
        return Solver(self.game, threads=self.threads, **arguments)

    def _iterations_in_budget(self) -> float:
        """Return how many iterations the budget is predicted to allow."""
        if self.iterations is not None:
            return self.iterations
        return math.inf if self.seconds is None else self.seconds / self._iteration_seconds()

    def _run(self, solver: Solver) -> RunResult:
        """Continue the iterations; return their totals."""
        begin = time.process_time()
        engine_seconds = solver.cpu_seconds
        seconds = None if self.seconds is None else self._seconds_left()
        if seconds is not None and solver.blend:
            from rlccfr.engine.blending import SHARE

            seconds /= 1 + SHARE  # the blends at the end take the rest
        try:
            if self.target is None:
                return solver.run(self.iterations, seconds=seconds, curve=False, progress=self.progress)
            limit = {"iterations": self.iterations, "seconds": seconds}
            return run_while_sooner(solver, self.target, self.program_seconds, self.progress, **limit)
        finally:
            engine_seconds = solver.cpu_seconds - engine_seconds
            self.spent["iterations"] += engine_seconds
            self.spent["measuring"] += max(time.process_time() - begin - engine_seconds, 0.0)

    def _seconds_left(self) -> float:
        """Return the CPU seconds that are left of the budget; infinite without one."""
        if self.seconds is None:
            return math.inf
        return self.seconds - self.spent["linear program"] - self.spent["iterations"]


def _algorithm_of(solver: Solver) -> str:
    """Return in words what a solver runs."""
    if solver.update_rule.controller is None:
        return f"exact passes by {solver.update_rule.id}, the best rule measured on games {solver.game.form.title}"
    return f"steered exact passes{' with blends' if solver.blend else ''}"


def _surprise(predicted: float, taken: float) -> str:
    """Return a remark if a time differs much from its prediction."""
    if predicted / WRONG <= taken <= predicted * WRONG or max(predicted, taken) < WORTH_SAYING:
        return ""
    return f" (it took {_in_words(taken)})"


def _in_words(seconds: float) -> str:
    """Return a number of CPU seconds in words."""
    return f"{seconds:.2g} s"
