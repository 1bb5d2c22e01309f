"""Equilibria by a linear program over the sequence form, for games that are small enough."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from rlccfr.engine.evaluation import centred_values
from rlccfr.engine.exactness import PayoffScale
from rlccfr.engine.rational_program import RationalGame, is_small
from rlccfr.errors import BudgetError, RLCCFRError
from rlccfr.games.centring import centred_form
from rlccfr.games.flat_tree import GameTree, SequenceForm
from rlccfr.games.public.kinds import checked_tree
from rlccfr.games.quotient import centred_quotient_of
from rlccfr.games.records import CHANCE
from rlccfr.games.symmetry import payoff_matrix
from rlccfr.limits import checked_seconds
from rlccfr.policy import Policy, nash_conv_of

if TYPE_CHECKING:
    import highspy

POLL = 0.05
"""Seconds between two looks at whether HiGHS has ended."""

LEAST_ENTRY = 1e-12
"""Least entry of a program that HiGHS does not drop; it allows no smaller value."""

LEAST_TOLERANCE = 1e-10
"""Least tolerance that HiGHS allows."""

RESCALING = 2.0**13
"""What the sides and the costs of a program are multiplied by for the second run, so that tolerances count for less."""

_one_at_a_time = threading.Lock()
"""highspy's locks are of the class, so that a second program at the same time would fail."""

OVERHEAD, LAW = 0.0016, (-15.23, 0.5356, 0.7721, 0.3095)
"""CPU seconds of the smallest program, and the constants of the law for the time beyond that.

The law gives the logarithm at size 1, and the power of each number of :func:`program_size`. Fitted to
benchmarks/results/exact.csv by ``python -m benchmarks.exact --fit``.
"""

FACTOR = 1.5
"""Standard deviation of the residuals of programs of 10 ms or more, as a factor."""


@dataclass(frozen=True)
class ExactSolution:
    """An equilibrium, or one line that says why it is not exact.

    A solution is exact if its exploitability is at most 1e-9 of the range of payoffs, and small beside the least
    difference between two payoffs. docs/adr/0036 has the reasons.

    Attributes:
        policy: both players' policies.
        value: player 0's value of the game, in its units of utility.
        exploitability: NashConv / 2 of the policies, in the same units, measured by best responses after the payoffs
            were centred; measured without rounding if ``rational``.
        cpu_seconds: CPU seconds of building, solving and refining the program.
        best_response: each player's value of a best response to the other one's policy, in the same units.
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
    """Solve a game by a linear program over the classes of its sequences.

    The program has one variable per class of player 0's sequences and per class of player 1's infosets. Player 1's
    policy is read off its dual solution. HiGHS solves it, after a constant was subtracted from all payoffs. Where the
    solution is less exact than :class:`ExactSolution` promises, HiGHS goes on with narrower tolerances, and a small
    game is then solved in rational numbers. Source: von Stengel, "Efficient computation of behavior strategies", GEB
    1996; Koller, Megiddo and von Stengel, "Efficient computation of equilibria for extensive two-person games", GEB
    1996.

    Args:
        seconds: time limit, by the clock; none by default. :func:`predicted_time` predicts the time.
        progress: function that is called repeatedly with the seconds passed, as a share of those predicted.

    Raises:
        BudgetError: the time limit is not positive, or it passed before there was a solution.
        TypeError: the game is not a compiled one.
        GameError: the game is solved by its public tree.
        RLCCFRError: the game has payoffs that are not finite, or the program could not be solved.
    """
    checked_tree(game, "a linear program")
    import highspy  # noqa: F401  (so that its import does not count)

    if seconds is not None:
        seconds = checked_seconds(seconds)
    if not np.isfinite(game.utility).all():
        raise RLCCFRError(f"{game.name!r} has payoffs that are not finite")
    centred_values(game, game.uniform_policy())  # so that compiling does not count
    begin = time.process_time()
    clock = _Clock(predicted_time(game).seconds, seconds, progress)
    solution = _solved(game, PayoffScale.of(game), clock)
    return replace(solution, cpu_seconds=time.process_time() - begin)


def _solved(game: GameTree, scale: PayoffScale, clock: _Clock) -> ExactSolution:
    """Solve a game in double precision, and then in rational numbers if that is worth it and the game is small."""
    small = is_small(game)
    try:
        solution = _solved_by_highs(game, scale, clock)
    except BudgetError:
        raise
    except RLCCFRError:
        refined = _solved_in_fractions(game, scale, clock, game.uniform_policy()) if small else None
        if refined is None:
            raise
        return refined
    if small and scale.needs_rational_numbers(solution.exploitability):
        return _solved_in_fractions(game, scale, clock, solution.policy.probabilities) or solution
    return solution


def _solved_by_highs(game: GameTree, scale: PayoffScale, clock: _Clock) -> ExactSolution:
    """Solve a game's program in double precision."""
    quotient = centred_quotient_of(game)
    program = _Program(quotient or centred_form(game) or game)

    def solution_of(sums: np.ndarray) -> ExactSolution:
        policy = Policy.from_sums(game, sums if quotient is None else sums[quotient.place])
        centre, value, first, second = centred_values(game, policy.probabilities)
        exploitability = nash_conv_of(first, second) / 2
        caveat = scale.caveat(exploitability, rational=False)
        return ExactSolution(
            policy, value + centre, exploitability, 0.0, (first + centre, second - centre), caveat=caveat
        )

    with closing(_solutions(program, game.name, clock)) as solutions:
        solution = solution_of(program.sums(*next(solutions)))
        if scale.needs_narrower_tolerances(solution.exploitability):
            refined = [solution_of(program.sums(*variables)) for variables in solutions]
            solution = min([solution, *refined], key=lambda one: one.exploitability)
    return solution


