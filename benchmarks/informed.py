"""Informed teams compared with other searches: ``python -m benchmarks.informed``.

The paper's games are not training games of the informed team, and neither are the held-out games of the families. On
the former, a search chooses among 336 algorithms; on the latter, among the 112 tabular ones. Every search has the
engine CPU seconds of a given number of evaluations, and choices are judged by runs that were not used to make them. The
rows are kept in results/informed.csv, and the page of ``benchmarks.selection`` has the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import Any

import pandas as pd

from benchmarks.baselines import no_network, tpe
from benchmarks.baselines.informed_search import informed_search
from benchmarks.markdown import table
from benchmarks.methods import SECOND
from benchmarks.teams import RESULTS, held_out, others, say, to_start_from
from rlccfr.agents import shipped
from rlccfr.agents.baselines.halving import Halving, successive_halving
from rlccfr.agents.baselines.random_cells import random_search
from rlccfr.agents.baselines.task import SearchResult, Task
from rlccfr.agents.judging.bench import Bench
from rlccfr.agents.judging.evidence import ChoosingRuns, Evidence
from rlccfr.envs.reward import PRESETS

FILE = RESULTS / "informed.csv"
EVALUATIONS = (1, 3, 7, 14, 28)
SEEDS = 5
"""Number of seeds of searches that draw at random."""

PRESETS_JUDGED = ("accuracy", "paper-leduc")
"""Reward weights on the games never met: accuracy alone, and weights that count speed."""

Search = Callable[..., Halving | SearchResult]

SEARCHES: dict[str, tuple[Search, int]] = {
    "informed team": (informed_search, 1),
    "successive halving": (successive_halving, 1),
    "TPE": (tpe.tpe_search, SEEDS),
    "random search": (random_search, SEEDS),
    "no network": (no_network.search_without_networks, SEEDS),
}
"""Searches, each with its number of seeds."""


@cache
def bench(game: str, preset: str) -> Bench:
    """Return a bench that judges the choices for a game and reward weights."""
    is_papers = game in shipped.GAMES
    results = shipped.results() if is_papers else others()
    catalog = shipped.catalog() if is_papers else shipped.tabular()
    evidence = Evidence.measured(results, catalog, game, SECOND)
    return Bench(Task(results, catalog, game, SECOND, PRESETS[preset]), {game: evidence})


def questions() -> Iterator[tuple[str, str, str]]:
    """Yield the kind of each game, the game, and reward weights."""
    for game in shipped.GAMES:
        yield from (("the paper's games", game, preset) for preset in ("accuracy", f"paper-{game}"))
    for game, preset in product(held_out(), PRESETS_JUDGED):
        if game not in shipped.GAMES:
            yield "games never met", game, preset


def rows_of(kind: str, game: str, preset: str) -> Iterator[dict[str, Any]]:
    """Yield the judged choices of all searches for a game and reward weights."""
    judge = bench(game, preset)
    task = Task(ChoosingRuns(judge.task.evaluator), judge.task.catalog, game, SECOND, PRESETS[preset])
    for (name, (search, seeds)), evaluations in product(SEARCHES.items(), EVALUATIONS):
        for seed in range(seeds):
            result = search(task, evaluations=evaluations, seed=seed)
            row = judge.row(name, result.cell, evaluations, 0.0)
            yield {
                "kind": kind,
                "game": game,
                "preset": preset,
                "search": name,
                "evaluations": evaluations,
                "seed": seed,
                "algorithm": str(result.cell),
                "regret": row["regret"],
                "score": row["normalised_score"],
                "cpu_seconds": result.cpu_seconds,
            }


def mean_scores() -> pd.DataFrame:
    """Return mean normalised scores by kind of game and search (rows), and by number of evaluations (columns)."""
    return _means(pd.read_csv(FILE), "score")


def _means(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return means over games and reward weights, with equal weights."""
    groups = ["kind", "search", "evaluations"]
    by_question = rows.groupby([*groups, "game", "preset"], sort=False)[column].mean()
    return by_question.groupby(groups, sort=False).mean().unstack("evaluations")


def section() -> Iterator[str]:
    """Yield the lines of docs/selection.md on these choices."""
    rows = pd.read_csv(FILE)
    yield from ("## A team that begins with what it knows", "")
    yield (
        f"An *informed team* has networks that have learned from {len(to_start_from())} small games, among which are "
        "none of these. Its Q-values say which algorithms are worth running; these run for fractions of the budget, "
        "the better ones for longer. The other searches know nothing of other games. The mean normalised score and the "
        "mean regret, by the number of evaluations whose time each search had:"
    )
    for kind, group in rows.groupby("kind", sort=False):
        yield from ("", f"On {kind}, of which there are {group['game'].nunique()}:", "")
        for column in ("score", "regret"):
            means = _means(group, column).droplevel("kind")
            yield from table(means.reset_index().rename(columns={"search": f"mean {column}"}))
            yield ""


def main() -> None:
    """Judge all searches, keep the rows, and print the section."""
    rows: list[dict[str, Any]] = []
    for kind, game, preset in questions():
        rows += rows_of(kind, game, preset)
        say(f"{game}, {preset}: {len(rows):,} choices")
        pd.DataFrame(rows).to_csv(FILE, index=False, float_format="%.5g")
    print("\n".join(section()))


if __name__ == "__main__":
    main()
