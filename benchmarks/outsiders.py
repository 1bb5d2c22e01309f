"""Third-party selectors on our measurements: ``python -m benchmarks.outsiders`` writes results/outsiders.csv.

The families' measurements are written as an ASlib scenario (Bischl et al., Artificial Intelligence 2016) and read by
ASF (Shala et al., asf-lib), the successor of AutoFolio. Its selectors and ours choose on the same folds. The page of
``benchmarks.selection`` has the table.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.baselines.kernel_regression import ByRegression
from benchmarks.markdown import table
from benchmarks.teams import BRIEF, RESULTS, met, others, say
from rlccfr.agents import shipped
from rlccfr.agents.predicting.measured_costs import MeasuredCosts
from rlccfr.envs import write_aslib
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.reward import DECADES, PRESETS

BUDGET = Budget("seconds", 1.0)
SEEDS = 3
"""Number of seeds of choosers that draw at random."""

STORE = RESULTS / "outsiders.csv"

Picks = Callable[[pd.DataFrame, pd.DataFrame, pd.DataFrame], list[str]]
"""Function of training features, training performance and new features: names of algorithms, one for each new game."""


def by_asf(kind: str, model: str, **settings: Any) -> Picks:
    """Return a selector of ASF, given the names of its classes."""

    def pick(features: pd.DataFrame, errors: pd.DataFrame, new: pd.DataFrame) -> list[str]:
        from asf import predictors, selectors

        selector = getattr(selectors, kind)(getattr(predictors, model), **settings)
        with contextlib.redirect_stdout(io.StringIO()):
            selector.fit(features, errors)
            ranked = selector.predict(new)
        return [ranked[game][0][0] for game in new.index]

    return pick


def by_regression(features: pd.DataFrame, errors: pd.DataFrame, new: pd.DataFrame) -> list[str]:
    """Pick by our regression, which learns the costs under all budgets on the training games."""
    measured = MeasuredCosts.read(others(), shipped.tabular(), list(features.index), (BRIEF, *met()))
    chooser = ByRegression(measured)
    return ["/".join(chooser.pick(game, BUDGET, PRESETS["accuracy"])) for game in new.index]


def single_best(features: pd.DataFrame, errors: pd.DataFrame, new: pd.DataFrame) -> list[str]:
    """Pick the algorithm with the least mean error on the training games."""
    return [errors.mean().idxmin()] * len(new)


def contenders() -> dict[str, Picks]:
    """Return the ways to choose, by name."""
    return {
        "single best": single_best,
        "ASF, one random forest for each algorithm": by_asf(
            "PerformanceModel", "RandomForestRegressorWrapper", normalize="none"
        ),
        "ASF, one classifier": by_asf("MultiClassClassifier", "RandomForestClassifierWrapper"),
        "kernel regression": by_regression,
    }


def main() -> None:
    """Write the mean error of each way's picks, in decades above the best algorithm of each game."""
    from asf.scenario.aslib_reader import read_aslib_scenario

    with tempfile.TemporaryDirectory() as folder:
        scenario = write_aslib(others(), Path(folder) / "families", budget=BUDGET, catalog=shipped.tabular())
        features, errors, _, folds, *_ = read_aslib_scenario(str(scenario), add_running_time_features=True)
    errors = errors.clip(lower=-DECADES)  # like the reward, which does not distinguish lower ones
    rows = []
    for name, picks in contenders().items():
        means = []
        for seed in range(SEEDS if name.startswith("ASF") else 1):
            np.random.seed(seed)  # ASF's forests draw from NumPy's global generator
            means.append(np.mean(above_the_best(picks, features, errors, folds)))
        rows.append(
            {"choice by": name, "decades above the best": np.mean(means), "from": min(means), "to": max(means),
             "games": len(folds)}
        )  # fmt: skip
        say(f"{name}: {np.mean(means):.3g}")
    pd.DataFrame(rows).to_csv(STORE, index=False, float_format="%.4g")


def above_the_best(picks: Picks, features: pd.DataFrame, errors: pd.DataFrame, folds: pd.DataFrame) -> list[float]:
    """Return the error of each game's pick above the best algorithm's; a fold's games are not learned from before."""
    above = []
    for fold in sorted(folds["fold"].unique()):
        games = folds.index[folds["fold"] == fold]
        training_games = errors.index.difference(games)
        algorithms = picks(features.loc[training_games], errors.loc[training_games], features.loc[games])
        above += [
            errors.at[game, algorithm] - errors.loc[game].min()
            for game, algorithm in zip(games, algorithms, strict=True)
        ]
    return above


def section() -> Iterator[str]:
    """Yield the section of the page on selection."""
    rows = pd.read_csv(STORE)
    rows = rows[rows["choice by"].isin(contenders())]
    yield from (
        "## Other people's selectors",
        "",
        f"The measurements on the {rows['games'].iloc[0]} games of the families, after {BUDGET}, are written as a "
        "scenario of ASlib (`rlccfr results aslib`), on which selectors of ASF, the successor of AutoFolio, and kernel "
        "regression, which is part of these benchmarks, pick on the same folds of cross-validation, without probes. "
        "Mean error of the picks, in decades of exploitability above the best algorithm of each game (`python -m "
        f"benchmarks.outsiders`), and its range over {SEEDS} seeds of what draws at random:",
        "",
        *table(rows[["choice by", "decades above the best", "from", "to"]]),
    )


if __name__ == "__main__":
    main()
