"""Which buckets of hands meet, round by round, in a public tree of cards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlccfr.errors import ComponentError
from rlccfr.games.memory import available_memory
from rlccfr.games.merging.hands import deal_nodes, rounds_by_cards, rows_of
from rlccfr.games.public.masses import row_masses, rows_above
from rlccfr.games.public.view import PublicGame
from rlccfr.games.symmetry import by_first
from rlccfr.kernels.public.buckets import add_pairs, working_memory

MOST_BUCKETS = 5_000
"""Largest number of buckets in a round; pairs of more do not fit."""

MOST_HISTORIES = 20_000_000
"""Largest number of histories of a game of buckets."""

BYTES = 350
"""Memory that compiling takes per history."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs of buckets that players may hold in a round, sorted by the pair before, player 0's and player 1's.

    Chance deals player 0's bucket first, to a *half* of a pair, then player 1's.

    Attributes:
        buckets: number of buckets.
        held: (pairs, 2) the buckets.
        half: (pairs,) the half that each pair comes from.
        share: (pairs,) its probability from there.
        before: (halves,) the pair of the round before that each half comes from.
        half_share: (halves,) its probability from there.
        won: (pairs,) probability that player 0 has the stronger hand, less that of player 1.
    """

    buckets: int
    held: np.ndarray
    half: np.ndarray
    share: np.ndarray
    before: np.ndarray
    half_share: np.ndarray
    won: np.ndarray


def check_size(histories: int) -> None:
    """Refuse a game of buckets with too many histories, or with more than memory holds.

    Raises:
        ComponentError: it is too large.
    """
    left = available_memory()
    most = MOST_HISTORIES if left is None else min(MOST_HISTORIES, left // BYTES)
    if histories > most:
        raise ComponentError(
            f"the buckets make a game of at least {histories:,} histories, and {most:,} are the most here: take fewer "
            "buckets"
        )


def numbered(game: PublicGame, bucket: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Check buckets, and number those of each round in order of their first members.

    Args:
        bucket: bucket of each private state in its round, placed like the view's ``above``.

    Returns:
        The numbers, and for each round (buckets,) the bucket in the round before, 0 in the first round.

    Raises:
        ComponentError: the shape is wrong, there are too many buckets, or they do not split those of the round before.
    """
    size, bucket = len(game.view.above), np.asarray(bucket)
    if bucket.shape != (size,) or bucket.dtype.kind not in "biuf":
        raise ComponentError(
            f"buckets of {game.name!r} must be numbers of shape ({size},), not {bucket.dtype} of shape {bucket.shape}"
        )
    found, ups, above = np.zeros(size, np.int64), [], rows_above(game, 0)
    for number, deals in enumerate(rounds_by_cards(game)):
        own = rows_of(game, deals)
        found[own] = by_first(bucket[own])
        chosen = np.unique(found[own], return_index=True)[1]
        if len(chosen) > MOST_BUCKETS:
            raise ComponentError(
                f"{game.name!r} has {len(chosen):,} buckets in a round, and {MOST_BUCKETS:,} are the most: take fewer"
            )
        before = found[np.concatenate([above[deal] for deal in deals])] if number else np.zeros(own.stop, np.int64)
        up = before[chosen]
        if (up[found[own]] != before).any():
            raise ComponentError(
                f"on {game.name!r}, hands share a bucket in round {number + 1} but not before, so that their player "
                f"would forget: split the buckets of round {number + 1}"
            )
        ups.append(up)
    return found, ups


def pairs_of(game: PublicGame, bucket: np.ndarray, ups: list[np.ndarray], uses: np.ndarray) -> list[Pairs]:
    """Return the pairs of each round.

    Args:
        bucket, ups: what :func:`numbered` returns.
        uses: (rounds, 2) number of histories of the game of buckets that each pair makes in a round, and each half.

    Raises:
        ComponentError: they make too large a game.
    """
    histories = 1  # the root
    mass, found = row_masses(game, 0), []
    vectors = np.zeros(working_memory(int(game.view.deals["rows"].max())))
    index, before_share = np.zeros((1, 1), np.int64), np.ones(1)
    for deals, up, use in zip(rounds_by_cards(game), ups, uses, strict=True):
        size = len(up)
        met, pairs, won = np.full(size, -1), np.zeros((size, size)), np.zeros((size, size))
        add_pairs(game.view, deal_nodes(deals), bucket, mass, vectors, met, pairs, won)
        first, second = np.nonzero(pairs)
        before = index[up[first], up[second]]
        order = np.lexsort((second, first, before))
        first, second, before = first[order], second[order], before[order]
        share = game.unit * pairs[first, second]
        new = np.diff(before, prepend=-1).astype(bool) | np.diff(first, prepend=-1).astype(bool)
        half = np.cumsum(new) - 1
        half_before, total = before[new], np.bincount(half, share)
        histories += int(use @ (len(half), len(total)))
        check_size(histories)
        found.append(
            Pairs(
                buckets=size,
                held=np.stack([first, second], axis=1),
                half=half,
                share=share / total[half],
                before=half_before,
                half_share=total / before_share[half_before],
                won=won[first, second] / pairs[first, second],
            )
        )
        index, before_share = np.full((size, size), -1), share
        index[first, second] = np.arange(len(first))
    return found
