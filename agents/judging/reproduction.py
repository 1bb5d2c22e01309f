"""Reproduction of the paper's experiments: Figures 2 to 5 and Table 4 of Keshavarzi, Navidi and Tefagh.

The figures show exploitability against iterations, for the paper's fixed algorithms and for a team's pick under the
reward weights of the figure's caption. They are drawn from measurements; the table's throughputs are measured again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from rlccfr.agents.baselines.fixed import fixed_cells
from rlccfr.agents.judging.evidence import judging_part
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.measuring.evaluator import Evaluator
from rlccfr.envs.measuring.request import Budget, Request
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.pictures import save
from rlccfr.policy import EXACT

ITERATIONS = (1_000, 10_000)
"""Numbers of iterations in Table 4; the figures end at the larger number."""

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#444444")  # Okabe and Ito's, for the colour-blind
PICK_COLOUR = "#d55e00"


class Panel(NamedTuple):
    """One of the paper's figures.

    Attributes:
        number: the figure's number in the paper.
        game: game of the runs.
        preset: name of the reward weights that the team picks for.
    """

    number: int
    game: str
    preset: str


PANELS = (
    Panel(2, "kuhn", "paper-kuhn"),
    Panel(3, "leduc", "paper-leduc"),
    Panel(4, "royal", "paper-royal"),
    Panel(5, "goofspiel", "paper-goofspiel"),
)

Line = tuple[list[float], list[float]]
"""A line of a figure: numbers of iterations, and the exploitability after each of them."""


def draw(
    panel: Panel,
    table: TableEvaluator,
    catalog: Catalog,
    pick: Cell,
    path: Path,
    beside: Mapping[str, Line] | None = None,
) -> None:
    """Draw a figure to a file, in the format of its suffix.

    Args:
        panel: the figure.
        table: runs of the algorithms.
        catalog: catalog with the paper's fixed algorithms.
        pick: the team's pick.
        path: file to write.
        beside: further lines by name, drawn thinly.

    Raises:
        MissingCellError: an algorithm was not measured.
        RLCCFRError: the file can't be written.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for (name, cell), colour in zip(fixed_cells(catalog).items(), COLOURS, strict=False):
        axes.loglog(*_curve(table, panel.game, cell), label=name, color=colour)
    for name, line in (beside or {}).items():
        axes.loglog(*line, label=name, color="0.6", linewidth=1, linestyle="--")
    pick_line = _curve(table, panel.game, pick)
    axes.loglog(*pick_line, label=f"the team's pick: {pick}", color=PICK_COLOUR, linewidth=3)
    axes.set(
        title=f"Figure {panel.number}: {panel.game}, weights {panel.preset}",
        xlabel="iterations",
        ylabel="exploitability (NashConv / 2)",
    )
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    save(axes, path)


def final(table: TableEvaluator, game: str, cell: Cell) -> float:
    """Return the exploitability (NashConv / 2) at the end of the curve that :func:`draw` draws for an algorithm.

    Raises:
        MissingCellError: there is no run.
    """
    return _curve(table, game, cell)[1][-1]


def _curve(table: TableEvaluator, game: str, cell: Cell) -> Line:
    """Return the iterations of a judging run, up to the largest of :data:`ITERATIONS`, and its exploitabilities there.

    A deterministic algorithm has one run, in which the iterations alone determine the exploitability.

    Raises:
        MissingCellError: there is no run.
    """
    seeds = judging_part(table.seeds(game, cell))
    curve = table.run(game, cell, seeds[0] if seeds else 0)["curve"]
    points = [index for index, iteration in enumerate(curve["iteration"]) if iteration <= ITERATIONS[-1]]
    iterations = [curve["iteration"][index] for index in points]
    exploitabilities = [max(curve["exploitability"][index], EXACT) for index in points]  # for the logarithmic axis
    return iterations, exploitabilities


def throughputs(
    evaluator: Evaluator, cells: Mapping[str, Cell], progress: Callable[[float], None] | None = None
) -> pd.DataFrame:
    """Measure Table 4: iterations per engine CPU second on Kuhn poker, over 1,000 and 10,000 iterations.

    Args:
        evaluator: evaluator that measures.
        cells: algorithms by name.
        progress: function called after each algorithm with the share done.

    Returns:
        One row per algorithm: ``algorithm``; the throughputs ``1,000 iterations`` and ``10,000 iterations``; and
        ``times plain CFR``, the throughput over 10,000 iterations as a multiple of plain CFR's.
    """
    rows = []
    for done, (name, cell) in enumerate(cells.items(), start=1):
        row: dict[str, Any] = {"algorithm": name}
        for count in ITERATIONS:
            run = evaluator.measure(Request("kuhn", (cell,), Budget("iterations", count)))
            row[f"{count:,} iterations"] = run.throughput
        row["times plain CFR"] = run.throughput / run.reference_throughput  # over the most iterations, the last run
        rows.append(row)
        if progress:
            progress(done / len(cells))
    return pd.DataFrame(rows)
