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
    hundredth ... of the uniform policy's, with plain CFR's time: "not reached" in its longest run, or "not measured".
    Algorithms with a failed run are left out. Figures are means over all runs; `rlccfr table` shows those of the runs
    by which its picks are judged. The budget is the longest headline budget by default.
    """
    source = measured(games, (iterations, seconds, nodes), results, catalog, networks)
    from rlccfr.agents.judging.insights import insights as insights_of

    budgets = source.budgets if any((iterations, seconds, nodes)) else source.budgets[-1:]
    all_insights = [
        insights_of(source.table, source.catalog, game, budget, preset, scale)
        for game in source.games
        for budget in budgets
        for preset in presets or ["accuracy"]
    ]
    source.say()
    if json:
        print_json([_row(insight) for insight in all_insights])
        return
    # Equal tables share a title and are printed once: the front under all presets, the times under all budgets.
    tables = {title: (frame, insight.plain) for insight in all_insights for title, frame in _tables(insight).items()}
    for title, (frame, plain) in tables.items():
        rows = [[_in_words(value, plain) for value in row] for row in frame.itertuples(index=False)]
        print_table(list(frame.columns), rows, title)
        print()


def _in_words(value: Any, plain: str) -> Any:
    """Return a value of a table, with words for a time that is not a number.

    Args:
        value: the value.
        plain: words for plain CFR's time where it is missing.
    """
    if isinstance(value, bool):  # whether it has converged
        return "" if value else "not converged"
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return "not reached" if value == math.inf else plain


def _tables(insight: Insights) -> dict[str, pd.DataFrame]:
    """Return the tables to print, by title."""
    remark = f" ({insight.left_out:,} algorithms with a failed run are left out)" if insight.left_out else ""
    situation = f"{insight.game}, {insight.budget}"
    return {
        f"{situation}, preset {insight.preset}: effects on the mean reward{remark}": insight.effects,
        f"{situation}, preset {insight.preset}: the best with each update rule{remark}": insight.best,
        f"{situation}: not beaten in exploitability and speed{remark}": insight.front,
        f"{insight.game}: soonest at an exploitability, beside plain CFR{remark}": insight.times,
    }


def _row(insight: Insights) -> dict[str, Any]:
    """Return insights as a dict for JSON, with None for times that are not finite."""
    times = [
        {name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in row.items()}
        for row in insight.times.to_dict("records")
    ]
    return {
        "game": insight.game,
        "budget": {"unit": insight.budget.unit, "amount": insight.budget.amount},
        "preset": insight.preset.name,
        "scale": insight.preset.scale,
        "effects": insight.effects.to_dict("records"),
        "best": insight.best.to_dict("records"),
        "front": insight.front.to_dict("records"),
        "times": times,
        "plain_cfr": insight.plain,
        "left_out": insight.left_out,
    }
