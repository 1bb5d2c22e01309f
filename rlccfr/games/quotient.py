"""The quotient of a game: its sequence form with one infoset for each class of infosets that must have equal values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from rlccfr.games.centring import centred_form
from rlccfr.games.flat_tree import Classes, GameTree, SequenceForm
from rlccfr.games.payoff_blocks import payoff_blocks
from rlccfr.games.records import SequenceView
from rlccfr.games.symmetry import payoff_matrix, refine, without_residues

ROUNDING = 1e-14
"""Largest difference between entries of a table that count as equal, as a share of the entry."""

TOLERANCE = 1e-11
"""Largest difference between sums over a class that count as equal, as a share of the largest number summed."""


@dataclass(frozen=True, eq=False)
class Quotient(SequenceForm):
    """A game's sequence form with one infoset per class; M sequences and N infosets.

    The infoset is its class's first member, with all of its actions. Actions in one class are *twins*: only the first
    of them has payoffs and infosets below it.

    Attributes:
        view: the sequence form, with ``multiplicity`` and ``twin``.
        member: (M,) the game's sequence that each sequence of the quotient is.
        place: (m,) for each of the game's sequences, the one of the quotient that stands for it.
        pairs: number of pairs of the players' last sequences whose leaves have a payoff.
    """

    view: SequenceView
    member: np.ndarray
    place: np.ndarray
    pairs: int

    def is_constant(self, table: np.ndarray) -> bool:
        """Return whether a table over the game's sequences, (m, ...), has equal entries in each class.

        Entries may differ by rounding: members of a class may list their actions in different orders.
        """
        for some in (slice(64), slice(None)):  # most tables that are not constant differ early
            one, other = table[self._others[some]], table[self._first[some]]
            if not (np.isfinite(other) & (np.abs(one - other) <= ROUNDING * np.abs(other))).all():
                return False
        return True

    @classmethod
    def whole(cls, game: GameTree) -> Quotient:
        """Return the quotient of a game in which each infoset is a class of its own."""
        every = np.arange(game.num_sequences)
        return cls(game.view, every, every, game.num_leaf_pairs)

    def rearranged(self, infosets: np.ndarray, blocks: np.ndarray) -> Quotient:
        """Return the same quotient, renumbered.

        Args:
            infosets: (N,) the infosets in their new order: player 0's first, and parents before children.
            blocks: the blocks of payoffs in their new order.
        """
        view = self.view
        member, first = _gathered(view.first_sequence, infosets)
        masses, mass_begin = _gathered(view.mass_begin, infosets)
        place = np.empty(len(member) + 2, np.uint32)
        place[member] = np.arange(len(member))
        place[-2:] = len(member), len(member) + 1
        moved = view._replace(
            first_sequence=first,
            parent=place[view.parent[infosets]],
            chance_weight=view.chance_weight[infosets],
            mass_begin=mass_begin,
            mass_sequence=place[view.mass_sequence[masses]],
            mass_probability=view.mass_probability[masses],
            leaf_0=place[view.leaf_0],
            leaf_1=place[view.leaf_1],
            blocks_0=view.blocks_0[blocks],
            blocks_1=view.blocks_1[blocks],
            multiplicity=view.multiplicity[infosets] if len(view.multiplicity) else view.multiplicity,
            twin=place[view.twin[member]] if len(view.twin) else view.twin,
        )
        return Quotient(moved, self.member[member], place[self.place], self.pairs)

    @cached_property
    def _first(self) -> np.ndarray:
        """The sequence of the quotient that stands for each of ``_others``, as a sequence of the game."""
        first: np.ndarray = self.member[self.place][self._others]
        return first

    @cached_property
    def _others(self) -> np.ndarray:
        """The game's sequences that another one stands for."""
        return np.flatnonzero(self.member[self.place] != np.arange(len(self.place)))


