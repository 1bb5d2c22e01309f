"""A team that begins with networks trained on other games, and chooses on a new game by successive halving.

A new team knows nothing: its first measurements try each component once. An informed team has the networks that come
with the package. They have learned from small games, and see the features of the new one. So their Q-values tell which
algorithms are worth running at all. These algorithms run for fractions of the budget, the better ones for longer, and
the networks learn from every run.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Unpack

import numpy as np

from rlccfr.agents import shipped
from rlccfr.agents.baselines.halving import Halving, Ladder, climb, equal_rungs
from rlccfr.agents.baselines.task import Task
from rlccfr.agents.team.expansion import adopt_networks
from rlccfr.agents.team.experience import Outcome, Situation
from rlccfr.agents.team.team import SelectorTeam
from rlccfr.envs.episode import Budgets, EpisodeOptions, EpisodeSpec, Games
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.selector import SelectorFlatEnv
from rlccfr.errors import RLCCFRError

VERSION = 1
"""Version of an informed team's choice. Raise it when the same seed and measurements would give another choice."""

LEAST_CANDIDATES = 4
"""Least number of algorithms that the halving starts with; chosen by ``python -m benchmarks.prior``."""

CANDIDATES = 2
"""Number of algorithms that the halving starts with, per whole budget that may be spent; set by unrecorded trials."""


def informed_team(
    games: Games | EpisodeSpec, budget: Budgets | None = None, *, seed: int = 0, **options: Unpack[EpisodeOptions]
) -> SelectorTeam:
    """Return a team with the package's trained networks, which can pick at once; :func:`choose` runs its picks.

    Components that these networks do not know have the lowest Q-values.

    Args:
        games, budget, options: as for :class:`rlccfr.agents.SelectorTeam`; the catalog must have the components of
            ``"tabular"``.
        seed: seed of the learning.

    Raises:
        ComponentError: the catalog lacks a component that the networks know.
        RLCCFRError: an invalid argument, or an installation that lacks the package's data.

    Examples:
        >>> from rlccfr.agents import informed_team
        >>> team = informed_team("kuhn(cards=7)", {"unit": "seconds", "amount": 1}, catalog="tabular")
        >>> team.pick().sampler
        'none'
    """
    start = shipped.load_team(shipped.START)
    team = SelectorTeam(games, budget, seed=seed, hyperparameters=start.hyperparameters, **options)
    adopt_networks(team, start)
    return team


def choose(
    team: SelectorTeam, evaluations: float, *, learn: bool = True, progress: Callable[[float], None] | None = None
) -> Halving:
    """Run successive halving on a team's first game, among the algorithms with the largest Q-values.

    Args:
        team: team whose first game, budget and reward weights are those to choose for.
        evaluations: number of whole budgets that all runs together may take; it may be a fraction.
        learn: whether the networks learn from the runs; the runs are added to the team's experience in any case.
        progress: function called with the share of the runs that is done.

    Raises:
        RLCCFRError: ``evaluations`` is not positive and finite, or the team's episodes have several segments.
    """
    if not 0 < evaluations < math.inf:
        raise RLCCFRError(f"evaluations must be a positive, finite number, not {evaluations!r}")
    env = team.env
    if env.segments > 1:
        raise RLCCFRError(f"choose() runs one algorithm for the whole budget: give segments=1, not {env.segments}")
    task = Task(env.evaluator, team.catalog, env.games[0], env.budgets[0], env.presets[0], env.engine_seeds[:1])
    ranked = team.ranked()
    halving = climb(task, ranked, _ladder(len(ranked), evaluations), progress)
    _add(team, halving)
    if learn:
        _learn(team)
    return halving


def _ladder(available: int, evaluations: float) -> Ladder:
    """Return a ladder that halves the number of algorithms at each rung; no run is longer than the whole budget."""
    count = min(available, max(LEAST_CANDIDATES, math.ceil(CANDIDATES * evaluations)))
    counts = [count]
    while counts[-1] > 2:
        counts.append(math.ceil(counts[-1] / 2))
    ladder = [(rung_count, min(share, 1.0)) for rung_count, share in equal_rungs(counts, evaluations)]
    whole = [number for number, (_, share) in enumerate(ladder) if share == 1.0]
    return ladder[: whole[0] + 1] if whole else ladder


def _add(team: SelectorTeam, halving: Halving) -> None:
    """Add each algorithm's longest run to a team's experience."""
    seed = team.env.engine_seeds[0]
    env_of: dict[Budget, SelectorFlatEnv] = {}  # by the budget of a rung
    for cell, ((measurement, *_), budget) in halving.longest_runs.items():
        if budget not in env_of:
            env_of[budget] = team.env_for(budget=budget)
            env_of[budget].reset()
        env = env_of[budget]
        observations = np.stack([env.observe(cell[:agent]) for agent in range(3)])
        team.experience.add(Situation(env.game, seed, budget), cell, Outcome.of(observations, measurement, done=True))


def _learn(team: SelectorTeam) -> None:
    """Let the networks learn from a team's experience."""
    from rlccfr.agents.team.learning import QLearning, Replay
    from rlccfr.networks.torch_state import one_thread  # only learning needs these slow imports

    learner = QLearning(Replay(team))
    rounds = team.hyperparameters.settling
    with one_thread():
        for done in range(rounds):
            learner.learn_round(1 - done / rounds, team.hyperparameters.gradient_steps)
