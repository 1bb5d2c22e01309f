"""Matches of two policies: exact values, and games played out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rlccfr.errors import BudgetError, PolicyError, whole_number
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.records import CHANCE

if TYPE_CHECKING:
    import pandas as pd

    from rlccfr.policy import Policy

Draws = Callable[[int], "Policy"]
"""Function from a seed to a policy, such as :meth:`rlccfr.Solver.draw_policy`."""


AT_ONCE = 2**16
"""Number of pairs of games that are played in one kernel call, which Ctrl-C can't interrupt."""


class Match(NamedTuple):
    """Mean payoffs per game of the first of two policies, in the game's units.

    As player 1, the first policy gets player 1's own payoffs, even if the game is not zero-sum.

    Attributes:
        value: mean payoff over both seats.
        seats: mean payoff as player 0, and as player 1.
        error: half-width of the 95 % interval of ``value``; 0 if ``value`` is exact.
        pairs: number of pairs of games that were played; 0 if ``value`` is exact.
    """

    value: float
    seats: tuple[float, float]
    error: float = 0.0
    pairs: int = 0


def exact_match(first: Policy, second: Policy, progress: Callable[[float], None] | None = None) -> Match:
    """Return the expected payoffs of the first policy against the second.

    Args:
        progress: function called repeatedly with the share of the work that is done, if the policies are for hold'em
            in different numbers of buckets, where counting deals may take minutes.

    Raises:
        PolicyError: the policies are for different games, or for different versions of a game; or their game is too
            large for exact payoffs. Policies for hold'em in different numbers of buckets can play each other if the
            cards and the betting are the same.
        GameError: the counts of deals, for different numbers of buckets, do not fit into memory.
    """
    value_as_player_0 = first.value_against(second, progress)
    value_of_opponent = second.value_against(first, progress)  # the second policy's, as player 0
    seats = value_as_player_0, first.game.opponent_payoffs.at(value_of_opponent)
    return Match(sum(seats) / 2, seats)


