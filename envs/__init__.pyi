from .control.env import ControlEnv
from .episode import EpisodeOptions, EpisodeSpec
from .game_features import GameFeatures
from .measuring.aslib import write_aslib
from .measuring.evaluator import Evaluator, Measurement
from .measuring.live import LiveEvaluator
from .measuring.request import Budget, Cell, Request
from .measuring.store import MissingCellError, Store, StoreError
from .measuring.table import TableEvaluator
from .observation import FEATURE_NAMES, OBSERVATION_SIZE, Progress, observe
from .reward import PRESETS, Preset, Weights
from .selector import SelectorEnv, SelectorFlatEnv
from .stage import SelectorStageEnv
from .sweeping.plan import Limits
from .sweeping.sweep import SweepPlan, sweep

__all__ = [
    "FEATURE_NAMES",
    "OBSERVATION_SIZE",
    "PRESETS",
    "Budget",
    "Cell",
    "ControlEnv",
    "EpisodeOptions",
    "EpisodeSpec",
    "Evaluator",
    "GameFeatures",
    "Limits",
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
    "SweepPlan",
    "TableEvaluator",
    "Weights",
    "observe",
    "sweep",
    "write_aslib",
]
