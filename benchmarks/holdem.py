"""How long hold'em and Bluff take to solve: ``python -m benchmarks.holdem > docs/holdem.md`` writes the page.

Each game is solved by one thread until its exploitability is below each of its targets. A run is measured where its
curve has points, five per decade of iterations. ``python -m benchmarks.holdem --long > docs/bluff.md`` runs Bluff with
two dice each for ten minutes, then for an hour in total.
"""

from __future__ import annotations

import resource
import statistics
import sys
import time
from collections.abc import Iterator

import rlccfr
from rlccfr.envs.measuring.provenance import processor_model

RULE = "dcfr_plus"
POKER = {"[2-1] hold'em": "holdem", "[2-4] hold'em": "holdem(raises=4)", "flop hold'em": "flop_holdem"}
THREADED = "[2-1] hold'em"
TARGETS = (37, 10, 1)
"""In thousandths of a big blind per game."""

BLUFF, LARGEST = "bluff(dice=2)", "bluff(dice=2,opponent_dice=2)"
DICE_TARGETS = (1e-2, 1e-3)
LONG = (600.0, 3000.0)
"""CPU seconds of two runs of the largest game, one after the other."""


def head(title: str, columns: list[str]) -> Iterator[str]:
    """Yield the head of a table."""
    yield f"| {title} | infosets | {' | '.join(columns)} | memory, GiB |"
    yield "|" + "---|" * (len(columns) + 3)


def row(title: str, name: str, targets: list[str]) -> str:
    """Solve a game to some targets, one after another, and return its line of the table."""
    game = rlccfr.load_game(name)
    solver, found = rlccfr.Solver(game, RULE), []
    for target in targets:
        result = solver.run(until=target)
        found.append(f"{result.cpu_seconds:.1f} s, {result.iterations} iterations")
    return f"| {title} | {game.num_infosets:,} | {' | '.join(found)} | {memory():.1f} |"


def memory() -> float:
    """Return the largest memory of this process so far, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def sooner(name: str, iterations: int = 5, repeats: int = 3) -> float:
    """Return how many times as fast two threads run some iterations, in wall-clock time, as the median of repeats."""
    game, ratios = rlccfr.load_game(name), []
    solvers = [rlccfr.Solver(game, RULE, threads=threads) for threads in (1, 2)]
    for _ in range(repeats):
        taken = []
        for solver in solvers:
            begin = time.perf_counter()
            solver.run(iterations=iterations, curve=False)
            taken.append(time.perf_counter() - begin)
        ratios.append(taken[0] / taken[1])
    return statistics.median(ratios)


def long_page() -> Iterator[str]:
    """Yield the lines of the page about the largest game."""
    yield from (
        "# Bluff with two dice each, for an hour",
        "",
        f"Written by `python -m benchmarks.holdem --long` on {processor_model()}; not edited by hand. [The page about "
        "hold'em](holdem.md) has the smaller games.",
        "",
        f"The update rule is `{RULE}` by exact passes, on one thread. Each number is the exploitability of the "
        "average policy after that many engine CPU seconds. The memory is the most that the process has used.",
        "",
    )
    game = rlccfr.load_game(LARGEST)
    solver, found = rlccfr.Solver(game, RULE), []
    for seconds in LONG:
        result = solver.run(seconds=seconds, curve=False)
        found.append(f"{result.exploitability:.3g} after {result.iterations} iterations")
    yield from head("game", [f"{seconds:.0f} CPU s" for seconds in (LONG[0], sum(LONG))])
    yield f"| two dice each | {game.num_infosets:,} | {' | '.join(found)} | {memory():.1f} |"


def page() -> Iterator[str]:
    """Yield the lines of the page."""
    yield from (
        "# Hold'em and Bluff: how long they take",
        "",
        f"Written by `python -m benchmarks.holdem` on {processor_model()}; not edited by hand. [Solve hold'em and "
        "Bluff](howto/solve-holdem.md) says how to run it, and [decision 25](adr/0025-public-trees.md) how it works.",
        "",
        f"The update rule is `{RULE}` by exact passes, on one thread. Each time is the number of engine CPU seconds "
        "until the average policy's exploitability, over all boards and hands, is below the target. The games run one "
        "after another in one process, and the memory is the most that the process has used so far.",
        "",
        *head("game", [f"{target} mbb/g" for target in TARGETS]),
    )
    for title, name in POKER.items():
        yield row(title, name, [f"{target}mbb" for target in TARGETS])
    yield from (
        "",
        f"By the clock, two threads run iterations of {THREADED} {sooner(POKER[THREADED]):.2f} times as fast as one, "
        "the final evaluation included.",
        "",
        "On flop hold'em, Deep CFR reached 37 mbb/g and NFSP 47 (Brown, Lerer, Gross and Sandholm, ICML 2019).",
        "",
        *head("Bluff", [f"{target:g}" for target in DICE_TARGETS]),
        row("two dice and one", BLUFF, [str(target) for target in DICE_TARGETS]),
    )


if __name__ == "__main__":
    for line in long_page() if "--long" in sys.argv[1:] else page():
        print(line, flush=True)