def _solved_in_fractions(game: GameTree, scale: PayoffScale, clock: _Clock, start: np.ndarray) -> ExactSolution | None:
    """Solve a small game's program in rational numbers, beginning near a policy, (m,); None if that takes too long."""
    rational_game = RationalGame(game)
    equilibrium = rational_game.solve(start, clock.goes_on)
    if equilibrium is None:
        return None
    policy = Policy.from_sums(game, equilibrium.probabilities)
    first, second = rational_game.best_responses(policy.probabilities)
    exploitability = float((first + second) / 2)
    caveat = scale.caveat(exploitability, rational=True)
    responses = (float(first), float(second))
    return ExactSolution(policy, float(equilibrium.value), exploitability, 0.0, responses, rational=True, caveat=caveat)


class _Clock:
    """The time that a solution has taken, and its limit.

    Args:
        predicted: seconds that it is predicted to take.
        limit: time limit in seconds; None for none.
        progress: function that is called with the seconds passed, as a share of those predicted.
    """

    def __init__(self, predicted: float, limit: float | None, progress: Callable[[float], None] | None) -> None:
        self._start = time.monotonic()
        self._predicted = predicted
        self._progress = progress
        self.limit = limit

    def goes_on(self) -> bool:
        """Report progress; return whether there is time left."""
        passed = time.monotonic() - self._start
        if self._progress is not None:
            self._progress(min(0.99, passed / self._predicted))
        return self.limit is None or passed < self.limit


class PredictedTime(NamedTuple):
    """CPU seconds that a linear program will take; two in three programs take at most ``factor`` times more or less."""

    seconds: float
    factor: float

    def __str__(self) -> str:
        least, most = self.seconds / self.factor, self.seconds * self.factor
        return f"{self.seconds:.2g} s (usually {least:.2g} to {most:.2g} s)"


def predicted_time(game: GameTree) -> PredictedTime:
    """Predict how long :func:`solve_exactly` takes, from the size of the game's sequence form.

    A refinement in rational numbers is not counted; few games need one.
    """
    constant, *powers = LAW
    logs = np.log(program_size(game))
    return PredictedTime(OVERHEAD + float(np.exp(constant + powers @ logs)), FACTOR)


