"""The pick for a game with a public tree that was not measured: the single best algorithm of those that were."""

from __future__ import annotations

from statistics import fmean

from rlccfr.agents import shipped
from rlccfr.agents.baselines.best import single_best, virtual_best
from rlccfr.agents.baselines.task import Rewards, Worths, rewards_of, worths_of
from rlccfr.agents.judging.evidence import Evidence
from rlccfr.agents.shipped.measured_best import nearest
from rlccfr.agents.shipped.unmeasured import Choice
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.reward import Preset


def choice(budget: Budget, preset: Preset) -> Choice:
    """Return the single best algorithm of the measured games with a public tree.

    ``why`` gives the regret of such choices: the single best algorithm of the other games, judged on each game.

    Raises:
        BudgetError: a budget in iterations or nodes, for which some run has no curve.
        RLCCFRError: the file of measurements is missing or damaged.
    """
    part, table = shipped.public_part(), shipped.public_results()
    (catalog,), games = part.catalogs, part.games
    limits = [nearest(table, game, list(catalog), budget) for game in games]
    limit = min(limits, key=lambda one: one.amount)
    chosen: dict[str, Worths] = {}
    judged: dict[str, Rewards] = {}
    for game in games:
        evidence = Evidence.measured(table, catalog, game, limit)
        chosen[game] = worths_of(evidence.choosing, preset)
        judged[game] = rewards_of(evidence.judging, preset)
    regrets = [judged[game][virtual_best(chosen[game])] - judged[game][single_best(chosen, game)] for game in games]
    why = (
        f"the best of {len(catalog)} algorithms on average over the measured games with a public tree "
        f"({', '.join(games)}); on each of these games, the best of the other games has on average "
        f"{fmean(regrets):.3g} less reward than the game's own best"
    )
    if limit != budget:
        why += f"; chosen as for {limit}, the nearest to {budget} that all of them ran for"
    return Choice(single_best(chosen, ""), "single best", why)
