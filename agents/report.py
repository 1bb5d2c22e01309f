"""A table of measurements as one page that needs nothing but a browser."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd

from rlccfr.agents.baselines import fixed_cells
from rlccfr.agents.table import RecommendationTable
from rlccfr.catalog import Catalog, Cell
from rlccfr.checkpoint import write_atomically
from rlccfr.envs.measurement import Budget, Request
from rlccfr.envs.reward import DECADES, PRESETS
from rlccfr.envs.table import TableEvaluator
from rlccfr.errors import RLCCFRError

DIGITS = 4
"""Of every number in the page."""

CURVE = {"iterations": "iteration", "seconds": "cpu_seconds", "nodes": "nodes", "x": "exploitability"}


def write_report(
    path: str | Path,
    table: TableEvaluator,
    catalog: Catalog,
    recommended: RecommendationTable,
    budgets: Sequence[Budget],
) -> Path:
    """Write a self-contained HTML page: every cell of each game, the Pareto front, curves, and what a team picks.

    Args:
        table: has the cells' runs; a cell without one is grey.
        recommended: of its games the page is; the team's rows are marked, and shown as a table.
        budgets: to choose from on the page, read off the runs' curves.

    Raises:
        RLCCFRError: plotly is not installed, or the file can't be written.
    """
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise RLCCFRError("a report needs the extra: pip install 'rlccfr[report]'") from None
    picks = recommended.picks
    data = {
        "axes": catalog.axes,
        "budgets": list(map(str, budgets)),
        "decades": DECADES,
        "presets": {preset.name: preset.weights for preset in PRESETS.values()},
        "fixed": {name: catalog.ravel(*catalog.index(cell)) for name, cell in fixed_cells(catalog).items()},
        "games": {
            game: _game(table, catalog, game, budgets, picks[picks["game"] == game])
            for game in dict.fromkeys(picks["game"])
        },
        "provenance": _provenance(table.frame()),
    }
    folder = files("rlccfr.agents") / "page"
    page = (folder / "report.html").read_text()
    parts = {
        "table": RecommendationTable(picks.drop(columns="method")).to_html(),
        "plotly": get_plotlyjs(),
        "data": json.dumps(data, allow_nan=False, separators=(",", ":")).replace("</", "<\\/"),
        "script": (folder / "report.js").read_text(),
    }
    for name, text in parts.items():
        page = page.replace(f"<!--{name}-->", text, 1)
    write_atomically(Path(path), page.encode(), RLCCFRError)
    return Path(path)


def _game(
    table: TableEvaluator, catalog: Catalog, game: str, budgets: Sequence[Budget], picks: pd.DataFrame
) -> dict[str, Any]:
    uniform, cells = 0.0, list[dict[str, Any] | None]()
    for cell in catalog:
        seeds = table.seeds(game, cell)
        runs = [table.measure(Request(game, (cell,), budget, seed=seeds[0])) for budget in budgets] if seeds else []
        if not runs or not runs[-1].ok:
            cells.append(None)
            continue
        uniform = runs[0].uniform_exploitability
        record = table.run(game, cell, seeds[0])
        cells.append(
            {
                "x": [_short(run.exploitability) for run in runs],
                "speed": [_short(run.throughput / run.reference_throughput) for run in runs],
                "seed": seeds[0],
                "iterations": record["iterations"],
                "curve": {name: [_short(value) for value in record["curve"][column]] for name, column in CURVE.items()},
            }
        )
    marked: dict[str, dict[str, int]] = {}
    for _, row in picks.iterrows():
        cell = Cell(row["update_rule"], row["sampler"], row["abstraction"])
        marked.setdefault(row["budget"], {})[row["preset"]] = catalog.ravel(*catalog.index(cell))
    return {"uniform": uniform, "picks": marked, "cells": cells}


def _short(value: float) -> float | None:
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None


def _provenance(frame: pd.DataFrame) -> str:
    """What measured these, where, and when."""

    def all_of(column: str) -> str:
        return ", ".join(sorted(map(str, frame[column].dropna().unique())))

    first, last = (str(value)[:10] for value in (frame["measured_at"].min(), frame["measured_at"].max()))
    return f"{len(frame):,} runs of engine {all_of('engine_version')} on {all_of('processor')}, {first} to {last}."
