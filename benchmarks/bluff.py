"""Values of small games of Bluff, which larger ones need for their payoffs: ``python -m benchmarks.bluff`` prints them.

They go into VALUES of rlccfr/games/public/bluff.py. The exploitability that is printed bounds each value's error.
"""

from __future__ import annotations

from collections.abc import Iterator

import rlccfr
from rlccfr.games.public import bluff

ITERATIONS = {(1, 1): 50_000, (2, 1): 5_000}


def values() -> Iterator[tuple[tuple[int, int], float, float]]:
    """Yield the dice, the value to the player who begins, and the exploitability reached; earlier values are used."""
    for dice, iterations in ITERATIONS.items():
        game = bluff.Bluff(dice).build(f"bluff(dice={dice[0]},opponent_dice={dice[1]})")
        solver = rlccfr.Solver(game, "dcfr_plus", dtype="float64")
        solver.run(iterations=iterations, curve=False)
        found = solver.values()
        middle = (found.best_response[0] - found.best_response[1]) / 2
        bluff.VALUES[dice] = middle
        yield dice, middle, found.exploitability


if __name__ == "__main__":
    for dice, value, error in values():
        print(f"{dice}: {value:.9f}, exploitability {error:.2g}", flush=True)