def played_match(
    first: Policy | Draws,
    second: Policy | Draws,
    game: Any,
    pairs: int = 10_000,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> Match:
    """Play pairs of games, and return the mean payoffs of the first policy against the second.

    The policies change seats in the second game of each pair. In compiled games and in hold'em in buckets, chance uses
    the same random numbers in both games of a pair. So the same cards are dealt, and the luck of the deal cancels out
    in part (duplicate poker). In games represented by OpenSpiel's states, each game has its own chance draws.

    Args:
        first, second: each a policy; or, in compiled games, a function from a seed to a policy, called for each pair.
        game: the game; the first policy's, if the policies are for hold'em in different numbers of buckets.
        pairs: number of pairs, at least 2.
        seed: seed of all draws.
        progress: function called repeatedly with the share of the pairs that have been played.

    Raises:
        BudgetError: there are too few pairs, or the seed is negative.
        PolicyError: a policy is for another game, or matches of the game are always exact, as on public trees.
    """
    whole_number(pairs, "pairs", 2, BudgetError)
    whole_number(seed, "seed", 0, BudgetError)
    if not game.form.played_pairs:
        raise PolicyError(f"{game.name!r} is represented {game.form.title}, so its matches are exact: leave out pairs")
    from scipy import stats

    moments = Moments()
    opponent = game.opponent_payoffs
    for payoffs in game.form.part("played_pairs")(first, second, game, pairs, seed):
        # In the second game of a pair the first policy is player 1, whose payoff is linear in player 0's.
        moments.add(payoffs * (1.0, -opponent.slope) + (0.0, opponent.constant))
        if progress is not None:
            progress(moments.count / pairs)
    error = float(stats.t.ppf(0.975, pairs - 1)) * moments.deviation / pairs**0.5
    seats = float(moments.mean[0]), float(moments.mean[1])
    return Match(sum(seats) / 2, seats, error, pairs)


def played_pairs(
    first: Policy | Draws, second: Policy | Draws, game: GameTree, pairs: int, seed: int
) -> Iterator[np.ndarray]:
    """Play pairs of compiled games; yield player 0's payoffs in both games of some pairs at a time, (pairs, 2)."""
    from rlccfr.kernels.handles import handle_of
    from rlccfr.kernels.layout import GAME, Game
    from rlccfr.kernels.walks.playing import play_pairs

    handle = handle_of(Game.of(game), GAME)
    games_seed, first_seed, second_seed = np.random.SeedSequence(seed).spawn(3)
    deal = np.zeros(1, np.uint64)  # scratch: the state from which both games of a pair draw their deal
    rng = games_seed.generate_state(1, np.uint64)
    if not (callable(first) or callable(second)):
        probabilities = _both_seatings(first, second, game)
        for begin in range(0, pairs, AT_ONCE):
            payoffs = np.empty((min(AT_ONCE, pairs - begin), 2))
            play_pairs(handle, *probabilities, deal, rng, payoffs)
            yield payoffs
        return
    # Policies are drawn again for each pair, so each pair needs a kernel call of its own.
    first_seeds = first_seed.generate_state(pairs).tolist()
    second_seeds = second_seed.generate_state(pairs).tolist()
    for pair in range(pairs):
        first_policy = first(first_seeds[pair]) if callable(first) else first
        second_policy = second(second_seeds[pair]) if callable(second) else second
        payoffs = np.empty((1, 2))
        play_pairs(handle, *_both_seatings(first_policy, second_policy, game), deal, rng, payoffs)
        yield payoffs


class Moments:
    """A policy's mean payoffs in pairs of games, and the standard deviation of a pair's mean payoff from pair to pair.

    They are updated as pairs are added. The policy is player 0 in the first game of each pair, and player 1 in the
    second.

    Attributes:
        count: number of pairs so far.
        mean: (2,) mean payoff of the policy as player 0, and as player 1.
    """

    def __init__(self) -> None:
        self.count = 0
        self.mean = np.zeros(2)
        self._squares = 0.0  # sum of squared deviations of pairs' means from their mean

    def add(self, payoffs: np.ndarray) -> None:
        """Add the policy's payoffs in both games of each pair, (pairs, 2)."""
        pair_means = payoffs.mean(axis=1)
        new_count = len(payoffs)
        total = self.count + new_count
        difference = float(pair_means.mean() - self.mean.mean())
        # Deviations within the new pairs, and the difference between the means of the old and the new pairs.
        squares_within = float(((pair_means - pair_means.mean()) ** 2).sum())
        self._squares += squares_within + difference**2 * self.count * new_count / total
        self.mean = self.mean + (payoffs.mean(axis=0) - self.mean) * (new_count / total)
        self.count = total

    @property
    def deviation(self) -> float:
        """Standard deviation, from pair to pair, of the mean payoff of a pair's two games."""
        return math.sqrt(self._squares / (self.count - 1))


def distances(first: Policy, second: Policy) -> pd.DataFrame:
    """Return how far apart two policies of a compiled game are, by the depth of infosets.

    Returns:
        A table with one row per depth, the number of earlier moves of both players. Its columns are ``depth``;
        ``infosets``, the number of infosets; and ``mean`` and ``deviation``, the mean and the standard deviation over
        these infosets of the total variation distance between the policies, from 0 to 1.

    Raises:
        PolicyError: the policies are for different games, or the game is not stored as a tree of histories.
    """
    import pandas as pd

    check_same_game(first, second)
    tree = first.game
    if not tree.form.has_histories:
        raise PolicyError(
            f"{tree.name!r} is represented {tree.form.title}, so it has no list of infosets at which to compare "
            "policies: choose a compiled game"
        )
    gaps = np.abs(first.probabilities - second.probabilities)
    total_variation = np.add.reduceat(gaps, tree.view.first_sequence[:-1]) / 2
    by_infoset = pd.DataFrame({"depth": _moves_before(tree), "gap": total_variation})
    by_depth = by_infoset.groupby("depth")["gap"]
    # The deviation is that of all infosets of a depth, not an estimate from a sample of them.
    table = by_depth.agg(infosets="count", mean="mean", deviation=lambda gap: gap.std(ddof=0))
    return table.reset_index()


def _moves_before(tree: GameTree) -> np.ndarray:
    """Return the number of moves of both players before each infoset, (n,); the smallest over its histories."""
    histories = tree.histories
    moves_before_history = np.zeros(tree.num_histories, np.int64)
    for level, parents, _ in tree.levels():
        moves_before_history[level] = moves_before_history[parents] + (histories["actor"][parents] < CHANCE)
    decisions = np.flatnonzero(histories["actor"] < CHANCE)
    moves_before = np.full(tree.num_infosets, tree.depth)
    np.minimum.at(moves_before, histories["infoset"][decisions], moves_before_history[decisions])
    return moves_before


def _both_seatings(first: Policy, second: Policy, game: GameTree) -> tuple[np.ndarray, np.ndarray]:
    """Return the action probabilities, (m,), in both seatings of two policies of a game.

    Raises:
        PolicyError: a policy is for another game.
    """
    check_same_game(first, second)
    if first.game.content_hash != game.content_hash:
        raise PolicyError(
            f"policies of {first.game.name!r} can't play {game.name!r}: the games, or their versions, differ"
        )
    return first.seated_with(second).probabilities, second.seated_with(first).probabilities


def check_same_game(first: Policy, second: Policy) -> None:
    """Check that two policies are for the same game.

    Raises:
        PolicyError: they are not.
    """
    if first.game.content_hash != second.game.content_hash:
        if first.game.name == second.game.name and (first.game.lock is None) != (second.game.lock is None):
            raise PolicyError(f"only one of the policies is for {first.game.name!r} with a lock: lock the game of both")
        raise PolicyError(
            f"the policies must be for the same game, in the same version, but are for {first.game.name!r} and "
            f"{second.game.name!r}"
        )
