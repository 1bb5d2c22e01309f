"""Equilibria by a linear program over the sequence form, for games that are small enough."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from rlccfr.engine.evaluation import centred_values
from rlccfr.engine.exactness import PayoffScale
from rlccfr.engine.highs import open_program
from rlccfr.engine.rational_program import RationalGame, is_small
from rlccfr.engine.sequence_program import SequenceProgram
from rlccfr.errors import BudgetError, RLCCFRError
from rlccfr.games.centring import centred_game
from rlccfr.games.flat_tree import GameTree, checked_tree
from rlccfr.games.quotient import quotient_of
from rlccfr.limits import checked_seconds
from rlccfr.policy import Policy, nash_conv_of

TIME_OVERHEAD = 0.0035
"""CPU seconds that the smallest program takes."""

TIME_LAW = (-14.26, 0.7669, 0.5163, 0.2646)
"""Constants for predicting the CPU seconds beyond :data:`TIME_OVERHEAD`: a factor times powers of a program's sizes.

First comes the natural logarithm of the factor, then the exponent of each number of :func:`program_size`.
Fitted to benchmarks/results/exact.csv by ``python -m benchmarks.exact --fit``.
"""

TIME_FACTOR = 1.9
"""Standard deviation of the errors of predictions, as a factor, for programs that take 10 ms or more."""


@dataclass(frozen=True)
class ExactSolution:
    """An equilibrium, or an approximate equilibrium with a line that says why it is not exact.

    A solution is exact if its exploitability is at most 1e-9 of the range of payoffs, and small beside the least
    difference between two payoffs. docs/adr/0036 has the reasons.

    Attributes:
        policy: both players' policies. For a locked game, it is a policy of the game without the lock; all values are
            those of the locked game.
        value: player 0's value of the game, in its units of utility.
        exploitability: NashConv / 2 of the policies, in the same units, measured by best responses after the payoffs
            were centred; measured without rounding if ``rational``.
        cpu_seconds: CPU seconds of building, solving and refining the program.
        best_response: each player's value of a best response to the other player's policy, in the same units.
        rational: whether the solution was computed in rational numbers, and only then rounded.
        caveat: one line that says why the solution is not exact; empty if it is.

    Examples:
        >>> import rlccfr
        >>> solution = rlccfr.solve_exactly(rlccfr.matrix_game([[1e12 + 3, 1e12], [1e12, 1e12 + 1]]))
        >>> solution.value, solution.exact
        (1000000000000.75, True)
    """

    policy: Policy
    value: float
    exploitability: float
    cpu_seconds: float
    best_response: tuple[float, float]
    rational: bool = False
    caveat: str = ""

    @property
    def exact(self) -> bool:
        """Whether the solution is exact; ``caveat`` says why not."""
        return not self.caveat


def solve_exactly(
    game: GameTree, *, seconds: float | None = None, progress: Callable[[float], None] | None = None
) -> ExactSolution:
    """Solve a game by a linear program over the classes of its sequences (see :mod:`rlccfr.games.symmetry`).

    The program has one variable per class of player 0's sequences and per class of player 1's infosets. Player 1's
    policy is read off the dual solution. HiGHS solves the program after a constant has been subtracted from all
    payoffs. If the solution's exploitability is not well below the limits of :class:`ExactSolution`, HiGHS continues
    with narrower tolerances; a small game may then be solved in rational numbers. Source: von Stengel, "Efficient
    computation of behavior strategies", GEB 1996; Koller, Megiddo and von Stengel, "Efficient computation of equilibria
    for extensive two-person games", GEB 1996.

    Args:
        game: a compiled game.
        seconds: time limit, by the clock; none by default. :func:`predicted_time` predicts the time.
        progress: function called repeatedly with the fraction of the predicted time that has elapsed, at most 0.99.

    Raises:
        BudgetError: the time limit is not positive, or it passed before there was a solution.
        TypeError: ``game`` is not a game but, for example, a game's name.
        GameError: the game is not stored as a tree of histories.
        RLCCFRError: the game has payoffs that are not finite, or the program could not be solved.

    Examples:
        >>> import rlccfr
        >>> solution = rlccfr.solve_exactly(rlccfr.load_game("kuhn"))
        >>> round(solution.value, 6), solution.exploitability < 1e-9
        (-0.055556, True)
    """
    checked_tree(game, "a linear program", "use rlccfr.solve(game), which iterates")
    import highspy  # noqa: F401  (so that its import does not count)

    if seconds is not None:
        seconds = checked_seconds(seconds)
    if not np.isfinite(game.utility).all():
        raise RLCCFRError(f"{game.name!r} has payoffs that are not finite: correct the game")
    centred_values(game, game.uniform_policy())  # so that compiling does not count
    begin = time.process_time()
    clock = _Clock(predicted_time(game).seconds, seconds, progress)
    solution = _solved(game, PayoffScale.of(game), clock)
    return replace(solution, policy=solution.policy.unlocked(), cpu_seconds=time.process_time() - begin)


def _solved(game: GameTree, scale: PayoffScale, clock: _Clock) -> ExactSolution:
    """Solve a game in double precision, and then in rational numbers if that is worth it and the game is small."""
    small = is_small(game)
    try:
        solution = _solved_by_highs(game, scale, clock)
    except BudgetError:
        raise
    except RLCCFRError:  # HiGHS did not take the program, or did not solve it
        rational = _solved_in_fractions(game, scale, clock, game.uniform_policy()) if small else None
        if rational is None:
            raise
        return rational
    if small and scale.needs_rational_numbers(solution.exploitability):
        return _solved_in_fractions(game, scale, clock, solution.policy.probabilities) or solution
    return solution


def _solved_by_highs(game: GameTree, scale: PayoffScale, clock: _Clock) -> ExactSolution:
    """Solve a game's program in double precision."""
    quotient = quotient_of(game)
    program = SequenceProgram(quotient or centred_game(game))

    def solution_of(variables: np.ndarray, duals: np.ndarray) -> ExactSolution:
        """Return the policy that the program's variables and dual values stand for, with its exploitability."""
        sums = program.sums(variables, duals)
        policy = Policy.from_sums(game, sums if quotient is None else sums[quotient.place])
        centre, value, response_0, response_1 = centred_values(game, policy.probabilities)
        exploitability = nash_conv_of(response_0, response_1) / 2
        return ExactSolution(
            policy=policy,
            value=value + centre,
            exploitability=exploitability,
            cpu_seconds=0.0,  # set by the caller
            best_response=(response_0 + centre, response_1 - centre),
            caveat=scale.caveat(exploitability, rational=False),
        )

    # has_time_left only reports progress here: HiGHS has the time limit itself.
    with open_program(program, game.name, clock.limit, clock.has_time_left) as run:
        solution = solution_of(*run.solve())
        if scale.needs_narrower_tolerances(solution.exploitability) and (refined := run.solve_again()) is not None:
            solution = min(solution, solution_of(*refined), key=lambda candidate: candidate.exploitability)
    return solution


