"""Which update rule solves no-limit spots soonest: ``python -m benchmarks.spot_rules SPLIT``, as Markdown.

Each tabular rule that runs on a spot runs there once by exact passes, until its average policy has reached the finest
of :data:`TARGETS`. The engine's CPU seconds to each target are read off the run's curve, between two of its points by a
straight line in logarithms; measuring the curve does not count. A run ends when it has taken longer than
:data:`LONGEST` times the soonest rule so far, the first of which is the library's default.

The spots are those of benchmarks/results/spots.csv, see :mod:`benchmarks.spots`. Rules are chosen by the split
``train``; ``validation`` confirms a choice, and ``test`` judges it. Times are kept in
benchmarks/results/spot-rules.csv, and spots that are there are not run again.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import rlccfr
from benchmarks import spots
from benchmarks.control import fixed_rules
from benchmarks.markdown import table
from rlccfr.envs.measuring.provenance import processor_model
from rlccfr.experiments.curves import with_horizon
from rlccfr.files import write_atomically

FILE = Path(__file__).parent / "results" / "spot-rules.csv"

TARGETS = (1.0, 0.5, 0.1, 0.02)
"""Exploitability in per cent of the pot, the coarsest first."""

DEFAULT = "dcfr"
"""The rule of the public form's default, which runs first."""

HORIZON = 1000
"""Number of iterations that rules with a horizon are told."""

LONGEST = 2.0
"""Multiple of the soonest rule's time after which a run is stopped; a ratio counts as no more than that."""

LIMIT = 120.0
"""Most engine CPU seconds of the first run on a spot."""


def seconds_to_targets(points: Sequence[rlccfr.CurvePoint], pot: float) -> Iterator[float]:
    """Yield the engine CPU seconds at which a curve reaches each target, infinite where it ends before.

    Args:
        points: the curve's points in the order of time.
        pot: chips, in per cent of which the targets are given.
    """
    for target in TARGETS:
        reached = [k for k, point in enumerate(points) if point.exploitability <= target / 100 * pot]
        if not reached:
            yield math.inf
            continue
        after = points[reached[0]]
        before = points[reached[0] - 1] if reached[0] else after
        if before.cpu_seconds <= 0.0 or before is after:
            yield after.cpu_seconds
            continue
        errors = np.log([after.exploitability, before.exploitability])
        times = np.log([after.cpu_seconds, before.cpu_seconds])
        yield float(np.exp(np.interp(math.log(target / 100 * pot), errors, times)))


def measured(name: str) -> Iterator[dict[str, Any]]:
    """Yield a row per rule and target: the engine CPU seconds to it, and the iterations of the whole run.

    Args:
        name: a spot's full name.
    """
    spot = rlccfr.load_game(name)
    others = [rule for rule in fixed_rules() if rule != DEFAULT]
    limit = LIMIT
    for rule in (DEFAULT, *others):
        try:
            solver = rlccfr.Solver(spot, with_horizon(rule, HORIZON))
        except rlccfr.ComponentError:
            continue
        result = solver.run(until=f"{TARGETS[-1]}%", seconds=limit)
        if result.reached:
            limit = min(limit, LONGEST * result.cpu_seconds)
        for target, seconds in zip(TARGETS, seconds_to_targets(result.points, spot.pot), strict=True):
            yield {"rule": rule, "target": target, "seconds": seconds, "iterations": result.iterations}


def listed(split: str) -> pd.DataFrame:
    """Return the rows of a split in the list of spots."""
    rows = pd.read_csv(spots.FILE)
    return rows[rows["split"] == split]


def recorded() -> pd.DataFrame:
    """Return the file's rows."""
    return pd.read_csv(FILE) if FILE.exists() else pd.DataFrame(columns=["split", "street", "seed"])


def measure(split: str) -> pd.DataFrame:
    """Measure the spots of a split that are not in the file yet; return the split's rows."""
    for rule in fixed_rules():  # loads the kernels
        try:
            rlccfr.Solver(rlccfr.load_game(listed(split)["game"].iloc[0]), with_horizon(rule, 10)).run(iterations=2)
        except rlccfr.ComponentError:
            continue
    for spot in listed(split).to_dict("records"):
        before = recorded()
        about = {key: spot[key] for key in ("split", "street", "seed", "entries")}
        keys = ["street", "seed"]
        if (before[keys] == [spot[key] for key in keys]).all(axis=1).any():
            continue
        rows = pd.DataFrame([about | row | {"processor": processor_model()} for row in measured(spot["game"])])
        rows = pd.concat([before, rows], ignore_index=True) if len(before) else rows
        write_atomically(FILE, rows.to_csv(index=False, float_format="%.4g").encode())
        print(f"{split}, {spot['street']} {spot['seed']}", file=sys.stderr, flush=True)
    rows = recorded()
    return rows[rows["split"] == split]


def ratios(rows: pd.DataFrame) -> pd.DataFrame:
    """Return how many times as long as the soonest rule each rule takes, by street, seed and target, a column each."""
    seconds = rows.pivot_table(index=["street", "seed", "target"], columns="rule", values="seconds", dropna=False)
    seconds = seconds.fillna(math.inf)
    soonest = seconds.min(axis=1)
    # To a target that no rule reached, none was sooner than another.
    known = seconds[np.isfinite(soonest)]
    return known.div(soonest[known.index], axis=0).clip(upper=LONGEST)


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row per rule, the soonest first: geometric means of :func:`ratios`, in all and by street and target."""
    logs = np.log(ratios(rows))
    groups = {f"{street}, {target:g} %": part for (street, target), part in logs.groupby(["street", "target"])}
    means = pd.DataFrame({"all": logs.mean(), **{title: part.mean() for title, part in groups.items()}})
    means = np.exp(means).round(2).sort_values("all")
    means.insert(1, "worst", np.exp(logs.max()).round(2).reindex(means.index))
    return means.reset_index(names="rule")


def main() -> None:
    """Measure what is not measured yet, and print the split's table."""
    parser = argparse.ArgumentParser("python -m benchmarks.spot_rules", description=__doc__.splitlines()[0])
    parser.add_argument("split", choices=tuple(spots.SPLITS))
    rows = measure(parser.parse_args().split)
    print("\n".join(table(summary(rows))))


if __name__ == "__main__":
    main()
