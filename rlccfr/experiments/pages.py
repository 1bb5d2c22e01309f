"""The parts of pages: means with intervals, ratios and their verdicts, tables, and pictures of curves."""

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
"""Confidence level of all intervals."""

MUCH = 0.01
"""Ratio of two numbers below which the first counts as smaller by orders of magnitude."""


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield f"| {' | '.join(columns)} |"
    yield "|---" * len(columns) + "|"
    for row in rows:
        yield f"| {' | '.join(map(str, row))} |"


def interval(values: Iterable[float]) -> str:
    """Return the mean of values as a string, with half the width of Student's 95 % interval if there are several."""
    sample = np.asarray(list(values))
    if len(sample) < 2:
        return f"{sample.mean():.3g}"
    half_width = float(stats.t.ppf((1 + LEVEL) / 2, len(sample) - 1) * stats.sem(sample))
    return f"{sample.mean():.3g} ± {half_width:.2g}"


def with_fields(rows: pd.DataFrame, *names: str) -> pd.DataFrame:
    """Return the rows with columns for the fields of their cases' keys, by these names; only the first has slashes."""
    rows = rows.copy()
    rows[[*names]] = rows["case"].str.rsplit("/", n=len(names) - 1).tolist()
    return rows


def grouped(rows: pd.DataFrame, *keys: str, value: str = "exploitability") -> dict[tuple[str, ...], list[float]]:
    """Return a column's values, grouped by other columns.

    Args:
        rows: a table with the columns ``keys``, ``value`` and ``seed``.
        keys: names of the columns to group by.
        value: name of the column with the values.

    Returns:
        A list of values, in the order of seeds, for each combination of the key columns' values as strings. The
        combinations are in the order in which they first appear in the rows.
    """
    groups: dict[tuple[str, ...], list[float]] = {
        tuple(map(str, row)): [] for row in rows[[*keys]].itertuples(index=False)
    }
    for *key, number in rows.sort_values("seed", kind="stable")[[*keys, value]].itertuples(index=False):
        groups[tuple(map(str, key))].append(float(number))
    return groups


def ends_of(rows: pd.DataFrame, *keys: str) -> pd.DataFrame:
    """Return the last row of each run; a run is identified by the columns ``keys`` and ``seed``."""
    return rows.groupby([*keys, "seed"], sort=False).tail(1)


class Ratio(NamedTuple):
    """A geometric mean of ratios, with Student's interval on the logarithmic scale.

    Attributes:
        mean: the geometric mean.
        low: lower end of the interval; NaN if there is a single ratio.
        high: upper end of the interval; NaN if there is a single ratio.
    """

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, above: Iterable[float], below: Iterable[float]) -> Ratio:
        """Return the mean ratio of paired values, such as those of the same seed.

        Args:
            above: the numerators.
            below: the denominators, as many as there are numerators.
        """
        logs = np.log(np.asarray(list(above))) - np.log(np.asarray(list(below)))
        half_width = np.nan
        if len(logs) > 1:
            half_width = stats.t.ppf((1 + LEVEL) / 2, len(logs) - 1) * stats.sem(logs)
        return cls(*(float(np.exp(logs.mean() + shift)) for shift in (0.0, -half_width, half_width)))

    def __str__(self) -> str:
        mean = f"{self.mean:.3g}"
        return mean if np.isnan(self.low) else f"{mean} ({self.low:.3g} to {self.high:.3g})"

    @property
    def below_one(self) -> str:
        """Verdict on the claim that the ratio is below 1; :data:`OPEN` if the interval contains 1 or is missing."""
        return self.below(1.0)

    def below(self, bound: float) -> str:
        """Return the verdict on the claim that the ratio is below a bound.

        It is :data:`OPEN` if the bound lies in the interval, or if there is no interval.
        """
        if self.high < bound:
            return HOLDS
        return FAILS if self.low > bound else OPEN

    @property
    def above_one(self) -> str:
        """Verdict on the claim that the ratio is above 1; :data:`OPEN` if the interval contains 1 or is missing."""
        if self.low > 1:
            return HOLDS
        return FAILS if self.high < 1 else OPEN

    @property
    def equals_one(self) -> str:
        """Verdict on the claim that the ratio is 1, which an interval can refute but not prove."""
        if np.isnan(self.low):
            return OPEN
        return ALIKE if self.low <= 1 <= self.high else FAILS


def cell(value: float, best: float) -> str:
    """Return a cell of a table of numbers: bold if it is the best of its column, a dash if it is NaN."""
    if np.isnan(value):
        return "-"
    return f"**{value:.3g}**" if value == best else f"{value:.3g}"


def verdict_of(holds: bool) -> str:
    """Return the verdict on a claim that is decided without an interval."""
    return HOLDS if holds else FAILS


def wins(values: np.ndarray) -> str:
    """Return the verdict, by a t-test, on the claim that the mean of payoffs, (seeds,), is above 0."""
    if len(values) < 2:
        return OPEN
    if stats.ttest_1samp(values, 0.0).pvalue >= 1 - LEVEL:
        return ALIKE
    return HOLDS if values.mean() > 0 else FAILS


def draw(rows: pd.DataFrame, x: str, by: str, path: Path, title: str) -> None:
    """Draw exploitability over ``x`` on logarithmic axes: a line for each value of ``by``.

    A line is the geometric mean over seeds, and the band around it is Student's interval.

    Args:
        rows: a table with the columns ``x``, ``by``, ``seed`` and ``exploitability``. The points of all seeds are in
            the same order, at the same values of ``x`` or nearly so.
        x: name of the column for the horizontal axis.
        by: name of the column that distinguishes the lines.
        path: file of the picture.
        title: title of the picture.
    """
    axes = new_axes()
    for name, runs in rows.groupby(by, sort=False):
        # The k-th points of all seeds belong together, even if their values of x differ a little.
        place = runs.groupby("seed").cumcount()
        positions = runs[x].groupby(place).mean()
        logs = np.log(runs["exploitability"]).groupby(place)
        mean = logs.mean()
        degrees = (logs.count() - 1).clip(lower=1)
        half_width = stats.t.ppf((1 + LEVEL) / 2, degrees) * logs.sem(ddof=1).fillna(0.0)  # one seed has no band
        (line,) = axes.loglog(positions, np.exp(mean), label=str(name))
        low, high = np.exp(mean - half_width), np.exp(mean + half_width)
        axes.fill_between(positions, low, high, color=line.get_color(), alpha=0.2)
    axes.set(title=title, xlabel=x, ylabel="exploitability (NashConv / 2)")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    save(axes, path)
