"""``rlccfr results curves``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from rlccfr.cli.checks import at_least, file_to_write
from rlccfr.cli.command import check_only, rare
from rlccfr.cli.measured_games import MeasurementOptions, measured, table_of
from rlccfr.cli.options import SeveralBudgets, parsed_algorithm

WITH_ALGORITHMS = {"game", "out", "algorithms", "results", "over", "current"}
"""Parameters of the command that may be given with ``--algorithm``."""


@dataclass(frozen=True)
class LineOptions:
    """Which lines are drawn for an algorithm."""

    TITLE: ClassVar[str] = ""
    current: bool = rare(False, "yes: draw the current policies, too. [no]")


def curves(
    context: typer.Context,
    budgets: SeveralBudgets,
    measurements: MeasurementOptions,
    lines: LineOptions,
    game: Annotated[str, typer.Argument(help="The measured game.")],
    out: Annotated[Path, typer.Argument(callback=file_to_write(), help="The picture to write: .png, .svg, .pdf.")],
    algorithms: Annotated[
        list[str] | None,
        typer.Option("--algorithm", help='Algorithm to draw: "dcfr x external x none"; may be repeated. [the best]'),
    ] = None,
    top: Annotated[int, typer.Option(callback=at_least(1), help="Number of algorithms to draw, the best ones.")] = 8,
    over: Annotated[str, typer.Option(help="Horizontal axis: seconds, iterations or nodes.")] = "seconds",
) -> None:
    """Draw the convergence of several algorithms on a game.

    Nothing is run. By default, the curves are those of plain CFR and of the algorithms with the least exploitability
    under the largest budget. With --results and --catalog, the algorithms are those of your own sweep.
    """
    # Options that contradict each other are reported before measurements are read.
    if algorithms:
        check_only(context, "--algorithm", WITH_ALGORITHMS, "draws only the algorithms that it names")
    from rlccfr.agents.judging.curves import best_cells, column_of, draw_curves
    from rlccfr.pictures import checked_picture, save

    checked_picture(out)
    column_of(over)
    if algorithms:
        cells = [parsed_algorithm(text, "--algorithm") for text in algorithms]
        table, name = table_of(game, measurements.results)
        save(draw_curves(table, name, cells, over, current=lines.current), out)
    else:
        source = measured([game], budgets, measurements)
        (name,) = source.games
        largest = max(source.budgets, key=lambda budget: budget.amount)
        cells = best_cells(source.table, source.catalog, name, largest, top)
        save(draw_curves(source.table, name, cells, over, current=lines.current), out)
        source.say()
    print(f"written to {out}: {', '.join(map(str, cells))}")
