"""A search by Optuna's tree-structured Parzen estimator (TPE) over the three axes."""

from __future__ import annotations

from rlccfr.agents.baselines.best import virtual_best
from rlccfr.agents.baselines.task import SearchResult, Task
from rlccfr.catalog import AXES, Cell
from rlccfr.envs.measuring.evaluator import Measurement
from rlccfr.errors import RLCCFRError, whole_number

VERSION = 2
"""Version of the search. Raise it when the same seed and measurements would give another choice."""

TRIALS = 20
"""Largest number of trials per evaluation; proposing a measured algorithm again is a trial, but costs nothing."""


def tpe_search(task: Task, *, evaluations: int, seed: int = 0) -> SearchResult:
    """Measure the algorithms that TPE proposes, and recommend the best of them.

    Bergstra et al., Algorithms for hyper-parameter optimization, NIPS 2011.

    Args:
        evaluations: largest number of distinct algorithms to measure.
        seed: seed of TPE.

    Raises:
        RLCCFRError: fewer than one evaluation, or Optuna is not installed.
    """
    try:
        import optuna
    except ImportError as error:
        raise RLCCFRError("TPE needs Optuna: pip install optuna") from error
    whole_number(evaluations, "evaluations", 1, RLCCFRError)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    available = frozenset(task.available)
    measured: dict[Cell, list[Measurement]] = {}
    count = min(evaluations, len(available))
    for _ in range(TRIALS * count):
        trial = study.ask()
        ids = [trial.suggest_categorical(axis, ids) for axis, ids in zip(AXES, task.catalog.axes, strict=True)]
        cell = Cell(*map(str, ids))
        if cell not in available:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
            continue
        if cell not in measured:
            measured[cell] = task.measure(cell)
        study.tell(trial, task.rewards({cell: measured[cell]})[cell])
        if len(measured) == count:
            break
    return SearchResult(virtual_best(task.worths(measured)), measured)
