"""``python -m benchmarks.holdem_algorithms > docs/holdem-algorithms.md``: which algorithms solve hold'em best.

The page and its picture come from the measurements of the catalog ``public`` that the package ships.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from statistics import geometric_mean
from typing import NamedTuple

import matplotlib.pyplot as plt
import pandas as pd

from benchmarks.markdown import table
from rlccfr.agents import shipped
from rlccfr.agents.judging.evidence import Evidence
from rlccfr.agents.shipped.measured_best import best_measured
from rlccfr.catalog import Cell
from rlccfr.envs.measuring.evaluator import Measurement
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.envs.reward import PRESETS
from rlccfr.games.public.holdem import Holdem
from rlccfr.games.public.names import rules_of
from rlccfr.pictures import save

PICTURE = Path(__file__).parent.parent / "docs" / "holdem-algorithms.svg"
PLAIN = Cell("cfr", "none", "none")
GROUPS: Mapping[str, Callable[[Cell], bool]] = {
    "plain CFR": lambda cell: cell == PLAIN,
    "exact passes": lambda cell: cell[1:] == ("none", "none"),
    "PCS": lambda cell: cell[1:] == ("public_chance", "none"),
    "OPCS": lambda cell: cell[1:] == ("opponent_public_chance", "none"),
    "SPCS": lambda cell: cell[1:] == ("self_public_chance", "none"),
    "CS": lambda cell: cell[1:] == ("chance", "none"),
    "CFR-BR": lambda cell: cell.abstraction == "cfr_br",
}
"""Groups of algorithms, for each of which the page names the best."""


class Found(NamedTuple):
    """The best algorithm of a group under a budget.

    Attributes:
        exploitability: its exploitability on the judging runs, in thousandths of a big blind per game.
    """

    cell: Cell
    exploitability: float


def best(evidence: Evidence, within: Callable[[Cell], bool], big_blind: float) -> Found:
    """Return the algorithm of a group with the least exploitability on the choosing runs."""
    cell = min(filter(within, evidence.choosing), key=lambda one: _exploitability(evidence.choosing[one]))
    return Found(cell, 1000 * _exploitability(evidence.judging[cell]) / big_blind)


def _exploitability(runs: Iterable[Measurement]) -> float:
    return geometric_mean(run.exploitability for run in runs)


def of_game(measured: TableEvaluator, game: str) -> dict[str, list[Found]]:
    """Return the best algorithm of each group after each of the budgets."""
    each = [Evidence.measured(measured, shipped.public_catalog(), game, budget) for budget in shipped.PUBLIC_BUDGETS]
    return {name: [best(one, within, big_blind(game)) for one in each] for name, within in GROUPS.items()}


def as_table(found: Mapping[str, list[Found]]) -> pd.DataFrame:
    """Return the best of each group as a table, one row per group."""
    rows = [[name, *(f"{one.exploitability:.3g} ({named(one.cell)})" for one in each)] for name, each in found.items()]
    return pd.DataFrame(rows, columns=["", *map(str, shipped.PUBLIC_BUDGETS)])


def named(cell: Cell) -> str:
    """Return the parts of an algorithm that its group does not determine: the rule, and the sampler under CFR-BR."""
    return " x ".join(cell[:2]) if cell.abstraction == "cfr_br" else cell.update_rule


def winners(measured: TableEvaluator) -> pd.DataFrame:
    """Return the best algorithm by reward, one row per game and budget, one column per preset."""
    rows = []
    for game in shipped.PUBLIC_GAMES:
        for budget in shipped.PUBLIC_BUDGETS:
            picks = {
                name: best_measured(measured, game, [shipped.public_catalog()], budget, preset).cell
                for name, preset in PRESETS.items()
            }
            rows.append({"game": game, "budget": str(budget), **picks})
    return pd.DataFrame(rows)


def draw(found: Mapping[str, Mapping[str, list[Found]]], path: Path = PICTURE) -> None:
    """Draw the exploitability of each group's best algorithm after each budget, a panel per game."""
    _, axes = plt.subplots(1, len(found), figsize=(13, 4.4), layout="constrained", squeeze=False)
    seconds = [budget.amount for budget in shipped.PUBLIC_BUDGETS]
    for axis, (game, groups) in zip(axes[0], found.items(), strict=True):
        for name, each in groups.items():
            axis.loglog(seconds, [one.exploitability for one in each], marker="o", label=name)
        axis.set(title=game, xlabel="engine CPU seconds", ylabel="exploitability, mbb/g")
        axis.set_xticks(seconds, [f"{one:g}" for one in seconds])
    axes[0, 0].legend()
    save(axes[0, 0], path)


def big_blind(game: str) -> float:
    """Return a hold'em's big blind in the units of its payoffs."""
    rules = rules_of(game)
    assert isinstance(rules, Holdem)
    return float(max(rules.blinds))


def sampled(picks: pd.DataFrame) -> str:
    """Return a sentence on how many of the best algorithms draw chance, and which."""
    cells = [cell for name in PRESETS for cell in picks[name]]
    drawing = Counter(cell.sampler for cell in cells if cell.sampler != "none")
    text = f"Of the {len(cells)} combinations of game, budget and reward weights, {drawing.total()} are won by an "
    text += "algorithm that draws chance"
    return (
        f"{text}: {', '.join(f'`{name}` {count}' for name, count in drawing.most_common())}." if drawing else f"{text}."
    )


def page(measured: TableEvaluator, found: Mapping[str, Mapping[str, list[Found]]]) -> Iterator[str]:
    """Yield the lines of the page."""
    records = measured.frame()
    seeds = sum(len(measured.seeds(game, cell)) for game in shipped.PUBLIC_GAMES for cell in shipped.public_catalog())
    yield from (
        "# Hold'em: which algorithm, and where sampling wins",
        "",
        "Written by `python -m benchmarks.holdem_algorithms`; not edited by hand.",
        "",
        f"The {len(shipped.public_catalog())} algorithms of the catalog `public` ran on three games for "
        f"{shipped.PUBLIC_BUDGETS[-1].amount:g} engine CPU seconds each, {seeds} runs in all. They are ten update "
        "rules, with exact passes and with four samplers of chance, each also against best responses (CFR-BR). An "
        "algorithm that draws chance and comes close to the best has three runs: the first chooses, the others judge. "
        "Every other algorithm has one run, which does both; exact passes are judged by a second timing of it. "
        "[Drawing chance](experiments/pcs.md) explains the samplers' names. Shorter budgets are read off the runs' "
        "curves.",
        "",
        "![Exploitability against CPU seconds](holdem-algorithms.svg)",
    )
    for game, groups in found.items():
        processors = " and ".join(records.loc[records["game"] == game, "processor"].unique())
        yield from ("", f"## `{game}`", "")
        yield f"The best algorithm of each group after each budget, and its exploitability in mbb/g, on {processors}:"
        yield from ("", *table(as_table(groups)))
    picks = winners(measured)
    yield from (
        "",
        "## By reward",
        "",
        "The best algorithm under each of the reward weights, which count exploitability and throughput:",
        "",
        *table(picks),
        "",
        sampled(picks),
    )


if __name__ == "__main__":
    results = shipped.public_results()
    games = {game: of_game(results, game) for game in shipped.PUBLIC_GAMES}
    draw(games)
    print("\n".join(page(results, games)))
