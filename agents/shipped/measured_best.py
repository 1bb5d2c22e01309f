"""The best of the algorithms that were measured on a game: chosen by some engine seeds, judged by the others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

from rlccfr.agents import shipped
from rlccfr.agents.baselines import Task
from rlccfr.agents.baselines.best import virtual_best
from rlccfr.agents.judging.bench import Bench
from rlccfr.agents.judging.evidence import Evidence
from rlccfr.agents.judging.recommendation_table import VBS
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.episode import CatalogLike, parse_catalog
from rlccfr.envs.measuring.evaluator import NOT_CONVERGED, Measurement
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.envs.reward import Preset
from rlccfr.errors import BudgetError, RLCCFRError


class Best(NamedTuple):
    """The best algorithm that was measured on a game.

    Attributes:
        cell: the algorithm.
        figures: the algorithm's row of a recommendation table, by the judging runs; empty if the algorithm was chosen
            under a budget other than the requested one.
        why: the reason in words.
    """

    cell: Cell
    figures: dict[str, Any]
    why: str


def catalogs_of(table: TableEvaluator, game: str, catalog: CatalogLike | None) -> list[Catalog]:
    """Return the catalogs to choose from: the given one, or by default all that were measured on a game.

    A given catalog gets the network settings of sweeps.

    Raises:
        RLCCFRError: the catalog was not measured.
    """
    part = shipped.part_of(game)
    if catalog is None:
        return [measured for measured in part.catalogs if not table.lacking(game, measured)]
    wanted_catalog = parse_catalog(catalog).with_networks("sweep")
    if lacking := table.lacking(game, wanted_catalog):
        raise RLCCFRError(f"the package has no run of {lacking} on {game}; it has {part.described}")
    return [wanted_catalog]


def best_measured(
    table: TableEvaluator, game: str, catalogs: Sequence[Catalog], budget: Budget, preset: Preset
) -> Best:
    """Return the best of all algorithms of the given catalogs under a budget.

    If some runs are shorter than the budget, it is replaced by the nearest budget that all runs cover.

    Raises:
        BudgetError: a budget in iterations or nodes, for which some run has no curve.
    """
    limit = nearest_covered_budget(table, game, list(dict.fromkeys(chain(*catalogs))), budget)
    evidence = _joint_evidence(table, game, catalogs, limit)
    task = Task(table, catalogs[0], game, limit, preset)
    cell = virtual_best(task.ranks(evidence.choosing))
    figures = Bench(task, {game: evidence}).row(VBS, cell, 0, 0.0)
    figures["regret"] = math.nan  # the shortfall from the VBS, which this algorithm is
    why = _reason(task, evidence, cell, figures)
    if limit != budget:
        why += f"; chosen as for {limit}, the nearest to {budget} that all of them ran for"
    return Best(cell, figures if limit == budget else {}, why)


def _joint_evidence(table: TableEvaluator, game: str, catalogs: Sequence[Catalog], budget: Budget) -> Evidence:
    """Return the evidence of several catalogs together."""
    choosing: dict[Cell, Sequence[Measurement]] = {}
    judging: dict[Cell, Sequence[Measurement]] = {}
    second: dict[Cell, Measurement] = {}
    deterministic: frozenset[Cell] = frozenset()
    for catalog in catalogs:
        evidence = Evidence.measured(table, catalog, game, budget)
        choosing |= evidence.choosing
        judging |= evidence.judging
        second |= evidence.second
        deterministic |= evidence.deterministic
    return Evidence(choosing, judging, deterministic, second)


def _reason(task: Task, evidence: Evidence, cell: Cell, figures: dict[str, Any]) -> str:
    """Return the reason in words: by which runs the algorithm was chosen and judged, and how it compares to others."""
    choosing_ids = {run.cell_id for run in evidence.choosing[cell]}
    judging_ids = {run.cell_id for run in evidence.judging[cell]}
    if cell in evidence.second:
        by = "by its only run, judged by a second timing of it"
    elif choosing_ids & judging_ids:
        by = "by one run, which also gives the figures"
    else:
        by = "by some engine seeds, judged by others"
    state = "" if figures["converged"] else NOT_CONVERGED
    words = (
        f"{state}the best of {len(evidence.choosing)} algorithms measured for {task.budget}, chosen {by}: "
        f"exploitability {figures['exploitability']:.3g}, {figures['throughput']:,.0f} iterations/s, reward "
        f"{figures['reward']:.3g}"
    )
    # The choosing runs have decided. If the judging runs put another algorithm first, that is said, too.
    rewards = task.rewards(evidence.judging)
    tied_set = evidence.tied(task.preset) or frozenset()
    best = max(evidence.recommendable(task.preset), key=rewards.__getitem__)
    if cell in tied_set and len(tied_set) > 1:
        others = "other" if len(tied_set) == 2 else "others"
        words += f", tied with {len(tied_set) - 1} {others}"
    elif cell not in tied_set and best != cell:
        words += f"; by the judging runs {best} has {rewards[best] - rewards[cell]:.3g} more reward"
    return words


def nearest_covered_budget(table: TableEvaluator, game: str, cells: Sequence[Cell], budget: Budget) -> Budget:
    """Return the budget if all runs cover it, else the nearest one that they cover.

    The nearest one is the longest headline budget or, if ``budget`` is in another unit, the length of the shortest run
    in that unit.

    Raises:
        BudgetError: there are no curves from which a shorter budget can be read.
    """
    ends = table.ends_before(game, cells, budget)
    if not ends:
        return budget
    # All runs cover the longest headline budget. In another unit, the shortest run is the limit.
    longest = shipped.part_of(game).budgets[-1]
    if budget.unit == longest.unit:
        return longest
    shortest = min(ends)
    # A run without a curve has no length in another unit.
    if shortest <= 0:
        raise BudgetError(f"{game!r} was not measured in {budget.unit}; ask for a budget in {longest.unit}")
    return Budget(budget.unit, shortest)
