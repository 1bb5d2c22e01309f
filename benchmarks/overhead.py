"""The cost of controlled runs: ``python -m benchmarks.overhead`` prints it as Markdown."""

from __future__ import annotations

from typing import Any

import numpy as np

import rlccfr
from benchmarks.alternation import Rates, Step, alternate
from benchmarks.compiled import over_infosets, tree
from rlccfr.components.controller import CHOICES, Controller
from rlccfr.envs.control.run import ControlRun

RULE = "scheduled(alpha=2.5,gamma=6,optimism=0.2)"
SAME = tuple(
    np.tile(own, (len(all_), 1))
    for own, all_ in zip(([2.5, 0.0, 1.0], [6.0], [0.2, 0.0, 0.0, 1.0]), CHOICES, strict=True)
)
"""Choices that all have the rule's settings, so that a steered run makes the same iterations."""

ITERATIONS, ROUNDS = 1000, 15
TRAINING_GAME = "random_moves(seed=10012,types=10,moves=3,actions=3)"


def runs(game: rlccfr.GameTree, **components: Any) -> Step:
    """Return a function that makes a number of runs from their beginning."""

    def step(count: int) -> None:
        for _ in range(count):
            with over_infosets():  # as runs do whose controller looks at them
                solver = rlccfr.Solver(game, **components)
            solver.run(iterations=ITERATIONS, curve=False)

    return step


def steered() -> Rates:
    """Return the rates of whole runs on Leduc, with and without a controller of the shipped one's shape."""
    leduc = tree("leduc")
    steps = {"steered": runs(leduc, control=Controller.untrained(SAME)), "fixed": runs(leduc, update_rule=RULE)}
    return alternate(steps, 0.2, ROUNDS)


def episodes() -> float:
    """Return the number of runs of 1,000 iterations per CPU second on a training game, made as in training."""
    run = ControlRun(rlccfr.load_game(TRAINING_GAME), Controller.untrained(CHOICES), ITERATIONS)

    def step(count: int) -> None:
        for _ in range(count):
            run.episode()

    return alternate({"episodes": step}, 0.2, ROUNDS).mean("episodes")


def report() -> list[str]:
    """Return the cost of steering, as Markdown."""
    rates = steered()
    ratio, low, high = rates.ratio("fixed", "steered")
    game = rlccfr.load_game(TRAINING_GAME)
    return [
        f"A run of {ITERATIONS:,} iterations on Leduc takes {1e3 / rates.mean('steered'):.2f} ms with a controller "
        f"whose choices are all alike, {ratio:.3f} times ({low:.3f} to {high:.3f}) as long as the same iterations by "
        f"`{RULE}`, both over infosets. Setting up the solver and the final evaluation are in both.",
        "",
        f"Training makes {episodes():.0f} such runs per CPU second on `{game.name}`, which has {game.num_histories:,} "
        "histories.",
    ]


if __name__ == "__main__":
    print("\n".join(report()))
