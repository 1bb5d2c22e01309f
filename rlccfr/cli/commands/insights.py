"""``rlccfr results insights``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rlccfr.cli.checks import at_least
from rlccfr.cli.console import print_json, print_table
from rlccfr.cli.measured_games import Games, MeasurementOptions, measured
from rlccfr.cli.options import Json, SeveralBudgets, Weights

if TYPE_CHECKING:
    import pandas as pd

    from rlccfr.agents.judging.insights import Insights


def insights(
    budgets: SeveralBudgets,
    weights: Weights,
    measurements: MeasurementOptions,
    games: Games = None,
    top: Annotated[
        int | None,
        typer.Option(
            callback=at_least(1),
            help="Largest number of rows of a table, or of each axis in the table of effects. [all]",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Print what the measurements of a game say; nothing is run.

    The first table says how much each component adds to the mean reward, on average over all algorithms that have it.
    The second has the best algorithm with each update rule, and its rank among all. The third is the Pareto front of
    exploitability against speed, a multiple of plain CFR's throughput. The fourth has the algorithm that first brings
    exploitability down to a tenth, a hundredth ... of the uniform policy's, beside plain CFR's time. Figures are means
    over all runs; algorithms with a failed run are left out. The budget is by default the longest that `rlccfr results
    table` shows.
    """
    from rlccfr.agents.judging.insights import insights as insights_of

    source = measured(games, budgets, measurements)
    budgets_to_show = source.budgets if budgets.are_given else source.budgets[-1:]
    all_insights = [
        insights_of(source.table, source.catalog, game, budget, preset, weights.scale)
        for game in source.games
        for budget in budgets_to_show
        for preset in weights.names
    ]
    source.say()
    if json:
        print_json([_row(insight) for insight in all_insights])
    else:
        _print_tables(all_insights, top)


def _print_tables(all_insights: list[Insights], top: int | None) -> None:
    """Print the four tables of each game, budget and preset.

    Args:
        all_insights: the insights, one for each game, budget and preset.
        top: largest number of rows of a table, or of an axis in the table of effects; None for all.
    """
    # Equal tables share a title and are printed once: the front under all presets, the times under all budgets.
    tables = {title: (frame, insight.plain) for insight in all_insights for title, frame in _tables(insight).items()}
    for title, (frame, plain) in tables.items():
        shown = frame if top is None else _first_rows(frame, top)
        rows = [[_in_words(value, plain) for value in row] for row in shown.itertuples(index=False)]
        print_table(list(frame.columns), rows, title)
        if len(shown) < len(frame):
            print(f"and {len(frame) - len(shown):,} more")
        print()


def _first_rows(frame: pd.DataFrame, top: int) -> pd.DataFrame:
    """Return the first rows of a table or, if it has a column ``axis``, the first rows of each axis."""
    return frame.groupby("axis", sort=False).head(top) if "axis" in frame.columns else frame.head(top)


def _in_words(value: Any, plain: str) -> Any:
    """Return a table's value to print, with words for a truth value and for a time that is not finite.

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
        f"{situation}: algorithms not beaten in exploitability and speed{remark}": insight.front,
        f"{insight.game}: algorithms soonest at each exploitability, beside plain CFR{remark}": insight.times,
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
