"""A compiled game whose infosets are merged into buckets: the same histories with fewer infosets.

All infosets of a bucket share one policy, and their regrets are added up. The result is a compiled game itself, so
whatever runs on compiled games runs on it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from rlccfr.errors import ComponentError
from rlccfr.games.centring import payoff_factor
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.payoff_blocks import payoff_blocks
from rlccfr.games.records import CHANCE, SequenceView
from rlccfr.games.symmetry import by_first, payoff_matrix, refine, without_residues


def hash_of(numbers: np.ndarray) -> str:
    """Return a hash of an array of whole numbers; it does not depend on the array's type."""
    return hashlib.sha256(numbers.astype(np.int64).tobytes()).hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class MergedGame:
    """A game of m sequences, and the same game with its infosets merged.

    Attributes:
        whole: the game before merging.
        tree: the game with one infoset per bucket; it is ``whole`` itself if no infosets are merged.
        place: (m,) the sequence of ``tree`` that each sequence of ``whole`` is merged into.
    """

    whole: GameTree
    tree: GameTree
    place: np.ndarray

    @property
    def walked(self) -> GameTree:
        """The game in which samplers draw histories: ``whole``, whose infosets distinguish public outcomes."""
        return self.whole

    @property
    def content_hash(self) -> str:
        """Hash of the buckets."""
        return hash_of(self.place)

    def alike(self, other: object) -> bool:
        """Return whether this game and another one merge the same infosets."""
        return isinstance(other, MergedGame) and np.array_equal(self.place, other.place)

    def expand(self, table: np.ndarray) -> np.ndarray:
        """Return a table over the sequences of ``tree``, expanded to the sequences of ``whole``, (m,)."""
        expanded: np.ndarray = table[self.place]
        return expanded


def merge(game: GameTree, bucket: np.ndarray) -> MergedGame:
    """Merge the infosets of a compiled game that share a bucket.

    Merged infosets are numbered in the order of their first members, so parents still come before children.

    Args:
        bucket: (n,) bucket of each infoset.

    Raises:
        ComponentError: members of one bucket differ in their player, their actions or the player's earlier moves.
    """
    bucket = np.asarray(bucket)
    if bucket.shape != (game.num_infosets,):
        raise ComponentError(
            f"the buckets of {game.name!r} must have the shape ({game.num_infosets},), one for each infoset, not "
            f"{bucket.shape}"
        )
    # Buckets are numbered by their first members, which stand for them.
    bucket_number = by_first(np.unique(bucket, return_inverse=True)[1].reshape(-1))
    representative = np.unique(bucket_number, return_index=True)[1]
    if len(representative) == game.num_infosets:
        return MergedGame(game, game, np.arange(game.num_sequences))
    old_first = game.view.first_sequence.astype(np.int64)
    first_sequence = np.concatenate([[0], np.cumsum(np.diff(old_first)[representative])])
    empty_sequences = first_sequence[-1] + np.arange(2)
    place = np.concatenate([_places(game, bucket_number, representative, first_sequence), empty_sequences])
    _check_recall(game, bucket_number, representative, place)
    factor = payoff_factor(game)
    payoff = without_residues(payoff_matrix(game.view), factor)
    view, merged_payoff = _view(game.view, bucket_number, representative, first_sequence, place, payoff, factor)

    # Histories stay as they are, except for their infosets and sequences.
    histories = game.histories.copy()
    is_decision = histories["actor"] < CHANCE
    histories["infoset"][is_decision] = bucket_number[histories["infoset"][is_decision]]
    histories["first_sequence"][is_decision] = first_sequence[histories["infoset"][is_decision]]
    tree = replace(
        game,
        histories=histories,
        view=view,
        infoset_keys=tuple(game.infoset_keys[infoset] for infoset in representative.tolist()),
        sequence_action=game.sequence_action[_sequences_of(old_first, representative)],
        classes=refine(view, merged_payoff, factor),
    )
    return MergedGame(game, tree, place[:-2])


def _sequences_of(first_sequence: np.ndarray, infosets: np.ndarray) -> np.ndarray:
    """Return the sequences of some infosets, one infoset after the other.

    Args:
        first_sequence: (n + 1,) where the sequences of each of the game's infosets begin.
    """
    counts = np.diff(first_sequence)[infosets]
    begin = np.cumsum(counts) - counts
    sequences: np.ndarray = np.arange(counts.sum()) + np.repeat(first_sequence[infosets] - begin, counts)
    return sequences


