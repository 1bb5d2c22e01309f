"""What compiling games costs, compared with another checkout: ``python -m benchmarks.compiling CHECKOUT``

A process of each checkout compiles the same games in turn, without the cache on disk, so that other work on the machine
affects both alike. The table has this checkout's CPU seconds, and the median over all rounds of their ratio to the
other checkout's, with the quartiles. Unpack an earlier commit with ``git archive COMMIT | tar -x -C CHECKOUT``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.alternation import alternate_timers

GAMES = (
    "kuhn",
    "leduc",
    "goofspiel",
    "liars_dice(numdice=1,dice_sides=5)",
    "liars_dice",
    "royal",
)

SERVE = """
import sys, time
import rlccfr
from rlccfr.games import openspiel

openspiel.find_game, openspiel.keep_game = lambda *_: None, lambda _: None
for line in sys.stdin:
    count, name = line.rstrip("\\n").split(" ", 1)
    begin = time.process_time()
    for _ in range(int(count)):
        rlccfr.load_game(name)
    print(time.process_time() - begin, flush=True)
"""
"""Program of a checkout's process: it compiles the games named on its input, and prints the CPU seconds."""


class Compiling:
    """A process that compiles games with the package of a checkout."""

    def __init__(self, checkout: Path, cache: str) -> None:
        environment = {**os.environ, "PYTHONPATH": str(checkout), "RLCCFR_CACHE": cache}
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVE],
            cwd=checkout,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def seconds(self, game: str, count: int) -> float:
        """Return the CPU seconds of compiling a game ``count`` times."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(count, game, file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline())

    def end(self) -> None:
        self._process.communicate()


def main() -> None:
    """Compile games in alternation, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compiling", description=__doc__)
    parser.add_argument("checkout", type=Path, help="folder of the other checkout")
    parser.add_argument("--games", nargs="*", default=list(GAMES))
    parser.add_argument("--seconds", type=float, default=0.2, help="CPU seconds per game, checkout and round")
    parser.add_argument("--rounds", type=int, default=21)
    options = parser.parse_args()
    here = Path(__file__).parent.parent
    with tempfile.TemporaryDirectory() as cache:
        both = {path: Compiling(path.resolve(), cache) for path in (here, options.checkout)}
        print("| game | CPU seconds | ratio | quartiles |\n|---|---|---|---|")
        for game in options.games:
            timers = {
                str(place): lambda count, one=one: one.seconds(game, count)  # noqa: B023  (called within the round)
                for place, one in enumerate(both.values())
            }
            rates = alternate_timers(timers, options.seconds, options.rounds).per_second
            low, middle, high = np.percentile(rates["1"] / rates["0"], [25, 50, 75])
            seconds = float(np.median(1 / rates["0"]))
            print(f"| {game} | {seconds:.3g} | {middle:.3f} | {low:.3f} to {high:.3f} |", flush=True)
        for one in both.values():
            one.end()


if __name__ == "__main__":
    main()
