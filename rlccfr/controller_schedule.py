"""Controllers that follow a schedule, and a controller's picks for one observation.

A controller is a set of networks (:class:`rlccfr.components.controller.Controller`). A schedule of picks is one, too:
its networks look at nothing but the share of the run that is done. So whatever another agent did in an episode can be
kept in a controller's file, and steers a solver without that agent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rlccfr.components.controller import AGENTS, CHOICES, OBSERVATION, Controller, Layer
from rlccfr.errors import RLCCFRError, brief

SHARE = OBSERVATION.index("share")
"""Entry of an observation that has the share of the run's iterations that are done."""

RAMP = 4.0
"""Ratio of the distance between two decisions to the length of the ramp at its middle; see :func:`_change_points`."""


def follow_schedule(
    shares: Sequence[float] | np.ndarray,
    picks: Sequence[Sequence[int]] | np.ndarray,
    choices: tuple[np.ndarray, ...] = CHOICES,
) -> Controller:
    """Return a controller whose picks depend on the share of the run that is done, and on nothing else.

    At a decision, it repeats the picks of the nearest of the shares. In a run of the length for which the schedule was
    made, these are the schedule's own picks; in a run of another length, the schedule is stretched. A run to a target
    has no known end. It never seems more than a quarter done, so the picks for a quarter stay until its end.

    Args:
        shares: (d,) share of the iterations that are done at each decision, ascending from 0.
        picks: (d, 3) index of each agent's choice at each decision.
        choices: each agent's choices, as in :class:`Controller`.

    Returns:
        The controller. One row of picks gives a controller that never changes the settings.

    Raises:
        RLCCFRError: the shares do not ascend from 0 to at most 1, or a pick is not an index of a choice.

    Example:
        >>> import rlccfr
        >>> from rlccfr.controller_schedule import follow_schedule
        >>> linear_then_quadratic = follow_schedule([0.0, 0.5], [(0, 1, 0), (0, 2, 0)])
        >>> solver = rlccfr.Solver(rlccfr.load_game("kuhn"), control=linear_then_quadratic)
        >>> solver.run(iterations=100).exploitability < 0.01
        True
    """
    at = _checked_shares(shares)
    counts = tuple(map(len, choices))
    rows = checked_picks(f"picks are three indices for each of {len(at)} shares", picks, (len(at), len(counts)), counts)
    num_inputs = len(OBSERVATION)
    networks = []
    for agent, agent_choices in enumerate(choices):
        networks.append((*_change_points(at, num_inputs), _preference(rows[:, agent], len(agent_choices))))
        num_inputs += len(agent_choices)  # the next agent sees this one's pick, and ignores it
    return Controller(choices, (tuple(networks),))


def picks_of(controller: Controller, observation: np.ndarray) -> np.ndarray:
    """Return a controller's picks, (3,), for an observation, (24,): what its kernels would pick in a run.

    The Q-values are computed in single precision, as there.

    Raises:
        RLCCFRError: the observation has another shape.

    Example:
        >>> from rlccfr.envs import ControlEnv
        >>> from rlccfr.catalog.scheduled import controller_named
        >>> observation, _ = ControlEnv("kuhn", horizon=64).reset(seed=0)
        >>> picks_of(controller_named("shipped"), observation).shape
        (3,)
    """
    seen = np.asarray(observation, np.float32)
    if seen.shape != (len(OBSERVATION),):
        raise RLCCFRError(f"an observation has {len(OBSERVATION)} numbers, not the shape {seen.shape}")
    picks = []
    inputs = seen
    for agent, count in enumerate(controller.counts):
        start = np.zeros(count, np.float32)
        values = sum((_q_values(networks[agent], inputs) for networks in controller.members), start)
        pick = int(np.argmax(values))
        picks.append(pick)
        inputs = np.concatenate([inputs, np.eye(count, dtype=np.float32)[pick]])
    return np.array(picks)


def _q_values(layers: Sequence[Layer], inputs: np.ndarray) -> np.ndarray:
    """Return the outputs of a network; all layers but the last are rectified."""
    values = inputs
    for number, (weights, biases) in enumerate(layers, 1):
        values = values @ weights.astype(np.float32) + biases.astype(np.float32)
        if number < len(layers):
            values = np.maximum(values, 0)
    return values


def _change_points(shares: np.ndarray, num_inputs: int) -> tuple[Layer, Layer]:
    """Return two layers whose d - 1 outputs are 1 for each change of picks that is behind, else 0.

    The change between two decisions lies in their middle. There, an output rises from 0 to 1 along a ramp. The second
    rectifier cuts the ramp off at 1, so that the outputs are exact at the decisions.

    Args:
        shares: (d,) share of the iterations that are done at each decision.
        num_inputs: number of inputs of the first layer.
    """
    distances = np.diff(shares)
    middles = shares[:-1] + distances / 2
    slopes = RAMP / distances
    # first: max(0, 1 - ramp), with ramp = slope (share - middle) + 1/2; second: max(0, 1 - first)
    first_weights = np.zeros((num_inputs, len(middles)))
    first_weights[SHARE] = -slopes
    first_biases = 0.5 + slopes * middles
    return (first_weights, first_biases), (-np.eye(len(middles)), np.ones(len(middles)))


def _preference(picks: np.ndarray, count: int) -> Layer:
    """Return the layer that turns changes that are behind into Q-values: 1 for the present pick, 0 for all others.

    Args:
        picks: (d,) index of the pick at each decision.
        count: number of choices.
    """
    chosen = np.eye(count)[picks]
    return np.diff(chosen, axis=0), chosen[0]


def _checked_shares(shares: Any) -> np.ndarray:
    """Return shares as an array, (d,).

    Raises:
        RLCCFRError: they do not ascend from 0 to at most 1.
    """
    try:
        at = np.asarray(shares, float)
    except (TypeError, ValueError):
        at = np.zeros(0)
    if at.ndim != 1 or not len(at) or at[0] != 0 or not (np.diff(at) > 0).all() or not at[-1] <= 1:
        raise RLCCFRError(f"shares must ascend from 0 to at most 1, as in [0, 0.5], not {brief(shares)}")
    return at


def checked_picks(
    expected: str, picks: Any, shape: tuple[int, ...], counts: tuple[int, ...], least: float = 0
) -> np.ndarray:
    """Return picks as an array if they are indices of choices.

    Args:
        expected: what is expected, the beginning of the error's message.
        picks: any value.
        shape: shape that picks must have; the last axis has the agents.
        counts: number of each agent's choices.
        least: least index; negative indices leave the pick to the networks.

    Raises:
        RLCCFRError: the value is not an array of such indices.
    """
    indices = array_of(picks)
    if indices.shape == shape and indices.dtype.kind in "iu" and ((least <= indices) & (indices < counts)).all():
        return indices
    limits = ", ".join(f"{agent} below {count}" for agent, count in zip(AGENTS, counts, strict=True))
    if least < 0:
        limits += "; negative for the networks' own"
    in_one_line = picks.tolist() if isinstance(picks, np.ndarray) else picks
    raise RLCCFRError(f"{expected} ({limits}), not {brief(in_one_line)}")


def array_of(values: Any) -> np.ndarray:
    """Return values as an array; an array of None if they are ragged."""
    try:
        return np.asarray(values)
    except ValueError:
        return np.array(None)
