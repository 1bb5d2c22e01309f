"""The observation: a fixed-length vector of game, budget, reward weights, progress and the picks so far."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from gymnasium import spaces

from rlccfr.catalog import AXES, Cell
from rlccfr.components import Component
from rlccfr.envs.game_features import COMPONENT_FEATURES, GameFeatures, component_features, logarithm
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.reward import SCALES, Preset, reward

UNITS = ("iterations", "seconds", "nodes")
"""Units of budgets, in the order of their flags in an observation."""

_LEAST_BUDGET = {"iterations": 1.0, "seconds": 1e-4, "nodes": 1.0}
_BUDGET_DECADES = {"iterations": 8.0, "seconds": 10.0, "nodes": 12.0}


class Progress(NamedTuple):
    """The progress of an episode at a decision.

    Attributes:
        segment: index of the segment to decide on, from 0.
        segments: number of segments of the episode.
        previous: algorithm of the previous segment; None at the first.
        log_error_cost: error cost e at the last segment's end, always on the log scale; 1 before the first segment.
        log_error_slope: change of that e over the last segment.
        speed_cost: speed cost s since the episode's start; 0 before the first segment.
        failed: whether the run failed; e on the log scale and s are then 1.
    """

    segment: int = 0
    segments: int = 1
    previous: Cell | None = None
    log_error_cost: float = 1.0
    log_error_slope: float = 0.0
    speed_cost: float = 0.0
    failed: bool = False


def _component_names(prefix: str) -> list[str]:
    """Return the names of the features of an algorithm's three components."""
    return [f"{prefix}{axis}.{name}" for axis, names in zip(AXES, COMPONENT_FEATURES, strict=True) for name in names]


# Saved teams read these numbers in this order. CONTRIBUTING.md says what else a change here needs.
FEATURE_NAMES: tuple[str, ...] = (
    *(f"game.{name}" for name in GameFeatures._fields),
    "game.uniform_exploitability",
    "budget.amount",
    *(f"budget.{unit}" for unit in UNITS),
    *(f"weights.{axis}.{name}" for axis in AXES for name in ("alpha", "beta")),
    *(f"weights.scale.{scale}" for scale in SCALES),
    "progress.segment_share",
    "progress.share_of_one_segment",
    "progress.measured",
    "progress.failed",
    "progress.error_cost",
    "progress.error_slope",
    "progress.speed_cost",
    *_component_names("pick."),
    *_component_names("previous."),
)
"""The name of each number of an observation."""

OBSERVATION_SIZE = len(FEATURE_NAMES)
"""Length of an observation."""

GAME = slice(0, len(GameFeatures._fields) + 1)
"""The part of an observation that describes the game; the uniform policy's exploitability is its last number."""

_UNIFORM_DECADES = 8.0
"""Width, in decades, of the range of the uniform policy's exploitability in an observation: from 1e-4 to 1e4 units."""

_WEIGHTS = [index for index, name in enumerate(FEATURE_NAMES) if name.startswith("weights.")]
"""Indices of the reward weights in an observation, in the order of :func:`reward_weights_of`."""


def uniform_feature(uniform: float) -> float:
    """Return the observation's number, in [0, 1], for the uniform policy's exploitability in the reward's units."""
    if uniform <= 0.0:
        return 0.0
    return min(1.0, max(0.0, 0.5 + math.log10(uniform) / _UNIFORM_DECADES))


def reward_weights_of(preset: Preset) -> np.ndarray:
    """Return an observation's numbers for reward weights, (9,): alpha and beta of each agent, and a flag per scale."""
    scale_flags = [float(preset.scale == scale) for scale in SCALES]
    return np.concatenate([np.ravel(preset.weights), scale_flags])


def asks_for_speed_alone(weights: np.ndarray) -> np.ndarray:
    """Return whether each row of reward weights, (b, 9), gives the error cost e no weight for any agent: bool, (b,)."""
    return np.asarray((_alphas_and_betas(weights)[:, :, 0] == 0).all(axis=1))


