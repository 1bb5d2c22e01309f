"""Games played out by two policies, each deal twice."""

from __future__ import annotations

from numba import types

from rlccfr.games.records import CHANCE, TERMINAL
from rlccfr.kernels.handles import game_of
from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import F8M, F8S, HANDLE, RNG
from rlccfr.kernels.walks.random_words import draw, random_word
from rlccfr.kernels.walks.walk import draw_chance


@inlined
def play(histories, policy, deal, rng):
    """Return player 0's payoff at the end of one game.

    Args:
        policy: (m,) action probabilities of both players.
        deal: (1,) state of the generator of chance's draws, advanced in place.
        rng: (1,) state of the generator of the players' draws, advanced in place.
    """
    node, here = 0, histories.record[0]
    while here["actor"] != TERMINAL:
        if here["actor"] == CHANCE:
            node = draw_chance(histories, here, deal)
        else:
            node = here["first_child"] + draw(policy, here["first_sequence"], here["num_children"], rng)
        here = histories.record[node]
    return histories.utility[2 * node]


@kernel(types.void(HANDLE, F8S, F8S, RNG, RNG, F8M))
def play_pairs(game, straight, swapped, deal, rng, payoffs):
    """Play pairs of games; in both games of a pair, chance draws by the same random numbers.

    Args:
        game: handle.
        straight, swapped: (m,) action probabilities of both players in the first game of each pair, and in the second.
        deal: (1,) overwritten.
        rng: (1,) state of the generator, advanced in place.
        payoffs: (pairs, 2) overwritten with player 0's payoffs.
    """
    histories = game_of(game).histories
    for pair in range(len(payoffs)):
        word = random_word(rng)
        deal[0] = word
        payoffs[pair, 0] = play(histories, straight, deal, rng)
        deal[0] = word
        payoffs[pair, 1] = play(histories, swapped, deal, rng)
