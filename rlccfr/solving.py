"""Solving a game by a linear program or by iterations: ``rlccfr.solve(game)`` and ``rlccfr solve GAME``.

There are two methods. A linear program solves a compiled game exactly; its time is predicted from the game's size. All
other games, and coarse targets, are solved by iterations. The game's form names the runs to choose from: those that
reached targets soonest (:attr:`rlccfr.game.Form.target_runs`; for some forms, laws predict their iterations), and
those that were best within budgets (:attr:`rlccfr.game.Form.best_run` and, for few exact passes, ``short_run``).

Predictions are corrected during the work. A linear program that takes much longer than predicted is given up, and
iterations end once their own curve shows that a linear program would be faster.
"""

from __future__ import annotations

import math
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlccfr.errors import BudgetError, ComponentError, RLCCFRError, whole_number
from rlccfr.game import Game, TargetRun
from rlccfr.limits import (
    DEFAULT_SECONDS,
    ProgramWatch,
    checked_seconds,
    default_target,
    target_of,
    uniform_exploitability,
)
from rlccfr.locks import locked
from rlccfr.result import RunResult
from rlccfr.solution import Solution

if TYPE_CHECKING:
    from rlccfr.engine.linear_program import ExactSolution
    from rlccfr.solver import Solver

SECONDS_LAW = (0.0016, 1.71)
"""Law (s, a) for the CPU seconds of n iterations, with blending and measuring: s + a n p.

p is the predicted time of an exact iteration in seconds (:func:`rlccfr.engine.reduced.iteration_cost`). This law and
the laws for numbers of iterations are fitted by ``python -m benchmarks.default_laws``.
"""

SECONDS_LAW_OF_PUBLIC_TREES = (0.0, 0.847)
"""The same for public trees, fitted by ``python -m benchmarks.default_laws --public-trees``."""

SOON = 0.1
"""If neither target nor budget is given, a linear program of at most this many CPU seconds comes first: it is exact."""

OUT_OF_REACH = 3.0
"""A target counts as out of reach if its run is predicted to take longer than this multiple of the budget."""

MARGIN = 2.0
"""A linear program is begun only if the budget is at least this multiple of its predicted time."""

CLEARLY_SOONER = 3.0
"""A linear program comes first if iterations to the target are predicted to take this multiple of its time.

Laws for iterations err by such factors, most in games without chance.
"""

TRIAL = 0.5
"""Share of a linear program's predicted time after which iterations ask their curve whether it would be sooner.

This holds if the linear program is predicted to be sooner, but not clearly so.
"""

PATIENCE = 3.0
"""A linear program is given up after this multiple of its predicted time, in seconds of wall-clock time."""

USUAL_PATIENCE = 0.25
"""Least seconds of wall-clock time granted to a linear program if the budget allows; other work may delay it."""

LEAST_PATIENCE = 0.05
"""Least seconds of wall-clock time granted to a linear program, whatever the budget."""

LEAST_SECONDS = 0.01
"""Least CPU seconds that are left for iterations, even if a linear program has used up the budget."""

WRONG = 2.0
"""Factor by which a time may differ from its prediction before :attr:`rlccfr.Solution.why` mentions it."""

WORTH_SAYING = 0.1
"""Times and predictions below this many CPU seconds are not compared in :attr:`rlccfr.Solution.why`."""