def _alphas_and_betas(weights: np.ndarray) -> np.ndarray:
    """Return each agent's alpha and beta, (b, 3, 2), of rows of reward weights, (b, 9)."""
    return weights[:, : -len(SCALES)].reshape(-1, 3, 2)


def agents_rewards(costs: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the rewards R of agents A, B and C, (b, 3), under reward weights in the form of observations.

    Args:
        costs: (b, 4) with the fields of :class:`rlccfr.envs.reward.Costs`.
        weights: (b, 9), as :func:`reward_weights_of` returns them.
    """
    alphas_and_betas = _alphas_and_betas(weights)
    scale_flags = weights[:, -len(SCALES) :]
    error = (costs[:, : len(SCALES)] * scale_flags).sum(axis=1)
    speed = costs[:, -1]
    return np.asarray(reward(alphas_and_betas[:, :, 0], alphas_and_betas[:, :, 1], error[:, None], speed[:, None]))


def observation_space() -> spaces.Box:
    """Return the space of observations: float32 in [-1, 1], shape (OBSERVATION_SIZE,)."""
    return spaces.Box(-1.0, 1.0, (OBSERVATION_SIZE,), np.float32)


def observe(
    game: GameFeatures,
    uniform: float,
    budget: Budget,
    preset: Preset,
    progress: Progress = Progress(),  # noqa: B008  (immutable)
    picks: Sequence[str | Component] = (),
) -> np.ndarray:
    """Return an agent's observation before its pick; values that are not known yet are 0.

    Args:
        game: features of the game, from :meth:`GameFeatures.of`.
        uniform: exploitability of the uniform policy, in the game's units, or in big blinds where there are blinds.
        budget, preset: budget and reward weights of the whole episode.
        progress: progress of the episode, by default that at its beginning.
        picks: 0 to 3 picks at this decision so far, ids or components, in the order update rule, sampler, abstraction.

    Returns:
        New float32 array of shape (OBSERVATION_SIZE,); :data:`FEATURE_NAMES` names its numbers.

    Raises:
        ComponentError: an unknown id among the picks.

    Examples:
        >>> import rlccfr
        >>> from rlccfr.envs import PRESETS, Budget, GameFeatures
        >>> features = GameFeatures.of(rlccfr.load_game("kuhn"))
        >>> observation = observe(features, 0.458, Budget("iterations", 1000), PRESETS["accuracy"], picks=["dcfr"])
        >>> observation[FEATURE_NAMES.index("pick.update_rule.known")], observation[FEATURE_NAMES.index("budget.nodes")]
        (np.float32(1.0), np.float32(0.0))
    """
    is_measured = progress.segment > 0
    costs_so_far = (
        [progress.log_error_cost, progress.log_error_slope, progress.speed_cost] if is_measured else [0.0] * 3
    )
    # The parts are in the order of FEATURE_NAMES.
    vector = np.concatenate(
        [
            game,
            [uniform_feature(uniform)],
            [logarithm(budget.amount / _LEAST_BUDGET[budget.unit], _BUDGET_DECADES[budget.unit])],
            [float(budget.unit == unit) for unit in UNITS],
            reward_weights_of(preset),
            [progress.segment / progress.segments, 1 / progress.segments, is_measured, progress.failed],
            costs_so_far,
            *_features_of_picks(picks),
            *_features_of_picks(progress.previous or ()),
        ]
    ).astype(np.float32)
    return np.clip(vector, -1.0, 1.0, out=vector)


def with_weights(observation: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return a copy of observations, (..., OBSERVATION_SIZE), in which other reward weights replace the present ones.

    Args:
        observation: (..., OBSERVATION_SIZE), not changed.
        weights: (9,) or (..., 9), as :func:`reward_weights_of` returns them.
    """
    under_weights = observation.copy()
    under_weights[..., _WEIGHTS] = weights
    return under_weights


def _features_of_picks(picks: Sequence[str | Component]) -> list[np.ndarray]:
    """Return an array for each axis: the features of the component picked on it, or zeros if none is picked yet."""
    return [
        component_features(axis, picks[axis]) if axis < len(picks) else np.zeros(len(names), np.float32)
        for axis, names in enumerate(COMPONENT_FEATURES)
    ]
