"""Equilibria by a linear program over the sequence form, for games that are small enough."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from rlccfr.errors import BudgetError, RLCCFRError
from rlccfr.games.flat_tree import CHANCE, GameTree, SequenceForm
from rlccfr.games.public.kinds import checked_tree
from rlccfr.games.quotient import quotient_of
from rlccfr.games.symmetry import payoff_matrix
from rlccfr.limits import checked_seconds
from rlccfr.policy import Policy

if TYPE_CHECKING:
    import highspy

POLL = 0.05
"""Seconds between two looks at whether HiGHS has ended."""

LEAST_ENTRY = 1e-12
"""Least entry of a program that HiGHS does not drop; it allows no smaller value."""

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
    """An equilibrium, within the tolerances of the linear program's solver; ``exploitability`` tells how nearly.

    Attributes:
        policy: both players' policies.
        value: player 0's value of the game, in its units of utility.
        exploitability: NashConv / 2 of the policies, measured by best responses.
        cpu_seconds: CPU seconds of building and solving the program.
    """

    policy: Policy
    value: float
    exploitability: float
    cpu_seconds: float


def solve_exactly(
    game: GameTree, *, seconds: float | None = None, progress: Callable[[float], None] | None = None
) -> ExactSolution:
    """Solve a game by a linear program over the classes of its sequences.

    The program has one variable per class of player 0's sequences and per class of player 1's infosets. Player 1's
    policy is read off its dual solution. HiGHS solves it. Source: von Stengel, "Efficient computation of behavior
    strategies", GEB 1996; Koller, Megiddo and von Stengel, "Efficient computation of equilibria for extensive
    two-person games", GEB 1996.

    Args:
        seconds: time limit for HiGHS, by the clock; none by default. :func:`predicted_time` predicts the time.
        progress: function that is called repeatedly with the seconds passed, as a share of those predicted.

    Raises:
        BudgetError: the time limit is not positive, or it passed.
        TypeError: the game is not a compiled one.
        GameError: the game is solved by its public tree.
        RLCCFRError: the game has payoffs that are not finite, or HiGHS could not solve the program.
    """
    checked_tree(game, "a linear program")
    import highspy  # noqa: F401  (so that its import does not count)

    if seconds is not None:
        seconds = checked_seconds(seconds)
    if not np.isfinite(game.utility_range):
        raise RLCCFRError(f"{game.name!r} has payoffs that are not finite")
    start, begin = time.monotonic(), time.process_time()
    predicted = predicted_time(game).seconds
    quotient = quotient_of(game)
    program = _Program(game if quotient is None else quotient)

    def report() -> None:
        if progress is not None:
            progress(min(0.99, (time.monotonic() - start) / predicted))

    sums = program.sums(*_solved(program, game.name, seconds, report))
    found = Policy.from_sums(game, sums if quotient is None else sums[quotient.place])
    elapsed = time.process_time() - begin
    values = found.values()
    return ExactSolution(found, values.game[0], values.exploitability, elapsed)


class PredictedTime(NamedTuple):
    """CPU seconds that a linear program will take; two in three programs take at most ``factor`` times more or less."""

    seconds: float
    factor: float

    def __str__(self) -> str:
        least, most = self.seconds / self.factor, self.seconds * self.factor
        return f"{self.seconds:.2g} s (usually {least:.2g} to {most:.2g} s)"


def predicted_time(game: GameTree) -> PredictedTime:
    """Predict how long :func:`solve_exactly` takes, from the size of the game's sequence form."""
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
    quotient = quotient_of(game)
    form, pairs = (game, game.num_leaf_pairs) if quotient is None else (quotient, quotient.pairs)
    return 1 + pairs, 1 + form.num_sequences, 1 + int((game.histories["actor"] == CHANCE).sum())


def _solved(
    program: _Program, name: str, seconds: float | None, report: Callable[[], None]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of a program's variables, and its rows' dual values.

    HiGHS runs in a thread of its own, so that Ctrl-C takes effect.
    """
    import highspy

    with _one_at_a_time, highspy.Highs() as highs:  # type: ignore[no-untyped-call]
        highs.silent()
        highs.setOptionValue("threads", 1)
        highs.setOptionValue("small_matrix_value", LEAST_ENTRY)
        if seconds is not None:
            highs.setOptionValue("time_limit", float(seconds))
        highs.HandleUserInterrupt = True  # leaving the block then ends a run that goes on
        if highs.passModel(program.model()) == highspy.HighsStatus.kError:
            raise RLCCFRError(f"the linear program of {name!r} has numbers that HiGHS does not take; iterate instead")
        highs.startSolve()
        while not highs.wait(POLL)[0]:
            report()
        status, solution = highs.getModelStatus(), highs.getSolution()
        if status == highspy.HighsModelStatus.kTimeLimit:
            raise BudgetError(
                f"the linear program of {name!r} did not end in {seconds:g} seconds; give it more, or iterate instead"
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
