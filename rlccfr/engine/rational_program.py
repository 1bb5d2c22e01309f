"""Equilibria in rational arithmetic, for small games whose payoffs double precision can't hold side by side.

The linear program is that of :mod:`rlccfr.engine.linear_program`, over all sequences of the game:

    minimise u(empty) over x >= 0 and u, where x is a realisation plan of player 0 and u(J) >= w(t) for each action t at
    an infoset J of player 1. Here w(t) is the payoff of t to player 1 under x, plus the u of the infosets below t.

A pure plan of player 0 and a best response to it are a vertex of the program. The simplex method goes on from there. It
keeps whole numbers over one denominator, so that nothing is rounded. Source: Edmonds, "Systems of distinct
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
"""Largest number of entries, a row per sequence, of which a tableau is made."""

MOST_HISTORIES = 20_000
"""Largest number of histories whose payoffs are summed in fractions."""

MOST_WORK = 40_000_000
"""Work after which a program is given up, which takes about ten seconds.

A pivot counts the tableau's entries, and those other than 0 four times more for each word of 64 bits that the
denominator has.
"""

MOST_DENOMINATOR = 10**6
"""Largest denominator of a fraction that a probability of chance stands for, if it rounds to the probability."""


class RationalSolution(NamedTuple):
    """An equilibrium that was computed without rounding.

    Attributes:
        value: player 0's value of the game.
        probabilities: (m,) each action's probability at its infoset, rounded; 0 where the equilibrium never plays.
    """

    value: Fraction
    probabilities: np.ndarray


def is_small(game: GameTree) -> bool:
    """Return whether a game is small enough for rational arithmetic."""
    split = int(game.view.infoset_begin[1])
    others = int(game.view.first_sequence[split]) - split  # of player 0's sequences: all but one at each infoset
    columns = others + game.num_infosets - split + 1
    return (game.num_sequences + 2) * columns <= MOST_ENTRIES and game.num_histories <= MOST_HISTORIES


class RationalGame:
    """A game's sequence form in fractions. Utilities are the game's doubles; chance's are the fractions they stand for.

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
        sums: dict[tuple[int, int], Fraction] = {}
        for first, second, chance, payoff in zip(
            *reach.last_sequence.tolist(), reach.chance_reach, utility, strict=True
        ):
            sums[first, second] = sums.get((first, second), Fraction(0)) + chance * Fraction(payoff)
        self.pairs = np.array(list(sums), np.int64).reshape(-1, 2).T
        self.payoffs = np.array([*sums.values(), None], object)[:-1]  # None keeps numpy from guessing a type

    def best_responses(self, policy: np.ndarray) -> tuple[Fraction, Fraction]:
        """Return each player's value of a best response to a policy, (m,), whose sums at infosets are taken for 1."""
        plans = self._realisation_plans(policy)
        responses = []
        for player, sign in enumerate((1, -1)):
            values = [Fraction(0)] * (self._num_sequences + 2)
            theirs = self.pairs[1 - player]
            for own, other, payoff in zip(self.pairs[player], theirs, self.payoffs, strict=True):
                if plans[other]:
                    values[own] += sign * payoff * plans[other]
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
            shares = [Fraction(policy[k]) for k in sequences]
            total = sum(shares)
            for k, share in zip(sequences, shares, strict=True):
                plans[k] = plans[parent] * share / total
        return plans

    def _sequences(self, infoset: int) -> range:
        return range(int(self.view.first_sequence[infoset]), int(self.view.first_sequence[infoset + 1]))

    def solve(self, start: np.ndarray, report: Callable[[], bool]) -> RationalSolution | None:
        """Solve the game.

        Args:
            start: (m,) policy; player 0's likeliest actions are the first vertex.
            report: called before each pivot; returns whether to go on.

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
        """Read both players' plans off an optimal tableau: player 1's are the reduced costs of its slack variables."""
        size = self._num_sequences
        plans = [0] * (size + 2)
        for sequence, number in zip(tableau.columns.tolist(), tableau.entries[-1, :-1], strict=True):
            plans[sequence] = number if self._is_second(sequence) else 0
        for sequence, number in zip(tableau.rows.tolist(), tableau.entries[:-1, -1], strict=True):
            plans[sequence] = 0 if self._is_second(sequence) else number
        plans[size] = plans[size + 1] = tableau.denominator
        counts: np.ndarray = np.diff(self.view.first_sequence.astype(np.int64))
        parents = np.repeat(self.view.parent, counts).tolist()
        shares = [
            plan / plans[above] if plans[above] else 0.0 for plan, above in zip(plans[:size], parents, strict=True)
        ]
        return RationalSolution(-Fraction(tableau.entries[-1, -1], tableau.denominator * scale), np.array(shares))

    def _is_second(self, sequence: int) -> bool:
        return sequence >= int(self.view.first_sequence[self.view.infoset_begin[1]])


class _Tableau:
    """A simplex tableau in whole numbers; its variables are sequences.

    A sequence of player 0 is its x, one of player 1 the slack of its row, u(J) - w(t). Each row gives a basic variable
    as a sum of the variables outside the basis, with a constant at the end; the last row gives u(empty).

    Attributes:
        entries: (rows + 1, columns + 1) whole numbers, to be divided by ``denominator``.
        rows: the basic variables.
        columns: the other variables.
        denominator: the last pivot.
    """

    def __init__(self, entries: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> None:
        self.entries = entries
        self.rows = rows
        self.columns = columns
        self.denominator = 1
        self._stalled = False

    @classmethod
    def of(cls, game: RationalGame, start: np.ndarray, scale: int) -> _Tableau:
        """Return the tableau of the vertex at which player 0 plays purely, and player 1 responds best.

        Args:
            scale: what makes all payoffs whole numbers.
        """
        view = game.view
        first = view.first_sequence.astype(np.int64)
        parent = view.parent.astype(np.int64)
        size = int(first[-1])
        split = int(view.infoset_begin[1])
        chosen = [int(first[i] + np.argmax(start[first[i] : first[i + 1]])) for i in range(split)]
        outside = np.setdiff1d(np.arange(first[split]), chosen)
        columns = np.append(outside, np.full(len(parent) - split, -1))
        # Each sequence's x as a sum of the variables outside the basis: the chosen action takes what the others leave.
        plan = np.zeros((size + 2, len(columns) + 1), object)
        plan[size, -1] = 1
        plan[outside, np.arange(len(outside))] = 1
        for infoset in range(split):
            others = plan[first[infoset] : first[infoset + 1]].sum(axis=0)  # the chosen one's x is still 0
            plan[chosen[infoset]] = plan[parent[infoset]] - others
        worth = np.zeros((size + 2, len(columns) + 1), object)  # w of each sequence of player 1, likewise
        for own, other, payoff in zip(*game.pairs, game.payoffs, strict=True):
            worth[other] -= int(payoff * scale) * plan[own]
        # From the last infosets up: u(J) is the w of the best action there plus that action's slack.
        slack: dict[int, np.ndarray] = {}
        for infoset in reversed(range(split, len(parent))):
            sequences = range(first[infoset], first[infoset + 1])
            best = max(sequences, key=lambda k: worth[k, -1])
            column = len(outside) + infoset - split
            columns[column] = best
            most = worth[best].copy()
            most[column] += 1
            slack |= {k: most - worth[k] for k in sequences if k != best}
            worth[parent[infoset]] += most
        rows = np.array([*chosen, *slack], np.int64)
        return cls(np.array([*plan[chosen], *slack.values(), worth[size + 1]], object), rows, columns)

    def is_optimal(self) -> bool:
        return bool((self.entries[-1, :-1] >= 0).all())

    def pivot(self) -> None:
        """Exchange a variable that lowers u(empty) for a basic one that it drives to 0.

        It is the variable with the most negative cost. After a pivot that has not lowered u(empty), it is the one with
        the least number, by Bland's rule, until u(empty) falls again.
        """
        entries = self.entries
        costs = entries[-1, :-1]
        falling = np.flatnonzero(costs < 0)
        key = self.columns[falling] if self._stalled else costs[falling]
        column = int(falling[np.argmin(key)])
        shrinking = np.flatnonzero(entries[:-1, column] < 0)
        row = min(shrinking, key=lambda i: (Fraction(entries[i, -1], -entries[i, column]), self.rows[i]))
        self._stalled = entries[row, -1] == 0
        pivot = -entries[row, column]
        left = entries[:, column].copy()
        top = entries[row].copy()
        self.entries = (entries * pivot + np.multiply.outer(left, top)) // self.denominator
        self.entries[:, column] = -left
        self.entries[row] = top
        self.entries[row, column] = -self.denominator
        self.denominator = pivot
        self.rows[row], self.columns[column] = self.columns[column], self.rows[row]


def _chance_fractions(game: GameTree) -> np.ndarray:
    """Return the probabilities of chance's outcomes as fractions that sum to 1 at each node, (num_histories,).

    A probability stands for the simple fraction that rounds to it, if there is one, and else for itself. The largest
    one of a node then takes what the others leave of 1.
    """
    numbers = {number: _simple_fraction(number) for number in np.unique(game.probability).tolist()}
    fractions = np.array([*(numbers[number] for number in game.probability.tolist()), None], object)[:-1]
    for node in np.flatnonzero(game.histories["actor"] == CHANCE):
        begin = int(game.histories["first_child"][node])
        outcomes = slice(begin, begin + int(game.histories["num_children"][node]))
        left = 1 - sum(fractions[outcomes])
        if left:
            fractions[begin + int(np.argmax(game.probability[outcomes]))] += left
    return fractions


def _simple_fraction(number: float) -> Fraction:
    simple = Fraction(number).limit_denominator(MOST_DENOMINATOR)
    return simple if float(simple) == number else Fraction(number)
