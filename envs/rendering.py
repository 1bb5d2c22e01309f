"""The output of ``render()`` for an episode: a few lines of text, or the convergence curve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from rlccfr.catalog import Cell
from rlccfr.envs.measuring.evaluator import Measurement
from rlccfr.policy import EXACT

WIDTH, HEIGHT, DPI = 640, 400, 100
"""Size of the picture in pixels, and its pixels per inch."""


def as_text(heading: str, history: list[tuple[Cell, Measurement, float]]) -> str:
    """Return a line for the episode and one per segment so far, with its algorithm, numbers and reward."""
    lines = [heading]
    for segment, (cell, measured, reward) in enumerate(history, 1):
        if not measured.ok:
            lines.append(f"  {segment}. {cell}: {measured.status}, reward {reward:.3f}")
            continue
        note = "" if measured.converged else " (not converged)"
        lines.append(
            f"  {segment}. {cell}: exploitability {measured.exploitability:.3g}{note}, "
            f"{measured.iterations:,} iterations at {measured.throughput:,.0f}/s "
            f"(plain CFR {measured.reference_throughput:,.0f}/s), reward {reward:.3f}"
        )
    return "\n".join(lines)


def as_picture(heading: str, record: Mapping[str, Any] | None, uniform: float) -> np.ndarray:
    """Draw a record's curve: exploitability by iteration, on logarithmic scales.

    Args:
        heading: title of the picture.
        record: record with its ``curve`` as a DataFrame; with None, only ``uniform`` is drawn.
        uniform: exploitability of the uniform policy, drawn as a line.

    Returns:
        Shape (HEIGHT, WIDTH, 3) array of uint8.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH / DPI, HEIGHT / DPI), dpi=DPI, layout="tight")
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_subplot(xscale="log", yscale="log", xlabel="iteration", ylabel="exploitability", title=heading)
    axes.axhline(uniform, color="0.6", linestyle=":", label="uniform policy")
    curve: pd.DataFrame | None = record["curve"] if record is not None else None
    if curve is not None and len(curve):
        axes.plot(curve["iteration"], curve["exploitability"].clip(lower=EXACT), label="average policy")
        axes.plot(
            curve["iteration"], curve["exploitability_current"].clip(lower=EXACT), linewidth=0.8, label="last iterate"
        )
    axes.legend(loc="lower left", fontsize="small")
    canvas.draw()  # type: ignore[no-untyped-call]
    pixels = np.asarray(canvas.buffer_rgba())  # type: ignore[no-untyped-call]
    return pixels[:, :, :3].copy()
