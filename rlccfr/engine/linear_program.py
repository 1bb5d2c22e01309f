"""Equilibria by a linear program over the sequence form, for games that are small enough."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import OptimizeResult, linprog

from rlccfr.errors import BudgetError, RLCCFRError
from rlccfr.games.flat_tree import GameTree, SequenceView
from rlccfr.games.quotient import quotient_of
from rlccfr.games.symmetry import payoff_matrix
from rlccfr.policy import Policy

TIME_LIMIT = 1
"""HiGHS's status of a program that its time limit stopped."""


@dataclass(frozen=True)
class ExactSolution:
    """An equilibrium, up to rounding.

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


def solve_exactly(game: GameTree, *, seconds: float | None = None) -> ExactSolution:
    """Solve a game by a linear program over the classes of its sequences.

    The program has one variable per class of player 0's sequences and per class of player 1's infosets. Player 1's
    policy is read off its dual solution. HiGHS solves it. Source: von Stengel, "Efficient computation of behavior
    strategies", GEB 1996; Koller, Megiddo and von Stengel, "Efficient computation of equilibria for extensive
    two-person games", GEB 1996.

    Args:
        seconds: time limit, by default none; the time a program takes grows fast with the game.

    Raises:
        BudgetError: the time limit is not positive, or it passed.
        RLCCFRError: the game has payoffs that are not finite, or the program could not be solved.
    """
    if seconds is not None and not seconds > 0:
        raise BudgetError(f"seconds must be positive, not {seconds!r}")
    if not np.isfinite(game.utility_range):
        raise RLCCFRError(f"{game.name!r} has payoffs that are not finite")
    begin = time.thread_time()
    quotient = quotient_of(game)
    program = _Program(game.view if quotient is None else quotient.view)
    sums = program.sums(_solved(program, game, seconds))
    found = Policy.from_sums(game, sums if quotient is None else sums[quotient.place])
    elapsed = time.thread_time() - begin
    values = found.values()
    return ExactSolution(found, values.game[0], values.exploitability, elapsed)


def _solved(program: _Program, game: GameTree, seconds: float | None) -> OptimizeResult:
    limit = {} if seconds is None else {"time_limit": seconds}
    found = linprog(**program.arguments(), method="highs", options=limit)
    if found.status == TIME_LIMIT:
        raise BudgetError(
            f"the linear program of {game.name!r} did not end in {seconds:g} seconds; give it more, or use a Solver"
        )
    if found.status:
        raise RLCCFRError(f"the linear program of {game.name!r} was not solved: {found.message}")
    return found


class _Program:
    """The linear program of a sequence form: player 0 limits what player 1's best response is worth.

    minimise u(empty) over x >= 0 and u, where

    - x is a realisation plan of player 0: x(empty) = 1, and the x of an infoset's actions sum to the x before it;
    - u(I) >= player 1's payoff at each action's leaves, given x, plus the u of the infosets below the action.

    Twins share a variable, which counts once for each of them; a class of infosets below a sequence counts
    ``multiplicity`` times.
    """

    def __init__(self, view: SequenceView) -> None:
        self._view, self._size = view, int(view.first_sequence[-1])
        counts: np.ndarray = np.diff(view.first_sequence.astype(np.int64))
        self._owner = np.repeat(np.arange(len(view.parent)), counts)
        self._twin = view.twin.astype(np.int64) if len(view.twin) else np.arange(self._size)
        own = self._owner < view.infoset_begin[1]
        self._places = [self._numbered(own, 0), self._numbered(~own, 1)]

    def _numbered(self, own: np.ndarray, player: int) -> np.ndarray:
        """Return the number of each of a player's sequences, (m + 2,), 0 for the empty one; twins share a number."""
        first = own & (self._twin == np.arange(self._size))
        number = np.full(self._size + 2, -1)
        number[self._size + player] = 0
        number[:-2][first] = 1 + np.arange(first.sum())
        number[:-2][own] = number[self._twin[own]]
        return number

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of :func:`scipy.optimize.linprog`; first x, then u, each from the empty one."""
        view, (plan, response) = self._view, self._places
        parent, split = view.parent.astype(np.int64), int(view.infoset_begin[1])
        infosets, plans, responses = len(parent), plan.max() + 1, response.max() + 1
        payoff = payoff_matrix(view, 1).tocoo()
        worth = np.zeros(responses, np.int64)  # the u of each of player 1's sequences, -1 for twins
        theirs = np.flatnonzero(response[:-2] >= 0)
        worth[response[theirs]] = 1 + self._owner[theirs] - split
        below = np.arange(split, infosets)
        times = view.multiplicity[below] if len(view.multiplicity) else np.ones(len(below))
        rows = np.concatenate([response[payoff.coords[1]], response[parent[below]], np.arange(responses)])
        columns = np.concatenate([plan[payoff.coords[0]], plans + 1 + below - split, plans + worth])
        entries = np.concatenate([payoff.data, times, np.full(responses, -1.0)])
        count = plans + 1 + infosets - split
        own = np.flatnonzero(plan[:-2] >= 0)
        flows = sparse.coo_array(
            (
                np.concatenate([np.ones(len(own)), np.full(split, -1.0), [1.0]]),
                (
                    np.concatenate([self._owner[own], np.arange(split), [split]]),
                    np.concatenate([plan[own], plan[parent[:split]], [0]]),
                ),
            ),
            (split + 1, count),
        )
        return {
            "c": np.arange(count) == plans,
            "A_ub": sparse.coo_array((entries, (rows, columns)), (responses, count)).tocsr(),
            "b_ub": np.zeros(responses),
            "A_eq": flows.tocsr(),
            "b_eq": np.append(np.zeros(split), 1.0),
            "bounds": [(0, None)] * plans + [(None, None)] * (count - plans),
        }

    def sums(self, found: OptimizeResult) -> np.ndarray:
        """Return an array (m,) proportional to both players' policies at each infoset."""
        plan, response = (number[:-2] for number in self._places)
        twins = np.bincount(self._twin, minlength=self._size)[self._twin]
        dual = -found.ineqlin.marginals[response] / twins
        sums: np.ndarray = np.maximum(np.where(plan >= 0, found.x[plan], dual), 0.0)
        return sums
