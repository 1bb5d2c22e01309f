"""Games between policies, played in pairs with the same deal."""

from __future__ import annotations

from numba import types

from rlccfr.games.records import CHANCE, TERMINAL
from rlccfr.kernels.handles import game_of
from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import F8M, F8S, HANDLE, RNG
from rlccfr.kernels.walks.random_words import draw, random_word
from rlccfr.kernels.walks.walk import draw_chance


@inlined
def play(histories, policy, chance_rng, player_rng):
    """Play one game to its end, and return player 0's payoff.

    Args:
        policy: (m,) action probabilities of both players.
        chance_rng: (1,) state of the generator of chance draws, advanced in place.
        player_rng: (1,) state of the generator of the players' draws, advanced in place.
    """
    node = 0
    history = histories.record[0]
    while history["actor"] != TERMINAL:
        if history["actor"] == CHANCE:
            node = draw_chance(histories, history, chance_rng)
        else:
            action = draw(policy, history["first_sequence"], history["num_children"], player_rng)
            node = history["first_child"] + action
        history = histories.record[node]
    return histories.utility[2 * node]


@kernel(types.void(HANDLE, F8S, F8S, RNG, RNG, F8M))
def play_pairs(game, straight, swapped, deal, rng, payoffs):
    """Play pairs of games; in both games of a pair, chance draws by the same random numbers.

    Args:
        game: handle.
        straight, swapped: (m,) action probabilities of both players in the first game of each pair, and in the second.
        deal: (1,) working memory for the state of the generator of chance draws.
        rng: (1,) state of the generator, advanced in place.
        payoffs: (pairs, 2) overwritten with player 0's payoffs.
    """
    histories = game_of(game).histories
    for pair in range(len(payoffs)):
        # Chance has a generator of its own, reset before the second game, so that the luck of the deal partly cancels.
        deal_seed = random_word(rng)
        deal[0] = deal_seed
        payoffs[pair, 0] = play(histories, straight, deal, rng)
        deal[0] = deal_seed
        payoffs[pair, 1] = play(histories, swapped, deal, rng)