def _places(
    game: GameTree, bucket_number: np.ndarray, representative: np.ndarray, first_sequence: np.ndarray
) -> np.ndarray:
    """Return for each sequence, (m,), the sequence of the merged game that it is merged into.

    Args:
        bucket_number: (n,) bucket of each infoset.
        representative: (buckets,) the first infoset of each bucket.
        first_sequence: (buckets + 1,) where each bucket's sequences begin.

    Raises:
        ComponentError: members of a bucket have different players or actions.
    """
    old_first = game.view.first_sequence.astype(np.int64)
    counterpart = representative[bucket_number]  # of each infoset
    is_second_player = np.arange(game.num_infosets) >= game.view.infoset_begin[1]
    num_actions = np.diff(old_first)
    wrong = (is_second_player != is_second_player[counterpart]) | (num_actions != num_actions[counterpart])
    if not wrong.any():
        owner = game.owner
        action_index = np.arange(game.num_sequences) - old_first[owner]
        counterpart_action = game.sequence_action[old_first[counterpart[owner]] + action_index]
        differs = game.sequence_action != counterpart_action
        if not differs.any():
            place: np.ndarray = first_sequence[bucket_number[owner]] + action_index
            return place
        wrong[owner[differs]] = True
    raise _unsound(game, bucket_number, int(np.flatnonzero(wrong)[0]), "have different players or actions")


def _check_recall(game: GameTree, bucket_number: np.ndarray, representative: np.ndarray, place: np.ndarray) -> None:
    """Check that all members of a bucket come after the same earlier moves of their player.

    Raises:
        ComponentError: they don't, so the merged game would have imperfect recall.
    """
    parent = place[game.view.parent]
    wrong = np.flatnonzero(parent != parent[representative[bucket_number]])
    if len(wrong):
        why = "come after different earlier moves of their player, who would forget them"
        raise _unsound(game, bucket_number, int(wrong[0]), why)


def _unsound(game: GameTree, bucket_number: np.ndarray, infoset: int, why: str) -> ComponentError:
    """Return the error for an infoset that can't share a bucket with the bucket's first member."""
    first_member = int(np.flatnonzero(bucket_number == bucket_number[infoset])[0])
    first, second = game.infoset_keys[first_member], game.infoset_keys[infoset]
    hint = "" if game.lock is None else "; if the lock is on single hands, lock all hands there, or use no buckets"
    return ComponentError(f"infosets {first!r} and {second!r} can't share a bucket: they {why}{hint}")


def _view(
    view: SequenceView,
    bucket_number: np.ndarray,
    representative: np.ndarray,
    first_sequence: np.ndarray,
    place: np.ndarray,
    payoff: sparse.csr_array,
    factor: float,
) -> tuple[SequenceView, sparse.csr_array]:
    """Return the sequence form with one infoset per bucket, and player 0's payoffs over its sequences.

    For ``factor``, see :func:`rlccfr.games.payoff_sizes.tolerance_factor`.
    """
    num_buckets = len(representative)
    num_sequences = int(first_sequence[-1])
    # Entries with equal indices are added up.
    entries = payoff.tocoo()
    sequence_pairs = (place[entries.row], place[entries.col])
    merged_payoff = sparse.coo_array((entries.data, sequence_pairs), (num_sequences + 2, num_sequences + 2)).tocsr()
    merged_payoff.eliminate_zeros()
    mass_counts: np.ndarray = np.diff(view.mass_begin.astype(np.int64))
    mass_entries = (np.repeat(bucket_number, mass_counts), place[view.mass_sequence])
    mass = sparse.coo_array((view.mass_probability, mass_entries), (num_buckets, num_sequences + 2)).tocsr()
    merged = SequenceView(
        infoset_begin=np.searchsorted(representative, view.infoset_begin).astype(np.uint32),
        first_sequence=first_sequence.astype(np.uint32),
        parent=place[view.parent[representative]].astype(np.uint32),
        chance_weight=np.bincount(bucket_number, view.chance_weight, num_buckets),
        mass_begin=mass.indptr.astype(np.uint32),
        mass_sequence=mass.indices.astype(np.uint32),
        mass_probability=mass.data,
        **payoff_blocks(merged_payoff, factor=factor),
        multiplicity=np.zeros(0),
        twin=np.zeros(0, np.uint32),
    )
    return merged, merged_payoff