def program_size(game: GameTree) -> tuple[int, int, int]:
    """Return what the time of a game's linear program depends on.

    Returns:
        The numbers of payoffs and of sequences in the program, and of the game's chance nodes, each plus 1. Of two
        programs with equally many payoffs, the one with more chance nodes takes longer, because its equilibria mix at
        more infosets.
    """
    quotient = centred_quotient_of(game)
    whole = centred_form(game) or game
    form, pairs = (whole, whole.num_leaf_pairs) if quotient is None else (quotient, quotient.pairs)
    return 1 + pairs, 1 + form.num_sequences, 1 + int((game.histories["actor"] == CHANCE).sum())


def _solutions(program: _Program, name: str, clock: _Clock) -> Generator[tuple[np.ndarray, np.ndarray], None, None]:
    """Yield the values of a program's variables, and its rows' dual values; then those of narrower tolerances.

    HiGHS runs in a thread of its own, so that Ctrl-C takes effect.
    """
    import highspy

    with _one_at_a_time, highspy.Highs() as highs:  # type: ignore[no-untyped-call]
        highs.silent()
        highs.setOptionValue("threads", 1)
        highs.setOptionValue("small_matrix_value", LEAST_ENTRY)
        if clock.limit is not None:
            highs.setOptionValue("time_limit", float(clock.limit))
        highs.HandleUserInterrupt = True  # leaving the block then ends a run that goes on
        if highs.passModel(program.model()) == highspy.HighsStatus.kError:
            raise RLCCFRError(f"the linear program of {name!r} has numbers that HiGHS does not take; iterate instead")
        yield _run(highs, name, clock)
        program.rescale(highs)
        for tolerance in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
            highs.setOptionValue(tolerance, LEAST_TOLERANCE)
        try:
            yield _run(highs, name, clock)
        except RLCCFRError:  # the first solution stands
            return


def _run(highs: highspy.Highs, name: str, clock: _Clock) -> tuple[np.ndarray, np.ndarray]:
    """Let HiGHS solve its program, from the last basis if there is one."""
    import highspy

    highs.startSolve()
    while not highs.wait(POLL)[0]:
        clock.goes_on()
    status, solution = highs.getModelStatus(), highs.getSolution()
    if status == highspy.HighsModelStatus.kTimeLimit:
        raise BudgetError(
            f"the linear program of {name!r} did not end in {clock.limit:g} seconds; give it more, or iterate instead"
        )
    if status != highspy.HighsModelStatus.kOptimal:
        raise RLCCFRError(
            f"the linear program of {name!r} was not solved: HiGHS says {highs.modelStatusToString(status)!r}"
        )
    return np.array(solution.col_value), np.array(solution.row_dual)


