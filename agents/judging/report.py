"""The report: measurements as one page that needs only a browser."""

from __future__ import annotations

import importlib.util
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd

from rlccfr.agents.baselines.fixed import fixed_cells
from rlccfr.agents.judging.evidence import judging_part, second_timing
from rlccfr.agents.judging.exact_reference import exact_line
from rlccfr.agents.judging.recommendation_table import RecommendationTable, in_words
from rlccfr.catalog import AXES, Catalog, Cell
from rlccfr.envs.episode import parse_preset
from rlccfr.envs.measuring.request import Budget, Request
from rlccfr.envs.measuring.store import MissingCellError
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.envs.reward import DECADES, SCALE_WORDS
from rlccfr.errors import RLCCFRError
from rlccfr.files import require_writable, write_atomically
from rlccfr.games.compiled_games import unit_of
from rlccfr.games.names import openspiel_name
from rlccfr.policies.public_policy import PublicPolicy
from rlccfr.policies.range_pictures import range_section
from rlccfr.policy import EXACT

DIGITS = 4
"""Number of significant digits on the page."""

HEADERS = {
    "game": "game", "budget": "budget", "preset": "weights",  # report.js reads the first three columns
    "scale": "scale of e",
    **{axis: axis.replace("_", " ") for axis in AXES},
    "exploitability": "exploitability", "throughput": "iterations per second", "speed": "speed, times plain CFR",
    "reward": "mean reward", "regret": "regret", "best": "among the best", "converged": "converged",
}  # fmt: skip
"""Columns of the page's table, with their headers: those of `rlccfr results table` that fit on a screen."""

CURVE_COLUMNS = {"iterations": "iteration", "seconds": "cpu_seconds", "nodes": "nodes", "x": "exploitability"}
"""Columns of a run's curve, by their names in the page's data."""


def check_report(path: str | Path) -> None:
    """Check that a report can be written.

    Raises:
        RLCCFRError: plotly is not installed, or the file can't be written.
    """
    if importlib.util.find_spec("plotly") is None:
        raise RLCCFRError("a report needs the extra: pip install 'rlccfr[report]'")
    require_writable(Path(path))


def write_report(
    path: str | Path,
    table: TableEvaluator,
    catalog: Catalog,
    recommended: RecommendationTable,
    budgets: Sequence[Budget],
    policies: Sequence[PublicPolicy] = (),
) -> Path:
    """Write a self-contained HTML page: every algorithm on each game, the Pareto front, curves and a team's picks.

    Args:
        path: file to write.
        table: runs of the algorithms. The page shows the judging runs. A deterministic algorithm has one run; the page
            shows its second timing if the table has one. An algorithm with no run, or with a failed one, has a grey
            cell.
        catalog: algorithms of the page.
        recommended: table of the picks. The page has this table's games, and marks and lists its
            :attr:`~rlccfr.agents.RecommendationTable.picks`.
        budgets: budgets that a reader of the page can choose from; the results under them are read off the runs'
            curves. The cell of an algorithm with a run that is too short is grey.
        policies: policies of hold'em or Bluff whose first decisions the page shows, by hands or rolls.

    Returns:
        The file's path.

    Raises:
        ComponentError: a pick is not in the catalog.
        RLCCFRError: plotly is not installed, the file can't be written, or picks for two scales share a preset's name.
    """
    check_report(path)
    scales = recommended.picks[["preset", "scale"]].drop_duplicates()
    if scales["preset"].duplicated().any():
        raise RLCCFRError("a page has one scale for each preset: give presets with other scales other names")
    from plotly.offline import get_plotlyjs

    folder = files("rlccfr.agents.judging") / "page"
    data = json.dumps(_data(table, catalog, recommended.picks, budgets), allow_nan=False, separators=(",", ":"))
    sections = {
        "table": _picks_table(recommended.picks),
        "ranges": "".join(map(range_section, policies)),
        "plotly": get_plotlyjs(),
        "data": data.replace("</", "<\\/"),  # so that no string in the data ends the page's script element
        "script": (folder / "report.js").read_text(),
    }
    page = (folder / "report.html").read_text()
    for name, text in sections.items():
        page = page.replace(f"<!--{name}-->", text, 1)
    write_atomically(Path(path), page.encode(), RLCCFRError)
    return Path(path)


def _picks_table(picks: pd.DataFrame) -> str:
    """Return the picks as an HTML table, with headers and words for display."""
    best = [_standing(row) for row in picks.astype(object).to_dict("records")]
    texts = in_words(picks).assign(best=best)
    return str(texts[list(HEADERS)].rename(columns=HEADERS).to_html(index=False))


