"""Comparison of a team's picks with the baselines' picks, for each game, budget and reward weights."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

import pandas as pd

from rlccfr.agents.baselines.best import best_with_own, single_best, virtual_best
from rlccfr.agents.baselines.fixed import fixed_cells
from rlccfr.agents.baselines.random_cells import median_search, random_search
from rlccfr.agents.baselines.task import Rank, Rewards, SearchResult, Task, total_cpu_seconds
from rlccfr.agents.judging.evidence import Evidence, judging_part
from rlccfr.agents.judging.recommendation_table import (
    BEST_OF_OTHERS,
    BEST_WITH,
    COLUMNS,
    RANDOM,
    SBS,
    TEAM,
    VBS,
    RecommendationTable,
)
from rlccfr.agents.judging.scores import closed_gap, normalised_score, regret
from rlccfr.agents.team.hyperparameters import Hyperparameters
from rlccfr.catalog import Cell
from rlccfr.envs.episode import Budgets, EpisodeOptions, EpisodeSpec, Games
from rlccfr.envs.measuring.request import Budget
from rlccfr.errors import RLCCFRError, brief
from rlccfr.games.compiled_games import compiled, measured_name

if TYPE_CHECKING:
    from rlccfr.agents.team.team import SelectorTeam

EvidenceByBudget = Mapping[Budget, Mapping[str, Evidence]]
"""Evidence (every algorithm's runs) by budget and game."""

SEARCHES: dict[str, Callable[..., SearchResult]] = {}
"""Further searches that teams are compared with, by name; a file that ``--load`` loads may add its own.

Each is called as ``search(task, evaluations=24, seed=0)``, with a :class:`~rlccfr.agents.baselines.task.Task`.
"""


@dataclass(frozen=True)
class TeamPlan:
    """A plan for training the teams of a table.

    Attributes:
        evaluations: number of distinct algorithms that each team may measure; random search measures the same number.
        seed: seed of the teams and of random search.
        hyperparameters: hyperparameters of the teams; None for the defaults.
    """

    evaluations: int = 24
    seed: int = 0
    hyperparameters: Hyperparameters | None = None


def build_table(
    games: Games | EpisodeSpec,
    budget: Budgets | None = None,
    *,
    others: Sequence[str] = (),
    evidence: EvidenceByBudget | None = None,
    teams: Mapping[str, SelectorTeam] | None = None,
    plan: TeamPlan | None = None,
    progress: Callable[[float], None] | None = None,
    **options: Unpack[EpisodeOptions],
) -> RecommendationTable:
    """Compare a team's pick with the baselines' picks, for each game, budget and reward weights.

    Args:
        games, budget, options: as for :class:`rlccfr.envs.SelectorEnv`, but always with one segment. The best algorithm
            of a game (VBS) and the single best of the other games (SBS) are chosen by the choosing seeds, the first two
            fifths of the engine seeds (at least one). Random search, and the teams trained here, choose by the first
            seed alone. All picks are judged by the judging seeds, which are the other engine seeds; a single seed
            serves for both. A deterministic algorithm has one run, which is judged by its second timing if the
            evaluator has one.
        others: further games that are measured only for the SBS and get no rows; ignored if ``evidence`` is given.
        evidence: runs of every algorithm, by budget and game. By default, every algorithm is measured on every game. A
            game without evidence has no VBS, regret or score. With ``{}``, there is no SBS either; this suits large
            games, since only what picks need is measured.
        teams: teams to ask, by game. For a game without a team, one is trained for each budget and reward weights.
        plan: plan for training these teams. If it has 0 evaluations, no team is trained, and games without a team have
            no rows of a team, of random search or of :data:`SEARCHES`.
        progress: function called with the share that is done, while algorithms are measured and teams are trained.

    Raises:
        MissingCellError: the evaluator is a table that lacks a measurement.
        RLCCFRError: an invalid argument.
        GameError: a team is to be trained on a game whose form has no observations.
        TypeError: an unknown option.
    """
    spec = EpisodeSpec.parse(games, budget, **options)
    plan = plan or TeamPlan()
    # For the progress, measuring a game under a budget is one step, and so is each question to a team.
    measuring_steps = len(spec.budgets) * len({*spec.games, *others}) if evidence is None else 0
    question_count = len(spec.budgets) * len(spec.games) * len(spec.presets)
    steps = Steps(progress, measuring_steps + question_count)
    if plan.evaluations:
        for game in set(spec.games) - set(teams or {}):
            compiled(game).form.part("features")  # a team can't be trained without them; measuring takes long
    if evidence is None:
        evidence = _measure_games(spec, others, steps)
    rows = []
    for limit in spec.budgets:
        for preset in spec.presets:
            for game in spec.games:
                task = Task(spec.evaluator, spec.catalog, game, limit, preset, spec.engine_seeds)
                team = (teams or {}).get(game)
                if team is None and plan.evaluations:
                    team = trained_team(task, plan, steps.within)
                rows += Bench(task, evidence.get(limit, {})).rows(team)
                steps.done()
    return RecommendationTable(pd.DataFrame(rows, columns=list(COLUMNS)))


def _measure_games(spec: EpisodeSpec, others: Sequence[str], steps: Steps) -> EvidenceByBudget:
    """Measure every algorithm on a specification's games, and on others, under each budget.

    Returns:
        The evidence by budget and game.

    Raises:
        MissingCellError: the evaluator is a table that lacks a measurement.
    """
    evidence_by_budget: dict[Budget, dict[str, Evidence]] = {}
    for budget in spec.budgets:
        evidence_by_budget[budget] = {}
        for game in dict.fromkeys([*spec.games, *others]):
            evidence_by_budget[budget][game] = Evidence.measured(
                spec.evaluator, spec.catalog, game, budget, spec.engine_seeds, steps.within
            )
            steps.done()
    return evidence_by_budget


def trained_team(
    task: Task, plan: TeamPlan | None = None, progress: Callable[[float], None] | None = None
) -> SelectorTeam:
    """Return a team trained on a task with the first of the task's engine seeds."""
    from rlccfr.agents.team.team import SelectorTeam

    plan = plan or TeamPlan()
    team = SelectorTeam(
        task.game, task.budget, preset=task.preset, catalog=task.catalog,
        engine_seeds=task.engine_seeds[0], evaluator=task.evaluator, seed=plan.seed,
        hyperparameters=plan.hyperparameters,
    )  # fmt: skip
    team.train(plan.evaluations, progress=progress)
    return team


@dataclass(frozen=True)
class Bench:
    """A task on which methods are compared.

    Without evidence on the task's own game, an algorithm is measured when a method picks it, and the columns that need
    the runs of all algorithms (regret, scores, tied set) stay empty.

    Attributes:
        task: game, budget, reward weights and catalog to pick for.
        evidence: evidence by game; the task's own game may be missing.
    """

    task: Task
    evidence: Mapping[str, Evidence]

    def rows(self, team: SelectorTeam | None) -> list[dict[str, Any]]:
        """Return a row for each method: the team, if there is one, and the baselines.

        Random search and :data:`SEARCHES` have as many evaluations as the team, and no rows without a team. If the game
        has evidence, the team picks among the algorithms that may be recommended (:meth:`Evidence.recommendable`).

        Raises:
            RLCCFRError: one of :data:`SEARCHES` returns no result, or picks an algorithm that is not in the catalog.
        """
        baselines = [
            *self.exhaustive_rows(),
            *(self.row(name, cell, 0, 0.0) for name, cell in fixed_cells(self.task.catalog).items()),
        ]
        if team is None:
            return baselines
        # The VBS is chosen among what may be recommended, so the team chooses among the same algorithms.
        candidates = None
        if self._game_evidence is not None:
            available = set(self.task.available)
            recommendable = self._game_evidence.recommendable(self.task.preset)
            candidates = [cell for cell in recommendable if cell in available]
        pick = team.pick(self.task.game, self.task.budget, self.task.preset, candidates)
        return [
            self.row(TEAM, pick, *team.cost),
            *self.random_rows(team.cost[0], team.seed),
            *self.search_rows(team.cost[0], team.seed),
            *baselines,
        ]

    def random_rows(self, evaluations: int, seed: int) -> list[dict[str, Any]]:
        """Return the row of random search: the median of many searches if the game has evidence, else a single search.

        The search chooses by the first engine seed, as a team does. The list is empty if the search would measure every
        available algorithm.
        """
        if evaluations >= len(self.task.available):
            return []
        if self._game_evidence is not None:
            choosing = self._game_evidence.choosing
            first_runs = {cell: choosing[cell][:1] for cell in self.task.available}
            pick = median_search(self.task.worths(first_runs), evaluations, seed)
            # A search draws available algorithms uniformly, so it costs a proportional share of their total cost.
            expected_cost = total_cpu_seconds(first_runs) * evaluations / len(first_runs)
            return [self.row(RANDOM, pick, evaluations, expected_cost)]
        search = random_search(self.task.on(self.task.engine_seeds[:1]), evaluations=evaluations, seed=seed)
        return [self.row(RANDOM, search.cell, search.evaluations, search.cpu_seconds)]

    def search_rows(self, evaluations: int, seed: int) -> list[dict[str, Any]]:
        """Return a row for each of :data:`SEARCHES`; they choose by the first engine seed, as a team does.

        Raises:
            RLCCFRError: a search returns no result, or picks an algorithm that is not in the catalog.
        """
        rows = []
        for name, search in SEARCHES.items():
            result = search(self.task.on(self.task.engine_seeds[:1]), evaluations=evaluations, seed=seed)
            if not isinstance(result, SearchResult):
                raise RLCCFRError(f"the search {name!r} must return a SearchResult, not {brief(result)}")
            if result.cell not in self.task.catalog:
                raise RLCCFRError(f"the search {name!r} picks {brief(result.cell)}, which is not in the catalog")
            rows.append(self.row(name, result.cell, result.evaluations, result.cpu_seconds))
        return rows

    def exhaustive_rows(self) -> list[dict[str, Any]]:
        """Return the rows of the methods that compare every algorithm of the catalog.

        If the game has evidence, these are the best of all (VBS); for each component of a user's, the best with it
        (:func:`~rlccfr.agents.baselines.best.best_with_own`); and, if the VBS has such a component, the best algorithm
        without one. The single best of the other games (SBS) comes last, if another game has evidence.
        """
        rows = []
        if self._game_evidence is not None:
            ranks = self._choosing_ranks
            best_with_component = best_with_own(ranks)  # by the id of the user's component
            picks = {VBS: virtual_best(ranks)}
            picks |= {f"{BEST_WITH}{id}": cell for id, cell in best_with_component.items()}
            library_ranks = {cell: rank for cell, rank in ranks.items() if best_with_component.keys().isdisjoint(cell)}
            if library_ranks and picks[VBS] not in library_ranks:
                picks[BEST_OF_OTHERS] = virtual_best(library_ranks)
            evaluations = self._game_evidence.evaluations
            cpu_seconds = self._game_evidence.cpu_seconds
            rows = [self.row(name, cell, evaluations, cpu_seconds) for name, cell in picks.items()]
        if self._single_best is not None:
            others = [evidence for game, evidence in self.evidence.items() if game in self._other_games]
            evaluations = sum(evidence.evaluations for evidence in others)
            cpu_seconds = math.fsum(evidence.cpu_seconds for evidence in others)
            rows.append(self.row(SBS, self._single_best, evaluations, cpu_seconds))
        return rows

    def row(self, method: str, cell: Cell, evaluations: int, cpu_seconds: float) -> dict[str, Any]:
        """Return the row of one method's pick, with all of :data:`COLUMNS`.

        Args:
            method: name of the method.
            cell: the pick.
            evaluations, cpu_seconds: cost of choosing the pick.
        """
        task = self.task
        if self._game_evidence is not None:
            runs = self._game_evidence.judging[cell]
        else:
            runs = task.on(judging_part(task.engine_seeds)).measure(cell)
        reward = task.rewards({cell: runs})[cell]
        return {
            "game": task.game,
            "budget": str(task.budget),
            "preset": task.preset.name,
            "scale": task.preset.scale,
            "method": method,
            **cell._asdict(),
            "exploitability": statistics.fmean(run.exploitability for run in runs),
            "throughput": statistics.fmean(run.throughput for run in runs),
            "speed": statistics.fmean(run.throughput / run.reference_throughput for run in runs),
            "reward": reward,
            **self._scores(reward),
            "in_tied_set": None if self._tied_set is None else cell in self._tied_set,
            "tied_set_size": None if self._tied_set is None else len(self._tied_set),
            "converged": all(run.converged for run in runs),
            "evaluations": evaluations,
            "cpu_seconds": cpu_seconds,
        }

    @property
    def _game_evidence(self) -> Evidence | None:
        """Evidence on the task's game."""
        return self.evidence.get(self.task.game)

    @cached_property
    def _other_games(self) -> set[str]:
        """The games with evidence other than the task's; a game with two names counts once."""
        names = {measured_name(game): game for game in self.evidence}
        names.pop(measured_name(self.task.game), None)
        return set(names.values())

    @cached_property
    def _single_best(self) -> Cell | None:
        """The single best of the other games (SBS), by the choosing runs; None if no other game has evidence."""
        worths = {
            game: self.task.worths(evidence.choosing)
            for game, evidence in self.evidence.items()
            if game in self._other_games
        }
        return single_best(worths, self.task.game) if worths else None

    @cached_property
    def _choosing_ranks(self) -> dict[Cell, Rank]:
        """Rank of every algorithm on the task's game, by the choosing runs."""
        return self.task.ranks(self.evidence[self.task.game].choosing)

    @cached_property
    def _judging_rewards(self) -> Rewards:
        """Mean reward R̄ of every algorithm on the task's game, by the judging runs."""
        return self.task.rewards(self.evidence[self.task.game].judging)

    @cached_property
    def _tied_set(self) -> frozenset[Cell] | None:
        """The tied set on the task's game (:meth:`Evidence.tied`); None if there are no runs, or too few, to tell."""
        return None if self._game_evidence is None else self._game_evidence.tied(self.task.preset)

    @cached_property
    def _gap_standard_error(self) -> float:
        """Standard error of the gap in mean reward between virtual best and single best on the task's game."""
        assert self._single_best is not None
        best = virtual_best(self._choosing_ranks)
        return self.evidence[self.task.game].standard_error(best, self._single_best, self.task.preset)

    def _scores(self, reward: float) -> dict[str, float]:
        """Return the scores of a pick with this mean reward, by column; NaN where there is no evidence for a score."""
        if self._game_evidence is None:
            return dict.fromkeys(("regret", "normalised_score", "closed_gap"), math.nan)
        # VBS and SBS are chosen by the choosing runs; they are judged by the judging runs, like every pick.
        judging_rewards = self._judging_rewards
        best_reward = judging_rewards[virtual_best(self._choosing_ranks)]
        mean_of_all = statistics.fmean(judging_rewards[cell] for cell in self.task.available)
        gap = math.nan
        if self._single_best is not None:
            single_reward = judging_rewards[self._single_best]
            gap = closed_gap(reward, single_reward, best_reward, self._gap_standard_error)
        return {
            "regret": regret(reward, best_reward),
            "normalised_score": normalised_score(reward, mean_of_all, best_reward),
            "closed_gap": gap,
        }


class Steps:
    """A reporter of the progress of a task that consists of equal steps.

    Args:
        report: function that is called with the share done, from 0 to 1; None to report nothing.
        count: number of steps.
    """

    def __init__(self, report: Callable[[float], None] | None, count: int) -> None:
        self._report = report
        self._count = count
        self._finished = 0

    def within(self, share: float) -> None:
        """Report that a share of the current step is done."""
        if self._report:
            self._report((self._finished + share) / self._count)

    def done(self) -> None:
        """Note that the current step is done; the next call of :meth:`within` reports it."""
        self._finished += 1
