"""Games played by networks: matches, and networks as OpenSpiel's policies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from open_spiel.python import policy as openspiel

from rlccfr.engine.walked.walk import played_games
from rlccfr.errors import PolicyError
from rlccfr.networks.torch_state import one_thread

AT_ONCE = 256
"""Number of pairs of games that are played in parallel, between two reports of progress."""


def played_pairs(first: Any, second: Any, game: Any, pairs: int, seed: int) -> Iterator[np.ndarray]:
    """Play pairs of games; the policies change seats in the second game of each pair.

    Each game has its own chance draws, so the luck of the draws does not cancel out within a pair.

    Args:
        first, second: the policies; the first one is player 0 in the first game of each pair.
        game: their game.
        pairs: number of pairs.
        seed: seed of all draws.

    Yields:
        Player 0's payoffs in both games of some pairs, (pairs, 2).

    Raises:
        PolicyError: a policy is for another game.
    """
    for policy in (first, second):
        if policy.game.content_hash != game.content_hash:
            raise PolicyError(
                f"a policy of {policy.game.name!r} can't play {game.name!r}: the games, or their versions, differ"
            )
    rng = np.random.default_rng(seed)
    seatings = first.seated_with(second), second.seated_with(first)
    for begin in range(0, pairs, AT_ONCE):
        count = min(AT_ONCE, pairs - begin)
        with one_thread():
            payoffs = [played_games(game.walks, seated.policies.drawn(count, rng), count, rng) for seated in seatings]
            yield np.stack(payoffs, axis=1)


def openspiel_policy(game: Any, probabilities: Callable[[Any], dict[int, float]]) -> openspiel.Policy:
    """Return an ``open_spiel.python.policy.Policy`` of an OpenSpiel game.

    Args:
        game: the game.
        probabilities: function from a state to the probability of each legal action.
    """
    return _OpenSpielPolicy(game, probabilities)


class _OpenSpielPolicy(openspiel.Policy):  # type: ignore[misc]
    """OpenSpiel policy whose probabilities a function returns."""

    def __init__(self, game: Any, probabilities: Callable[[Any], dict[int, float]]) -> None:
        super().__init__(game, [0, 1])
        self._probabilities = probabilities

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        return self._probabilities(state)
