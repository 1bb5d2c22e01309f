"""The picture of the methods' regrets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from rlccfr.pictures import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKS = "osD^vP*X<>"
SHORTEST = 1e-4
"""Least regret on the logarithmic axis; smaller regrets are drawn at this value."""


def draw_regrets(frame: pd.DataFrame, axes: Axes | None = None) -> Axes:
    """Draw each method's regret, on one line per game, budget and reward weights; further left is better.

    Args:
        frame: frame of a :class:`rlccfr.agents.RecommendationTable`; rows without a regret are left out.
    """
    known = frame.dropna(subset="regret")
    names = known["game"] + ", " + known["budget"] + ", " + known["preset"]
    lines = list(dict.fromkeys(names))
    if axes is None:
        axes = new_axes(8.0, 1.6 + 0.28 * len(lines))
        axes.set_title("Shortfall of each method's pick from the best algorithm")
    methods = list(known.groupby("method", sort=False))
    for number, (mark, (method, rows)) in enumerate(zip(MARKS * 2, methods, strict=False)):
        beside = 0.6 * (number / max(1, len(methods) - 1) - 0.5)  # so that no mark hides another
        places = [lines.index(name) + beside for name in names[rows.index]]
        axes.plot(rows["regret"].clip(lower=SHORTEST), places, mark, label=method, alpha=0.8)
    axes.set_yticks(range(len(lines)), lines)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel(f"regret in mean reward with respect to the VBS (smaller ones are drawn at {SHORTEST:g})")
    axes.grid(axis="x", alpha=0.3)
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return axes
