"""Choosers by name, from measured costs."""

from __future__ import annotations

from collections.abc import Callable

from rlccfr.agents.predicting.boosted_trees import BoostedTrees
from rlccfr.agents.predicting.choosers import ByPrediction, Chooser, Predictor
from rlccfr.agents.predicting.kernel_regression import KernelRegression
from rlccfr.agents.predicting.measured_costs import MeasuredCosts
from rlccfr.agents.predicting.probing import Probing
from rlccfr.envs.measuring.evaluator import Evaluator

PREDICTORS: dict[str, Callable[[MeasuredCosts], Predictor]] = {
    "kernel regression": KernelRegression,
    "boosted trees": BoostedTrees,
}
"""Regressions by name."""

PROBES = "{} with probes"
"""Name of the chooser that corrects a regression's predictions by probes."""

NAMES = (*PREDICTORS, *map(PROBES.format, PREDICTORS))
"""Names of choosers that learn from measured costs."""


def named(name: str, measured: MeasuredCosts, evaluator: Evaluator) -> Chooser:
    """Return a chooser that has learned from costs.

    Args:
        name: one of :data:`NAMES`.
        measured: costs to learn from.
        evaluator: evaluator that runs the probes, if the chooser has any.

    Raises:
        RLCCFRError: boosted trees are wanted, and scikit-learn is not installed.
    """
    if name in PREDICTORS:
        return ByPrediction(PREDICTORS[name](measured))
    (predictor,) = (candidate for candidate in PREDICTORS if PROBES.format(candidate) == name)
    return Probing(PREDICTORS[predictor](measured), evaluator)
