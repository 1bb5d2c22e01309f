"""The pick for a game with a public tree that was not measured: the single best algorithm of those that were."""

from __future__ import annotations

from statistics import fmean

from rlccfr.agents import shipped
from rlccfr.agents.baselines.best import single_best
from rlccfr.agents.baselines.task import Task
from rlccfr.agents.judging.bench import Bench
from rlccfr.agents.judging.evidence import Evidence
from rlccfr.agents.judging.recommendation_table import SBS
from rlccfr.agents.shipped.measured_best import nearest
from rlccfr.agents.shipped.unmeasured import Choice
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.reward import Preset


def choice(budget: Budget, preset: Preset) -> Choice:
    """Return the algorithm with the highest mean reward over the measured games with a public tree.

    ``why`` gives the regret of such choices: the single best algorithm of the other games, judged on each game.

    Raises:
        BudgetError: a budget in iterations or nodes, for which some run has no curve.
        RLCCFRError: the file of measurements is missing or damaged.
    """
    part, table = shipped.public_part(), shipped.public_results()
    (catalog,), games = part.catalogs, part.games
    limits = [nearest(table, game, list(catalog), budget) for game in games]
    limit = min(limits, key=lambda one: one.amount)
    evidence = {game: Evidence.measured(table, catalog, game, limit) for game in games}
    tasks = {game: Task(table, catalog, game, limit, preset) for game in games}
    rewards = {game: tasks[game].rewards(evidence[game].choosing) for game in games}
    rows = [row for game in games for row in Bench(tasks[game], evidence).exhaustive_rows() if row["method"] == SBS]
    regret = fmean(row["regret"] for row in rows)
    why = (
        f"the best of {len(catalog)} algorithms on average over the measured games with a public tree, "
        f"{', '.join(games)}; chosen by the others, such a pick is on average {regret:.3g} of reward below the best of "
        "each of them"
    )
    if limit != budget:
        why += f"; chosen as for {limit}, the nearest to {budget} that all of them ran for"
    return Choice(single_best(rewards, ""), "single best", why)
