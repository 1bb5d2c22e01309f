"""How long hold'em takes to solve: ``python -m benchmarks.holdem [RULE...]`` prints a Markdown table.

Each game of GAMES is solved by one thread until its exploitability is below each of the targets in TARGETS. Runs are
measured where their curves have points, five per decade of iterations.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator

import rlccfr

GAMES = {"[2-1]": "holdem", "[2-4]": "holdem(raises=4)", "flop hold'em": "flop_holdem"}
TARGETS = (37, 10, 1)
"""In thousandths of a big blind a game; Deep CFR reached 37 on flop hold'em (Brown et al., ICML 2019)."""

RULES = ("dcfr_plus",)


def rows(rule: str) -> Iterator[str]:
    """Yield a line of the table for each game."""
    for title, name in GAMES.items():
        game = rlccfr.load_game(name)
        assert isinstance(game, rlccfr.PublicGame)
        solver, found = rlccfr.Solver(game, rule), []
        for target in TARGETS:
            result = solver.run(until=f"{target}mbb")
            reached = 1000 * result.exploitability / (game.big_blind or 1)
            found.append(f"{result.cpu_seconds:.1f} s, {result.iterations} iterations, {reached:.3g}")
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        yield f"| {title} | {rule} | {game.num_infosets:,} | {' | '.join(found)} | {memory:.1f} |"
        del solver


def main() -> None:
    """Print the table."""
    titles = [f"{target} mbb/g" for target in TARGETS]
    print(f"| game | update rule | infosets | {' | '.join(titles)} | largest memory so far, GiB |")
    print("|" + "---|" * (len(titles) + 4))
    for rule in sys.argv[1:] or RULES:
        for line in rows(rule):
            print(line, flush=True)


if __name__ == "__main__":
    main()
