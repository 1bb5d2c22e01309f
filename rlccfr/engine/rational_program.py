"""Equilibria in rational arithmetic, for small games whose payoffs differ too much in size for double precision.

:mod:`rlccfr.engine.linear_program` decides when this is tried.

The linear program is that of :mod:`rlccfr.engine.sequence_program`, over all sequences of the game:

    minimise u(empty) over x >= 0 and u, where x is a realisation plan of player 0 and u(J) >= w(t) for each action t at
    an infoset J of player 1. Here w(t) is the payoff of t to player 1 under x, plus the u of the infosets below t.

A pure plan of player 0 and a best response to it are a vertex of the program. The simplex method starts there. It keeps
whole numbers over one common denominator, so that nothing is rounded. Source: Edmonds, "Systems of distinct
representatives and linear algebra", J. Res. NBS 1967 (pivots in whole numbers); Bland, "New finite pivoting rules for
the simplex method", Math. Oper. Res. 1977 (no cycles); von Stengel, "Efficient computation of behavior strategies",
GEB 1996 (the program).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from rlccfr.games.centring import terminal_reach
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.records import CHANCE

MOST_ENTRIES = 200_000
"""Rational numbers are used only if a tableau with a row for each sequence would have at most this many entries."""

MOST_HISTORIES = 20_000
"""Rational numbers are used only in games of at most this many histories, whose payoffs are summed in fractions."""

MOST_WORK = 40_000_000
"""Most work that is spent on a program before it is given up; so much work takes about ten seconds.

