"""RLCCFR: find the CFR algorithm that solves an imperfect-information game best and fastest."""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "BudgetError": "errors",
    "CheckpointError": "errors",
    "ComponentError": "errors",
    "GameError": "errors",
    "GameTree": "game_tree",
    "OverflowedError": "errors",
    "Policy": "policy",
    "PolicyError": "errors",
    "RLCCFRError": "errors",
    "RunResult": "result",
    "Solver": "solver",
    "Values": "policy",
    "load_game": "games",
    "load_plugins": "plugins",
    "load_results": "envs.rows",
}

__all__ = [
    "BudgetError",
    "CheckpointError",
    "ComponentError",
    "GameError",
    "GameTree",
    "OverflowedError",
    "Policy",
    "PolicyError",
    "RLCCFRError",
    "RunResult",
    "Solver",
    "Values",
    "__version__",
    "load_game",
    "load_plugins",
    "load_results",
]

if TYPE_CHECKING:
    from rlccfr.envs.rows import load_results
    from rlccfr.errors import (
        BudgetError,
        CheckpointError,
        ComponentError,
        GameError,
        OverflowedError,
        PolicyError,
        RLCCFRError,
    )
    from rlccfr.game_tree import GameTree
    from rlccfr.games import load_game
    from rlccfr.plugins import load_plugins
    from rlccfr.policy import Policy, Values
    from rlccfr.result import RunResult
    from rlccfr.solver import Solver


def __getattr__(name: str) -> Any:
    # Lazily, so that `rlccfr --help` does not wait for Numba and pandas.
    if name in ("agents", "catalog", "envs"):
        return importlib.import_module(f"rlccfr.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'rlccfr' has no attribute {name!r}")
    return getattr(importlib.import_module(f"rlccfr.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "agents", "catalog", "envs"])


if os.path.basename(next(iter(sys.argv), "")) not in ("rlccfr", "-m"):
    # Registers the environments, wherever they are asked for. The command waits for Gymnasium only if it needs it.
    importlib.import_module("rlccfr.envs")
