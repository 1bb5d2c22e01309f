"""The reward: R = 1 - (alpha e + beta s), from measured exploitability and throughput."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

from rlccfr.envs.measuring.evaluator import Measurement
from rlccfr.errors import RLCCFRError, choices
from rlccfr.policy import EXACT

Scale = Literal["log", "linear"]

DECADES = 8
"""Number of decades on the log scale: e is 1 for the uniform policy, and 0 this many decades below it."""


class Weights(NamedTuple):
    """One agent's weights: alpha of the error cost e, beta of the speed cost s."""

    alpha: float
    beta: float


@dataclass(frozen=True)
class Preset:
    """Named reward weights of agents A, B and C.

    Raises:
        RLCCFRError: a weight outside [0, 1], or an agent whose weights are both 0.
    """

    name: str
    weights: tuple[Weights, Weights, Weights]

    def __post_init__(self) -> None:
        for alpha, beta in self.weights:
            if not (0 <= alpha <= 1 and 0 <= beta <= 1 and alpha + beta > 0):
                raise RLCCFRError(f"weights must lie in [0, 1] and not both be 0, not alpha={alpha}, beta={beta}")

    def __str__(self) -> str:
        return self.name

    def rewards(self, error: float, speed: float) -> tuple[float, float, float]:
        """Return R of agents A, B and C for the costs e and s."""
        a, b, c = (1.0 - (alpha * error + beta * speed) for alpha, beta in self.weights)
        return a, b, c


PRESETS = {
    name: Preset(name, (Weights(*a), Weights(*b), Weights(*c)))
    for name, a, b, c in (
        ("accuracy", (1, 0), (1, 0), (1, 0)),
        ("paper-kuhn", (1, 0.4), (0.8, 0.6), (0.9, 0.5)),
        ("paper-leduc", (0.6, 1), (0.4, 0.9), (0.2, 0.8)),
        ("paper-royal", (0.7, 0.8), (0.6, 0.6), (0.4, 0.9)),
        ("paper-goofspiel", (0.6, 0.6), (0.5, 0.8), (0.2, 0.7)),
        ("paper-speed", (0.3, 0.8), (0.4, 0.7), (0.8, 1)),
    )
}
"""Reward weights by name: ``accuracy``, and those of the paper's captions."""


def preset(name: str) -> Preset:
    """Return reward weights by name.

    Raises:
        RLCCFRError: an unknown name.
    """
    if name not in PRESETS:
        raise RLCCFRError(f"unknown preset {name!r}; {choices(name, PRESETS)} (or weights of your own, like '0.7,0.3')")
    return PRESETS[name]


def error_cost(exploitability: float, uniform_exploitability: float, scale: Scale = "log") -> float:
    """Return the cost e in [0, 1] of an exploitability.

    On the scale ``log``, e is 1 for the uniform policy, and 0 at eight decades below it or further. On the scale
    ``linear``, e is the ratio to the uniform policy's exploitability, at most 1: the paper's form, made comparable
    between games. If the uniform policy is an equilibrium, an exploitability of 0 costs 0 and any other costs 1.
    """
    floored = max(exploitability, EXACT)
    if uniform_exploitability <= EXACT:  # the uniform policy is an equilibrium already
        return float(floored > EXACT)
    ratio = floored / uniform_exploitability
    cost = 1 + math.log10(ratio) / DECADES if scale == "log" else ratio
    return min(max(cost, 0.0), 1.0)


def speed_cost(throughput: float, reference_throughput: float) -> float:
    """Return the cost s in [0, 1] of a throughput: 0.5 at the speed of plain exact CFR, 0.01 at a hundred times it.

    The paper's Table 4 prints iterations per second, while its reward subtracts s. Both make sense if s is a cost that
    falls as throughput rises. The ratio makes s independent of the machine.
    """
    return 1.0 / (1.0 + throughput / reference_throughput)


def costs(measurement: Measurement, scale: Scale = "log") -> tuple[float, float]:
    """Return (e, s) of a measurement; (1, 1) if the run failed."""
    if not measurement.ok:
        return 1.0, 1.0
    return (
        error_cost(measurement.exploitability, measurement.uniform_exploitability, scale),
        speed_cost(measurement.throughput, measurement.reference_throughput),
    )


def rewards(measurement: Measurement, of: Preset, scale: Scale = "log") -> tuple[float, float, float]:
    """Return R = 1 - (alpha e + beta s) of agents A, B and C, each in [-1, 1]."""
    return of.rewards(*costs(measurement, scale))


def mean_reward(measurement: Measurement, of: Preset, scale: Scale = "log") -> float:
    """Return R̄, the mean of the three agents' rewards, by which algorithms are compared."""
    return sum(rewards(measurement, of, scale)) / len(of.weights)
