"""The output of ``render()``: lines of text or a picture of an episode or of a controlled run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rlccfr.catalog import Cell
from rlccfr.components.controller import SETTINGS
from rlccfr.envs.measuring.evaluator import Measurement
from rlccfr.policy import EXACT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, HEIGHT, DPI = 640, 400, 100
"""Size of the picture in pixels, and its pixels per inch."""

MOST_COLUMNS = 12
"""Largest number of segments whose settings are written side by side; a longer run shows only its last segments."""


def as_text(heading: str, history: list[tuple[Cell, Measurement, float]]) -> str:
    """Return an episode as text.

    Args:
        heading: first line.
        history: algorithm, measurement and reward of each segment so far; each segment gets a line.
    """
    lines = [heading]
    for segment, (algorithm, measured, reward) in enumerate(history, 1):
        if not measured.ok:
            lines.append(f"  {segment}. {algorithm}: {measured.status}, reward {reward:.3f}")
            continue
        note = "" if measured.converged else " (not converged)"
        lines.append(
            f"  {segment}. {algorithm}: exploitability {measured.exploitability:.3g}{note}, "
            f"{measured.iterations:,} iterations at {measured.throughput:,.0f}/s "
            f"(plain CFR {measured.reference_throughput:,.0f}/s), reward {reward:.3f}"
        )
    return "\n".join(lines)


def as_picture(heading: str, record: Mapping[str, Any] | None, uniform: float) -> np.ndarray:
    """Draw a record's curve, exploitability by iteration, on logarithmic scales.

    Args:
        heading: title of the picture.
        record: record with its ``curve`` as a DataFrame; with None, only ``uniform`` is drawn.
        uniform: exploitability of the uniform policy, drawn as a line.

    Returns:
        Shape (HEIGHT, WIDTH, 3) array of uint8.
    """
    figure = _empty_figure()
    axes = figure.add_subplot()
    _prepare_curve(axes, heading, uniform)
    curve: pd.DataFrame | None = record["curve"] if record is not None else None
    if curve is not None and len(curve):
        axes.plot(curve["iteration"], curve["exploitability"].clip(lower=EXACT), label="average policy")
        axes.plot(
            curve["iteration"], curve["exploitability_current"].clip(lower=EXACT), linewidth=0.8, label="current policy"
        )
    axes.legend(loc="lower left", fontsize="small")
    return _pixels(figure)


def as_run_picture(
    heading: str,
    points: Sequence[tuple[int, float]],
    settings: Sequence[Mapping[str, float | bool | None]],
    horizon: int,
) -> np.ndarray:
    """Draw a controlled run: its convergence, and below it the settings of each segment.

    Args:
        heading: title of the picture.
        points: number of iterations and exploitability of the average policy, at the start and after each segment; no
            points if no run has begun.
        settings: settings of each segment, by name.
        horizon: number of iterations of the whole run.

    Returns:
        Shape (HEIGHT, WIDTH, 3) array of uint8.
    """
    figure = _empty_figure()
    upper, lower = figure.subplots(2, height_ratios=(2, 1))
    _prepare_curve(upper, heading, points[0][1] if points else None)
    upper.set_xlim(1, max(2, horizon))
    if len(points) > 1:
        # The start is left out, because a logarithmic axis has no place for 0 iterations.
        iterations, exploitabilities = zip(*points[1:], strict=True)
        upper.plot(iterations, np.maximum(exploitabilities, EXACT), marker="o", markersize=3, label="average policy")
    if points:
        upper.legend(loc="lower left", fontsize="small")
    _write_settings(lower, settings)
    return _pixels(figure)


def _write_settings(axes: Axes, settings: Sequence[Mapping[str, float | bool | None]]) -> None:
    """Write a table of settings: a row for each setting, and a column for each of the last segments."""
    first = max(0, len(settings) - MOST_COLUMNS)
    axes.set_xlabel("segment")
    axes.set_xlim(first + 0.5, first + MOST_COLUMNS + 0.5)
    axes.set_xticks(range(first + 1, len(settings) + 1))
    axes.set_ylim(len(SETTINGS) - 0.5, -0.5)
    axes.set_yticks(range(len(SETTINGS)), SETTINGS)
    axes.tick_params(labelsize="x-small", length=0)
    for segment, values in enumerate(settings[first:], first + 1):
        for row, name in enumerate(SETTINGS):
            axes.text(segment, row, _as_word(values[name]), ha="center", va="center", fontsize="x-small")


def _as_word(setting: float | bool | None) -> str:
    """Return a setting as it appears in the table."""
    if setting is None:
        return "-"
    if isinstance(setting, bool):
        return "yes" if setting else "no"
    return f"{setting:g}"


def _empty_figure() -> Figure:
    """Return a figure of the picture's size, without pyplot, whose global state would keep it alive."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH / DPI, HEIGHT / DPI), dpi=DPI, layout="tight")
    FigureCanvasAgg(figure)  # sets the figure's canvas
    return figure


def _prepare_curve(axes: Axes, heading: str, uniform: float | None) -> None:
    """Prepare axes for a convergence curve, with a line at the uniform policy's exploitability."""
    axes.set(xscale="log", yscale="log", xlabel="iteration", ylabel="exploitability", title=heading)
    if uniform is not None:
        axes.axhline(max(uniform, EXACT), color="0.6", linestyle=":", label="uniform policy")


def _pixels(figure: Figure) -> np.ndarray:
    """Return a figure as an array of uint8, (HEIGHT, WIDTH, 3)."""
    canvas: Any = figure.canvas
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[:, :, :3].copy()