def _gathered(begin: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of entries whose owners are put into another order, and where each owner's now begin.

    Args:
        begin: (owners + 1,) where each owner's entries begin.
        order: (owners,) the owners in their new order.
    """
    old = begin.astype(np.int64)
    counts = np.diff(old)[order]
    new = np.concatenate([[0], np.cumsum(counts)])
    return np.arange(new[-1]) + np.repeat(old[:-1][order] - new[:-1], counts), new.astype(np.uint32)


_quotients: WeakKeyDictionary[GameTree, Quotient | None] = WeakKeyDictionary()
_centred_quotients: WeakKeyDictionary[GameTree, Quotient | None] = WeakKeyDictionary()


def quotient_of(game: GameTree) -> Quotient | None:
    """Return a game's quotient, which is made at first use; None if no two sequences must have equal values.

    Beside a large constant in all payoffs, their differences count as rounding. So classes must also be an equitable
    partition of the centred payoffs.
    """
    if game not in _quotients:
        centred = centred_form(game)
        sound = centred is None or _quotient_by(centred.view, game.classes) is not None
        _quotients[game] = _quotient_by(game.view, game.classes) if sound else None
    return _quotients[game]


def centred_quotient_of(game: GameTree) -> Quotient | None:
    """Return the quotient of a game's centred form (:mod:`rlccfr.games.centring`), or None, as :func:`quotient_of`."""
    centred = centred_form(game)
    if centred is None:
        return quotient_of(game)
    if game not in _centred_quotients:
        quotient = _quotient_by(centred.view, game.classes)
        if quotient is None:  # the game's classes may be too coarse, or miss a symmetry that the constant hides
            quotient = _quotient_by(centred.view, refine(centred.view, payoff_matrix(centred.view)))
        _centred_quotients[game] = quotient
    return _centred_quotients[game]


def _quotient_by(view: SequenceView, classes: Classes) -> Quotient | None:
    """Return the quotient by classes; None if each sequence is alone, or they are not an equitable partition."""
    alone = classes.sequence.max() + 1 == len(classes.sequence)
    return None if alone else quotient(view, payoff_matrix(view), classes)


def quotient(view: SequenceView, payoff: sparse.csr_array, classes: Classes) -> Quotient | None:
    """Return the quotient by classes, or None if they are not an equitable partition.

    Args:
        payoff: player 0's payoffs, (m + 2, m + 2), see :func:`rlccfr.games.symmetry.payoff_matrix`.
    """
    first = view.first_sequence.astype(np.int64)
    chosen = np.unique(classes.infoset, return_index=True)[1]
    actions = np.diff(first)[chosen]
    begin = np.concatenate([[0], np.cumsum(actions)])
    size = int(begin[-1])
    member = np.arange(size) + np.repeat(first[chosen] - begin[:-1], actions)
    number = np.full(classes.sequence.max() + 1, -1)
    number[classes.sequence[-2:]] = size, size + 1
    number[classes.sequence[member[::-1]]] = np.arange(size)[::-1]  # of twins, the first
    place = number[classes.sequence]
    if place.min() < 0:  # some class has no sequence of a chosen infoset
        return None
    twin, parent, sizes = place[member], place[view.parent[chosen]], np.bincount(place, minlength=size + 2)
    multiplicity = np.bincount(classes.infoset) / sizes[parent]

    into = sparse.csr_array((np.ones(len(place)), place, np.arange(len(place) + 1)), (len(place), size + 2))
    mass, own, theirs = _masses(view) @ into, payoff @ into, (payoff.T.tocsr() @ into)
    alone = np.concatenate([member, [len(place) - 2, len(place) - 1]])
    if not (
        _same_tree(view, classes.infoset, chosen, place, parent, multiplicity)
        and _near(mass, mass[chosen][classes.infoset])
        and all(_near(sums, sums[alone][place]) for sums in (own, theirs))
    ):
        return None
    mass = mass[chosen]
    firsts = np.append(twin == np.arange(size), [True, True])
    paid = without_residues(sparse.csr_array(sparse.diags_array(firsts.astype(float)) @ own[alone]))
    entries = paid.tocoo()
    row, column = entries.row, entries.col
    reduced = SequenceView(
        infoset_begin=np.searchsorted(chosen, view.infoset_begin).astype(np.uint32),
        first_sequence=begin.astype(np.uint32),
        parent=parent.astype(np.uint32),
        chance_weight=view.chance_weight[chosen],
        mass_begin=mass.indptr.astype(np.uint32),
        mass_sequence=mass.indices.astype(np.uint32),
        mass_probability=mass.data,
        **payoff_blocks(paid, -paid.data * sizes[row] / sizes[column]),
        multiplicity=multiplicity,
        twin=np.zeros(0, np.uint32) if firsts.all() else twin.astype(np.uint32),
    )
    return Quotient(reduced, member, place[:-2], paid.nnz)


def _masses(view: SequenceView) -> sparse.csr_array:
    """Return the chance reach of each infoset, summed over histories with the same opponent sequence, (n, m + 2)."""
    shape = (len(view.parent), int(view.first_sequence[-1]) + 2)
    parts = (view.mass_probability, view.mass_sequence.astype(np.int64), view.mass_begin.astype(np.int64))
    return sparse.csr_array(parts, shape)


def _same_tree(
    view: SequenceView,
    class_of: np.ndarray,
    chosen: np.ndarray,
    place: np.ndarray,
    parent: np.ndarray,
    multiplicity: np.ndarray,
) -> bool:
    """Return whether infosets of one class agree.

    They must have parents of one class, actions of the same classes, and equally many of their class below a parent.
    """
    first, above = view.first_sequence.astype(np.int64), view.parent.astype(np.int64)
    actions, infosets = np.diff(first), len(above)
    if not (np.array_equal(place[above], parent[class_of]) and np.array_equal(actions, actions[chosen][class_of])):
        return False
    owner = np.repeat(np.arange(infosets), actions)
    sorted_places = place[:-2][np.lexsort((place[:-2], owner))]
    counterpart = np.arange(len(owner)) + (first[chosen[class_of]] - first[:-1])[owner]
    if not np.array_equal(sorted_places, sorted_places[counterpart]):
        return False
    pairs, times = np.unique(above * infosets + class_of, return_counts=True)
    return np.array_equal(times, multiplicity[pairs % infosets])


def _near(one: sparse.csr_array, other: sparse.csr_array) -> bool:
    """Return whether two matrices are equal up to rounding."""
    difference = abs(one - other)
    return bool(difference.nnz == 0 or difference.max() <= TOLERANCE * abs(one).max())
