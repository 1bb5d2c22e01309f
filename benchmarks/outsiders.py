"""Other people's selectors on our measurements: ``python -m benchmarks.outsiders`` prints a table.

The families' measurements are written as a scenario of ASlib (Bischl et al., Artificial Intelligence 2016) and read by
ASF (Shala et al., asf-lib), the successor of AutoFolio. Its selectors and ours choose on the same folds.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.markdown import table
from benchmarks.teams import BRIEF, met, others
from rlccfr.agents import shipped
from rlccfr.agents.predicting.boosted_trees import BoostedTrees
from rlccfr.agents.predicting.choosers import ByPrediction
from rlccfr.agents.predicting.kernel_regression import KernelRegression
from rlccfr.agents.predicting.measured_costs import MeasuredCosts
from rlccfr.envs import write_aslib
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.reward import DECADES, PRESETS

BUDGET = Budget("seconds", 1.0)

Picks = Callable[[pd.DataFrame, pd.DataFrame, pd.DataFrame], list[str]]
"""Function of training features, training performance and new features: names of algorithms, one for each new game."""


def by_asf(kind: str, model: str, **settings: Any) -> Picks:
    """Return a selector of ASF by the names of its classes."""
    from asf import predictors, selectors

    def pick(features: pd.DataFrame, errors: pd.DataFrame, new: pd.DataFrame) -> list[str]:
        selector = getattr(selectors, kind)(getattr(predictors, model), **settings)
        with contextlib.redirect_stdout(io.StringIO()):
            selector.fit(features, errors)
            found = selector.predict(new)
        return [found[game][0][0] for game in new.index]

    return pick


def by_regression(predictor: Callable[[MeasuredCosts], Any]) -> Picks:
    """Return our chooser without probes, which learns the costs of all budgets from the games of the other folds."""

    def pick(features: pd.DataFrame, errors: pd.DataFrame, new: pd.DataFrame) -> list[str]:
        known = MeasuredCosts.read(others(), shipped.tabular(), list(features.index), (BRIEF, *met()))
        chooser = ByPrediction(predictor(known))
        return ["/".join(chooser.pick(game, BUDGET, PRESETS["accuracy"])) for game in new.index]

    return pick


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
        "kernel regression": by_regression(KernelRegression),
        "boosted trees": by_regression(BoostedTrees),
    }


def main() -> None:
    """Print the mean error of each way's picks, in decades above the best algorithm of each game."""
    from asf.scenario.aslib_reader import read_aslib_scenario

    with tempfile.TemporaryDirectory() as folder:
        scenario = write_aslib(others(), Path(folder) / "families", budget=BUDGET, catalog=shipped.tabular())
        features, errors, _, folds, *_ = read_aslib_scenario(str(scenario), add_running_time_features=True)
    errors = errors.clip(lower=-DECADES)  # like the reward, which does not tell lower ones apart
    rows = []
    for name, picks in contenders().items():
        above = []
        for fold in sorted(folds["fold"].unique()):
            new = folds.index[folds["fold"] == fold]
            known = errors.index.difference(new)
            found = picks(features.loc[known], errors.loc[known], features.loc[new])
            above += [errors.at[game, one] - errors.loc[game].min() for game, one in zip(new, found, strict=True)]
        rows.append({"choice by": name, "decades above the best": np.mean(above), "median": np.median(above)})
        print(rows[-1], flush=True)
    print("\n".join(table(pd.DataFrame(rows))))


if __name__ == "__main__":
    main()
