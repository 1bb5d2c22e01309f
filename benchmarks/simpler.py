"""Where simpler methods choose as well as the team, and where its gain on unseen games comes from.

Sections of docs/selection.md. The figures also go to benchmarks/results/selection.json, from which
``python -m benchmarks.readme`` copies some into the README.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks import methods
from benchmarks.markdown import table
from rlccfr.agents import shipped
from rlccfr.agents.judging.unseen_games import summary
from rlccfr.cli.commands import demo
from rlccfr.files import write_atomically

FIGURES = Path(__file__).parent / "results" / "selection.json"
DIGITS = 4
"""Number of decimals of the kept figures."""

COLUMNS = {"preset": "reward weights", "budget": "budget"}
"""Columns of the judgements by which the gain is split, with their names in the tables."""


def as_the_demo(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the lines on methods with as few evaluations as in `make demo`."""
    yield from (f"## {demo.EVALUATIONS} evaluations of {len(shipped.tabular())}, as in `make demo`", "")
    yield (
        f"The game is {demo.GAME}, the budget {methods.DEMO_BUDGET}, and the reward weights are `{demo.PRESET}`. The "
        f"algorithms are those without networks. All are means over {rows['seed'].nunique()} seeds."
    )
    yield ""
    means = rows.groupby("method", sort=False)[["normalised_score", "regret", "spent"]].mean()
    yield from table(means.rename(columns={"normalised_score": "score", "spent": "evaluations"}).reset_index())


def by_circumstance(own: pd.DataFrame) -> Iterator[str]:
    """Yield the lines on a chooser's gain on unseen games, by reward weights and by budget."""
    for column, name in COLUMNS.items():
        found = gains(own, column)
        sure = [str(one[name]) for one in found if is_above_zero(one)]
        yield from ("", f"By {name}, over all {own['game'].nunique()} games:", "")
        yield from table(pd.DataFrame(found))
        listed = f" ({', '.join(sure)})" if sure else ""
        yield from ("", f"The interval is above 0 for {len(sure)} of {len(found)}{listed}.")


def gains(own: pd.DataFrame, column: str) -> list[dict[str, Any]]:
    """Return mean regrets on unseen games and the gain with its interval, one row per value of a column.

    Args:
        own: judgements of a chooser.
        column: key of :data:`COLUMNS`.
    """
    groups = own.groupby(column, sort=False)
    return [{COLUMNS[column]: value, **_together(group)} for value, group in groups]


def is_above_zero(gain: dict[str, Any]) -> bool:
    """Return whether a gain has an interval that lies above 0."""
    return bool(gain.get("gain from", 0.0) > 0)


def figures(hundred: pd.DataFrame, ladder: pd.DataFrame, few: pd.DataFrame, own: pd.DataFrame) -> dict[str, Any]:
    """Return the figures to save: mean regrets and scores by method, and gains on unseen games.

    Args:
        hundred: judged choices at a hundred evaluations.
        ladder: judged choices with fewer and more evaluations.
        few: judged choices with as many evaluations as in `make demo`.
        own: judgements of the package's chooser for games that were not measured.
    """
    scores = ladder.groupby(["method", "evaluations"], sort=False)["normalised_score"].mean().round(DIGITS)
    return {
        "hundred": hundred.groupby("method", sort=False)["regret"].mean().round(DIGITS).to_dict(),
        "ladder": {
            method: {str(n): scores[method, n] for n in scores[method].index} for method in ladder["method"].unique()
        },
        "demo": few.groupby("method", sort=False)["normalised_score"].mean().round(DIGITS).to_dict(),
        "unseen games": {
            "all": _rounded(_together(own)),
            **{column: [_rounded(one) for one in gains(own, column)] for column in COLUMNS},
        },
    }


def keep(found: dict[str, Any]) -> None:
    """Write the figures to :data:`FIGURES`."""
    write_atomically(FIGURES, (json.dumps(found, indent=1) + "\n").encode())


def _together(rows: pd.DataFrame) -> dict[str, float]:
    """Return the summary of games of all kinds."""
    return summary(rows.assign(kind="all"))["all"]


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    return {name: round(value, DIGITS) if isinstance(value, float) else value for name, value in row.items()}
