"""An informed team's choice in the form of the other searches, so that they can be compared."""

from __future__ import annotations

from rlccfr.agents.baselines.halving import Halving
from rlccfr.agents.baselines.task import Task
from rlccfr.agents.team.informed import choose, informed_team
from rlccfr.envs.episode import EpisodeOptions


def informed_search(task: Task, *, evaluations: float, seed: int = 0) -> Halving:
    """Return an informed team's choice for a task, by runs with the first engine seed, from which it does not learn."""
    options: EpisodeOptions = {
        "preset": task.preset,
        "catalog": task.catalog,
        "evaluator": task.evaluator,
        "engine_seeds": task.engine_seeds[0],
    }
    team = informed_team(task.game, task.budget, seed=seed, **options)
    return choose(team, evaluations, learn=False)
