"""The three selectors and the team that trains them, what they are compared with, and the tables of it.

Importing this package loads neither torch nor Stable-Baselines3, nor does asking a trained team; training one does.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_HOME = {
    "Hyperparameters": "hyperparameters",
    "Recommendation": "recommendation",
    "RecommendationTable": "table",
    "SelectorTeam": "team",
    "build_table": "comparison",
    "expand_team": "team_file",
    "measure_all": "baselines",
    "random_search": "baselines",
    "single_best": "baselines",
    "virtual_best": "baselines",
}

__all__ = [
    "Hyperparameters",
    "Recommendation",
    "RecommendationTable",
    "SelectorTeam",
    "build_table",
    "expand_team",
    "measure_all",
    "random_search",
    "single_best",
    "virtual_best",
]

if TYPE_CHECKING:
    from rlccfr.agents.baselines import measure_all, random_search, single_best, virtual_best
    from rlccfr.agents.comparison import build_table
    from rlccfr.agents.hyperparameters import Hyperparameters
    from rlccfr.agents.recommendation import Recommendation
    from rlccfr.agents.table import RecommendationTable
    from rlccfr.agents.team import SelectorTeam
    from rlccfr.agents.team_file import expand_team


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'rlccfr.agents' has no attribute {name!r}")
    return getattr(importlib.import_module(f"rlccfr.agents.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
