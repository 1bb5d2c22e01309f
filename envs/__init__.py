"""The Gymnasium environments in which selectors learn, and the evaluators that measure for them.

Importing this module, or ``rlccfr``, registers ``rlccfr/Selector-v0``, ``rlccfr/SelectorFlat-v0`` and
``rlccfr/SelectorStage-v0``; ``gymnasium.make("rlccfr:rlccfr/Selector-v0")`` imports it by itself.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import gymnasium

_HOME = {
    "Budget": "measurement",
    "Cell": "measurement",
    "Evaluator": "measurement",
    "FEATURE_NAMES": "observation",
    "GameFeatures": "features",
    "LiveEvaluator": "live",
    "Measurement": "measurement",
    "MissingCellError": "store",
    "OBSERVATION_SIZE": "observation",
    "PRESETS": "reward",
    "Preset": "reward",
    "Progress": "observation",
    "Request": "measurement",
    "SelectorEnv": "selector",
    "SelectorFlatEnv": "selector",
    "SelectorStageEnv": "stage",
    "Store": "store",
    "StoreError": "store",
    "TableEvaluator": "table",
    "Weights": "reward",
    "observe": "observation",
}

__all__ = [
    "FEATURE_NAMES",
    "OBSERVATION_SIZE",
    "PRESETS",
    "Budget",
    "Cell",
    "Evaluator",
    "GameFeatures",
    "LiveEvaluator",
    "Measurement",
    "MissingCellError",
    "Preset",
    "Progress",
    "Request",
    "SelectorEnv",
    "SelectorFlatEnv",
    "SelectorStageEnv",
    "Store",
    "StoreError",
    "TableEvaluator",
    "Weights",
    "observe",
]

if TYPE_CHECKING:
    from rlccfr.catalog import Cell
    from rlccfr.envs.features import GameFeatures
    from rlccfr.envs.live import LiveEvaluator
    from rlccfr.envs.measurement import Budget, Evaluator, Measurement, Request
    from rlccfr.envs.observation import FEATURE_NAMES, OBSERVATION_SIZE, Progress, observe
    from rlccfr.envs.reward import PRESETS, Preset, Weights
    from rlccfr.envs.selector import SelectorEnv, SelectorFlatEnv
    from rlccfr.envs.stage import SelectorStageEnv
    from rlccfr.envs.store import MissingCellError, Store, StoreError
    from rlccfr.envs.table import TableEvaluator

for _id, _entry_point in (
    ("rlccfr/Selector-v0", "rlccfr.envs.selector:SelectorEnv"),
    ("rlccfr/SelectorFlat-v0", "rlccfr.envs.selector:SelectorFlatEnv"),
    ("rlccfr/SelectorStage-v0", "rlccfr.envs.stage:SelectorStageEnv"),
):
    if _id not in gymnasium.registry:  # Gymnasium warns of a second registration, as on a reload
        gymnasium.register(_id, entry_point=_entry_point)


def __getattr__(name: str) -> Any:
    # Lazily, so that registering the ids does not wait for the engine.
    if name not in _HOME:
        raise AttributeError(f"module 'rlccfr.envs' has no attribute {name!r}")
    return getattr(importlib.import_module(f"rlccfr.envs.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
