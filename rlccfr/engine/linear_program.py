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
from rlccfr.games.flat_tree import GameTree, SequenceForm, checked_tree
from rlccfr.games.quotient import centred_quotient_of
from rlccfr.games.symmetry import payoff_matrix
from rlccfr.limits import checked_seconds
from rlccfr.policy import Policy, nash_conv_of

if TYPE_CHECKING:
    import highspy

POLL = 0.05
"""Seconds between two checks of whether HiGHS has ended."""

LEAST_ENTRY = 1e-12
"""HiGHS drops entries of a program that are smaller than this; it allows no lower limit."""

LEAST_TOLERANCE = 1e-10
"""Least tolerance that HiGHS allows."""

RESCALING = 2.0**13
"""Factor on a program's right-hand sides and costs when HiGHS solves it again: absolute tolerances then count less."""

_one_program_at_a_time = threading.Lock()
"""Lock that each program holds: highspy has one lock for all its instances, so two programs at a time would fail."""

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
    quotient = centred_quotient_of(game)
    program = _Program(quotient or centred_form(game) or game)

    def measured(variables: np.ndarray, duals: np.ndarray) -> ExactSolution:
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

    with closing(_solutions(program, game.name, clock)) as solutions:
        solution = measured(*next(solutions))
        if scale.needs_narrower_tolerances(solution.exploitability):
            refined = [measured(variables, duals) for variables, duals in solutions]
            solution = min([solution, *refined], key=lambda candidate: candidate.exploitability)
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
    quotient = centred_quotient_of(game)
    if quotient is not None:
        return 1 + quotient.pairs, 1 + quotient.num_sequences, 1 + game.num_chance_nodes
    form = centred_form(game) or game
    return 1 + form.num_leaf_pairs, 1 + form.num_sequences, 1 + game.num_chance_nodes


def _solutions(program: _Program, name: str, clock: _Clock) -> Generator[tuple[np.ndarray, np.ndarray], None, None]:
    """Yield the values of a program's variables and its rows' dual values; then both again, at tighter tolerances.

    HiGHS runs in a thread of its own, so that Ctrl-C takes effect.
    """
    import highspy

    with _one_program_at_a_time, highspy.Highs() as highs:  # type: ignore[no-untyped-call]
        highs.silent()
        highs.setOptionValue("threads", 1)
        highs.setOptionValue("small_matrix_value", LEAST_ENTRY)
        if clock.limit is not None:
            highs.setOptionValue("time_limit", float(clock.limit))
        highs.HandleUserInterrupt = True  # leaving the block then stops a solve in progress
        if highs.passModel(program.model()) == highspy.HighsStatus.kError:
            raise RLCCFRError(f"the linear program of {name!r} has numbers that HiGHS does not accept; iterate instead")
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
        clock.has_time_left()  # only reports progress: HiGHS has the time limit itself
    status = highs.getModelStatus()
    solution = highs.getSolution()
    if status == highspy.HighsModelStatus.kTimeLimit:
        raise BudgetError(
            f"the linear program of {name!r} was not solved in {clock.limit:g} seconds; allow more time, or iterate "
            "instead"
        )
    if status != highspy.HighsModelStatus.kOptimal:
        raise RLCCFRError(
            f"the linear program of {name!r} was not solved: HiGHS reports {highs.modelStatusToString(status)!r}; "
            "iterate instead"
        )
    return np.array(solution.col_value), np.array(solution.row_dual)