def solve(
    game: Game | str | Path,
    *,
    until: float | str | None = None,
    seconds: float | None = None,
    iterations: int | None = None,
    threads: int = 1,
    curve: bool = False,
    lock: Any = None,
    progress: Callable[[float], None] | None = None,
    begun: Callable[[Solver], None] | None = None,
) -> Solution:
    """Solve a game exactly if a linear program is soon done or clearly faster, else by iterations.

    If neither a target nor a budget is given, the target is a millionth of the uniform policy's exploitability, and the
    budget is a minute of CPU time. Use :class:`rlccfr.Solver` to choose the algorithm yourself.

    Args:
        game: a game, or a name or file that :func:`rlccfr.load_game` accepts.
        until: target, an exploitability: a number in the game's units, or a string as for :meth:`rlccfr.Solver.run`.
        seconds: budget in CPU seconds for a linear program, iterations and blends, not counting measurements.
        iterations: budget in iterations; no linear program is then solved.
        threads: number of threads of exact passes; results stay the same.
        curve: whether to iterate instead of solving a linear program, and to measure the whole convergence curve.
        lock: policies that are fixed at some decisions; see :mod:`rlccfr.locks`.
        progress: function called repeatedly with the share of the work that is done.
        begun: function called with the solver when iterations begin, for a display of its points.

    Returns:
        The solution. After Ctrl-C, it has the policy so far, unless no iterations had begun: then Ctrl-C is raised.

    Raises:
        BudgetError: the target or the budget is invalid, or both kinds of budget are given.
        ComponentError: the number of threads is invalid.
        GameError, PolicyError: the game is unknown or can't be solved; or the lock does not fit the game.
        TypeError: ``game`` is neither a game nor a name.

    Examples:
        >>> import rlccfr
        >>> solution = rlccfr.solve("kuhn")
        >>> solution.method, round(solution.value, 4), solution.exploitability < 1e-9
        ('linear program', -0.0556, True)
    """
    loaded = _loaded(game, lock)
    if seconds is not None and iterations is not None:
        raise BudgetError("give at most one budget: seconds= or iterations=")
    is_default = until is None and seconds is None and iterations is None
    budget = DEFAULT_SECONDS if is_default else seconds
    target = None if until is None else target_of(loaded, until)
    return _Work(
        game=loaded,
        target=default_target(loaded) if is_default else target,
        is_default=is_default,
        seconds=None if budget is None else checked_seconds(budget),
        iterations=None if iterations is None else whole_number(iterations, "iterations", 1, BudgetError),
        threads=_checked_threads(threads),
        curve=curve,
        progress=progress,
        begun=begun,
    ).solution()


def _loaded(game: Game | str | Path, lock: Any) -> Game:
    """Return a game with its lock, from the game itself, its name or its file."""
    if isinstance(game, (str, Path)):
        from rlccfr.games.names import load_game

        game = load_game(game)
    loaded: Game = locked(game, lock)  # raises an error if it is not a game
    return loaded


def _checked_threads(threads: int) -> int:
    """Return a number of threads after a check, which loads the engine only if the number is not 1."""
    if whole_number(threads, "threads", 1, ComponentError) > 1:
        from rlccfr.engine.binding import checked_threads

        return checked_threads(threads)
    return threads


