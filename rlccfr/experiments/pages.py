"""Parts of pages: means with intervals, tables, and pictures of curves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from rlccfr.pictures import new_axes, save

LEVEL = 0.95
"""Level of all intervals."""


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield f"| {' | '.join(columns)} |"
    yield "|---" * len(columns) + "|"
    for row in rows:
        yield f"| {' | '.join(map(str, row))} |"


def interval(values: Iterable[float]) -> str:
    """Return the mean of some values, and half the width of Student's interval if there are several."""
    found = np.asarray(list(values))
    if len(found) < 2:
        return f"{found.mean():.3g}"
    half = float(stats.t.ppf((1 + LEVEL) / 2, len(found) - 1) * stats.sem(found))
    return f"{found.mean():.3g} ± {half:.2g}"


def ratio(above: Iterable[float], below: Iterable[float]) -> str:
    """Return the geometric mean of ratios, pair by pair, and Student's interval on the logarithmic scale if it has one.

    Args:
        above, below: as many values each, in the order of seeds.
    """
    logs = np.log(np.asarray(list(above))) - np.log(np.asarray(list(below)))
    if len(logs) < 2:
        return f"{np.exp(logs.mean()):.3g}"
    half = stats.t.ppf((1 + LEVEL) / 2, len(logs) - 1) * stats.sem(logs)
    low, middle, high = np.exp(logs.mean() + np.array([-half, 0.0, half]))
    return f"{middle:.3g} ({low:.3g} to {high:.3g})"


def draw(rows: pd.DataFrame, x: str, by: str, path: Path, title: str) -> None:
    """Draw exploitability over ``x`` on logarithmic axes: a line for each value of ``by``.

    A line is the geometric mean over seeds, and its band Student's interval.

    Args:
        rows: columns ``x``, ``by``, ``seed`` and ``exploitability``; all seeds have the same values of ``x``, or nearly
            the same, in the same order.
    """
    axes = new_axes()
    for name, own in rows.groupby(by, sort=False):
        place = own.groupby("seed").cumcount()
        logs = np.log(own["exploitability"]).groupby(place)
        middle, count = logs.mean(), logs.count()
        half = stats.t.ppf((1 + LEVEL) / 2, (count - 1).clip(lower=1)) * logs.sem(ddof=1).fillna(0.0)
        at = own[x].groupby(place).mean()
        (line,) = axes.loglog(at, np.exp(middle), label=str(name))
        axes.fill_between(at, np.exp(middle - half), np.exp(middle + half), color=line.get_color(), alpha=0.2)
    axes.set(title=title, xlabel=x, ylabel="exploitability (NashConv / 2)")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    save(axes, path)