class _Program:
    """The linear program of a sequence form: player 0 minimises the value of player 1's best response.

    minimise u(empty) over x >= 0 and u, where

    - x is a realisation plan of player 0: x(empty) = 1, and the x of an infoset's actions sum to the x before it;
    - u(I) >= the payoff of each action at I to player 1 under x, plus the u of the infosets below the action.

    In a quotient, twins are sequences of one class: they share a variable, which counts once for each of them; a class
    of infosets below a sequence counts ``multiplicity`` times. HiGHS's tolerances are absolute, so each u(I) and its
    rows are divided by chance's reach of I, and then all payoffs by the largest absolute value among them.

    Arrays (m + 2,) end with the empty sequences of players 0 and 1. The matrix game [[1, -1], [-1, 1]] has the columns
    x(a), x(b), x(empty), u(empty) and u(I) in some order; one row for player 1's empty sequence and for each of its two
    actions; and the rows x(a) + x(b) - x(empty) = 0 and x(empty) = 1.
    """

    def __init__(self, form: SequenceForm) -> None:
        view = form.view
        self._view = view
        self._num_sequences = form.num_sequences
        self._owner = form.owner  # (m,) infoset of each sequence
        self._twin = view.twin.astype(np.int64) if len(view.twin) else np.arange(self._num_sequences)
        is_player_0s = self._owner < view.infoset_begin[1]
        self._x_of = self._numbered(is_player_0s, 0)  # (m + 2,) index of each sequence's x among the x
        self._row_of = self._numbered(~is_player_0s, 1)  # (m + 2,) row of each of player 1's sequences

    def _numbered(self, is_players: np.ndarray, player: int) -> np.ndarray:
        """Number a player's sequences, (m + 2,): 0 for the empty one, -1 for the other player's; twins share a number.

        Args:
            is_players: (m,) whether each sequence is the player's.
        """
        is_first_twin = is_players & (self._twin == np.arange(self._num_sequences))
        number = np.full(self._num_sequences + 2, -1)
        number[self._num_sequences + player] = 0
        number[:-2][is_first_twin] = 1 + np.arange(is_first_twin.sum())
        number[:-2][is_players] = number[self._twin[is_players]]
        return number

    def model(self) -> highspy.HighsLp:
        """Return the program for HiGHS: columns x, then u; rows of player 1's sequences, then of player 0's infosets.

        The empty sequence comes first among the sequences, and last among the infosets.
        """
        import highspy

        num_x = int(self._x_of.max()) + 1
        response_rows = self._response_rows()
        plan_rows = self._plan_rows()
        matrix = sparse.vstack([response_rows, plan_rows], "csr")
        matrix.eliminate_zeros()
        num_rows, num_columns = matrix.shape
        program = highspy.HighsLp()
        program.num_row_ = num_rows
        program.num_col_ = num_columns
        # Minimise u(empty), the first column after the x, over x >= 0 and free u.
        program.col_cost_ = (np.arange(num_columns) == num_x).astype(float)
        program.col_lower_ = np.where(np.arange(num_columns) >= num_x, -np.inf, 0.0)
        program.col_upper_ = np.full(num_columns, np.inf)
        # Rows of player 1's sequences are at most 0. Those of player 0's infosets equal 0, and x(empty) equals 1.
        plan_sides = np.append(np.zeros(plan_rows.shape[0] - 1), 1.0)
        program.row_lower_ = np.append(np.full(response_rows.shape[0], -np.inf), plan_sides)
        program.row_upper_ = np.append(np.zeros(response_rows.shape[0]), plan_sides)
        program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        program.a_matrix_.start_ = matrix.indptr
        program.a_matrix_.index_ = matrix.indices
        program.a_matrix_.value_ = matrix.data
        return program

    def rescale(self, highs: highspy.Highs) -> None:
        """Let both plans sum to more than 1, so that HiGHS's absolute tolerances are a smaller share of them."""
        highs.changeRowBounds(highs.getNumRow() - 1, RESCALING, RESCALING)  # x(empty)
        highs.changeColCost(int(self._x_of.max()) + 1, RESCALING)  # u(empty)

    def _response_rows(self) -> sparse.coo_array:
        """Return the rows of player 1's sequences: the payoff, plus the u of the infosets below, less the sequence's u.

        Each row is at most 0. A sequence's u is that of its infoset. The u are numbered from 0, which is u(empty).
        """
        view = self._view
        first_infoset = int(view.infoset_begin[1])  # player 1's infosets come after player 0's
        num_x = self._x_of.max() + 1
        num_rows = self._row_of.max() + 1
        # The u that each row bounds from below: that of the sequence's infoset.
        u_of_row = np.zeros(num_rows, np.int64)
        sequences = np.flatnonzero(self._row_of[:-2] >= 0)
        u_of_row[self._row_of[sequences]] = 1 + self._owner[sequences] - first_infoset
        # The infosets below each sequence add their u to its row, once for each infoset of a class.
        infosets = np.arange(first_infoset, len(view.parent))
        multiplicity = view.multiplicity[infosets] if len(view.multiplicity) else np.ones(len(infosets))
        parent_row = self._row_of[view.parent[infosets].astype(np.int64)]
        # Payoffs of pairs of sequences, player 0's in rows and player 1's in columns. Each of the program's rows, and
        # each u, is divided by chance's reach of the infoset of the u.
        payoff = payoff_matrix(view, 1).tocoo()
        payoff_row = self._row_of[payoff.col]
        chance_reach = np.append(1.0, view.chance_weight[first_infoset:])  # of each u
        chance_reach[chance_reach == 0.0] = 1.0
        payoffs = payoff.data / chance_reach[u_of_row[payoff_row]]
        payoffs /= np.abs(payoffs).max(initial=0.0) or 1.0
        child_entries = multiplicity * chance_reach[1:] / chance_reach[u_of_row[parent_row]]
        rows = np.concatenate([payoff_row, parent_row, np.arange(num_rows)])
        columns = np.concatenate(
            [self._x_of[payoff.row], num_x + 1 + infosets - first_infoset, num_x + u_of_row],
        )
        entries = np.concatenate([payoffs, child_entries, np.full(num_rows, -1.0)])
        return sparse.coo_array((entries, (rows, columns)), (num_rows, num_x + 1 + len(infosets)))

    def _plan_rows(self) -> sparse.coo_array:
        """Return the rows that make x a plan: each infoset's x less the x before it is 0; then, x(empty) is 1."""
        view = self._view
        num_infosets = int(view.infoset_begin[1])
        sequences = np.flatnonzero(self._x_of[:-2] >= 0)
        parent_x = self._x_of[view.parent[:num_infosets].astype(np.int64)]
        rows = np.concatenate([self._owner[sequences], np.arange(num_infosets), [num_infosets]])
        columns = np.concatenate([self._x_of[sequences], parent_x, [0]])
        entries = np.concatenate([np.ones(len(sequences)), np.full(num_infosets, -1.0), [1.0]])
        num_u = 1 + len(view.parent) - num_infosets
        return sparse.coo_array((entries, (rows, columns)), (num_infosets + 1, self._x_of.max() + 1 + num_u))

    def sums(self, variables: np.ndarray, duals: np.ndarray) -> np.ndarray:
        """Return an array (m,) proportional to both players' policies at each infoset.

        Player 1's realisation plan consists of the dual values of player 1's rows, with the sign reversed. Sequences of
        one class (twins) have one row, whose dual value is divided equally among them.
        """
        x_of = self._x_of[:-2]
        row_of = self._row_of[:-2]
        num_twins = np.bincount(self._twin, minlength=self._num_sequences)[self._twin]
        sums: np.ndarray = np.maximum(np.where(x_of >= 0, variables[x_of], -duals[row_of] / num_twins), 0.0)
        return sums
