"""The picture of how methods' picks compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from rlccfr.pictures import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKS = "osD^vP*X<>"
SHORTEST = 1e-4
"""Regrets below it are drawn there: the axis is logarithmic."""


def draw_regrets(frame: pd.DataFrame, axes: Axes | None = None) -> Axes:
    """Regret of each method, a line for each game, budget and preset: the further to the left, the better.

    Args:
        frame: of a :class:`rlccfr.agents.RecommendationTable`; rows without a regret are left out.
    """
    known = frame.dropna(subset="regret")
    names = known["game"] + ", " + known["budget"] + ", " + known["preset"]
    lines = list(dict.fromkeys(names))
    axes = axes if axes is not None else new_axes(8.0, 1.6 + 0.28 * len(lines))
    methods = list(known.groupby("method", sort=False))
    for number, (mark, (method, rows)) in enumerate(zip(MARKS * 2, methods, strict=False)):
        beside = 0.6 * (number / max(1, len(methods) - 1) - 0.5)  # so that none hides another
        places = [lines.index(name) + beside for name in names[rows.index]]
        axes.plot(rows["regret"].clip(lower=SHORTEST), places, mark, label=method, alpha=0.8)
    axes.set_yticks(range(len(lines)), lines)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel(f"regret of the mean reward to the best of all ({SHORTEST:g} stands for less)")
    axes.grid(axis="x", alpha=0.3)
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return axes
