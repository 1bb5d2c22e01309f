"""Caveats of a team's recommendation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlccfr.agents import shipped
from rlccfr.agents.baselines import fixed_cells
from rlccfr.agents.judging.unseen_games import FAMILY, LARGER, MEMBER, TRAINED, kind_of
from rlccfr.envs.measuring.evaluator import Evaluator
from rlccfr.envs.measuring.request import Request
from rlccfr.envs.reward import Preset, costs

if TYPE_CHECKING:
    from rlccfr.agents.team.recommendation import Recommendation
    from rlccfr.agents.team.team import SelectorTeam

KIND_WORDS = {
    MEMBER: "it is of a family that the team knows",
    FAMILY: "it is of a family that is new to the team",
    LARGER: "it is at least a hundred times as large as the largest of those",
}
"""Descriptions of the kinds of games that a team was not trained on."""

FEW = 4
"""Largest number of games that are listed by name; if there are more, only their number is given."""


def situations(team: SelectorTeam) -> int:
    """Return the number of combinations of game, budget and reward weights that a team was trained on."""
    env = team.env
    return len(env.games) * len(env.budgets) * len(env.presets)


def caveats(team: SelectorTeam, recommendation: Recommendation, preset: Preset) -> list[str]:
    """Return the caveats of a recommendation, as sentences; an empty list if there are none.

    Args:
        team: team that recommends.
        recommendation: the team's recommendation, with the measurement of the pick.
        preset: reward weights of the recommendation.
    """
    return [
        *_not_trained_on(team, recommendation, preset),
        *_poor_measurement(recommendation),
        *_better_fixed_algorithm(team, recommendation, preset),
    ]


def _not_trained_on(team: SelectorTeam, recommendation: Recommendation, preset: Preset) -> list[str]:
    """Return a sentence for each of game, budget and reward weights that the team was not trained on."""
    env = team.env
    game = recommendation.game
    budget = recommendation.budget
    sentences = []
    kind = kind_of(game, env.games)
    if kind != TRAINED:
        games = ", ".join(env.games) if len(env.games) <= FEW else f"{len(env.games)} other games"
        sentences.append(f"the team has never seen {game}: it learned on {games}; {KIND_WORDS[kind]}")
    if budget not in env.budgets:
        budgets = ", ".join(map(str, env.budgets))
        sentences.append(f"the team was not trained with a budget of {budget}: it learned with {budgets}")
    if preset not in env.presets:
        presets = ", ".join(map(str, env.presets))
        sentences.append(f"the team was not trained with the weights {preset}: it learned with {presets}")
    return sentences


def _poor_measurement(recommendation: Recommendation) -> list[str]:
    """Return a sentence if the pick failed, or is no better than the uniform policy."""
    run = recommendation.measurement
    if not run.ok:
        return [f"the pick could not be measured: {run.status}"]
    if run.exploitability >= run.uniform_exploitability:
        return [
            f"the pick is no better than the uniform policy, whose exploitability is {run.uniform_exploitability:.3g}"
        ]
    return []


def _better_fixed_algorithm(team: SelectorTeam, recommendation: Recommendation, preset: Preset) -> list[str]:
    """Return a sentence if one of the paper's fixed algorithms was measured to be at least as good as the pick."""
    algorithms = fixed_cells(team.catalog)
    evaluators = _evaluators(team, recommendation.game)
    worths = {}
    for name, cell in algorithms.items():
        request = Request(recommendation.game, (cell,), recommendation.budget, seed=team.env.engine_seeds[0])
        # Nothing is run for a caveat: only algorithms that have been measured already are compared.
        evaluator = next((candidate for candidate in evaluators if candidate.known(request)), None)
        if evaluator is not None and recommendation.cells != (cell,):
            worths[name] = preset.worth([costs(evaluator.measure(request))])
    best = max(worths, key=worths.__getitem__, default=None)
    if best is None or worths[best] < preset.worth([costs(recommendation.measurement)]):
        return []
    gain = worths[best].reward - recommendation.mean_reward
    if gain < 0:  # the pick has not converged
        return [f"{best}, a fixed algorithm, has converged under this budget: {algorithms[best]}"]
    more = f"{gain:.3g} more reward" if gain > 0 else "the same reward"
    return [f"{best}, a fixed algorithm, has {more} under this budget: {algorithms[best]}"]


def _evaluators(team: SelectorTeam, game: str) -> list[Evaluator]:
    """Return the team's evaluator and, if the package has measurements of the game, the table of these measurements."""
    shipped_name = shipped.name_of(game)
    if shipped_name is None or not (shipped.DATA / shipped.part_of(shipped_name).file).exists():
        return [team.env.evaluator]
    return [team.env.evaluator, shipped.results(shipped_name)]
