"""The cost of an iteration as games grow, from Kuhn to millions of histories; each game has processes of its own.

The line fitted to the logarithms has slope 1 if the cost is proportional to the number of leaf pairs and sequences.
The cost of a game also depends on how many of them the policy reaches.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import rlccfr
from benchmarks.memory import peak_bytes
from benchmarks.race import engine_seconds

GAMES = (
    "kuhn",
    "goofspiel",
    "leduc",
    "liars_dice(dice_sides=3)",
    "liars_dice(dice_sides=4)",
    "liars_dice(dice_sides=5)",
    "liars_dice(dice_sides=6)",
    "royal",
    "liars_dice(dice_sides=7)",
    "liars_dice(dice_sides=8)",
)
PICTURE = Path(__file__).parent.parent / "docs" / "scaling.svg"


def measure(name: str) -> dict[str, Any]:
    """Measure the size, memory and cost of one game."""
    rlccfr.load_game("kuhn")  # so that imports are not counted
    begin = time.process_time()
    game = rlccfr.load_game(name, max_histories=20_000_000)
    loaded = time.process_time() - begin
    solver = rlccfr.Solver(game, "cfr_plus", reduce=False)
    solver.run(iterations=20, curve=False)

    count = max(3, int(0.2 / max(engine_seconds(solver, 3) / 3, 1e-6)))
    seconds = min(engine_seconds(solver, count) for _ in range(3)) / count
    view = sum(array.nbytes for array in game.view)
    histories = sum(array.nbytes for array in (game.histories, game.probability, game.edge_action))
    return {
        "game": name,
        "histories": game.num_histories,
        "infosets": game.num_infosets,
        "size": game.num_leaf_pairs + game.num_sequences,
        "seconds": seconds,
        "load": loaded,
        "bytes a history": histories / game.num_histories,
        "bytes an infoset": view / game.num_infosets,
        "peak": peak_bytes(),
    }


def alone(name: str) -> dict[str, Any]:
    """Measure a game in a process that compiles it, and the loading in another process that finds it compiled."""
    command = [sys.executable, "-m", "benchmarks.scaling", name]
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "RLCCFR_CACHE": cache}
        first, second = (
            json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout)
            for _ in range(2)
        )
    return {**first, "again": second["load"]}


def report() -> list[str]:
    """Return the table as Markdown, and draw the picture."""
    rows = [alone(name) for name in GAMES]
    heads = ("game", "histories", "infosets", "leaf pairs + sequences", "us per iteration", "ns each",
             "compile, CPU s", "load again, CPU s",
             "bytes per history", "bytes per infoset", "peak MB")  # fmt: skip
    lines = ["![cost by size](scaling.svg)", "", f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for row in rows:
        lines.append(
            f"| {row['game']} | {row['histories']:,} | {row['infosets']:,} | {row['size']:,} | "
            f"{row['seconds'] * 1e6:.4g} | {row['seconds'] / row['size'] * 1e9:.3g} | {row['load']:.2g} | "
            f"{row['again']:.2g} | {row['bytes a history']:.0f} | {row['bytes an infoset']:.0f} | "
            f"{row['peak'] / 1e6:.0f} |"
        )
    sizes, seconds = (np.array([row[key] for row in rows], float) for key in ("size", "seconds"))
    slope, offset = np.polyfit(np.log(sizes), np.log(seconds), 1)
    draw(rows, sizes, np.exp(offset) * sizes**slope)
    return [*lines, "", f"Slope of log cost over log size: {slope:.3f}."]


def draw(rows: list[dict[str, Any]], sizes: np.ndarray, fitted: np.ndarray) -> None:
    """Draw the costs and the fitted line."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    order = np.argsort(sizes)
    axes.loglog(sizes[order], fitted[order] * 1e6, color="0.6", label="fitted line")
    axes.loglog(sizes, [row["seconds"] * 1e6 for row in rows], "o", color="C0", label="CFR+, exact")
    for row, size in zip(rows, sizes, strict=True):
        dice = row["game"].startswith("liars_dice")  # below the line, others above it: some are equally large
        label = row["game"].replace("liars_dice(dice_sides=", "liar's dice, ").replace(")", " faces")
        side, shift = ("left", (6, -9)) if dice else ("right", (-6, 4))
        at = (size, row["seconds"] * 1e6)
        axes.annotate(label, at, xytext=shift, textcoords="offset points", fontsize=8, ha=side)
    axes.margins(x=0.15)
    axes.set_xlabel("leaf pairs + sequences")
    axes.set_ylabel("CPU microseconds per iteration")
    axes.legend(frameon=False)
    figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
