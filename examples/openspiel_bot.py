"""Let a solved policy play against OpenSpiel's own players: ``python examples/openspiel_bot.py [GAME]``.

The policy becomes a bot of OpenSpiel's. Its opponents are OpenSpiel's uniform random bot and OpenSpiel's best response
to the policy. Nothing beats an equilibrium by more than its exploitability, on average over both seats.
"""

from __future__ import annotations

import sys
from itertools import permutations

import numpy as np
import pyspiel
from open_spiel.python.algorithms import best_response, evaluate_bots
from open_spiel.python.bots.policy import PolicyBot
from open_spiel.python.bots.uniform_random import UniformRandomBot

import rlccfr

GAMES = 2_000


def mean_payoff(game: pyspiel.Game, ours: list[pyspiel.Bot], theirs: list[pyspiel.Bot], rng: np.random.Generator) -> float:
    """Return our mean payoff over both seats."""
    total = 0.0
    for seat, other in permutations((0, 1)):
        bots = [None, None]
        bots[seat], bots[other] = ours[seat], theirs[other]
        for _ in range(GAMES // 2):
            total += evaluate_bots.evaluate_bots(game.new_initial_state(), bots, rng)[seat]
    return total / GAMES


def main(name: str = "kuhn") -> None:
    tree = rlccfr.load_game(name)
    solver = rlccfr.Solver(tree, update_rule="pcfr_plus")
    result = solver.run(until=1e-4)
    policy = solver.average_policy().to_openspiel()
    game, rng = policy.game, np.random.RandomState(0)
    ours = [PolicyBot(seat, rng, policy) for seat in (0, 1)]
    opponents = {
        "uniform": [UniformRandomBot(seat, rng) for seat in (0, 1)],
        "best response": [
            PolicyBot(seat, rng, best_response.BestResponsePolicy(game, seat, policy)) for seat in (0, 1)
        ],
    }
    print(f"{name}: exploitability {result.exploitability:.2g} after {result.iterations:,} iterations")
    for opponent, theirs in opponents.items():
        print(f"mean payoff against {opponent}: {mean_payoff(game, ours, theirs, rng):+.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
