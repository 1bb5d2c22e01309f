"""Costs and benefits of buckets of hands: ``python -m benchmarks.buckets > docs/buckets.md`` writes the page."""

from __future__ import annotations

import time
from collections.abc import Iterator

import rlccfr
from rlccfr.envs.measuring.provenance import processor_model

RULE = "cfr_plus"
BUCKETS = (2, 3, 5, 8, 13)
GAMES = {"Leduc with 13 ranks": "leduc(ranks=13,suits=2,raises=1)", "hold'em with 7 ranks": "holdem(ranks=7)"}
"""A game that is stored as a tree of histories, and one that is solved by its public tree."""

INSIDE, AGAINST = 2000, 1000
"""Iterations inside the abstraction, and against best responses in the game."""

LARGE = "holdem"
MAPS = {
    "percentiles of E[HS²]": "equity(buckets={buckets})",
    "k-means on histograms": "kmeans(buckets={buckets})",
}


def line(title: str, cells: list[str]) -> str:
    """Return a line of a table."""
    return f"| {title} | {' | '.join(cells)} |"


def head(title: str) -> Iterator[str]:
    """Yield the head of a table with a column for each number of buckets."""
    yield line(title, [str(buckets) for buckets in BUCKETS])
    yield "|" + "---|" * (len(BUCKETS) + 1)


def plateaus(name: str) -> Iterator[str]:
    """Yield the table of one game: exploitability by the number of buckets."""
    game = rlccfr.load_game(name)
    inside = [
        rlccfr.Solver(game, RULE, abstraction=f"equity(buckets={buckets})").run(iterations=INSIDE, curve=False)
        for buckets in BUCKETS
    ]
    against = [rlccfr.Solver(game, RULE, abstraction=f"equity(buckets={buckets},respond=True)") for buckets in BUCKETS]
    yield from ("", *head("buckets"))
    yield line(f"{RULE}, {INSIDE:,} iterations", [f"{one.exploitability:.3f}" for one in inside])
    yield line("the same, inside the abstraction", [f"{one.exploitability_abstract:.0e}" for one in inside])
    cells = [f"{solver.run(iterations=AGAINST, curve=False).exploitability:.3f}" for solver in against]
    yield line(f"against best responses (CFR-BR), {AGAINST:,} iterations", cells)


def large() -> Iterator[str]:
    """Yield the tables of the large game: exploitability, and CPU seconds."""
    game = rlccfr.load_game(LARGE)
    for title, settings in MAPS.items():
        made, ran, found = [], [], []
        for buckets in BUCKETS:
            begin = time.process_time()
            solver = rlccfr.Solver(game, RULE, abstraction=settings.format(buckets=buckets))
            made.append(f"{time.process_time() - begin:.1f}")
            result = solver.run(iterations=INSIDE, curve=False)
            ran.append(f"{result.cpu_seconds:.2f}")
            found.append(f"{1000 * result.exploitability / (game.big_blind or 1):.0f}")
        yield from ("", *head(title))
        yield line("exploitability, mbb/g", found)
        yield line("CPU seconds to make the buckets", made)
        yield line("CPU seconds of the run", ran)


def page() -> Iterator[str]:
    """Yield the lines of the page."""
    yield from (
        "# Buckets of hands: what they cost and give",
        "",
        f"Written by `python -m benchmarks.buckets` on {processor_model()}; not edited by hand. [Decision "
        "27](adr/0027-buckets-merge-infosets.md) says how buckets work.",
        "",
        "Each column is a number of buckets: in each round, each bucket of the round before is split into that many. "
        "The numbers are the exploitability in the game itself, in its units, after exact passes. In the second line, "
        "best responses use the buckets, too.",
    )
    for title, name in GAMES.items():
        yield from ("", f"## {title}", "", f"`{name}`, `equity`", *plateaus(name))
    yield from (
        "",
        f"## [2-1] hold'em: {INSIDE:,} iterations of `{RULE}`",
        "",
        "A run goes over a small game in which chance deals buckets. Boards and hands are visited only to make the "
        "buckets and to evaluate the policy.",
        *large(),
    )


if __name__ == "__main__":
    for text in page():
        print(text, flush=True)
