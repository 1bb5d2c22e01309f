"""Displays below the progress bar while a solver runs or a team is trained."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rlccfr.catalog import Cell
from rlccfr.policy import EXACT

if TYPE_CHECKING:
    from rlccfr.solver import Solver

WIDTH = 64
"""Width of a curve, in characters."""

HEIGHT = 10
"""Height of a curve, in characters."""

SITUATIONS = 12
"""Number of situations (game, budget, reward weights) whose picks are shown, the latest ones; they fit a terminal."""

DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
"""Bits of a Braille character's dots in Unicode, to be added to :data:`BLANK`."""

BLANK = 0x2800
"""The Braille character without dots. Each character is a cell of two columns and four rows of dots."""


def solving(solver: Solver) -> Callable[[], RenderableType]:
    """Return a function that draws a run's convergence curve so far, with its exploitability and speed."""

    def draw() -> RenderableType:
        points = [point for point in solver.points if point.iteration > 0]
        if not points:
            return Text()
        last = points[-1]
        speed = f", {last.iteration / last.cpu_seconds:,.0f} per CPU second" if last.cpu_seconds > 0 else ""
        if math.isnan(last.exploitability):  # not known, in a game that is too large
            return Text(f"{last.iteration:,} iterations{speed}")
        lines = curve([point.iteration for point in points], [point.exploitability for point in points])
        facts = f"exploitability {last.exploitability:.3g} after {last.iteration:,} iterations{speed}"
        return Text("\n".join([facts, *lines]), no_wrap=True)

    return draw


class TrainingView:
    """View of a team's training: its last measurement, and its latest pick in each situation."""

    def __init__(self) -> None:
        self._last: Mapping[str, Any] = {}
        self._picks: dict[tuple[str, ...], str] = {}

    def saw(self, row: Mapping[str, Any]) -> None:
        """Record a measured episode.

        Args:
            row: row of ``training.csv``.
        """
        situation = (str(row["game"]), str(row["budget"]), f"{row['preset']} ({row['scale']})")
        # Another dict, the latest situation last: another thread may be drawing the old one.
        earlier_picks = {key: pick for key, pick in self._picks.items() if key != situation}
        self._picks = {**earlier_picks, situation: _algorithm(row, "greedy_")}
        self._last = row

    def __call__(self) -> RenderableType:
        """Return the current display."""
        row = self._last
        if not row:
            return Text()
        table = Table("game", "budget", "weights", "pick after its last measurement", box=None, pad_edge=False)
        for situation, pick in list(self._picks.items())[-SITUATIONS:]:
            table.add_row(*situation, pick)
        measured = (
            f"{row['evaluations']} measured; last: {_algorithm(row)} on {row['game']}, exploitability "
            f"{row['exploitability']:.3g}, {row['throughput']:,.0f} iterations/s, reward {row['mean_reward']:.3f}"
        )
        return Group(Text(measured), table)


def _algorithm(row: Mapping[str, Any], prefix: str = "") -> str:
    """Return the algorithm in those columns of a row whose names begin with ``prefix``."""
    return str(Cell.of(row, prefix))


def curve(x: Sequence[float], y: Sequence[float], width: int = WIDTH, height: int = HEIGHT) -> list[str]:
    """Return lines of text that draw a curve on logarithmic axes, with the ends of the axes beside and below it.

    Args:
        x, y: coordinates of the points; ``x``, in iterations, is positive and increasing.
        width, height: size of the drawing, in characters.
    """
    log_x = np.log10(np.asarray(x, dtype=float))
    floor = EXACT * (max(y) or 1.0)  # curves begin near the range of payoffs, whatever their unit
    log_y = np.log10(np.maximum(y, floor))
    # The vertical axis spans whole decades, the horizontal one at least a decade.
    low = np.floor(log_y.min())
    high = np.floor(log_y.max()) + 1
    dot_x = np.linspace(log_x[0], max(log_x[-1], log_x[0] + 1), 2 * width)
    # One dot per column of dots as far as the curve goes; several dots share a character.
    dot_y = np.interp(dot_x[dot_x <= log_x[-1] + 1e-9], log_x, log_y)
    rows = np.rint((high - dot_y) / (high - low) * (4 * height - 1)).astype(int)
    columns = np.arange(len(rows))
    characters = np.full((height, width), BLANK)
    np.bitwise_or.at(characters, (rows // 4, columns // 2), DOTS[rows % 4, columns % 2])
    labels = {0: f"1e{high:+.0f}", height - 1: f"1e{low:+.0f}"}
    lines = [f"{labels.get(row, ''):>6} {''.join(map(chr, characters[row]))}" for row in range(height)]
    x_end = f"{10 ** dot_x[-1]:,.0f} iterations"
    return [*lines, f"{'':>6} {x[0]:<{width - len(x_end)},.0f}{x_end}"]