class _Program:
    """The linear program of a sequence form: player 0 minimises the value of player 1's best response.

    minimise u(empty) over x >= 0 and u, where

    - x is a realisation plan of player 0: x(empty) = 1, and the x of an infoset's actions sum to the x before it;
    - u(I) >= the payoff of each action at I to player 1 under x, plus the u of the infosets below the action.

    Twins share a variable, which counts once for each of them; a class of infosets below a sequence counts
    ``multiplicity`` times. HiGHS's tolerances are absolute, so each u(I) and its rows are divided by chance's part of
    reaching I, and payoffs by the largest of them.
    """

    def __init__(self, form: SequenceForm) -> None:
        self._view, self._size, self._owner = form.view, form.num_sequences, form.owner
        view = form.view
        self._twin = view.twin.astype(np.int64) if len(view.twin) else np.arange(self._size)
        own = self._owner < view.infoset_begin[1]
        self._places = [self._numbered(own, 0), self._numbered(~own, 1)]

    def _numbered(self, own: np.ndarray, player: int) -> np.ndarray:
        """Return the number of each of a player's sequences, (m + 2,): 0 for the empty one, -1 for the other player's.

        Twins share a number.
        """
        first = own & (self._twin == np.arange(self._size))
        number = np.full(self._size + 2, -1)
        number[self._size + player] = 0
        number[:-2][first] = 1 + np.arange(first.sum())
        number[:-2][own] = number[self._twin[own]]
        return number

    def model(self) -> highspy.HighsLp:
        """Return the program for HiGHS: columns x, then u; rows of player 1's sequences, then of player 0's infosets.

        The empty sequence comes first among the sequences, and last among the infosets.
        """
        import highspy

        plans = int(self._places[0].max()) + 1
        limits, flows = self._limits(), self._flows()
        matrix = sparse.vstack([limits, flows], "csr")
        matrix.eliminate_zeros()
        rows, columns = matrix.shape
        free = np.arange(columns) >= plans
        program = highspy.HighsLp()
        program.num_row_, program.num_col_ = rows, columns
        program.col_cost_ = (np.arange(columns) == plans).astype(float)
        program.col_lower_ = np.where(free, -np.inf, 0.0)
        program.col_upper_ = np.full(columns, np.inf)
        of_flows = np.append(np.zeros(flows.shape[0] - 1), 1.0)
        program.row_lower_ = np.append(np.full(limits.shape[0], -np.inf), of_flows)
        program.row_upper_ = np.append(np.zeros(limits.shape[0]), of_flows)
        program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        program.a_matrix_.start_, program.a_matrix_.index_ = matrix.indptr, matrix.indices
        program.a_matrix_.value_ = matrix.data
        return program

    def rescale(self, highs: highspy.Highs) -> None:
        """Let both plans sum to more than 1, so that HiGHS's absolute tolerances are a smaller share of them."""
        highs.changeRowBounds(highs.getNumRow() - 1, RESCALING, RESCALING)  # x(empty)
        highs.changeColCost(int(self._places[0].max()) + 1, RESCALING)  # u(empty)

    def _limits(self) -> sparse.coo_array:
        """Return the rows of player 1's sequences, each at most 0: the payoff and the u below it less its own u."""
        view, (plan, response) = self._view, self._places
        split, plans, responses = int(view.infoset_begin[1]), plan.max() + 1, response.max() + 1
        payoff = payoff_matrix(view, 1).tocoo()
        worth = np.zeros(responses, np.int64)  # the u of each of player 1's sequences
        theirs = np.flatnonzero(response[:-2] >= 0)
        worth[response[theirs]] = 1 + self._owner[theirs] - split
        below = np.arange(split, len(view.parent))
        times = view.multiplicity[below] if len(view.multiplicity) else np.ones(len(below))
        above, paid = response[view.parent[below].astype(np.int64)], response[payoff.col]
        chance = np.append(1.0, view.chance_weight[split:])  # of each u
        chance[chance == 0.0] = 1.0
        payoffs = payoff.data / chance[worth[paid]]
        payoffs /= np.abs(payoffs).max(initial=0.0) or 1.0
        rows = np.concatenate([paid, above, np.arange(responses)])
        columns = np.concatenate([plan[payoff.row], plans + 1 + below - split, plans + worth])
        entries = np.concatenate([payoffs, times * chance[1:] / chance[worth[above]], np.full(responses, -1.0)])
        return sparse.coo_array((entries, (rows, columns)), (responses, plans + 1 + len(below)))

    def _flows(self) -> sparse.coo_array:
        """Return the rows of player 0's infosets, each 0: their sequences' x less the x before; then x(empty), 1."""
        view, plan = self._view, self._places[0]
        split, own = int(view.infoset_begin[1]), np.flatnonzero(plan[:-2] >= 0)
        rows = np.concatenate([self._owner[own], np.arange(split), [split]])
        columns = np.concatenate([plan[own], plan[view.parent[:split].astype(np.int64)], [0]])
        entries = np.concatenate([np.ones(len(own)), np.full(split, -1.0), [1.0]])
        return sparse.coo_array((entries, (rows, columns)), (split + 1, plan.max() + 2 + len(view.parent) - split))

    def sums(self, variables: np.ndarray, duals: np.ndarray) -> np.ndarray:
        """Return an array (m,) proportional to both players' policies at each infoset."""
        plan, response = (number[:-2] for number in self._places)
        twins = np.bincount(self._twin, minlength=self._size)[self._twin]
        sums: np.ndarray = np.maximum(np.where(plan >= 0, variables[plan], -duals[response] / twins), 0.0)
        return sums
