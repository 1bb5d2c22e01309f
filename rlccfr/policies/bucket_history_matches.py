"""Matches of policies in hold'em in buckets, including policies with different numbers of buckets.

Two policies that use different buckets still play the same game of cards. Their expected payoffs are exact: they follow
from how often the players have each pair of bucket histories. In Texas hold'em, counting these deals takes minutes for
a new pair of numbers of buckets; the counts are kept on disk. Games can also be played out with real cards, which needs
no such counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from rlccfr.engine.bucket_histories.draws import cards_of, kept_showdowns
from rlccfr.engine.bucket_histories.stepper import sweeps_of
from rlccfr.engine.bucket_histories.sweeps import all_rows
from rlccfr.errors import PolicyError
from rlccfr.games.bucket_histories.game import BucketHistoryGame
from rlccfr.games.bucket_histories.meetings import meetings_between
from rlccfr.kernels.bucket_histories.playing import SeatedPolicy, play_deals

if TYPE_CHECKING:
    from rlccfr.policies.table_policy import TablePolicy

AT_ONCE = 2**14
"""Number of pairs of games that are played in one kernel call, which Ctrl-C can't interrupt."""


def check_opponents(first: TablePolicy, second: Any) -> None:
    """Check that two policies can play each other.

    Raises:
        PolicyError: their cards or betting differ, or the second one is not for hold'em in buckets.
    """
    game = second.game
    refusal = f"a policy of {first.game.name!r} can't play against one of {game.name!r}"
    if game.form is not first.game.form:
        raise PolicyError(
            f"{refusal}, which is not in buckets: use a policy of the first game, in the same or in other buckets"
        )
    if not first.game.has_cards_and_betting_of(game):
        raise PolicyError(f"{refusal}, since the cards or the betting differ: use games that differ only in buckets")


def value_between(first: TablePolicy, second: TablePolicy, progress: Callable[[float], None] | None = None) -> float:
    """Return player 0's expected payoff if the players use policies of games with different buckets.

    Args:
        first, second: the policies of player 0 and of player 1.
        progress: function called repeatedly with the share of the deals that have been counted.

    Raises:
        PolicyError: the cards or the betting of the two games differ.
        GameError: the counts do not fit into memory.
    """
    check_opponents(first, second)
    dtype = np.promote_types(first.table.dtype, second.table.dtype)
    pairs = meetings_between(first.game.bucketing, second.game.bucketing, progress).matrices(dtype)
    return sweeps_of(first.game, dtype).value_against(
        first.table.astype(dtype, copy=False),
        sweeps_of(second.game, dtype),
        second.table.astype(dtype, copy=False),
        pairs,
    )


def played_pairs(
    first: TablePolicy, second: TablePolicy, game: BucketHistoryGame, pairs: int, seed: int
) -> Iterator[np.ndarray]:
    """Play pairs of games with the same cards; the policies change seats in the second game of each pair.

    Args:
        first, second: the policies; the first one is player 0 in the first game of each pair.
        game: the first policy's game.
        pairs: number of pairs.
        seed: seed of all draws.

    Yields:
        Player 0's payoffs in both games of some pairs, (pairs, 2).

    Raises:
        PolicyError: the cards or the betting differ.
    """
    check_opponents(first, second)
    rounds = tuple(all_rows(game, number, game.dtype) for number in range(len(game.rounds)))
    pots = game.rounds[-1].pots
    showdowns = kept_showdowns(game.bucketing)
    cards = cards_of(game.bucketing)
    rng = np.random.SeedSequence(seed).generate_state(1, np.uint64)
    seated = _seated(first), _seated(second)
    for begin in range(0, pairs, AT_ONCE):
        payoffs = np.empty((min(AT_ONCE, pairs - begin), 2))
        play_deals(rounds, pots, *seated, showdowns, cards, rng, payoffs)
        yield payoffs


def _seated(policy: TablePolicy) -> SeatedPolicy:
    """Return a policy in the form that the kernel reads."""
    game = policy.game
    return SeatedPolicy(
        tables=game.bucketing.tables,
        entries=policy.table,
        first_entries=game.first_entries,
        columns=np.array([betting.columns for betting in game.rounds]),
        histories=np.zeros((2, len(game.rounds)), np.int64),
    )
