"""Optuna's tree-structured Parzen estimator over the three axes, a common tool for such searches."""

from __future__ import annotations

from collections.abc import Sequence

from rlccfr.agents.baselines import SearchResult, measure, rewards_of, virtual_best
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.cells import why_unavailable
from rlccfr.envs.measurement import Budget, Evaluator, Measurement
from rlccfr.envs.reward import Preset, Scale
from rlccfr.errors import RLCCFRError, whole_number

TRIALS = 20
"""For each evaluation at most: it proposes cells that are measured already, which cost nothing."""


def tpe_search(
    evaluator: Evaluator,
    catalog: Catalog,
    game: str,
    budget: Budget,
    preset: Preset,
    *,
    evaluations: int,
    scale: Scale = "log",
    engine_seeds: Sequence[int] = (0,),
    seed: int = 0,
) -> SearchResult:
    """Measure the cells that TPE proposes, and recommend the best of them.

    Bergstra et al., Algorithms for hyper-parameter optimization, NIPS 2011.

    Args:
        evaluations: distinct cells to measure at most.
        seed: of TPE.

    Raises:
        RLCCFRError: fewer than one evaluation, or Optuna is not installed.
    """
    try:
        import optuna
    except ImportError:
        raise RLCCFRError("TPE needs the extra: pip install 'rlccfr[optuna]'") from None
    whole_number(evaluations, "evaluations", 1, RLCCFRError)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    measured: dict[Cell, list[Measurement]] = {}
    count = min(evaluations, sum(why_unavailable(cell) is None for cell in catalog))
    for _ in range(TRIALS * count):
        trial = study.ask()
        ids = (trial.suggest_categorical(axis, ids) for axis, ids in zip(Cell._fields, catalog.axes, strict=True))
        cell = Cell(*map(str, ids))
        if why_unavailable(cell) is not None:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
            continue
        if cell not in measured:
            measured[cell] = measure(evaluator, cell, game, budget, engine_seeds)
        study.tell(trial, rewards_of({cell: measured[cell]}, preset, scale)[cell])
        if len(measured) == count:
            break
    return SearchResult(virtual_best(rewards_of(measured, preset, scale)), measured)
