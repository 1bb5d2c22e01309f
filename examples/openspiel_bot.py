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
from open_spiel.python.bots.uniform_random import UniformRandomBot
from open_spiel.python.policy import Policy

import rlccfr

GAMES = 2_000


class Player(pyspiel.Bot):
    """A policy as a bot. (OpenSpiel's PolicyBot mistakes a sure action 0 for no action.)"""

    def __init__(self, policy: Policy, seat: int, rng: np.random.RandomState) -> None:
        pyspiel.Bot.__init__(self)
        self.policy, self.seat, self.rng = policy, seat, rng

    def step(self, state: pyspiel.State) -> int:
        actions, probabilities = zip(*self.policy.action_probabilities(state, self.seat).items(), strict=True)
        return int(self.rng.choice(actions, p=probabilities))

    def restart_at(self, state: pyspiel.State) -> None:
        """Do nothing: the policy depends only on the state."""

    def inform_action(self, state: pyspiel.State, player: int, action: int) -> None:
        """Do nothing, for the same reason."""


def mean_payoff(
    game: pyspiel.Game, ours: list[pyspiel.Bot], theirs: list[pyspiel.Bot], rng: np.random.RandomState
) -> float:
    """Return our mean payoff over both seats."""
    total = 0.0
    for seat, other in permutations((0, 1)):
        bots = [None, None]
        bots[seat], bots[other] = ours[seat], theirs[other]
        for _ in range(GAMES // 2):
            total += evaluate_bots.evaluate_bots(game.new_initial_state(), bots, rng)[seat]
    return total / GAMES


def main(name: str = "kuhn") -> None:
    """Solve a game, and print what the policy earns against each opponent."""
    tree = rlccfr.load_game(name)
    solver = rlccfr.Solver(tree, update_rule="pcfr_plus")
    result = solver.run(until=1e-4)
    policy = solver.average_policy().to_openspiel()
    game, rng = policy.game, np.random.RandomState(0)
    ours = [Player(policy, seat, rng) for seat in (0, 1)]
    opponents = {
        "uniform": [UniformRandomBot(seat, rng) for seat in (0, 1)],
        "best response": [Player(best_response.BestResponsePolicy(game, seat, policy), seat, rng) for seat in (0, 1)],
    }
    print(f"{name}: exploitability {result.exploitability:.2g} after {result.iterations:,} iterations")
    for opponent, theirs in opponents.items():
        print(f"mean payoff against {opponent}: {mean_payoff(game, ours, theirs, rng):+.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
