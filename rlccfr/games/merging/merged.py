"""A compiled game whose infosets are merged into buckets: the same histories with fewer infosets.

All infosets of a bucket play one policy, and their regrets are added up. The result is a game of its own, on which
everything runs that runs on a compiled game.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from rlccfr.errors import ComponentError
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.payoff_blocks import payoff_blocks
from rlccfr.games.records import CHANCE, SequenceView
from rlccfr.games.symmetry import by_first, payoff_matrix, refine, without_residues


def hash_of(numbers: np.ndarray) -> str:
    """Return a hash of whole numbers, whatever their type."""
    return hashlib.sha256(numbers.astype(np.int64).tobytes()).hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class MergedGame:
    """A game whose infosets are merged; m sequences before.

    Attributes:
        whole: the game before.
        tree: the game with one infoset per bucket, which is the same object if no infosets are merged.
        place: (m,) the sequence of ``tree`` that stands for each sequence of ``whole``.
    """

    whole: GameTree
    tree: GameTree
    place: np.ndarray

    @property
    def content_hash(self) -> str:
        """Hash of the buckets."""
        return hash_of(self.place)

    def alike(self, other: object) -> bool:
        """Return whether both merge the same infosets."""
        return isinstance(other, MergedGame) and np.array_equal(self.place, other.place)

    def expand(self, table: np.ndarray) -> np.ndarray:
        """Return a table over the sequences of ``tree`` as one over those of ``whole``, (m,)."""
        found: np.ndarray = table[self.place]
        return found


def merge(game: GameTree, bucket: np.ndarray) -> MergedGame:
    """Merge infosets.

    Infosets are numbered by their bucket's first member, so parents still come before children.

    Args:
        bucket: (n,) bucket of each infoset.

    Raises:
        ComponentError: members of one bucket differ in their player, their actions or their player's past.
    """
    bucket = np.asarray(bucket)
    if bucket.shape != (game.num_infosets,):
        raise ComponentError(f"buckets must have shape ({game.num_infosets},), not {bucket.shape}")
    number = by_first(np.unique(bucket, return_inverse=True)[1].reshape(-1))
    chosen = np.unique(number, return_index=True)[1]
    if len(chosen) == game.num_infosets:
        return MergedGame(game, game, np.arange(game.num_sequences))
    first = game.view.first_sequence.astype(np.int64)
    begin = np.concatenate([[0], np.cumsum(np.diff(first)[chosen])])
    place = np.concatenate([_places(game, number, chosen, begin), begin[-1] + np.arange(2)])
    _check_recall(game, number, chosen, place)
    payoff = without_residues(payoff_matrix(game.view))
    view, classes_payoff = _view(game.view, number, chosen, begin, place, payoff)
    histories = game.histories.copy()
    acts = histories["actor"] < CHANCE
    histories["infoset"][acts] = number[histories["infoset"][acts]]
    histories["first_sequence"][acts] = begin[histories["infoset"][acts]]
    tree = replace(
        game,
        histories=histories,
        view=view,
        infoset_keys=tuple(game.infoset_keys[infoset] for infoset in chosen.tolist()),
        sequence_action=game.sequence_action[_members(first, chosen)],
        classes=refine(view, classes_payoff),
    )
    return MergedGame(game, tree, place[:-2])


def _members(first: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return the sequences of the infosets chosen, one infoset after the other."""
    counts = np.diff(first)[chosen]
    begin = np.cumsum(counts) - counts
    members: np.ndarray = np.arange(counts.sum()) + np.repeat(first[chosen] - begin, counts)
    return members


def _places(game: GameTree, number: np.ndarray, chosen: np.ndarray, begin: np.ndarray) -> np.ndarray:
    """Return the new number of each sequence, (m,).

    Raises:
        ComponentError: members of a bucket have different players or actions.
    """
    first, example = game.view.first_sequence.astype(np.int64), chosen[number]
    second = np.arange(game.num_infosets) >= game.view.infoset_begin[1]
    actions = np.diff(first)
    wrong = (second != second[example]) | (actions != actions[example])
    if not wrong.any():
        owner = game.owner
        k = np.arange(game.num_sequences) - first[owner]
        differ = game.sequence_action != game.sequence_action[first[example[owner]] + k]
        if not differ.any():
            place: np.ndarray = begin[number[owner]] + k
            return place
        wrong[owner[differ]] = True
    raise _unsound(game, number, int(np.flatnonzero(wrong)[0]), "have different players or actions")


def _check_recall(game: GameTree, number: np.ndarray, chosen: np.ndarray, place: np.ndarray) -> None:
    """Check that members of a bucket have the same past of their own.

    Raises:
        ComponentError: they don't, so the owner would forget something.
    """
    parent = place[game.view.parent]
    wrong = np.flatnonzero(parent != parent[chosen[number]])
    if len(wrong):
        raise _unsound(game, number, int(wrong[0]), "have different pasts, so that their player would forget")


def _unsound(game: GameTree, number: np.ndarray, infoset: int, why: str) -> ComponentError:
    other = int(np.flatnonzero(number == number[infoset])[0])
    keys = game.infoset_keys
    return ComponentError(f"infosets {keys[other]!r} and {keys[infoset]!r} can't share a bucket: they {why}")


def _view(
    view: SequenceView,
    number: np.ndarray,
    chosen: np.ndarray,
    begin: np.ndarray,
    place: np.ndarray,
    payoff: sparse.csr_array,
) -> tuple[SequenceView, sparse.csr_array]:
    """Return the sequence form with one infoset per bucket, and player 0's payoffs over its sequences."""
    infosets, size = len(chosen), int(begin[-1])
    entries = payoff.tocoo()
    paid = sparse.coo_array((entries.data, (place[entries.row], place[entries.col])), (size + 2, size + 2)).tocsr()
    paid.eliminate_zeros()
    counts: np.ndarray = np.diff(view.mass_begin.astype(np.int64))
    owner = np.repeat(number, counts)
    met = (owner, place[view.mass_sequence])
    mass = sparse.coo_array((view.mass_probability, met), (infosets, size + 2)).tocsr()
    merged = SequenceView(
        infoset_begin=np.searchsorted(chosen, view.infoset_begin).astype(np.uint32),
        first_sequence=begin.astype(np.uint32),
        parent=place[view.parent[chosen]].astype(np.uint32),
        chance_weight=np.bincount(number, view.chance_weight, infosets),
        mass_begin=mass.indptr.astype(np.uint32),
        mass_sequence=mass.indices.astype(np.uint32),
        mass_probability=mass.data,
        **payoff_blocks(paid),
        multiplicity=np.zeros(0),
        twin=np.zeros(0, np.uint32),
    )
    return merged, paid
