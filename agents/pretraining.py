"""Teams that know budgets and weights by what they see, trained on a table until there is nothing left to measure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rlccfr.agents.evidence import ChoosingRuns
from rlccfr.agents.hyperparameters import Hyperparameters
from rlccfr.agents.team import SelectorTeam
from rlccfr.catalog import Catalog
from rlccfr.envs.measurement import Budget
from rlccfr.envs.reward import PRESETS, Preset, Scale, Weights
from rlccfr.envs.table import TableEvaluator

SETTINGS = Hyperparameters(
    hidden=(128, 128), batch_size=256, gradient_steps=8, buffer_size=2**17, target_interval=200, replays=1,
    settling=8_000,
)  # fmt: skip
"""Where measuring costs nothing: larger networks, which learn longer."""

DRAWN = 18
"""Presets drawn at random beside the named ones, so that teams know other weights, too."""

ENGINE_SEEDS = (0, 1)


def presets(seed: int = 0) -> tuple[Preset, ...]:
    """The named presets, and others with weights drawn uniformly from [0, 1]."""
    generator = np.random.default_rng(seed)
    drawn = []
    for number in range(DRAWN):
        a, b, c = (Weights(*map(float, generator.uniform(size=2))) for _ in range(3))
        drawn.append(Preset(f"drawn {number}", (a, b, c)))
    return (*PRESETS.values(), *drawn)


def train_on_table(
    table: TableEvaluator,
    catalog: Catalog,
    games: Sequence[str],
    budgets: Sequence[Budget],
    *,
    scale: Scale = "log",
    seed: int = 0,
    settings: Hyperparameters | None = None,
    progress: Callable[[float], None] | None = None,
) -> SelectorTeam:
    """A team that has seen every cell of these games, by the runs that one may choose by.

    Args:
        settings: by default :data:`SETTINGS`.

    Raises:
        MissingCellError: the table lacks a cell.
    """
    team = SelectorTeam(
        games, budgets, preset=presets(), scale=scale, catalog=catalog, engine_seeds=ENGINE_SEEDS,
        evaluator=ChoosingRuns(table), seed=seed, hyperparameters=settings or SETTINGS,
    )  # fmt: skip
    everything = len(catalog) * len(games) * len(budgets) * len(ENGINE_SEEDS)
    team.train(everything, progress=progress)
    return team
