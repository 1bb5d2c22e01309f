"""The quotient of a game: its sequence form with one infoset for each class of infosets that must have equal values.

Classes come from colour refinement (:mod:`rlccfr.games.symmetry`). They are checked here before they are used: they
must be an *equitable partition*, in which all members of a class are linked to the same classes, equally often.
docs/adr/0020 has the proof that CFR on the quotient is then equivalent to CFR on the game.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from rlccfr.games.centring import centred_game, payoff_factor
from rlccfr.games.flat_tree import Classes, GameTree, SequenceForm
from rlccfr.games.payoff_blocks import payoff_blocks
from rlccfr.games.records import SequenceView
from rlccfr.games.symmetry import payoff_matrix, without_residues

ROUNDING = 1e-14
"""Largest difference between entries of a table that count as equal, as a share of the entry."""

TOLERANCE = 1e-11
"""Largest difference between sums over a class that count as equal, as a share of the largest such sum."""


@dataclass(frozen=True, eq=False)
class Quotient(SequenceForm):
    """A game's sequence form with one infoset per class.

    The game has m sequences and n infosets; the quotient has M and N. A class is represented by the first infoset in
    it, with all of that infoset's actions. If some of these actions are in one class, they are *twins*: only the first
    of them has payoffs and infosets below it.

    Attributes:
        view: the sequence form, with ``multiplicity`` and ``twin``.
        member: (M,) for each of the quotient's sequences, its index in the game.
        place: (m,) for each of the game's sequences, the quotient's sequence that represents it.
        pairs: number of pairs (sequence of player 0, sequence of player 1) with a payoff other than 0.
    """

    view: SequenceView
    member: np.ndarray
    place: np.ndarray
    pairs: int

    def over_all_members(self, table: np.ndarray) -> np.ndarray:
        """Return a table over the quotient's sequences, (M,), expanded to the game's, (m,)."""
        expanded: np.ndarray = table[self.place]
        return expanded

    def is_constant(self, table: np.ndarray) -> bool:
        """Return whether a table over the game's sequences, (m, ...), has equal entries in each class.

        Entries may differ by rounding: members of a class may list their actions in different orders.
        """
        for subset in (slice(64), slice(None)):  # most tables that are not constant differ early
            entries = table[self._represented[subset]]
            expected = table[self._representatives[subset]]
            close = np.abs(entries - expected) <= ROUNDING * np.abs(expected)
            if not (np.isfinite(expected) & close).all():
                return False
        return True

    @classmethod
    def whole(cls, game: GameTree) -> Quotient:
        """Return the trivial quotient of a game, in which each infoset is a class of its own."""
        sequences = np.arange(game.num_sequences)
        return cls(game.view, sequences, sequences, game.num_leaf_pairs)

    def rearranged(self, infosets: np.ndarray, blocks: np.ndarray) -> Quotient:
        """Return the same quotient, renumbered.

        Args:
            infosets: (N,) the infosets in their new order: player 0's first, and parents before children.
            blocks: the blocks of payoffs in their new order.
        """
        view = self.view
        old_sequences, first_sequence = _reordered_ranges(view.first_sequence, infosets)
        mass_entries, mass_begin = _reordered_ranges(view.mass_begin, infosets)
        # The two empty sequences still come last.
        num_sequences = len(old_sequences)
        new_number = np.empty(num_sequences + 2, np.uint32)
        new_number[old_sequences] = np.arange(num_sequences)
        new_number[-2:] = num_sequences, num_sequences + 1
        renumbered = view._replace(
            first_sequence=first_sequence,
            parent=new_number[view.parent[infosets]],
            chance_weight=view.chance_weight[infosets],
            mass_begin=mass_begin,
            mass_sequence=new_number[view.mass_sequence[mass_entries]],
            mass_probability=view.mass_probability[mass_entries],
            leaf_0=new_number[view.leaf_0],
            leaf_1=new_number[view.leaf_1],
            blocks_0=view.blocks_0[blocks],
            blocks_1=view.blocks_1[blocks],
            multiplicity=view.multiplicity[infosets] if len(view.multiplicity) else view.multiplicity,
            twin=new_number[view.twin[old_sequences]] if len(view.twin) else view.twin,
        )
        return Quotient(renumbered, self.member[old_sequences], new_number[self.place], self.pairs)

    @cached_property
    def _represented(self) -> np.ndarray:
        """The game's sequences that another sequence represents, (r,)."""
        return np.flatnonzero(self.member[self.place] != np.arange(len(self.place)))

    @cached_property
    def _representatives(self) -> np.ndarray:
        """The game's sequence that represents each of ``_represented``, (r,)."""
        representatives: np.ndarray = self.member[self.place][self._represented]
        return representatives


