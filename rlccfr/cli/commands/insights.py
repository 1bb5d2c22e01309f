"""``rlccfr insights``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rlccfr.cli.console import (
    Json,
    PresetNames,
    ScaleName,
    SeveralIterations,
    SeveralNodes,
    SeveralSeconds,
    print_json,
    print_table,
)
from rlccfr.cli.measured_games import Games, Results, SweptCatalog, SweptNetworks, measured

if TYPE_CHECKING:
    import pandas as pd

    from rlccfr.agents.judging.insights import Insights


def insights(
    games: Games = None,
    iterations: SeveralIterations = None,
    seconds: SeveralSeconds = None,
    nodes: SeveralNodes = None,
    presets: PresetNames = None,
    scale: ScaleName = None,
    results: Results = None,
    catalog: SweptCatalog = None,
    networks: SweptNetworks = None,
    json: Json = False,
) -> None:
    """Print what the measurements of a game say; nothing is run.

    Four tables: how much each component adds to the mean reward, on average over all algorithms that have it; the best
    algorithm with each update rule, and its rank among all; the Pareto front of exploitability against speed, which is
    throughput as a multiple of plain CFR's; and the algorithm that first brings exploitability down to a tenth, a
    hundredth ... of the uniform policy's. Figures are means over all runs; `rlccfr table` shows those of the runs by
    which its picks are judged. The budget is the longest headline budget by default.
    """
    source = measured(games, (iterations, seconds, nodes), results, catalog, networks)
    from rlccfr.agents.judging.insights import insights as found_in

    limits = source.budgets if any((iterations, seconds, nodes)) else source.budgets[-1:]
    found = [
        found_in(source.table, source.catalog, game, budget, name, scale)
        for game in source.games
        for budget in limits
        for name in presets or ["accuracy"]
    ]
    source.say()
    if json:
        print_json([_row(one) for one in found])
        return
    tables = {  # equal tables share a title: the front under all presets, the times under all budgets
        title: frame for one in found for title, frame in _tables(one).items()
    }
    for title, frame in tables.items():
        rows = [["never" if value == math.inf else value for value in row] for row in frame.itertuples(index=False)]
        print_table(list(frame.columns), rows, title)
        print()


def _tables(found: Insights) -> dict[str, pd.DataFrame]:
    head = f"{found.game}, {found.budget}"
    return {
        f"{head}, preset {found.preset}: effects on the mean reward": found.effects,
        f"{head}, preset {found.preset}: the best with each update rule": found.best,
        f"{head}: not beaten in exploitability and speed": found.front,
        f"{found.game}: soonest at an exploitability, beside plain CFR": found.times,
    }


def _row(found: Insights) -> dict[str, Any]:
    times = [{name: None if value == math.inf else value for name, value in row.items()}
             for row in found.times.to_dict("records")]  # fmt: skip
    return {
        "game": found.game,
        "budget": {"unit": found.budget.unit, "amount": found.budget.amount},
        "preset": found.preset.name,
        "scale": found.preset.scale,
        "effects": found.effects.to_dict("records"),
        "best": found.best.to_dict("records"),
        "front": found.front.to_dict("records"),
        "times": times,
    }
