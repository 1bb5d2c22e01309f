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
        title: (frame, one.plain) for one in found for title, frame in _tables(one).items()
    }
    for title, (frame, plain) in tables.items():
        rows = [[_said(value, plain) for value in row] for row in frame.itertuples(index=False)]
        print_table(list(frame.columns), rows, title)
        print()


def _said(value: Any, plain: str) -> Any:
    """Return a value of a table, with words for a time that is not a number.

    Args:
        plain: what is known of plain CFR, whose time may be missing.
    """
    if isinstance(value, bool):  # whether it has converged
        return "" if value else "not converged"
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return "not reached" if value == math.inf else plain


def _tables(found: Insights) -> dict[str, pd.DataFrame]:
    of_failed = f" ({found.left_out:,} algorithms with a failed run are left out)" if found.left_out else ""
    head = f"{found.game}, {found.budget}"
    return {
        f"{head}, preset {found.preset}: effects on the mean reward{of_failed}": found.effects,
        f"{head}, preset {found.preset}: the best with each update rule{of_failed}": found.best,
        f"{head}: not beaten in exploitability and speed{of_failed}": found.front,
        f"{found.game}: soonest at an exploitability, beside plain CFR{of_failed}": found.times,
    }


def _row(found: Insights) -> dict[str, Any]:
    times = [
        {name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in row.items()}
        for row in found.times.to_dict("records")
    ]
    return {
        "game": found.game,
        "budget": {"unit": found.budget.unit, "amount": found.budget.amount},
        "preset": found.preset.name,
        "scale": found.preset.scale,
        "effects": found.effects.to_dict("records"),
        "best": found.best.to_dict("records"),
        "front": found.front.to_dict("records"),
        "times": times,
        "plain_cfr": found.plain,
        "left_out": found.left_out,
    }
