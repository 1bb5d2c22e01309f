"""The linear program of a sequence form, as HiGHS takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from rlccfr.games.flat_tree import SequenceForm
from rlccfr.games.symmetry import payoff_matrix

if TYPE_CHECKING:
    import highspy

RESCALING = 2.0**13
"""Factor on a program's right-hand sides and costs when HiGHS solves it again: absolute tolerances then count less."""


class SequenceProgram:
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
        # (m,) first sequence of each sequence's class; outside quotients, each is a class of its own.
        self._twin = view.twin.astype(np.int64) if len(view.twin) else np.arange(self._num_sequences)
        is_player_0s = self._owner < view.infoset_begin[1]
        self._x_of = self._numbered(is_player_0s, 0)  # (m + 2,) index of each sequence's x among the x
        self._num_x = int(self._x_of.max()) + 1  # the u come after the x
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

        num_x = self._num_x
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
        highs.changeColCost(self._num_x, RESCALING)  # u(empty)

    def _response_rows(self) -> sparse.coo_array:
        """Return the rows of player 1's sequences: the payoff, plus the u of the infosets below, less the sequence's u.

        Each row is at most 0. A sequence's u is that of its infoset. The u are numbered from 0, which is u(empty).
        """
        view = self._view
        first_infoset = int(view.infoset_begin[1])  # player 1's infosets come after player 0's
        num_x = self._num_x
        num_rows = self._row_of.max() + 1
        # The u that each row bounds from below: that of the sequence's infoset.
        u_of_row = np.zeros(num_rows, np.int64)
        sequences = np.flatnonzero(self._row_of[:-2] >= 0)
        u_of_row[self._row_of[sequences]] = 1 + self._owner[sequences] - first_infoset
        # Each of the program's rows, and each u, is divided by chance's reach of the infoset of the u.
        chance_reach = np.append(1.0, view.chance_weight[first_infoset:])  # of each u
        chance_reach[chance_reach == 0.0] = 1.0
        # Payoffs of pairs of sequences: player 0's sequence gives the column, and player 1's gives the row.
        payoffs = payoff_matrix(view, 1).tocoo()
        payoff_rows = self._row_of[payoffs.col]
        payoff_columns = self._x_of[payoffs.row]
        payoff_entries = payoffs.data / chance_reach[u_of_row[payoff_rows]]
        payoff_entries /= np.abs(payoff_entries).max(initial=0.0) or 1.0
        # The infosets below each sequence add their u to its row, once for each infoset of a class.
        infosets = np.arange(first_infoset, len(view.parent))
        multiplicity = view.multiplicity[infosets] if len(view.multiplicity) else np.ones(len(infosets))
        child_rows = self._row_of[view.parent[infosets].astype(np.int64)]
        child_columns = num_x + 1 + infosets - first_infoset
        child_entries = multiplicity * chance_reach[1:] / chance_reach[u_of_row[child_rows]]
        # Each row's own u is subtracted.
        own_rows = np.arange(num_rows)
        own_columns = num_x + u_of_row
        own_entries = np.full(num_rows, -1.0)
        rows = np.concatenate([payoff_rows, child_rows, own_rows])
        columns = np.concatenate([payoff_columns, child_columns, own_columns])
        entries = np.concatenate([payoff_entries, child_entries, own_entries])
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
        return sparse.coo_array((entries, (rows, columns)), (num_infosets + 1, self._num_x + num_u))

    def sums(self, variables: np.ndarray, duals: np.ndarray) -> np.ndarray:
        """Return an array (m,) proportional to both players' policies at each infoset.

        Player 1's realisation plan consists of the dual values of player 1's rows, with the sign reversed. Sequences of
        one class (twins) have one row, whose dual value is divided equally among them.
        """
        x_of = self._x_of[:-2]
        row_of = self._row_of[:-2]
        num_twins = np.bincount(self._twin, minlength=self._num_sequences)[self._twin]
        # Where an index is -1, both arrays are read at their ends; ``where`` takes the other player's number.
        sums: np.ndarray = np.maximum(np.where(x_of >= 0, variables[x_of], -duals[row_of] / num_twins), 0.0)
        return sums