@dataclass
class _Work:
    """A game, its target and budget (see :func:`solve`), and what has been done to solve it.

    Attributes:
        is_default: whether the target is :func:`default_target`.
        program_seconds: CPU seconds that a linear program is predicted to take; infinite where there is none.
        run_iterations: number of iterations that are predicted to reach the target; NaN without a prediction.
        run_seconds: CPU seconds that these iterations are predicted to take; NaN without a prediction.
        first_prediction: CPU seconds that were predicted for the method used first; NaN without a prediction.
        program: the linear program's solution, even if it misses the target; None without one.
        spent: CPU seconds by part; see :class:`Solution`.
        reasons: what was done and why, to be joined in one line.
    """

    game: Any
    target: float | None
    is_default: bool
    seconds: float | None
    iterations: int | None
    threads: int
    curve: bool
    progress: Callable[[float], None] | None
    begun: Callable[[Solver], None] | None
    program_seconds: float = math.inf
    run_iterations: float = math.nan
    run_seconds: float = math.nan
    first_prediction: float = math.nan
    program: ExactSolution | None = None
    spent: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    reasons: list[str] = field(default_factory=list)
    begin: float = field(default_factory=time.process_time)

    def solution(self) -> Solution:
        """Solve the game, and return the solution."""
        self._predict()
        if self._program_comes_first():
            self.first_prediction = self.program_seconds
            self._solve_program("a linear program", at_most=math.inf)
            if self._is_program_enough():
                return self._by_program()
        else:
            self.first_prediction = self.run_seconds
        return self._iterate()

    def _predict(self) -> None:
        """Predict the times of a run to the target, if it has a law, and of a linear program, if the game has one."""
        run = self._target_run  # measures the uniform policy, which is no prediction
        begin = time.process_time()
        has_histories = self.game.form.has_histories
        if run is not None and run.law is not None:
            self.run_iterations = run.iterations(self._decades, self.game.form.size_of(self.game))
            start, factor = SECONDS_LAW if has_histories else SECONDS_LAW_OF_PUBLIC_TREES
            self.run_seconds = start + factor * self.run_iterations * self._iteration_seconds
        # A linear program has no iterations to limit, and no curve to draw.
        if has_histories and self.iterations is None and not self.curve:
            from rlccfr.engine.linear_program import predicted_time

            self.program_seconds = predicted_time(self.game).seconds
        self.spent["predicting"] += time.process_time() - begin

    @cached_property
    def _decades(self) -> float:
        """Number of decades from the uniform policy's exploitability to the target; infinite without a target."""
        if self.target is None:
            return math.inf
        return math.log10(max(uniform_exploitability(self.game) / self.target, 1.0))

    @cached_property
    def _target_run(self) -> TargetRun | None:
        """The form's run to the target; None without a target, or if none of the form's runs serves it."""
        if self.target is None:
            return None
        run: TargetRun | None = self.game.form.run_to(self.game, self._decades)
        return run

    @cached_property
    def _iteration_seconds(self) -> float:
        """CPU seconds of one thread that an exact iteration is predicted to take.

        On public trees, the threads share all iterations. On compiled games they share those of large games only, which
        the prediction does not take into account.
        """
        nanoseconds: float = self.game.form.part("iteration_cost")(self.game)
        return 1e-9 * nanoseconds / (1 if self.game.form.has_histories else self.threads)

    @property
    def _seconds_left(self) -> float:
        """CPU seconds that are left of the budget; infinite without one."""
        if self.seconds is None:
            return math.inf
        return self.seconds - self.spent["linear program"] - self.spent["iterations"]

    def _does_program_fit(self) -> bool:
        """Return whether a linear program is likely to end within the budget."""
        return math.isfinite(self.program_seconds) and MARGIN * self.program_seconds <= self._seconds_left

    def _program_comes_first(self) -> bool:
        """Return whether to begin with a linear program: it fits the budget, and is wanted or clearly sooner."""
        if not self._does_program_fit():
            return False
        # Where exactness costs little, or without a target, the linear program is preferred.
        if self.target is None or (self.is_default and self.program_seconds <= SOON):
            return True
        if CLEARLY_SOONER * self.program_seconds < self.run_seconds:
            return True
        # After a trial of iterations, too little of a small budget would be left for the linear program.
        is_budget_small = self._seconds_left < (MARGIN + 2 * TRIAL) * self.program_seconds
        return is_budget_small and self.program_seconds < self.run_seconds

    @property
    def _trusted_seconds(self) -> float:
        """CPU seconds of iterations before their own curve is asked whether a linear program would be sooner."""
        if math.isnan(self.run_seconds):
            return 0.0
        return TRIAL * self.program_seconds if self.program_seconds < self.run_seconds else self.run_seconds

    def _is_program_enough(self) -> bool:
        """Return whether the linear program's policy is what was asked for."""
        if self.program is None:
            return False
        return self.program.exact if self.target is None else self.program.exploitability <= self.target

    def _solve_program(self, name: str, at_most: float) -> None:
        """Solve the linear program, unless it fails or takes much longer than predicted; add a line to the reasons.

        Args:
            name: what to call the linear program in the reasons.
            at_most: seconds after which to give it up in any case.
        """
        from rlccfr.engine.linear_program import solve_exactly

        predicted = self.program_seconds
        self.program_seconds = math.inf  # it is not tried again
        reason = f"{name}, predicted to take {_in_words(predicted)}"
        # Half of the budget is left for iterations, in case the linear program is given up.
        worth = max(min(at_most, self._seconds_left / MARGIN), LEAST_PATIENCE)
        patience = min(max(PATIENCE * predicted, USUAL_PATIENCE), worth)
        begin = time.process_time()
        try:
            self.program = solve_exactly(self.game, seconds=patience, progress=self.progress)
        except (RLCCFRError, MemoryError) as error:
            was_slow = isinstance(error, BudgetError)
            cause = f"after {_in_words(patience)}" if was_slow else f"({str(error) or 'out of memory'})"
            reason += f", but given up {cause}"
        finally:
            self.spent["linear program"] += time.process_time() - begin
        if self.program is not None:
            reason += _surprise(predicted, self.program.cpu_seconds)
            reason += f", {self.program.caveat}" if self.program.caveat else ""
            if self.target is not None and not math.isnan(self.run_seconds):
                reason += f"; iterations were predicted to take {_in_words(self.run_seconds)}"
                if self.run_seconds < predicted:
                    reason += ", but are not exact"
        self.reasons.append(reason)

    def _iterate(self) -> Solution:
        """Iterate for the budget or to the target, or until a linear program is predicted to reach it sooner."""
        solver = self._solver()
        # Measurements of the current policy take time, and are of use only in a whole curve.
        solver.current = None if self.curve else False
        watch = ProgramWatch(solver, self.target, self.program_seconds, self._trusted_seconds)
        interrupted = False
        self.reasons.append(_algorithm_of(solver))
        if self.begun is not None:
            self.begun(solver)
        try:
            result = self._run(solver, watch)
            if watch.says_sooner and self._does_program_fit():
                self.reasons[-1] += f" for {_in_words(solver.cpu_seconds)}"
                self._solve_program("then a linear program", at_most=watch.seconds_left)
                if not self._is_program_enough():
                    self.reasons.append("then iterations again")
                    result = self._run(solver, None)
            elif watch.says_sooner:  # too little of the budget is left for a linear program
                result = self._run(solver, None)
        except KeyboardInterrupt:
            result = replace(solver.result(), target=self.target)
            interrupted = True
        solver.current = None  # as in a solver of the user's own, who may continue the run
        if self.program is not None and self.program.exploitability <= result.exploitability:
            return self._by_program(result=result, solver=solver, interrupted=interrupted)
        if self._is_out_of_reach:
            needed = f"{self.run_iterations:,.0f} iterations" if self.iterations else _in_words(self.run_seconds)
            self.reasons[-1] += f", since the target was predicted to take {needed}"
        elif not math.isnan(self.run_seconds):
            self.reasons[-1] += f", predicted to take {_in_words(self.run_seconds)}"
            if result.reached:
                # Only iterations are compared: other parts, such as compiling kernels, are not predicted.
                self.reasons[-1] += _surprise(self.run_seconds, self.spent["iterations"])
        return self._solution_with(
            method="iterations",
            policy=solver.average_policy(),
            exploitability=result.exploitability,
            value=solver.values().game[0],
            result=result,
            solver=solver,
            interrupted=interrupted,
        )

    def _by_program(self, **run: Any) -> Solution:
        """Return the linear program's solution.

        Args:
            run: the attributes of :class:`Solution` that describe the iterations, if there were any.
        """
        assert self.program is not None
        return self._solution_with(
            method="linear program",
            policy=self.program.policy,
            exploitability=self.program.exploitability,
            value=self.program.value,
            **run,
        )

    def _solution_with(self, **policy_and_run: Any) -> Solution:
        """Return the solution, with the attributes that do not depend on the method filled in."""
        # What no part has counted, such as measuring the policy and compiling kernels.
        other = max(time.process_time() - self.begin - sum(self.spent.values()), 0.0)
        parts = self.spent | {"other": other}
        return Solution(
            game=self.game,
            why="; ".join(self.reasons),
            target=self.target,
            cpu_seconds={part: seconds for part, seconds in parts.items() if seconds},
            predicted_seconds=self.first_prediction,
            program=self.program,
            **policy_and_run,
        )

    def _solver(self) -> Solver:
        """Return a solver for one of the three runs of the game's form.

        The short run serves budgets of fewer than ``least_passes`` exact iterations. Larger budgets take the run to the
        target, or the best run if there is no target or if the target is out of reach.
        """
        from rlccfr.solver import Solver

        is_short = self.iterations is None and self._iterations_in_budget() < self.game.form.least_passes
        if self._target_run is not None and not (is_short or self._is_out_of_reach):
            return Solver(self.game, threads=self.threads, **self._target_run.arguments)
        arguments = self.game.form.default_run(self.game, self._seconds_left, self.iterations)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".* runs without blends", RuntimeWarning)
            solver = Solver(self.game, threads=self.threads, **arguments)
        if solver.notice and not solver.blends:  # blends are the library's choice, not the user's
            self.reasons.append(solver.notice)
        return solver

    @property
    def _is_out_of_reach(self) -> bool:
        """Whether the budget is predicted to be far too small for the target; the run then ignores the target."""
        is_slow = self.seconds is not None and self.run_seconds > OUT_OF_REACH * self.seconds
        return is_slow or (self.iterations is not None and self.run_iterations > OUT_OF_REACH * self.iterations)

    def _iterations_in_budget(self) -> float:
        """Return how many exact iterations the budget is predicted to allow; infinite if this can't be predicted."""
        if self.iterations is not None:
            return self.iterations
        passes: float = self.game.form.passes_within(self.game, self._seconds_left)
        return passes

    def _run(self, solver: Solver, watch: ProgramWatch | None) -> RunResult:
        """Continue the iterations; return their totals.

        Args:
            solver: the solver.
            watch: check that ends the iterations once a linear program is predicted to be sooner; None for no check.
        """
        seconds = None if self.seconds is None else max(self._seconds_left, LEAST_SECONDS)
        if seconds is not None and solver.blends and (self.target is None or self._is_out_of_reach):
            from rlccfr.engine.blending import SHARE

            seconds /= 1 + SHARE  # the blends at the end take the rest
        try:
            result = solver.run(
                self.iterations,
                seconds=seconds,
                **self._aim(),
                curve=self.curve,
                progress=self.progress,
                stop=watch,
            )
            return replace(result, target=self.target)
        finally:
            self.spent["iterations"] = solver.cpu_seconds

    def _aim(self) -> dict[str, Any]:
        """Return the arguments ``until`` and ``horizon`` of :meth:`Solver.run`, where they apply."""
        if self._is_out_of_reach:
            return {}
        if self._target_run is None or "control" not in self._target_run.arguments:
            return {"until": self.target}
        return {"until": self.target, "horizon": math.ceil(min(self.run_iterations, self._iterations_in_budget()))}


def _algorithm_of(solver: Solver) -> str:
    """Return a description of the algorithm that a solver runs."""
    blends = " with blends" if solver.blends else ""
    if solver.update_rule.controller is not None:
        return f"steered exact passes{blends}"
    passes = "exact passes" if solver.sampler.exact else solver.sampler.id
    return f"{passes} by {solver.update_rule.id}{blends}"


def _surprise(predicted: float, taken: float) -> str:
    """Return a remark for ``Solution.why`` if a time differs much from its prediction; else an empty string."""
    if predicted / WRONG <= taken <= predicted * WRONG or max(predicted, taken) < WORTH_SAYING:
        return ""
    return f" (it took {_in_words(taken)})"


def _in_words(seconds: float) -> str:
    """Return a number of CPU seconds in words."""
    return f"{seconds:.2g} s"
