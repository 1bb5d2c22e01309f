"""Training on a table with all algorithms' runs, for teams that pick for many budgets and reward weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from rlccfr.agents.judging.evidence import ChoosingRuns, choosing_part
from rlccfr.agents.team.experience import Experience, Outcome, Situation
from rlccfr.agents.team.hyperparameters import Hyperparameters
from rlccfr.agents.team.learning import QLearning, Replay
from rlccfr.agents.team.team import SelectorTeam
from rlccfr.catalog import Catalog
from rlccfr.envs.episode import EpisodeSpec
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.envs.reward import PRESETS, Preset
from rlccfr.errors import RLCCFRError
from rlccfr.networks.torch_state import one_thread

SETTINGS = Hyperparameters(hidden=(128, 128), batch_size=256, gradient_steps=100, settling=60, buffer_size=2**17)
"""Hyperparameters for training on a table, which needs no runs: larger networks and batches, more gradient steps."""

UNIFORM = 0.5
"""Share of replayed picks whose reward weights are drawn uniformly; the others have the team's own weights."""


def train_on_table(
    episodes: EpisodeSpec,
    *,
    seed: int = 0,
    settings: Hyperparameters | None = None,
    presets: Sequence[Preset] = (),
    progress: Callable[[float], None] | None = None,
) -> SelectorTeam:
    """Return a team trained on every algorithm's runs with the choosing seeds, under named and random reward weights.

    The choosing seeds are the first two fifths of an algorithm's engine seeds in the table (:func:`choosing_part`).

    Args:
        episodes: games, budgets, catalog and :class:`TableEvaluator` to learn from, for episodes of one segment. The
            engine seeds of ``episodes`` are ignored: the team learns from all choosing seeds of the table.
        seed: seed of all randomness in the team.
        settings: hyperparameters; by default :data:`SETTINGS`.
        presets: reward weights to learn, besides weights drawn at random on every scale of e; by default all named
            ones.
        progress: function called after each round of learning with the share of rounds that is done.

    Returns:
        The team without its experience, which the table holds; :attr:`SelectorTeam.cost` counts the choosing runs.

    Raises:
        MissingCellError: the table lacks a measurement.
        RLCCFRError: the evaluator is not a :class:`TableEvaluator`.
    """
    table = episodes.evaluator
    if not isinstance(table, TableEvaluator):
        raise RLCCFRError(f"training on a table needs a TableEvaluator as the evaluator, not {table!r}")
    seeds = [choosing_part(table.seeds(game, cell)) for game in episodes.games for cell in episodes.catalog]
    team = SelectorTeam(
        episodes,
        preset=tuple(presets or PRESETS.values()),
        # These are indices of choosing seeds; where an algorithm has fewer of them, ChoosingRuns begins again.
        engine_seeds=range(max(1, *map(len, seeds))),
        evaluator=ChoosingRuns(table),
        seed=seed,
        hyperparameters=settings or SETTINGS,
    )
    _measure_everything(team)
    learner = QLearning(Replay(team, UNIFORM))
    # The table has the experience, so the team need not keep it.
    team.experience = Experience()
    team.forgotten = _cost(table, episodes.catalog, episodes.games)
    rounds = team.hyperparameters.settling
    with one_thread():
        for done in range(rounds):
            learner.learn_round(1 - done / rounds, team.hyperparameters.gradient_steps)
            if progress:
                progress((done + 1) / rounds)
    return team


def _measure_everything(team: SelectorTeam) -> None:
    """Measure every available algorithm in every situation, and add the outcomes to a team's experience.

    Args:
        team: team with one segment.

    Raises:
        MissingCellError: the team's evaluator is a table that lacks a measurement.
    """
    env = team.env
    for game in env.games:
        for budget in env.budgets:
            for seed in env.engine_seeds:
                env.reset(options={"game": game, "budget": budget, "engine_seed": seed})
                for index in np.argwhere(team.available):
                    cell = team.catalog.cell(*map(int, index))
                    observations = np.stack([env.observe(cell[:agent]) for agent in range(3)])
                    outcome = Outcome.of(observations, env.evaluator.measure(env.request(cell)), done=True)
                    team.experience.add(Situation(game, seed, budget), cell, outcome)


def _cost(table: TableEvaluator, catalog: Catalog, games: Sequence[str]) -> tuple[int, float]:
    """Return the number and the engine CPU seconds of the choosing runs; each counts once, whatever the budgets."""
    seconds = [
        table.run(game, cell, seed)["cpu_seconds"] or 0.0
        for game in games
        for cell in catalog
        for seed in choosing_part(table.seeds(game, cell))
    ]
    return len(seconds), math.fsum(seconds)