The work of a pivot is the number of the tableau's entries plus, for each 64-bit word of the denominator, four times the
number of entries other than 0.
"""

MOST_DENOMINATOR = 10**6
"""Largest denominator of the simple fraction that a chance probability stands for; see :func:`_chance_fractions`."""


class RationalSolution(NamedTuple):
    """An equilibrium that was computed without rounding.

    Attributes:
        value: player 0's value of the game.
        probabilities: (m,) each action's probability at its infoset, rounded to a double; 0 for all actions of an
            infoset that the player's own plan never reaches.
    """

    value: Fraction
    probabilities: np.ndarray


def is_small(game: GameTree) -> bool:
    """Return whether a game is small enough for rational arithmetic."""
    infosets_0 = int(game.view.infoset_begin[1])  # number of player 0's infosets
    infosets_1 = game.num_infosets - infosets_0
    nonbasic_0 = int(game.view.first_sequence[infosets_0]) - infosets_0  # all but one action at each infoset
    columns = nonbasic_0 + infosets_1 + 1
    return (game.num_sequences + 2) * columns <= MOST_ENTRIES and game.num_histories <= MOST_HISTORIES


class RationalGame:
    """A game's sequence form in fractions.

    Each utility has exactly the value of its double. Each chance probability has the value of the simple fraction that
    it stands for; see :func:`_chance_fractions`.

    Attributes:
        view: the game's sequence form.
        payoffs: (P,) payoff to player 0 of each pair of sequences that ends a play, summed over chance; fractions.
        pairs: (2, P) both players' sequences of each pair.
    """

    def __init__(self, game: GameTree) -> None:
        self.view = game.view
        self._num_sequences = game.num_sequences
        reach = terminal_reach(game, _chance_fractions(game))
        utility = game.utility[reach.history]
        payoff_of_pair: dict[tuple[int, int], Fraction] = {}
        for sequence_0, sequence_1, chance_reach, payoff in zip(
            *reach.last_sequence.tolist(), reach.chance_reach, utility, strict=True
        ):
            pair = sequence_0, sequence_1
            payoff_of_pair[pair] = payoff_of_pair.get(pair, Fraction(0)) + chance_reach * Fraction(payoff)
        self.pairs = np.array(list(payoff_of_pair), np.int64).reshape(-1, 2).T
        self.payoffs = np.array([*payoff_of_pair.values(), None], object)[:-1]  # None keeps numpy from guessing a type

    def best_responses(self, policy: np.ndarray) -> tuple[Fraction, Fraction]:
        """Return each player's value of a best response to the other player's policy.

        Args:
            policy: (m,) probabilities; each infoset's are divided by their sum, which removes rounding errors.
        """
        plans = self._realisation_plans(policy)
        responses = []
        for player, sign in enumerate((1, -1)):
            # Of each sequence: its payoff against the opponent's plan, plus the values of the infosets below it.
            values = [Fraction(0)] * (self._num_sequences + 2)
            opponent_sequences = self.pairs[1 - player]
            for sequence, opponent_sequence, payoff in zip(
                self.pairs[player], opponent_sequences, self.payoffs, strict=True
            ):
                if plans[opponent_sequence]:
                    values[sequence] += sign * payoff * plans[opponent_sequence]
            begin = self.view.infoset_begin
            for infoset in reversed(range(int(begin[player]), int(begin[player + 1]))):
                values[int(self.view.parent[infoset])] += max(values[k] for k in self._sequences(infoset))
            responses.append(values[self._num_sequences + player])
        return responses[0], responses[1]

    def _realisation_plans(self, policy: np.ndarray) -> list[Fraction]:
        """Return both players' realisation plans, (m + 2,)."""
        plans = [Fraction(1)] * (self._num_sequences + 2)
        for infoset, parent in enumerate(self.view.parent.tolist()):
            sequences = self._sequences(infoset)
            probabilities = [Fraction(policy[k]) for k in sequences]
            total = sum(probabilities)
            for k, probability in zip(sequences, probabilities, strict=True):
                plans[k] = plans[parent] * probability / total
        return plans

    def _sequences(self, infoset: int) -> range:
        return range(int(self.view.first_sequence[infoset]), int(self.view.first_sequence[infoset + 1]))

    def solve(self, start: np.ndarray, report: Callable[[], bool]) -> RationalSolution | None:
        """Solve the game by the simplex method.

        Args:
            start: (m,) policy; the search begins at the vertex where player 0 plays its likeliest actions.
            report: function called before each pivot; it returns whether the search should continue.

        Returns:
            The solution, or None if ``report`` or :data:`MOST_WORK` has ended the search.
        """
        scale = math.lcm(*(payoff.denominator for payoff in self.payoffs))
        tableau = _Tableau.of(self, start, scale)
        work = 0
        while not tableau.is_optimal():
            words = 1 + tableau.denominator.bit_length() // 64
            work += tableau.entries.size + 4 * words * int(np.count_nonzero(tableau.entries))
            if work > MOST_WORK or not report():
                return None
            tableau.pivot()
        return self._solution(tableau, scale)

    def _solution(self, tableau: _Tableau, scale: int) -> RationalSolution:
        """Return the solution; an optimal tableau holds both players' realisation plans, times its denominator."""
        num_sequences = self._num_sequences
        plans = [0] * (num_sequences + 2)
        # Player 1's plan is the reduced costs of its slack variables, which are 0 in the basis.
        for sequence, reduced_cost in zip(tableau.columns.tolist(), tableau.entries[-1, :-1], strict=True):
            plans[sequence] = reduced_cost if self._is_player_1s(sequence) else 0
        # Player 0's plan is the variables themselves, which are 0 outside the basis.
        for sequence, constant in zip(tableau.rows.tolist(), tableau.entries[:-1, -1], strict=True):
            plans[sequence] = 0 if self._is_player_1s(sequence) else constant
        plans[num_sequences] = tableau.denominator  # the empty sequences
        plans[num_sequences + 1] = tableau.denominator
        num_actions: np.ndarray = np.diff(self.view.first_sequence.astype(np.int64))
        parents = np.repeat(self.view.parent, num_actions).tolist()
        probabilities = [
            plan / plans[parent] if plans[parent] else 0.0
            for plan, parent in zip(plans[:num_sequences], parents, strict=True)
        ]
        value_of_1 = Fraction(tableau.entries[-1, -1], tableau.denominator * scale)  # u(empty)
        return RationalSolution(-value_of_1, np.array(probabilities))

    def _is_player_1s(self, sequence: int) -> bool:
        return sequence >= int(self.view.first_sequence[self.view.infoset_begin[1]])


