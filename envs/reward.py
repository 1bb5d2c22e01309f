"""The reward: R = 1 - (alpha e + beta s), from measured exploitability and throughput.

The formula is that of Keshavarzi, Navidi and Tefagh, "Combining CFR-based algorithms with deep reinforcement learning
techniques", in which e is the exploitability itself. Here e has one of three scales; each preset names its scale.

Only :func:`reward` computes the formula, for numbers and arrays alike; its cost alpha e + beta s is
:func:`weighted_cost`. :func:`costs` computes e and s from a measurement.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeVar, get_args

import numpy as np

from rlccfr.envs.measuring.evaluator import CONVERGED, Measurement
from rlccfr.errors import RLCCFRError, choices
from rlccfr.policy import EXACT

Scale = Literal["log", "linear", "units"]

SCALES: tuple[Scale, ...] = get_args(Scale)

SCALE_WORDS: Mapping[str, str] = {
    "log": "e on a log scale",
    "linear": "e relative to the uniform policy's",
    "units": "e in the game's units",
}
"""What e is on each scale, for display."""

DECADES = 8
"""Number of decades on the log scale: e is 1 for the uniform policy, and 0 this many decades below it."""

CONVERGED_LOG = 1 + math.log10(CONVERGED) / DECADES
"""Largest e on the log scale of a run that has converged."""


class Costs(NamedTuple):
    """The costs of a run: the error cost e on each scale, and the speed cost s.

    Attributes:
        log: e on the scale ``log``: 1 for the uniform policy's exploitability, 1/8 less for each decade below that, and
            0 from eight decades below on. For an exploitability above the uniform policy's, e exceeds 1.
        linear: e on the scale ``linear``: the exploitability as a multiple of the uniform policy's.
        units: e on the scale ``units``: the exploitability in the game's units, or in big blinds if the game has them.
        speed: s, in [0, 1]; see :func:`speed_cost`.
    """

    log: float
    linear: float
    units: float
    speed: float

    @property
    def converged(self) -> bool:
        """Whether the exploitability is at most a tenth of the uniform policy's, as for a :class:`Measurement`."""
        return self.linear <= CONVERGED

    def error(self, scale: Scale) -> float:
        """Return e on a scale."""
        return float(getattr(self, scale))


SPEED = Costs._fields.index("speed")
"""Index of s in arrays of costs, whose last axis has the fields of :class:`Costs`."""


class Weights(NamedTuple):
    """One agent's weights. They need not sum to 1; the paper's seldom do.

    Attributes:
        alpha: weight of the error cost e, in [0, 1].
        beta: weight of the speed cost s, in [0, 1].
    """

    alpha: float
    beta: float


Number = TypeVar("Number", float, np.ndarray)


def weighted_cost(alpha: Number, beta: Number, error: Number, speed: Number) -> Number:
    """Return alpha e + beta s, the cost that a reward subtracts; arguments and result are as for :func:`reward`."""
    cost: Number = alpha * error + beta * speed
    return cost


def reward(alpha: Number, beta: Number, error: Number, speed: Number) -> Number:
    """Return R = 1 - (alpha e + beta s); every reward of this package is computed here.

    Args:
        alpha: weight of e.
        beta: weight of s.
        error: e, on the scale to which the weights apply.
        speed: s.

    Returns:
        A number for numbers, or an array of the shape to which arrays broadcast.

    Examples:
        >>> reward(alpha=0.5, beta=0.25, error=0.5, speed=1.0)
        0.5
    """
    return 1.0 - weighted_cost(alpha, beta, error, speed)


class Worth(NamedTuple):
    """The numbers by which algorithms are ranked for a recommendation; two worths are compared field by field.

    So an algorithm that has not converged ranks below all that have converged, whatever its reward. The reward alone
    would not do: it is linear in e, so with enough weight on speed, a run no better than the uniform policy would win.

    Attributes:
        converged: 1.0 if all runs have converged or only speed has weight, else 0.0. For several games, the sum.
        reward: R̄, averaged over the runs. For several games, the sum.
    """

    converged: float
    reward: float


@dataclass(frozen=True)
class Preset:
    """Named reward weights of agents A, B and C, and the scale of e to which they apply.

    Attributes:
        name: name of the preset; for weights given as numbers, these numbers.
        weights: weights of agents A, B and C, in this order.
        scale: scale of e: ``"log"``, ``"linear"`` or ``"units"``; see :class:`Costs`.

    Raises:
        RLCCFRError: a weight outside [0, 1], an agent whose weights are both 0, or an unknown scale.

    Examples:
        >>> from rlccfr.envs import PRESETS
        >>> print(PRESETS["paper-kuhn"])
        paper-kuhn (e in the game's units)
    """

    name: str
    weights: tuple[Weights, Weights, Weights]
    scale: Scale = "log"

    def __post_init__(self) -> None:
        for alpha, beta in self.weights:
            if not (0 <= alpha <= 1 and 0 <= beta <= 1 and alpha + beta > 0):
                raise RLCCFRError(f"weights must lie in [0, 1], and can't both be 0: change alpha={alpha}, beta={beta}")
        if self.scale not in SCALES:
            raise RLCCFRError(
                f"scale must be {', '.join(map(repr, SCALES[:-1]))} or {SCALES[-1]!r}, not {self.scale!r}"
            )

    def __str__(self) -> str:
        return f"{self.name} ({SCALE_WORDS[self.scale]})"

    @property
    def speed_alone(self) -> bool:
        """Whether only speed has weight; only then can an algorithm that has not converged be recommended."""
        return all(alpha == 0 for alpha, _ in self.weights)

    def rewards(self, costs: Costs) -> tuple[float, float, float]:
        """Return R of agents A, B and C for the costs of a run."""
        error = costs.error(self.scale)
        a, b, c = (reward(alpha, beta, error, costs.speed) for alpha, beta in self.weights)
        return a, b, c

    def mean_reward(self, costs: Costs) -> float:
        """Return R̄, the mean of the three agents' rewards, by which algorithms are compared."""
        return sum(self.rewards(costs)) / len(self.weights)

    def worth(self, runs: Sequence[Costs]) -> Worth:
        """Return the worth of an algorithm, by which it is ranked, from the costs of its runs (at least one)."""
        converged = self.speed_alone or all(costs.converged for costs in runs)
        return Worth(float(converged), math.fsum(map(self.mean_reward, runs)) / len(runs))