def _standing(row: Mapping[Any, Any]) -> str:
    """Return in words whether a pick is in the tied set, with the size of the set if it is larger than 1."""
    if pd.isna(row["in_tied_set"]):
        return "-"
    if not row["in_tied_set"]:
        return "no"
    return "yes" if row["tied_set_size"] == 1 else f"one of {row['tied_set_size']:.0f}"


def _data(table: TableEvaluator, catalog: Catalog, picks: pd.DataFrame, budgets: Sequence[Budget]) -> dict[str, Any]:
    """Return the data that report.js reads; the comment at the top of that file describes them."""
    return {
        "axes": catalog.axes,
        "budgets": list(map(str, budgets)),
        "decades": DECADES,
        "exact": EXACT,
        "presets": {name: _weights(name, scale) for name, scale in zip(picks["preset"], picks["scale"], strict=True)},
        "fixed": {name: catalog.flat(cell) for name, cell in fixed_cells(catalog).items()},
        "games": {
            game: {
                "cells": [_cell_data(table, game, cell, budgets) for cell in catalog],
                "picks": _pick_indices(catalog, picks[picks["game"] == game]),
                "exactly": exact_line(game, solve=False),
                "unit": unit_of(game),
            }
            for game in dict.fromkeys(picks["game"])
        },
        "provenance": _provenance(_runs_of(table.frame(), catalog, picks["game"])),
    }


def _weights(name: str, scale: str) -> dict[str, Any]:
    """Return a preset's weights, its scale, and a description of e on that scale."""
    preset = parse_preset(name, scale)
    return {"scale": preset.scale, "words": SCALE_WORDS[preset.scale], "weights": preset.weights}


def _cell_data(table: TableEvaluator, game: str, cell: Cell, budgets: Sequence[Budget]) -> dict[str, Any] | None:
    """Return an algorithm's figures under each budget, and its first judging run's curve; None if it has no run."""
    seeds = judging_part(table.seeds(game, cell))
    if not seeds:
        return None
    by_budget = [_figures(table, game, cell, budget, seeds) for budget in budgets]
    curve = table.run(game, cell, seeds[0])["curve"]
    return {
        **{name: [figures[name] for figures in by_budget] for name in by_budget[0]},
        "seed": seeds[0],
        "curve": {name: [_rounded(value) for value in curve[column]] for name, column in CURVE_COLUMNS.items()},
    }


def _figures(table: TableEvaluator, game: str, cell: Cell, budget: Budget, seeds: Sequence[int]) -> Mapping[str, Any]:
    """Return an algorithm's figures under a budget by its judging runs, or None for each if a run is missing or failed.

    Args:
        seeds: engine seeds of the judging runs.
    """
    try:
        runs = [table.measure(Request(game, (cell,), budget, seed=seed)) for seed in seeds]
        # The runs come first: for one that is shorter than the budget, they are an error, and a second timing is not.
        if timing := second_timing(table, game, cell, budget):
            runs = [timing]
    except MissingCellError:
        runs = []
    if not runs or not all(run.ok for run in runs):
        return dict.fromkeys(("x", "speed", "uniform", "iterations"))
    return {
        "x": [_rounded(run.exploitability) for run in runs],
        "speed": [_rounded(run.throughput / run.reference_throughput) for run in runs],
        "uniform": _rounded(runs[0].uniform_exploitability),
        "iterations": runs[0].iterations,
    }


def _pick_indices(catalog: Catalog, picks: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Return the flat indices of the picks in the catalog, by budget and name of the reward weights."""
    indices: dict[str, dict[str, int]] = {}
    for _, row in picks.iterrows():
        cell = Cell.of(row.to_dict())
        indices.setdefault(row["budget"], {})[row["preset"]] = catalog.flat(cell)
    return indices


def _rounded(value: float | None) -> float | None:
    """Return a value rounded to the page's digits; None if it is None, infinite or NaN."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{DIGITS}g}")


def _runs_of(frame: pd.DataFrame, catalog: Catalog, games: Iterable[str]) -> pd.DataFrame:
    """Return the rows of a frame of runs that are about the page's games and algorithms."""
    cells = set(catalog)
    names = set(map(openspiel_name, games))
    rows = zip(frame["openspiel_name"], *(frame[axis] for axis in AXES), strict=True)
    return frame[[name in names and Cell(*cell) in cells for name, *cell in rows]]


def _provenance(frame: pd.DataFrame) -> str:
    """Return a sentence on the runs: their number, engine versions, processors and dates."""

    def values_of(column: str) -> str:
        return ", ".join(sorted(map(str, frame[column].dropna().unique())))

    first = str(frame["measured_at"].min())[:10]
    last = str(frame["measured_at"].max())[:10]
    dates = first if first == last else f"{first} to {last}"
    return f"{len(frame):,} runs of engine {values_of('engine_version')} on {values_of('processor')}, {dates}."