class _Tableau:
    """A simplex tableau in whole numbers, with one variable for each sequence of the program above.

    The variable of a sequence of player 0 is its entry of x. The variable of a sequence t of player 1, an action at its
    infoset J, is the slack u(J) - w(t). Each row of the tableau writes a basic variable as a linear combination of the
    variables outside the basis, with the constant at the end; the last row writes u(empty) in this way.

    Attributes:
        entries: (rows + 1, columns + 1) whole numbers, to be divided by ``denominator``.
        rows: the basic variables.
        columns: the other variables.
        denominator: the last pivot; 1 at first.
    """

    def __init__(self, entries: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> None:
        self.entries = entries
        self.rows = rows
        self.columns = columns
        self.denominator = 1
        self._stalled = False

    @classmethod
    def of(cls, game: RationalGame, start: np.ndarray, scale: int) -> _Tableau:
        """Return the tableau of the vertex at which player 0 has a pure policy, and player 1 a best response to it.

        Args:
            start: (m,) policy, whose likeliest actions player 0 chooses.
            scale: factor that makes all payoffs whole numbers.
        """
        view = game.view
        first = view.first_sequence.astype(np.int64)
        parent = view.parent.astype(np.int64)
        num_sequences = int(first[-1])
        num_infosets_0 = int(view.infoset_begin[1])
        # The basis has the x of a chosen action at each of player 0's infosets. Outside it are the x of the others, and
        # the slack of one action at each of player 1's infosets, which is filled in below.
        chosen = [int(first[i] + np.argmax(start[first[i] : first[i + 1]])) for i in range(num_infosets_0)]
        nonbasic_0 = np.setdiff1d(np.arange(first[num_infosets_0]), chosen)
        columns = np.append(nonbasic_0, np.full(len(parent) - num_infosets_0, -1))
        # x of each sequence of player 0, as a linear combination of the variables outside the basis, and a constant: a
        # chosen action has the x before its infoset, less the x of the other actions.
        x = np.zeros((num_sequences + 2, len(columns) + 1), object)
        x[num_sequences, -1] = 1
        x[nonbasic_0, np.arange(len(nonbasic_0))] = 1
        for infoset in range(num_infosets_0):
            nonbasic_sum = x[first[infoset] : first[infoset + 1]].sum(axis=0)  # the chosen one's x is still 0
            x[chosen[infoset]] = x[parent[infoset]] - nonbasic_sum
        # w of each sequence of player 1, likewise; first its payoffs alone.
        w = np.zeros((num_sequences + 2, len(columns) + 1), object)
        for sequence_0, sequence_1, payoff in zip(*game.pairs, game.payoffs, strict=True):
            w[sequence_1] -= int(payoff * scale) * x[sequence_0]
        # From the last infosets up: u(J) is the w of the best action there plus that action's slack.
        slack: dict[int, np.ndarray] = {}
        for infoset in reversed(range(num_infosets_0, len(parent))):
            sequences = range(first[infoset], first[infoset + 1])
            best = max(sequences, key=lambda k: w[k, -1])
            column = len(nonbasic_0) + infoset - num_infosets_0
            columns[column] = best
            u = w[best].copy()
            u[column] += 1
            slack |= {k: u - w[k] for k in sequences if k != best}
            w[parent[infoset]] += u
        rows = np.array([*chosen, *slack], np.int64)
        return cls(np.array([*x[chosen], *slack.values(), w[num_sequences + 1]], object), rows, columns)

    def is_optimal(self) -> bool:
        return bool((self.entries[-1, :-1] >= 0).all())

    def pivot(self) -> None:
        """Let a variable with a negative cost enter the basis, and remove the basic variable that first falls to 0.

        The entering variable is the one with the most negative cost. If the last pivot has not lowered u(empty), it is
        instead the variable of the first sequence among those with negative costs (Bland's rule).
        """
        entries = self.entries
        costs = entries[-1, :-1]
        candidates = np.flatnonzero(costs < 0)
        key = self.columns[candidates] if self._stalled else costs[candidates]
        column = int(candidates[np.argmin(key)])
        # The ratio test: the leaving variable is the first to fall to 0 as the entering one grows.
        falling = np.flatnonzero(entries[:-1, column] < 0)
        row = min(falling, key=lambda i: (Fraction(entries[i, -1], -entries[i, column]), self.rows[i]))
        self._stalled = entries[row, -1] == 0
        # Edmonds's integer pivot: the division by the last pivot leaves no remainder.
        pivot = -entries[row, column]
        pivot_column = entries[:, column].copy()
        pivot_row = entries[row].copy()
        self.entries = (entries * pivot + np.multiply.outer(pivot_column, pivot_row)) // self.denominator
        self.entries[:, column] = -pivot_column
        self.entries[row] = pivot_row
        self.entries[row, column] = -self.denominator
        self.denominator = pivot
        self.rows[row], self.columns[column] = self.columns[column], self.rows[row]


def _chance_fractions(game: GameTree) -> np.ndarray:
    """Return the probabilities of chance outcomes as fractions that sum to 1 at each chance node, (num_histories,).

    A probability stands for the simple fraction, with a denominator of at most :data:`MOST_DENOMINATOR`, that rounds to
    it. If there is none, it stands for itself. If a node's fractions then do not sum to 1, the difference is added to
    the fraction of the largest probability.
    """
    fraction_of = {number: _simple_fraction(number) for number in np.unique(game.probability).tolist()}
    # None keeps numpy from guessing a type.
    fractions = np.array([*(fraction_of[number] for number in game.probability.tolist()), None], object)[:-1]
    for node in np.flatnonzero(game.histories["actor"] == CHANCE):
        begin = int(game.histories["first_child"][node])
        outcomes = slice(begin, begin + int(game.histories["num_children"][node]))
        remainder = 1 - sum(fractions[outcomes])
        if remainder:
            fractions[begin + int(np.argmax(game.probability[outcomes]))] += remainder
    return fractions


def _simple_fraction(number: float) -> Fraction:
    simple = Fraction(number).limit_denominator(MOST_DENOMINATOR)
    return simple if float(simple) == number else Fraction(number)
