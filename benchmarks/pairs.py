"""``python -m benchmarks.pairs OTHER``: compare this checkout's speed with that of another checkout.

Each checkout runs in a process of its own, with the interpreter of its own environment. The processes work in
alternation, so that other work on the machine affects both alike. Prints a table: how many times as fast this
checkout is, with a 95 % interval.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

ROWS = {
    "CFR+, exact": ("cfr_plus", "none"),
    "DCFR, exact": ("dcfr", "none"),
    "PCFR+, exact": ("pcfr_plus", "none"),
    "external sampling": ("cfr", "external"),
    "outcome sampling": ("cfr", "outcome"),
    "exploitability": None,
}
"""Update rule and sampler of rows of `make bench` with this engine; None where a policy is evaluated."""


def main() -> None:
    """Print the table that the command line asks for."""
    from benchmarks.alternation import alternate_timers
    from benchmarks.compiled import GAMES

    parser = argparse.ArgumentParser(prog="python -m benchmarks.pairs", description=__doc__)
    parser.add_argument("other", type=Path, help="the other checkout, after `make install` there")
    parser.add_argument("--games", nargs="*", default=list(GAMES), choices=list(GAMES))
    parser.add_argument("--rows", nargs="*", default=list(ROWS), choices=list(ROWS))
    parser.add_argument("--seconds", type=float, default=0.5, help="CPU seconds per checkout and round")
    parser.add_argument("--rounds", type=int, default=9, choices=range(2, 100), metavar="2..99")
    arguments = parser.parse_args()
    print("| | game | this / other | 95 % |", "|---|---|---|---|", sep="\n")
    for game in arguments.games:
        for row in arguments.rows:
            with ExitStack() as stack:
                here = stack.enter_context(_timer(Path(sys.executable), Path.cwd(), GAMES[game], row))
                other = arguments.other.resolve()
                there = stack.enter_context(_timer(other / ".venv" / "bin" / "python", other, GAMES[game], row))
                timers = {"this": here, "other": there}
                rates = alternate_timers(timers, arguments.seconds, arguments.rounds)
            ratio, low, high = rates.ratio("this", "other")
            print(f"| {row} | {game} | {ratio:.3f} | {low:.3f} to {high:.3f} |", flush=True)


@contextmanager
def _timer(python: Path, checkout: Path, game: str, row: str) -> Iterator[Callable[[int], float]]:
    """Start a process in a checkout; yield a function that runs iterations there and returns their CPU seconds."""
    from benchmarks.processes import answering

    with answering([str(python), str(Path(__file__)), game, row], checkout) as ask:
        yield lambda count: float(ask(str(count)))


def serve(game: str, row: str) -> None:
    """Run as many iterations as each line of stdin says, and print the CPU seconds that they took."""
    import rlccfr

    tree, components = rlccfr.load_game(game), ROWS[row]
    solver = None if components is None else rlccfr.Solver(tree, *components, seed=0)
    policy = rlccfr.Policy.uniform(tree)
    for line in sys.stdin:
        begin = time.process_time()
        if solver is not None:
            solver.run(iterations=int(line), curve=False)
        else:
            for _ in range(int(line)):
                policy.exploitability()
        print(max(time.process_time() - begin, 1e-9), flush=True)


if __name__ == "__main__":
    if Path(sys.path[0]).resolve() == Path(__file__).parent:  # started as a file, in the checkout that is timed
        sys.path[0] = str(Path.cwd())
        serve(*sys.argv[1:])
    else:
        main()
