"""What a team picks for each game, budget and preset, beside what it could have picked."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pandas as pd

from rlccfr.agents.baselines import (
    FIXED,
    Measurements,
    Task,
    measure,
    measure_all,
    median_search,
    random_search,
    rewards_of,
    single_best,
    total_cpu_seconds,
    virtual_best,
)
from rlccfr.agents.hyperparameters import Hyperparameters
from rlccfr.agents.scores import closed_gap, normalised_score, regret
from rlccfr.agents.table import COLUMNS, RANDOM, SBS, TEAM, VBS, RecommendationTable
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.live import LiveEvaluator
from rlccfr.envs.measurement import Budget, Evaluator
from rlccfr.envs.reward import Preset, Scale, mean_reward
from rlccfr.envs.reward import preset as preset_named

if TYPE_CHECKING:
    from rlccfr.agents.team import SelectorTeam


def build_table(
    games: Sequence[str],
    budgets: Sequence[Budget],
    presets: Sequence[str | Preset],
    *,
    evaluator: Evaluator | None = None,
    catalog: Catalog | None = None,
    scale: Scale = "log",
    evaluations: int = 24,
    engine_seeds: Sequence[int] = (0,),
    seed: int = 0,
    hyperparameters: Hyperparameters | None = None,
    exhaustive: bool = True,
    others: Sequence[str] = (),
    progress: Callable[[float], None] | None = None,
) -> RecommendationTable:
    """Train a team for each game, budget and preset, and set its pick beside the baselines.

    Args:
        evaluator: measures; by default the engine, in memory only.
        evaluations: that each team may make, and random search too.
        engine_seeds: the first is what is chosen on; rewards and measurements in the table are means over all.
        seed: of the teams and of random search.
        exhaustive: measure every cell of every game, which VBS, SBS, regret and score need; without, they are left
            out, as large games want.
        others: games measured exhaustively besides, without rows of their own, for SBS.
        progress: called with the share done.
    """
    evaluator = LiveEvaluator() if evaluator is None else evaluator
    catalog = catalog or Catalog.paper()
    settings = [preset_named(one) if isinstance(one, str) else one for one in presets]
    games = list(dict.fromkeys(games))
    to_measure = list(dict.fromkeys([*games, *others])) if exhaustive else []
    report = _Steps(progress, len(budgets) * (len(to_measure) + len(games) * len(settings)))
    rows = []
    for budget in budgets:
        measured: dict[str, Measurements] = {}
        for game in to_measure:
            measured[game] = measure_all(evaluator, catalog, game, budget, engine_seeds, report.within)
            report.done()
        for preset in settings:
            for game in games:
                bench = Bench(evaluator, catalog, game, budget, preset, scale, tuple(engine_seeds), measured)
                rows += bench.rows(bench.train(evaluations, seed, hyperparameters, report.within))
                report.done()
    return RecommendationTable(pd.DataFrame(rows, columns=list(COLUMNS)))


@dataclass(frozen=True)
class Bench:
    """One game under one budget and preset, on which methods are compared.

    Attributes:
        measured: all cells of each game that was measured exhaustively; may be empty.
    """

    evaluator: Evaluator
    catalog: Catalog
    game: str
    budget: Budget
    preset: Preset
    scale: Scale
    engine_seeds: tuple[int, ...]
    measured: Mapping[str, Measurements]

    def train(
        self,
        evaluations: int,
        seed: int,
        hyperparameters: Hyperparameters | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> SelectorTeam:
        """A team that has learned on this game, on the first of the engine seeds."""
        from rlccfr.agents.team import SelectorTeam

        team = SelectorTeam(
            self.game, self.budget, 1, self.preset, self.scale, self.catalog, self.engine_seeds[0], self.evaluator,
            seed=seed, hyperparameters=hyperparameters,
        )  # fmt: skip
        team.train(evaluations, progress=progress)
        return team

    def rows(self, team: SelectorTeam) -> list[dict[str, Any]]:
        """A row for each method: the team's pick, and the baselines'; random search has as many evaluations."""
        return [
            self.row(TEAM, team.recommend().cell, team.evaluations, team.experience.cpu_seconds),
            self.random_row(team.evaluations, team.seed),
            *self.exhaustive_rows(),
            *(self.row(name, cell, 0, 0.0) for name, cell in FIXED.items() if self._has(cell)),
        ]

    def random_row(self, evaluations: int, seed: int) -> dict[str, Any]:
        """Random search with so many evaluations: where all cells are measured the median of many, else one."""
        if self.game in self.measured:
            rewards = self._rewards[self.game]
            cell = median_search(rewards, evaluations, seed)
            cost = total_cpu_seconds(self.measured[self.game]) * evaluations / len(rewards)
            return self.row(RANDOM, cell, evaluations, cost)
        task = Task(
            self.evaluator, self.catalog, self.game, self.budget, self.preset, self.scale, self.engine_seeds[:1]
        )
        search = random_search(task, evaluations=evaluations, seed=seed)
        return self.row(RANDOM, search.cell, search.evaluations, search.cpu_seconds)

    def exhaustive_rows(self) -> list[dict[str, Any]]:
        """VBS where all cells of the game were measured, SBS where those of another game were."""
        rewards = self._rewards
        rows = []
        if self.game in rewards:
            cells = self.measured[self.game]
            rows.append(self.row(VBS, virtual_best(rewards[self.game]), len(cells), total_cpu_seconds(cells)))
        others = [cells for game, cells in self.measured.items() if game != self.game]
        if others:
            cost = sum(map(len, others)), math.fsum(map(total_cpu_seconds, others))
            rows.append(self.row(SBS, single_best(rewards, self.game), *cost))
        return rows

    def row(self, method: str, cell: Cell, evaluations: int, cpu_seconds: float) -> dict[str, Any]:
        """One method's pick.

        Args:
            evaluations, cpu_seconds: what choosing it took.
        """
        runs = measure(self.evaluator, cell, self.game, self.budget, self.engine_seeds)
        reward = rewards_of({cell: runs}, self.preset, self.scale)[cell]
        return {
            "game": self.game,
            "budget": str(self.budget),
            "preset": self.preset.name,
            "method": method,
            **cell._asdict(),
            "exploitability": statistics.fmean(run.exploitability for run in runs),
            "throughput": statistics.fmean(run.throughput for run in runs),
            "speed": statistics.fmean(run.throughput / run.reference_throughput for run in runs),
            "reward": reward,
            **self._scores(reward),
            "converged": all(run.converged for run in runs),
            "evaluations": evaluations,
            "cpu_seconds": cpu_seconds,
        }

    @cached_property
    def _rewards(self) -> dict[str, dict[Cell, float]]:
        """R-bar of every cell of each game that was measured exhaustively."""
        return {game: rewards_of(cells, self.preset, self.scale) for game, cells in self.measured.items()}

    def _scores(self, reward: float) -> dict[str, float]:
        names = ("regret", "normalised_score", "closed_gap")
        if self.game not in self.measured:
            return dict.fromkeys(names, math.nan)
        here = self._rewards[self.game]
        gap = math.nan
        if len(self._rewards) > 1:
            best, single = virtual_best(here), single_best(self._rewards, self.game)
            gap = closed_gap(reward, here[single], here[best], self._standard_error(best, single))
        return dict(zip(names, (regret(reward, here.values()), normalised_score(reward, here.values()), gap)))

    def _standard_error(self, best: Cell, single: Cell) -> float:
        """Of the difference of two cells' R-bar, over the engine seeds; infinite for one seed, which shows none."""
        cells = self.measured[self.game]
        differences = [
            mean_reward(a, self.preset, self.scale) - mean_reward(b, self.preset, self.scale)
            for a, b in zip(cells[best], cells[single], strict=True)
        ]
        return statistics.stdev(differences) / math.sqrt(len(differences)) if len(differences) > 1 else math.inf

    def _has(self, cell: Cell) -> bool:
        return all(id in ids for id, ids in zip(cell, self.catalog.axes, strict=True))


class _Steps:
    """Turns the progress of equal steps into that of the whole."""

    def __init__(self, report: Callable[[float], None] | None, count: int) -> None:
        self._report, self._count, self._finished = report, count, 0

    def within(self, share: float) -> None:
        if self._report:
            self._report((self._finished + share) / self._count)

    def done(self) -> None:
        self._finished += 1
