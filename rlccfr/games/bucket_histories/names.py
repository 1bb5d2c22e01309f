"""Loading hold'em games in buckets by their names, and their sizes before they are loaded."""

from __future__ import annotations

from collections.abc import Callable
from math import comb, factorial
from typing import Any

from rlccfr.errors import GameError
from rlccfr.games.bucket_histories.betting_lines import BettingRound, betting_rounds
from rlccfr.games.bucket_histories.boards import LEAST_KEPT, share_of
from rlccfr.games.bucket_histories.bucketing import bucketing_of
from rlccfr.games.bucket_histories.game import BucketHistoryGame, count_infosets, count_sequences, sizes_of
from rlccfr.games.bucket_histories.meetings import are_kept
from rlccfr.games.bucket_histories.rules import Rules, bucket_rules
from rlccfr.games.memory import available_memory, gigabytes

BYTES_OF_PAIR = 12
"""Bytes of a pair of bucket histories: a count in 32 bits, and two numbers in single precision."""

BYTES_OF_LEAF = 4
"""Bytes per bucket history, at each leaf of each betting line: a reach, later a value, in single precision."""

BYTES_OF_ENTRY = 8
"""Bytes per table entry of a run: two numbers in single precision."""


SHARE_OF_BUCKETS = 0.1
"""Approximate share of a game's loading work that goes into buckets; the rest counts pairs of bucket histories."""


QUICK_HISTORIES = 1_000
"""Largest number of bucket histories in the last round of a game that takes only seconds to load from kept tables.

Evaluating a policy of such a game takes only seconds, too.
"""


def bucket_game(name: str, progress: Callable[[float], None] | None = None) -> BucketHistoryGame:
    """Load a hold'em game in buckets, such as ``texas_holdem(buckets=5)``.

    Args:
        name: the game's name.
        progress: function called repeatedly with the share of the work that is done. With the whole deck and all
            rounds, loading takes minutes the first time; the result is kept in the user's cache folder.

    Raises:
        GameError: a parameter is unknown, a value is out of range, or the game does not fit into memory.
    """
    rules = bucket_rules(name)
    rounds = tuple(betting_rounds(rules.holdem))
    _check_size(name, rules, rounds)
    to_buckets = share_of(progress, 0.0, SHARE_OF_BUCKETS)
    bucketing = bucketing_of(rules.holdem.deck, rules.holdem.board, rules.buckets, to_buckets)
    game = BucketHistoryGame(
        name=name,
        full_name=name,
        rounds=rounds,
        bucketing=bucketing,
        big_blind=float(max(rules.holdem.blinds)),
    )
    # The matrices are made here, since this takes minutes and should be part of loading the game.
    game.matrices(game.dtype, share_of(progress, SHARE_OF_BUCKETS, 1.0))
    return game


def sizes_before_loading(name: str) -> dict[str, Any] | None:
    """Return what is known of a game's sizes before it is loaded; None if loading takes only seconds.

    The numbers are exact if no bucket is empty; otherwise the game is somewhat smaller. ``tables_are_kept`` tells
    whether the user's cache folder has the game's tables, because it was loaded before.

    Args:
        name: the game's name.

    Raises:
        GameError: a parameter is unknown, a value is out of range, or the game does not fit into memory.

    Examples:
        >>> sizes = sizes_before_loading("texas_holdem(buckets=12)")
        >>> sizes["infosets"], sizes["bucket_histories"]
        (118671936, (12, 144, 1728, 20736))
    """
    rules = bucket_rules(name)
    deck = rules.holdem.deck
    num_boards = comb(deck.size, sum(rules.holdem.board)) // factorial(deck.suits)  # up to permutations of suits
    is_kept = are_kept(deck, rules.holdem.board, rules.buckets)
    histories = most_histories(rules)
    if num_boards * deck.num_hands < LEAST_KEPT or (is_kept and histories[-1] <= QUICK_HISTORIES):
        return None
    rounds = tuple(betting_rounds(rules.holdem))
    _check_size(name, rules, rounds)
    sizes = sizes_of(name, rounds, histories, float(max(rules.holdem.blinds)))
    return {**sizes, "counts": "at most, if no bucket is empty", "tables_are_kept": is_kept}


def most_histories(rules: Rules) -> list[int]:
    """Return an upper bound on the number of bucket histories in each round."""
    deck = rules.holdem.deck
    bounds = []
    num_boards = 1
    cards_left = deck.size
    for number, cards in enumerate(rules.holdem.board):
        num_boards *= comb(cards_left, cards)
        cards_left -= cards
        num_hands = num_boards * comb(cards_left, deck.private)  # over all boards
        bounds.append(min(rules.buckets ** (number + 1), num_hands))
    return bounds


def _check_size(name: str, rules: Rules, rounds: tuple[BettingRound, ...]) -> None:
    """Check that a game fits into memory, before anything is computed.

    Raises:
        GameError: it does not.
    """
    histories = most_histories(rules)
    num_infosets = count_infosets(rounds, histories)
    num_entries = count_sequences(rounds, histories)
    num_leaves = sum(
        count * (betting.num_folds + betting.num_ends) * betting.num_lines
        for betting, count in zip(rounds, histories, strict=True)
    )
    # Pairs of earlier rounds are far fewer than those of the last one, and are not counted.
    size = BYTES_OF_PAIR * histories[-1] ** 2 + BYTES_OF_ENTRY * num_entries + BYTES_OF_LEAF * num_leaves
    available = available_memory()
    if available is not None and size > available:
        raise GameError(
            f"{name!r} has up to {histories[-1]:,} bucket histories and {num_infosets:,} infosets, which need "
            f"{gigabytes(size)} of memory, but only {gigabytes(available)} are available: use fewer buckets"
        )
