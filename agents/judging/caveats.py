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

KINDS = {
    MEMBER: "it is of a family that the team knows",
    FAMILY: "it is of a family that is new to the team",
    LARGER: "it is at least a hundred times as large as the largest of those",
}
FEW = 4
"""Largest number of games that are listed by name; more are only counted."""


def situations(team: SelectorTeam) -> int:
    """Return the number of combinations of game, budget and weights that a team was trained on."""
    env = team.env
    return len(env.games) * len(env.budgets) * len(env.presets)


def caveats(team: SelectorTeam, found: Recommendation, preset: Preset) -> list[str]:
    """Return the caveats of a recommendation, as sentences; an empty list if nothing speaks against it.

    Args:
        preset: reward weights of the question.
    """
    return [*_unmet(team, found, preset), *_measured(found), *_beaten(team, found, preset)]


def _unmet(team: SelectorTeam, found: Recommendation, preset: Preset) -> list[str]:
    """Return a sentence for each part of the question that the team was not trained on."""
    env, words = team.env, []
    if (kind := kind_of(found.game, env.games)) != TRAINED:
        games = ", ".join(env.games) if len(env.games) <= FEW else f"{len(env.games)} other games"
        words.append(f"the team has never seen {found.game}: it learned on {games}; {KINDS[kind]}")
    if found.budget not in env.budgets:
        words.append(f"the team has never met a budget of {found.budget}: it learned with {_listed(env.budgets)}")
    if preset not in env.presets:
        words.append(f"the team has never met the weights {preset}: it learned with {_listed(env.presets)}")
    return words


def _listed(values: tuple[object, ...]) -> str:
    return ", ".join(map(str, values))


def _measured(found: Recommendation) -> list[str]:
    """Return a sentence if the pick failed, or is no better than the uniform policy."""
    run = found.measurement
    if not run.ok:
        return [f"the pick could not be measured: {run.status}"]
    if run.exploitability >= run.uniform_exploitability:
        return [
            f"the pick is no better than the uniform policy, whose exploitability is {run.uniform_exploitability:.3g}"
        ]
    return []


def _beaten(team: SelectorTeam, found: Recommendation, preset: Preset) -> list[str]:
    """Return a sentence if one of the paper's fixed algorithms was measured to be at least as good as the pick."""
    env, known = team.env, shipped.name_of(found.game)
    measured = known is not None and (shipped.DATA / shipped.part_of(known).file).exists()
    table = [shipped.results(known)] if measured else []
    evaluators: list[Evaluator] = [env.evaluator, *table]
    worths = {}
    for name, cell in fixed_cells(team.catalog).items():
        request = Request(found.game, (cell,), found.budget, seed=env.engine_seeds[0])
        evaluator = next((one for one in evaluators if one.known(request)), None)
        if evaluator is not None and found.cells != (cell,):
            worths[name] = preset.worth([costs(evaluator.measure(request))])
    best = max(worths, key=worths.__getitem__, default=None)
    if best is None or worths[best] < preset.worth([costs(found.measurement)]):
        return []
    gain = worths[best].reward - found.mean_reward
    if gain < 0:  # the pick has not converged
        return [f"{best}, a fixed algorithm, has converged under this budget: {fixed_cells(team.catalog)[best]}"]
    more = f"{gain:.3g} more reward" if gain > 0 else "the same reward"
    return [f"{best}, a fixed algorithm, has {more} under this budget: {fixed_cells(team.catalog)[best]}"]