def _reordered_ranges(begin: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the order of entries after their owners are reordered, and where each owner's entries then begin.

    Args:
        begin: (owners + 1,) where each owner's entries begin.
        order: (owners,) the owners in their new order.
    """
    old_begin = begin.astype(np.int64)
    counts = np.diff(old_begin)[order]
    new_begin = np.concatenate([[0], np.cumsum(counts)])
    shift = np.repeat(old_begin[:-1][order] - new_begin[:-1], counts)
    return np.arange(new_begin[-1]) + shift, new_begin.astype(np.uint32)


_quotients: WeakKeyDictionary[GameTree, Quotient | None] = WeakKeyDictionary()


def quotient_of(game: GameTree) -> Quotient | None:
    """Return a game's quotient, which is computed at first use; None if the game has none.

    It is that of the game with centred payoffs (:mod:`rlccfr.games.centring`), since beside a large constant, true
    differences between payoffs may be as small as rounding errors. There is no quotient if each sequence is alone in
    its class, or if the classes are not an equitable partition.
    """
    centred = centred_game(game)
    if centred not in _quotients:
        _quotients[centred] = _quotient_by(centred.view, centred.classes, payoff_factor(centred))
    return _quotients[centred]


def _quotient_by(view: SequenceView, classes: Classes, factor: float) -> Quotient | None:
    """Return the quotient by classes; None if each sequence is alone, or the classes are not an equitable partition."""
    each_alone = classes.sequence.max() + 1 == len(classes.sequence)
    return None if each_alone else quotient(view, payoff_matrix(view), classes, factor)


class _Representatives(NamedTuple):
    """The N infosets and M sequences that represent their classes; the game has n and m."""

    infoset: np.ndarray  # (N,): the first infoset of each class, ascending
    first_sequence: np.ndarray  # (N + 1,): where each infoset's sequences begin in the quotient
    member: np.ndarray  # (M,): see Quotient
    place: np.ndarray  # (m + 2,): see Quotient; the two empty sequences come last


def quotient(view: SequenceView, payoff: sparse.csr_array, classes: Classes, factor: float = 1.0) -> Quotient | None:
    """Return the quotient by these classes, or None if they are not an equitable partition.

    Args:
        view: the game's sequence form, of n infosets and m sequences.
        payoff: player 0's payoffs, (m + 2, m + 2), see :func:`rlccfr.games.symmetry.payoff_matrix`.
        classes: the classes of its infosets and sequences.
        factor: factor on tolerances for payoffs; see :func:`rlccfr.games.payoff_sizes.tolerance_factor`.
    """
    representatives = _choose_representatives(view, classes)
    if representatives is None:
        return None
    infoset, first_sequence, member, place = representatives
    num_sequences = len(member)
    twin = place[member]
    parent = place[view.parent[infoset]]
    class_sizes = np.bincount(place, minlength=num_sequences + 2)
    multiplicity = np.bincount(classes.infoset) / class_sizes[parent]

    # Multiplied from the right, this matrix adds up columns of one class.
    sum_over_classes = sparse.csr_array(
        (np.ones(len(place)), place, np.arange(len(place) + 1)), (len(place), num_sequences + 2)
    )
    mass = _masses(view) @ sum_over_classes
    payoff_0 = payoff @ sum_over_classes
    payoff_1 = payoff.T.tocsr() @ sum_over_classes
    # The classes are equitable if each infoset and sequence has the same sums as its representative.
    member_or_empty = np.concatenate([member, [len(place) - 2, len(place) - 1]])
    if not (
        _same_tree(view, classes.infoset, representatives, parent, multiplicity)
        and _near(mass, mass[infoset][classes.infoset], TOLERANCE)
        and all(_near(sums, sums[member_or_empty][place], factor * TOLERANCE) for sums in (payoff_0, payoff_1))
    ):
        return None

    # Of twins, the first has the payoffs of all.
    is_first_twin = np.append(twin == np.arange(num_sequences), [True, True])
    keep_first_twins = sparse.diags_array(is_first_twin.astype(float))
    reduced_payoff = without_residues(sparse.csr_array(keep_first_twins @ payoff_0[member_or_empty]), factor)
    entries = reduced_payoff.tocoo()
    # An entry is the payoff of one row, summed over the columns of a class. Player 1 needs the payoff of one column,
    # summed over the rows of a class.
    payoffs_to_1 = -reduced_payoff.data * class_sizes[entries.row] / class_sizes[entries.col]
    reduced_mass = mass[infoset]
    reduced = SequenceView(
        infoset_begin=np.searchsorted(infoset, view.infoset_begin).astype(np.uint32),
        first_sequence=first_sequence.astype(np.uint32),
        parent=parent.astype(np.uint32),
        chance_weight=view.chance_weight[infoset],
        mass_begin=reduced_mass.indptr.astype(np.uint32),
        mass_sequence=reduced_mass.indices.astype(np.uint32),
        mass_probability=reduced_mass.data,
        **payoff_blocks(reduced_payoff, payoffs_to_1, factor),
        multiplicity=multiplicity,
        twin=np.zeros(0, np.uint32) if is_first_twin.all() else twin.astype(np.uint32),
    )
    return Quotient(reduced, member, place[:-2], reduced_payoff.nnz)


def _choose_representatives(view: SequenceView, classes: Classes) -> _Representatives | None:
    """Return the first infoset of each class, with its sequences; None if these do not represent all sequences."""
    old_first_sequence = view.first_sequence.astype(np.int64)
    infoset = np.unique(classes.infoset, return_index=True)[1]
    num_actions = np.diff(old_first_sequence)[infoset]
    first_sequence = np.concatenate([[0], np.cumsum(num_actions)])
    size = int(first_sequence[-1])
    member = np.arange(size) + np.repeat(old_first_sequence[infoset] - first_sequence[:-1], num_actions)

    # From classes of sequences to sequences of the quotient. The last one written stays: of twins, it is the first.
    sequence_of_class = np.full(classes.sequence.max() + 1, -1)
    sequence_of_class[classes.sequence[-2:]] = size, size + 1
    sequence_of_class[classes.sequence[member[::-1]]] = np.arange(size)[::-1]
    place = sequence_of_class[classes.sequence]
    return None if place.min() < 0 else _Representatives(infoset, first_sequence, member, place)


def _masses(view: SequenceView) -> sparse.csr_array:
    """Return the chance reach of each infoset, summed over histories with the same opponent sequence, (n, m + 2)."""
    shape = (len(view.parent), int(view.first_sequence[-1]) + 2)
    csr_arrays = (view.mass_probability, view.mass_sequence.astype(np.int64), view.mass_begin.astype(np.int64))
    return sparse.csr_array(csr_arrays, shape)


def _same_tree(
    view: SequenceView,
    class_of: np.ndarray,
    representatives: _Representatives,
    parent: np.ndarray,
    multiplicity: np.ndarray,
) -> bool:
    """Return whether the infosets of each class have equivalent places in the tree.

    They must have parents of one class, actions of the same classes, and equally many members of their class below each
    parent.

    Args:
        class_of: (n,) class of each infoset.
        parent: (N,) the parent of each infoset of the quotient.
        multiplicity: (N,) number of infosets of each class below one parent.
    """
    infoset = representatives.infoset
    place = representatives.place
    first_sequence = view.first_sequence.astype(np.int64)
    old_parent = view.parent.astype(np.int64)
    num_actions = np.diff(first_sequence)
    num_infosets = len(old_parent)
    if not np.array_equal(place[old_parent], parent[class_of]):
        return False
    if not np.array_equal(num_actions, num_actions[infoset][class_of]):
        return False

    # Members may list their actions in different orders, so the classes of the actions are compared sorted.
    owner = np.repeat(np.arange(num_infosets), num_actions)
    sorted_places = place[:-2][np.lexsort((place[:-2], owner))]
    counterpart = np.arange(len(owner)) + (first_sequence[infoset[class_of]] - first_sequence[:-1])[owner]
    if not np.array_equal(sorted_places, sorted_places[counterpart]):
        return False

    pairs, counts = np.unique(old_parent * num_infosets + class_of, return_counts=True)  # pairs of a parent and a class
    return np.array_equal(counts, multiplicity[pairs % num_infosets])


def _near(sums: sparse.csr_array, expected: sparse.csr_array, tolerance: float) -> bool:
    """Return whether two matrices are equal up to a share of the largest entry."""
    difference = abs(sums - expected)
    return bool(difference.nnz == 0 or difference.max() <= tolerance * abs(sums).max())
