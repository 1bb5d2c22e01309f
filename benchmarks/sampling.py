"""What drawing chance is worth on games with a public tree, against time.

``python -m benchmarks.sampling measure`` runs what is not yet in ``benchmarks/results/sampling.csv``, and
``python -m benchmarks.sampling > docs/sampling.md`` writes the page and draws its picture.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import rlccfr
from rlccfr.envs.measuring.provenance import processor_model
from rlccfr.pictures import save

RULE = "cfr"
SAMPLERS = {
    "none": "exact passes",
    "public_chance": "PCS",
    "opponent_public_chance": "OPCS",
    "self_public_chance": "SPCS",
    "chance": "CS",
}
GAMES = {
    "[2-1] hold'em": ("holdem", 20.0),
    "[2-4] hold'em": ("holdem(raises=4)", 40.0),
    "Bluff(2,1)": ("bluff(dice=2)", 30.0),
}
"""Name and CPU seconds of each game."""

SEEDS = 5
STORE = Path(__file__).parent / "results" / "sampling.csv"
PICTURE = Path(__file__).parent.parent / "docs" / "sampling.svg"
TIMES = (1.0, 3.0, 10.0, 20.0)
"""CPU seconds at which the page compares exploitabilities."""


def measured() -> pd.DataFrame:
    """Return the points measured so far."""
    columns = ["game", "processor", "sampler", "seed", "iterations", "seconds", "exploitability"]
    return pd.read_csv(STORE) if STORE.exists() else pd.DataFrame(columns=columns)


def measure() -> None:
    """Measure the runs that are missing, and keep each as soon as it has ended."""
    for title, (name, seconds) in GAMES.items():
        game = None
        for seed in range(SEEDS):
            for sampler in list(SAMPLERS)[seed > 0 :]:  # exact passes draw nothing, so one run is enough
                known = measured()
                if len(known[(known["game"] == title) & (known["sampler"] == sampler) & (known["seed"] == seed)]):
                    continue
                game = game or rlccfr.load_game(name)
                solver = rlccfr.Solver(game, RULE, sampler, seed=seed)
                solver.run(seconds=seconds)
                points = [point for point in solver.points if point.iteration > 0]
                print(f"{title}, {sampler}, seed {seed}: {points[-1]}", file=sys.stderr, flush=True)
                run = (title, processor_model(), sampler, seed)
                rows = [(*run, one.iteration, one.cpu_seconds, one.exploitability) for one in points]
                new = pd.DataFrame(rows, columns=known.columns)
                (new if known.empty else pd.concat([known, new])).to_csv(STORE, index=False, float_format="%.6g")


def at(points: pd.DataFrame, seconds: float) -> float:
    """Return a run's exploitability after some CPU seconds, read between points of its curve on logarithmic axes.

    NaN before the first point.
    """
    if points["seconds"].min() > seconds:
        return float("nan")
    x, y = np.log(points["seconds"]), np.log(points["exploitability"])
    return float(np.exp(np.interp(np.log(seconds), x, y)))


def means(points: pd.DataFrame, title: str, sampler: str) -> list[float]:
    """Return the geometric mean over seeds of the exploitability at each of :data:`TIMES`."""
    own = points[(points["game"] == title) & (points["sampler"] == sampler)]
    return [float(np.exp(np.mean([np.log(at(run, seconds)) for _, run in own.groupby("seed")]))) for seconds in TIMES]


def draw(points: pd.DataFrame) -> None:
    """Draw all runs: exploitability against CPU seconds, a picture per game."""
    _, axes = plt.subplots(1, len(GAMES), figsize=(12, 4), layout="constrained")
    for axis, title in zip(axes, GAMES, strict=True):
        for number, (sampler, name) in enumerate(SAMPLERS.items()):
            own = points[(points["game"] == title) & (points["sampler"] == sampler)]
            for seed, run in own.groupby("seed"):
                label = name if seed == 0 else None
                axis.loglog(run["seconds"], run["exploitability"], color=f"C{number}", lw=1, alpha=0.8, label=label)
        axis.set(title=title, xlabel="CPU seconds", ylabel="exploitability", xlim=(0.03, None))
    axes[0].legend()
    save(axes[0], PICTURE)


def told(value: float, best: bool) -> str:
    """Return a cell of the table; the best of a column is bold."""
    if np.isnan(value):
        return "—"
    return f"**{value:.3g}**" if best else f"{value:.3g}"


def page(points: pd.DataFrame) -> Iterator[str]:
    """Yield the lines of the page."""
    yield from (
        "# Drawing chance, or passing over all of it",
        "",
        "Written by `python -m benchmarks.sampling`; not edited by hand.",
        "",
        f"The update rule is `{RULE}`, on one thread, with {SEEDS} seeds for what draws. Exact passes meet all "
        "boards and private states. Public chance sampling (PCS) draws a public outcome at each chance node. OPCS also "
        "draws the opponent's private state, SPCS the player's own, and CS both (Johanson, Bard, Lanctot, Gibson and "
        "Bowling, AAMAS 2012). A number is the exploitability of the average policy, as the geometric mean over "
        "seeds. Times are in engine CPU seconds; a dash means that the first iteration takes longer.",
        "",
        "In the figures of that paper, PCS converges fastest on [2-1] and [2-4] hold'em, and OPCS and SPCS are slower "
        "than CS; on Bluff with two dice each, PCS is far ahead of CS. The paper has no exact passes.",
        "",
        "![Exploitability against CPU seconds](sampling.svg)",
    )
    for title in GAMES:
        found = {name: means(points, title, sampler) for sampler, name in SAMPLERS.items()}
        best = np.nanmin(list(found.values()), axis=0).tolist()
        processors = " and ".join(points[points["game"] == title]["processor"].unique())
        yield from ("", f"## {title}", "", f"On {processors}.", "")
        yield f"| | {' | '.join(f'{seconds:g} s' for seconds in TIMES)} |"
        yield "|" + "---|" * (len(TIMES) + 1)
        for name, values in found.items():
            cells = [told(value, value == least) for value, least in zip(values, best, strict=True)]
            yield f"| {name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    if sys.argv[1:] == ["measure"]:
        measure()
    else:
        draw(measured())
        print("\n".join(page(measured())))
