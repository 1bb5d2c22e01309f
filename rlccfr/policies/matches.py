"""Matches of two policies: exact values, and games played out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from rlccfr.errors import BudgetError, PolicyError, whole_number
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.public.view import PublicGame
from rlccfr.games.records import CHANCE

if TYPE_CHECKING:
    import pandas as pd

    from rlccfr.policy import Policy

P = TypeVar("P", bound="Policy")
Draws = Callable[[int], "Policy"]
"""Function from a seed to a policy, such as :meth:`rlccfr.Solver.draw_policy`."""


AT_ONCE = 2**16
"""Number of pairs of games that are played in one kernel call, which Ctrl-C can't interrupt."""


class Match(NamedTuple):
    """Payoffs of the first of two policies, per game and in the game's units; each seat has its own payoffs.

    Attributes:
        value: mean over both seats.
        seats: as player 0 and as player 1.
        error: half-width of the 95 % interval of ``value``; 0 if it is exact.
        pairs: number of pairs of games that were played; 0 if ``value`` is exact.
    """

    value: float
    seats: tuple[float, float]
    error: float = 0.0
    pairs: int = 0


def exact_match(first: Policy, second: Policy) -> Match:
    """Return the expected payoffs of the first policy against the second.

    Raises:
        PolicyError: the policies are for different games, or for different versions of one.
    """
    _check_alike(first, second)
    straight, swapped = (seated(*pair).values().game for pair in ((first, second), (second, first)))
    seats = straight[0], first.game.opponent_payoffs.at(swapped[0])
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

    The policies change seats in the second game of each pair, in which chance draws by the same random numbers: the
    same cards are dealt. So luck of the deal cancels in part (duplicate poker).

    Args:
        first, second: a policy; or a function from a seed to a policy, which is called anew for each pair.
        game: the compiled game.
        pairs: number of pairs, at least 2.
        seed: seed of all draws.
        progress: function called repeatedly with the share done.

    Raises:
        BudgetError: too few pairs, or a negative seed.
        PolicyError: a policy is for another game, or the game is solved by its public tree.
    """
    whole_number(pairs, "pairs", 2, BudgetError)
    whole_number(seed, "seed", 0, BudgetError)
    if isinstance(game, PublicGame):
        raise PolicyError(f"{game.name!r} is solved by its public tree, over which matches are exact: leave out pairs")
    from scipy import stats

    moments = Moments()
    opponent = game.opponent_payoffs
    for payoffs in _played(first, second, game, pairs, seed):
        moments.add(payoffs * (1.0, -opponent.slope) + (0.0, opponent.constant))
        if progress is not None:
            progress(moments.count / pairs)
    error = float(stats.t.ppf(0.975, pairs - 1)) * moments.deviation / pairs**0.5
    seats = float(moments.mean[0]), float(moments.mean[1])
    return Match(sum(seats) / 2, seats, error, pairs)


def _played(
    first: Policy | Draws, second: Policy | Draws, game: GameTree, pairs: int, seed: int
) -> Iterator[np.ndarray]:
    """Play pairs of games, and yield player 0's payoffs in both games of some pairs at a time, (pairs, 2)."""
    from rlccfr.kernels.handles import handle_of
    from rlccfr.kernels.layout import GAME, Game
    from rlccfr.kernels.walks.playing import play_pairs

    handle = handle_of(Game.of(game), GAME)
    games, *sides = np.random.SeedSequence(seed).spawn(3)
    deal, rng = np.zeros(1, np.uint64), games.generate_state(1, np.uint64)
    if not (callable(first) or callable(second)):
        policies = _both_ways(first, second, game)
        for begin in range(0, pairs, AT_ONCE):
            payoffs = np.empty((min(AT_ONCE, pairs - begin), 2))
            play_pairs(handle, *policies, deal, rng, payoffs)
            yield payoffs
        return
    seeds = np.stack([side.generate_state(pairs) for side in sides]).tolist()
    for pair in range(pairs):
        drawn = [one(own[pair]) if callable(one) else one for one, own in zip((first, second), seeds, strict=True)]
        payoffs = np.empty((1, 2))
        play_pairs(handle, *_both_ways(drawn[0], drawn[1], game), deal, rng, payoffs)
        yield payoffs


