"""The pairs of buckets that the players can hold in each round of a public tree of cards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlccfr.errors import ComponentError
from rlccfr.games.memory import available_memory
from rlccfr.games.merging.hands import deal_nodes, rounds_by_cards, rows_of
from rlccfr.games.public.masses import row_masses, rows_above
from rlccfr.games.public.view import PublicGame
from rlccfr.games.symmetry import by_first
from rlccfr.kernels.public.buckets import add_pairs, workspace_size

MOST_BUCKETS = 5_000
"""Largest number of buckets in a round; pairs of more buckets would take too much memory."""

MOST_HISTORIES = 20_000_000
"""Largest number of histories of an abstract game."""

BYTES = 350
"""Memory in bytes that compiling takes per history."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs of buckets that players can hold in a round.

    Pairs are sorted by the pair of the round before, then by player 0's bucket, then by player 1's. Chance deals player
    0's bucket first, then player 1's. A *half* of a pair is the state in between: the pair of the previous round and
    player 0's new bucket.

    Attributes:
        num_buckets: number of buckets.
        buckets: (pairs, 2) player 0's bucket and player 1's.
        half: (pairs,) the half from which each pair is dealt.
        probability: (pairs,) probability of each pair, given its half.
        parent: (halves,) the previous round's pair, from which each half is dealt.
        half_probability: (halves,) probability of each half, given its parent.
        win_margin: (pairs,) probability that player 0 has the stronger hand, minus the probability that player 1 has.
    """

    num_buckets: int
    buckets: np.ndarray
    half: np.ndarray
    probability: np.ndarray
    parent: np.ndarray
    half_probability: np.ndarray
    win_margin: np.ndarray


def check_size(histories: int) -> None:
    """Check that an abstract game does not have too many histories, and fits into memory.

    Raises:
        ComponentError: it is too large.
    """
    available = available_memory()
    limit = MOST_HISTORIES if available is None else min(MOST_HISTORIES, available // BYTES)
    if histories > limit:
        raise ComponentError(
            f"with these buckets, the abstract game has at least {histories:,} histories, above the limit of "
            f"{limit:,}: use fewer buckets"
        )


def numbered(game: PublicGame, bucket: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Check buckets, and number those of each round in order of their first members.

    Args:
        bucket: bucket of each private state in its round, in the order of the view's ``above``.

    Returns:
        The new number of each private state's bucket, (rows,); and for each round an array, (buckets,): the parent of
        each bucket, which is the previous round's bucket that contains it; 0 in the first round.

    Raises:
        ComponentError: the shape or the type is wrong, there are too many buckets, or the buckets of a round do not
            split those of the round before.
    """
    num_rows = len(game.view.above)
    bucket = np.asarray(bucket)
    if bucket.shape != (num_rows,) or bucket.dtype.kind not in "biuf":
        raise ComponentError(
            f"buckets of {game.name!r} must be numbers of shape ({num_rows},), not {bucket.dtype} of shape "
            f"{bucket.shape}"
        )
    number = np.zeros(num_rows, np.int64)
    parent_buckets: list[np.ndarray] = []
    above = rows_above(game, 0)
    for round_index, deals in enumerate(rounds_by_cards(game)):
        rows = rows_of(game, deals)
        number[rows] = by_first(bucket[rows])
        first_members = np.unique(number[rows], return_index=True)[1]
        if len(first_members) > MOST_BUCKETS:
            raise ComponentError(
                f"{game.name!r} has {len(first_members):,} buckets in a round, above the limit of {MOST_BUCKETS:,}: "
                "use fewer buckets"
            )
        if round_index:
            # Each row comes from a row of the round before, whose buckets have their numbers already.
            bucket_before = number[np.concatenate([above[deal] for deal in deals])]
        else:
            # The first round's rows begin at 0, so ``rows.stop`` is how many there are.
            bucket_before = np.zeros(rows.stop, np.int64)
        # Perfect recall: all hands of a bucket were in one bucket in the round before.
        parent_bucket = bucket_before[first_members]
        if (parent_bucket[number[rows]] != bucket_before).any():
            raise ComponentError(
                f"on {game.name!r}, some hands share a bucket in round {round_index + 1} but not in the round before, "
                f"so the player would forget the earlier bucket: split the buckets of round {round_index + 1}"
            )
        parent_buckets.append(parent_bucket)
    return number, parent_buckets


def pairs_of(game: PublicGame, bucket: np.ndarray, parent_buckets: list[np.ndarray], uses: np.ndarray) -> list[Pairs]:
    """Return the pairs of each round.

    Args:
        bucket, parent_buckets: the results of :func:`numbered`.
        uses: (rounds, 2) number of histories per pair, and per half, in each round of the abstract game.

    Raises:
        ComponentError: the abstract game is too large.
    """
    num_histories = 1  # the root
    mass = row_masses(game, 0)
    vectors = np.zeros(workspace_size(int(game.view.deals["rows"].max())))
    pairs_by_round: list[Pairs] = []
    # Before the first round, all hands are in one bucket, so there is one pair.
    pair_before = np.zeros((1, 1), np.int64)
    probability_before = np.ones(1)
    for deals, parent_bucket, round_uses in zip(rounds_by_cards(game), parent_buckets, uses, strict=True):
        num_buckets = len(parent_bucket)
        last_met = np.full(num_buckets, -1)
        weights = np.zeros((num_buckets, num_buckets))
        won = np.zeros((num_buckets, num_buckets))
        add_pairs(game.view, deal_nodes(deals), bucket, mass, vectors, last_met, weights, won)

        # The possible pairs, sorted by the pair before, then by player 0's bucket, so that halves are contiguous.
        bucket_0, bucket_1 = np.nonzero(weights)
        parent = pair_before[parent_bucket[bucket_0], parent_bucket[bucket_1]]
        order = np.lexsort((bucket_1, bucket_0, parent))
        bucket_0 = bucket_0[order]
        bucket_1 = bucket_1[order]
        parent = parent[order]
        probability = game.pair_probability * weights[bucket_0, bucket_1]  # from the root
        begins_half = np.diff(parent, prepend=-1).astype(bool) | np.diff(bucket_0, prepend=-1).astype(bool)
        half = np.cumsum(begins_half) - 1
        half_parent = parent[begins_half]
        half_total = np.bincount(half, probability)
        num_histories += int(round_uses @ (len(half), len(half_total)))
        # Checked in each round, before the next round's matrices are made.
        check_size(num_histories)
        pairs_by_round.append(
            Pairs(
                num_buckets=num_buckets,
                buckets=np.stack([bucket_0, bucket_1], axis=1),
                half=half,
                probability=probability / half_total[half],
                parent=half_parent,
                half_probability=half_total / probability_before[half_parent],
                win_margin=won[bucket_0, bucket_1] / weights[bucket_0, bucket_1],
            )
        )
        pair_before = np.full((num_buckets, num_buckets), -1)
        pair_before[bucket_0, bucket_1] = np.arange(len(bucket_0))
        probability_before = probability
    return pairs_by_round