_NAMED: tuple[tuple[str, Scale, tuple[float, float], tuple[float, float], tuple[float, float]], ...] = (
    ("accuracy", "log", (1, 0), (1, 0), (1, 0)),
    ("paper-kuhn", "units", (1, 0.4), (0.8, 0.6), (0.9, 0.5)),
    ("paper-leduc", "units", (0.6, 1), (0.4, 0.9), (0.2, 0.8)),
    ("paper-royal", "units", (0.7, 0.8), (0.6, 0.6), (0.4, 0.9)),
    ("paper-goofspiel", "units", (0.6, 0.6), (0.5, 0.8), (0.2, 0.7)),
    ("paper-speed", "units", (0.3, 0.8), (0.4, 0.7), (0.8, 1)),
)

PRESETS = {name: Preset(name, (Weights(*a), Weights(*b), Weights(*c)), scale) for name, scale, a, b, c in _NAMED}
"""Reward weights by name: ``accuracy``, on the log scale; and those of the paper's captions, in the game's units."""


def preset(name: str) -> Preset:
    """Return reward weights by name.

    Raises:
        RLCCFRError: an unknown name.
    """
    if name not in PRESETS:
        raise RLCCFRError(f"unknown preset {name!r}; {choices(name, PRESETS)} (or weights of your own, like '0.7,0.3')")
    return PRESETS[name]


def speed_cost(throughput: float, reference_throughput: float) -> float:
    """Return the cost s in [0, 1] of a throughput: 0.5 at the speed of plain exact CFR, 0.01 at a hundred times that.

    The paper's Table 4 reports iterations per second, while its reward subtracts s. The two are consistent if s is a
    cost that falls as throughput rises. Since s depends only on the ratio of two throughputs, s hardly depends on the
    machine.
    """
    return 1.0 / (1.0 + throughput / reference_throughput)


def costs(measurement: Measurement) -> Costs:
    """Return the costs of a measurement.

    A failed run has found no policy, so its e is the uniform policy's, and its s is 1. If the uniform policy is an
    equilibrium, e on the scales ``log`` and ``linear`` is 0 for an exploitability of 0, and 1 for any larger one.
    """
    uniform = measurement.uniform_exploitability
    if not measurement.ok:
        # A table from another source may lack the uniform policy's exploitability.
        error_in_units = uniform / measurement.unit if math.isfinite(uniform) else 1.0
        return Costs(log=1.0, linear=1.0, units=error_in_units, speed=1.0)
    exploitability = measurement.exploitability
    speed = speed_cost(measurement.throughput, measurement.reference_throughput)
    error_in_units = exploitability / measurement.unit
    if uniform <= EXACT:  # the other two scales would divide by 0
        relative_error = float(exploitability > EXACT)
        return Costs(relative_error, relative_error, error_in_units, speed)
    # An exploitability that is 0 up to rounding has no usable logarithm; EXACT takes its place.
    ratio = max(exploitability, EXACT) / uniform
    log_error = max(1 + math.log10(ratio) / DECADES, 0.0)
    return Costs(log_error, exploitability / uniform, error_in_units, speed)


def rewards(measurement: Measurement, of: Preset) -> tuple[float, float, float]:
    """Return R of agents A, B and C for a measurement, each at most 1."""
    return of.rewards(costs(measurement))


def mean_reward(measurement: Measurement, of: Preset) -> float:
    """Return R̄ for a measurement, the mean of the three agents' rewards, by which algorithms are compared."""
    return of.mean_reward(costs(measurement))


def costs_on_all_scales(log_errors: np.ndarray, speeds: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """Return the costs that follow from e on the log scale and s; the last axis of (..., 4) is as in :class:`Costs`.

    Args:
        log_errors: e on the scale ``log``, (...).
        speeds: s, (...).
        uniform: exploitability of the uniform policy in the game's units (or big blinds), broadcast to (...).
    """
    linear = 10.0 ** (DECADES * (log_errors - 1.0))
    return np.stack([log_errors, linear, linear * uniform, speeds], axis=-1)


def mean_costs(costs: np.ndarray, of: Preset) -> np.ndarray:
    """Return 1 - R̄, (...), for costs, (..., 4), whose last axis has the fields of :class:`Costs`; lower is better."""
    # R is linear in the weights, so that the mean of the agents' costs is the cost under their mean weights.
    mean_alpha, mean_beta = np.mean(of.weights, axis=0)
    error = costs[..., Costs._fields.index(of.scale)]
    speed = costs[..., SPEED]
    return np.asarray(weighted_cost(mean_alpha, mean_beta, error, speed))
