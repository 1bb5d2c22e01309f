"""Parts of pages: means with intervals, tables, and pictures of curves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from rlccfr.experiments.experiment import ALIKE, FAILS, HOLDS, OPEN
from rlccfr.pictures import new_axes, save

LEVEL = 0.95
"""Level of all intervals."""

MUCH = 0.01
"""Bound on a ratio that is smaller by orders of magnitude."""


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


def grouped(rows: pd.DataFrame, *keys: str, value: str = "exploitability") -> dict[tuple[str, ...], list[float]]:
    """Return a column's values by other columns, the groups in the rows' order, each in the order of seeds."""
    found: dict[tuple[str, ...], list[float]] = {
        tuple(map(str, row)): [] for row in rows[[*keys]].itertuples(index=False)
    }
    for *key, one in rows.sort_values("seed", kind="stable")[[*keys, value]].itertuples(index=False):
        found[tuple(map(str, key))].append(float(one))
    return found


def ends_of(rows: pd.DataFrame, *keys: str) -> pd.DataFrame:
    """Return the last row of each run: of each value of ``keys`` and each seed."""
    return rows.groupby([*keys, "seed"], sort=False).tail(1)


class Ratio(NamedTuple):
    """A geometric mean of ratios, with Student's interval on the logarithmic scale; NaN if there is only one."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, above: Iterable[float], below: Iterable[float]) -> Ratio:
        """Return the ratio of values in pairs, such as those of the same seed."""
        logs = np.log(np.asarray(list(above))) - np.log(np.asarray(list(below)))
        half = stats.t.ppf((1 + LEVEL) / 2, len(logs) - 1) * stats.sem(logs) if len(logs) > 1 else np.nan
        return cls(*(float(np.exp(logs.mean() + shift)) for shift in (0.0, -half, half)))

    def __str__(self) -> str:
        return f"{self.mean:.3g}" + ("" if np.isnan(self.low) else f" ({self.low:.3g} to {self.high:.3g})")

    @property
    def below_one(self) -> str:
        """Verdict on the claim that the ratio is below 1; a ratio without an interval tells nothing."""
        return self.below(1.0)

    def below(self, bound: float) -> str:
        """Verdict on the claim that the ratio is below a bound."""
        return HOLDS if self.high < bound else FAILS if self.low > bound else OPEN

    @property
    def above_one(self) -> str:
        """Verdict on the claim that the ratio is above 1."""
        return HOLDS if self.low > 1 else FAILS if self.high < 1 else OPEN

    @property
    def one(self) -> str:
        """Verdict on the claim that the ratio is 1, which an interval can refute but not prove."""
        if np.isnan(self.low):
            return OPEN
        return ALIKE if self.low <= 1 <= self.high else FAILS


def all_of(verdicts: Iterable[str]) -> str:
    """Return the verdict on several claims together: that of the weakest."""
    together = set(verdicts)
    return next((verdict for verdict in (FAILS, OPEN, ALIKE, HOLDS) if verdict in together), OPEN)


def told(holds: bool) -> str:
    """Return the verdict on what can be told by looking."""
    return HOLDS if holds else FAILS


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