def _solved_in_fractions(game: GameTree, scale: PayoffScale, clock: _Clock, start: np.ndarray) -> ExactSolution | None:
    """Solve a small game's program in rational numbers, beginning near a policy, (m,); None if that takes too long."""
    rational_game = RationalGame(game)
    equilibrium = rational_game.solve(start, clock.has_time_left)
    if equilibrium is None:
        return None
    policy = Policy.from_sums(game, equilibrium.probabilities)
    response_0, response_1 = rational_game.best_responses(policy.probabilities)
    exploitability = float((response_0 + response_1) / 2)
    return ExactSolution(
        policy=policy,
        value=float(equilibrium.value),
        exploitability=exploitability,
        cpu_seconds=0.0,  # set by the caller
        best_response=(float(response_0), float(response_1)),
        rational=True,
        caveat=scale.caveat(exploitability, rational=True),
    )


class _Clock:
    """The time that a solution has taken, and its limit.

    Args:
        predicted: seconds that it is predicted to take.
        limit: time limit in seconds; None for none.
        progress: function called with the fraction of the predicted time that has elapsed, at most 0.99.
    """

    def __init__(self, predicted: float, limit: float | None, progress: Callable[[float], None] | None) -> None:
        self._start = time.monotonic()
        self._predicted = predicted
        self._progress = progress
        self.limit = limit

    def has_time_left(self) -> bool:
        """Report progress; return whether there is time left."""
        passed = time.monotonic() - self._start
        if self._progress is not None:
            self._progress(min(0.99, passed / self._predicted))
        return self.limit is None or passed < self.limit


class PredictedTime(NamedTuple):
    """Predicted CPU seconds of a linear program; two of three predictions are right within a factor of ``factor``."""

    seconds: float
    factor: float

    def __str__(self) -> str:
        least = self.seconds / self.factor
        most = self.seconds * self.factor
        return f"{self.seconds:.2g} s (usually {least:.2g} to {most:.2g} s)"


def predicted_time(game: GameTree) -> PredictedTime:
    """Predict how long :func:`solve_exactly` takes, from the size of the game's sequence form.

    A refinement in rational numbers is not counted; few games need one.
    """
    constant, *powers = TIME_LAW
    log_sizes = np.log(program_size(game))
    return PredictedTime(TIME_OVERHEAD + float(np.exp(constant + powers @ log_sizes)), TIME_FACTOR)


def program_size(game: GameTree) -> tuple[int, int, int]:
    """Return the sizes that the time of a game's linear program depends on.

    Returns:
        The numbers of payoffs and of sequences in the program, and of the game's chance nodes, each plus 1. Of two
        programs with equally many payoffs, the one with more chance nodes takes longer, because its equilibria mix at
        more infosets.
    """
    quotient = quotient_of(game)
    if quotient is not None:
        return 1 + quotient.pairs, 1 + quotient.num_sequences, 1 + game.num_chance_nodes
    form = centred_game(game)
    return 1 + form.num_leaf_pairs, 1 + form.num_sequences, 1 + game.num_chance_nodes