class Moments:
    """Mean payoffs of any number of pairs of games, and the standard deviation of the pairs' means over both seats.

    Attributes:
        count: number of pairs so far.
        mean: (2,) mean payoff in each seat.
    """

    def __init__(self) -> None:
        self.count = 0
        self.mean = np.zeros(2)
        self._squares = 0.0  # sum of squared deviations of pairs' means from their mean

    def add(self, payoffs: np.ndarray) -> None:
        """Add payoffs, (pairs, 2)."""
        of_pairs, count = payoffs.mean(axis=1), len(payoffs)
        total, apart = self.count + count, float(of_pairs.mean() - self.mean.mean())
        # Deviations within the new pairs, and of the means of the old and the new ones from each other.
        self._squares += float(((of_pairs - of_pairs.mean()) ** 2).sum()) + apart**2 * self.count * count / total
        self.mean = self.mean + (payoffs.mean(axis=0) - self.mean) * (count / total)
        self.count = total

    @property
    def deviation(self) -> float:
        """Standard deviation of the pairs' means."""
        return math.sqrt(self._squares / (self.count - 1))


def distances(first: Policy, second: Policy) -> pd.DataFrame:
    """Return how far apart two policies of a compiled game are, by the depth of infosets.

    Returns:
        A row per depth, which is the number of moves that both players have made before: ``depth``, ``infosets``, and
        the ``mean`` and standard ``deviation`` over these infosets of the total variation between the policies, from 0
        to 1.

    Raises:
        PolicyError: the policies are for different games, or the game is solved by its public tree.
    """
    import pandas as pd

    _check_alike(first, second)
    tree = first.game
    if isinstance(tree, PublicGame):
        raise PolicyError(f"{tree.name!r} is solved by its public tree, which has no list of infosets")
    gaps = np.abs(first.probabilities - second.probabilities)
    found = pd.DataFrame(
        {"depth": _moves_before(tree), "gap": np.add.reduceat(gaps, tree.view.first_sequence[:-1]) / 2}
    ).groupby("depth")["gap"]
    table = found.agg(infosets="count", mean="mean", deviation=lambda gap: gap.std(ddof=0))
    return table.reset_index()


def _moves_before(tree: GameTree) -> np.ndarray:
    """Return the number of moves of both players before each infoset, (n,); the least over its histories."""
    histories, moves = tree.histories, np.zeros(tree.num_histories, np.int64)
    for level, above, _ in tree.levels():
        moves[level] = moves[above] + (histories["actor"][above] < CHANCE)
    decides = np.flatnonzero(histories["actor"] < CHANCE)
    found = np.full(tree.num_infosets, tree.depth)
    np.minimum.at(found, histories["infoset"][decides], moves[decides])
    return found


def seated(first: P, second: P) -> P:
    """Return the policy in which player 0 plays like the first policy, and player 1 like the second."""
    game, kind = first.game, type(first)
    if isinstance(game, PublicGame):
        own, table = first.table, second.table
        table = table.astype(np.promote_types(own.dtype, table.dtype))
        places = game.view.nodes["table"][game.decisions]
        acts = game.view.nodes["kind"][game.decisions] == 0
        for place, size in zip(places[acts].tolist(), (game.actions * game.rows)[acts].tolist(), strict=True):
            table[place : place + size] = own[place : place + size]
        return kind(game, table)
    probabilities, sequences = second.probabilities.copy(), game.sequences_of(0)
    probabilities[sequences] = first.probabilities[sequences]
    return kind(game, probabilities)


def _both_ways(first: Policy, second: Policy, game: GameTree) -> tuple[np.ndarray, np.ndarray]:
    """Return the probabilities (m,) of both seatings of two policies of a game."""
    _check_alike(first, second)
    if first.game.content_hash != game.content_hash:
        raise PolicyError(f"policies of {first.game.name!r} can't play {game.name!r}")
    return seated(first, second).probabilities, seated(second, first).probabilities


def _check_alike(first: Policy, second: Policy) -> None:
    if first.game.content_hash != second.game.content_hash:
        raise PolicyError(f"a policy of {first.game.name!r} can't play against one of {second.game.name!r}")
