"""Controllers that follow a schedule, and a controller's picks for one observation.

A controller is a set of networks (:class:`rlccfr.components.controller.Controller`). A schedule of picks can be written
as a controller, too: its networks read only the length of the run and the share of the run that is done. So the picks
that another agent made in an episode can be saved in a controller's file, and control a solver without that agent. A
solver that follows a schedule need not measure anything during the run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from rlccfr.components.controller import AGENTS, CHOICES, OBSERVATION, Controller, Layer
from rlccfr.errors import RLCCFRError, brief, whole_number

SHARE = OBSERVATION.index("share")
"""Index, in an observation, of the share of the run's iterations that are done."""

LENGTH = OBSERVATION.index("horizon")
"""Index, in an observation, of log10 of the run's number of iterations, times :data:`LENGTH_SCALE`."""

LENGTH_SCALE = 0.25
"""Scale of the run's length in observations; see :mod:`rlccfr.kernels.control.observe`."""

RAMP = 4.0
"""Ratio of the distance between two decisions to the length of the ramp midway between them; see :func:`_events`."""

BORDER_RAMP = 1000.0
"""Ratio as in :data:`RAMP`, but for the ramp at the border between two lengths of runs.

It is large, since a run's length may be close to the border.
"""


def follow_schedule(
    shares: Sequence[float] | np.ndarray,
    picks: Sequence[Sequence[int]] | np.ndarray,
    choices: tuple[np.ndarray, ...] = CHOICES,
) -> Controller:
    """Return a controller whose picks depend on the share of the run that is done, and on nothing else.

    At a decision, the controller makes the picks of the nearest of ``shares``. In a run of the length for which the
    schedule was made, these are the schedule's own picks; in a run of another length, the schedule is stretched. A run
    to a target without a ``horizon`` has no known length, and counts as at most a quarter done. So it never gets beyond
    the picks nearest to the share 1/4.

    Args:
        shares: (d,) share of the iterations that are done at each decision, ascending from 0.
        picks: (d, 3) index of each agent's choice at each decision.
        choices: each agent's choices, as in :class:`Controller`.

    Returns:
        The controller. One row of picks gives a controller that never changes the settings.

    Raises:
        RLCCFRError: the shares do not ascend from 0 to at most 1, or a pick is not an index of a choice.

    Examples:
        >>> import rlccfr
        >>> from rlccfr.controller_schedule import follow_schedule
        >>> linear_then_quadratic = follow_schedule([0.0, 0.5], [(0, 1, 0), (0, 2, 0)])
        >>> solver = rlccfr.Solver(rlccfr.load_game("kuhn"), control=linear_then_quadratic)
        >>> solver.run(iterations=100).exploitability < 0.01
        True
    """
    return follow_schedules({1: (shares, picks)}, choices)


def follow_schedules(
    schedules: Mapping[int, tuple[Sequence[float] | np.ndarray, Sequence[Sequence[int]] | np.ndarray]],
    choices: tuple[np.ndarray, ...] = CHOICES,
) -> Controller:
    """Return a controller whose picks depend on the length of the run and on the share that is done.

    A run follows the schedule whose length is closest to its own in ratio; :func:`follow_schedule` says which picks it
    makes at shares that the schedule lacks. The length of a run to a target without a ``horizon`` is taken to be four
    times the iterations done, and at least 1,000, so such a run may move from one schedule to the next.

    Args:
        schedules: the shares and the picks of each schedule, keyed by the length of its run in iterations.
        choices: each agent's choices, as in :class:`Controller`.

    Raises:
        RLCCFRError: there is no schedule, a length is not a positive integer, or a schedule is invalid.

    Examples:
        >>> import rlccfr
        >>> from rlccfr.controller_schedule import follow_schedules
        >>> two_lengths = follow_schedules({100: ([0.0], [(0, 1, 0)]), 1000: ([0.0, 0.5], [(0, 1, 0), (0, 2, 0)])})
        >>> solver = rlccfr.Solver(rlccfr.load_game("kuhn"), control=two_lengths)
        >>> solver.run(iterations=300).exploitability < 0.01
        True
    """
    if not schedules:
        raise RLCCFRError("give at least one schedule")
    counts = tuple(map(len, choices))
    lengths = sorted(whole_number(length, "the length of a schedule", 1, RLCCFRError) for length in schedules)
    shares = {length: _checked_shares(schedules[length][0]) for length in lengths}
    picks = {}
    for length, at in shares.items():
        expected = f"picks must be three indices for each of {len(at)} shares"
        picks[length] = checked_picks(expected, schedules[length][1], (len(at), len(counts)), counts)
    num_inputs = len(OBSERVATION)
    networks = []
    for agent, agent_choices in enumerate(choices):
        first, second = _events(shares, num_inputs)
        networks.append((first, second, _preference([picks[length][:, agent] for length in lengths], counts[agent])))
        num_inputs += len(agent_choices)  # the next agent's inputs include this one's pick, which it ignores
    return Controller(choices, (tuple(networks),))


def picks_of(controller: Controller, observation: np.ndarray) -> np.ndarray:
    """Return a controller's picks, (3,), for an observation, (24,): the index of each agent's choice.

    The picks are those of the kernels in a run: Q-values are computed in single precision, too.

    Raises:
        RLCCFRError: the observation has another shape.

    Examples:
        >>> from rlccfr.envs import ControlEnv
        >>> from rlccfr.catalog.scheduled import controller_named
        >>> observation, _ = ControlEnv("kuhn", horizon=64).reset(seed=0)
        >>> picks_of(controller_named("shipped"), observation).shape
        (3,)
    """
    seen = np.asarray(observation, np.float32)
    if seen.shape != (len(OBSERVATION),):
        raise RLCCFRError(f"an observation must have the shape ({len(OBSERVATION)},), not {seen.shape}")
    picks = []
    inputs = seen
    for agent, count in enumerate(controller.counts):
        start = np.zeros(count, np.float32)
        # The members' Q-values are summed, not averaged, since only the order of the choices counts.
        values = sum((_q_values(networks[agent], inputs) for networks in controller.members), start)
        pick = int(np.argmax(values))
        picks.append(pick)
        inputs = np.concatenate([inputs, np.eye(count, dtype=np.float32)[pick]])
    return np.array(picks)


def _q_values(layers: Sequence[Layer], inputs: np.ndarray) -> np.ndarray:
    """Return the outputs of a network, (choices,); all layers except the last are rectified."""
    values = inputs
    for number, (weights, biases) in enumerate(layers, 1):
        values = values @ weights.astype(np.float32) + biases.astype(np.float32)
        if number < len(layers):
            values = np.maximum(values, 0)
    return values


def _events(shares: Mapping[int, np.ndarray], num_inputs: int) -> tuple[Layer, Layer]:
    """Return two layers with an output, 1 or 0, for each decision of each schedule: whether the run has reached it.

    A controller's schedules are made for runs of several lengths (numbers of iterations). A run follows the schedule
    with the nearest length; the border between two neighbouring lengths is their geometric mean. The output of a
    schedule's first decision is 1 if the run follows this schedule. The output of a later decision is 1 if, in
    addition, the run has passed the point midway between this decision and the previous one, where the picks change.

    At each such point and border, a unit of the first layer moves between 0 and 1 along a ramp. The second layer's
    rectifier cuts off all ramps, so that the outputs are exact at the decisions. The outputs come in ascending order of
    the lengths.

    Args:
        shares: for each length, ascending, (d,) share of the iterations that are done at each decision.
        num_inputs: number of inputs of the first layer.
    """
    weights: list[np.ndarray] = []
    biases: list[float] = []

    def unit(entry: int, slope: float, middle: float) -> int:
        """Add a unit of the first layer: slope (entry - middle) + 1/2, rectified; return its index."""
        column = np.zeros(num_inputs)
        column[entry] = slope
        weights.append(column)
        biases.append(0.5 - slope * middle)
        return len(weights) - 1

    # Units that exclude a length: 1 or more if the run is shorter than the lower border, or longer than the upper one.
    excluding: dict[int, list[int]] = {length: [] for length in shares}
    for shorter, longer in pairwise(shares):
        entries = [LENGTH_SCALE * math.log10(length) for length in (shorter, longer)]
        middle = sum(entries) / 2
        slope = BORDER_RAMP / (entries[1] - entries[0])
        middle += 1 / slope  # a run whose length is exactly at the border follows the shorter schedule, and only that
        excluding[shorter].append(unit(LENGTH, slope, middle))
        excluding[longer].append(unit(LENGTH, -slope, middle))
    # Units that exclude a decision: 1 or more until the picks change to those of the decision.
    outputs = []
    for length, at in shares.items():
        outputs.append(excluding[length])
        for earlier, later in pairwise(at.tolist()):
            outputs.append([*excluding[length], unit(SHARE, -RAMP / (later - earlier), (earlier + later) / 2)])
    second_weights = np.zeros((len(weights), len(outputs)))
    for output, excluded_by in enumerate(outputs):
        second_weights[excluded_by, output] = -1.0
    first_weights = np.stack(weights, axis=1) if weights else np.zeros((num_inputs, 0))
    return (first_weights, np.array(biases)), (second_weights, np.ones(len(outputs)))


def _preference(picks: Sequence[np.ndarray], count: int) -> Layer:
    """Return the layer that turns the outputs of :func:`_events` into Q-values: 1 for the present pick, 0 for others.

    Args:
        picks: for each length, (d,) index of the agent's pick at each decision.
        count: number of the agent's choices.
    """
    rows = []
    for of_length in picks:
        chosen = np.eye(count)[of_length]
        rows.append(chosen[:1])
        rows.append(np.diff(chosen, axis=0))  # a change cancels the earlier pick
    return np.concatenate(rows), np.zeros(count)


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
        expected: the beginning of the error's message, which says what ``picks`` must be.
        picks: any value.
        shape: shape that picks must have; the last axis is over the agents.
        counts: number of each agent's choices.
        least: least index allowed; a negative index leaves the pick to the networks.

    Raises:
        RLCCFRError: the value is not an array of such indices.
    """
    indices = array_of(picks)
    if indices.shape == shape and indices.dtype.kind in "iu" and ((least <= indices) & (indices < counts)).all():
        return indices
    limits = ", ".join(f"{agent} below {count}" for agent, count in zip(AGENTS, counts, strict=True))
    if least < 0:
        limits += "; a negative index leaves the pick to the networks"
    in_one_line = picks.tolist() if isinstance(picks, np.ndarray) else picks
    raise RLCCFRError(f"{expected} ({limits}), not {brief(in_one_line)}")


def array_of(values: Any) -> np.ndarray:
    """Return values as an array; an array of None if they are ragged."""
    try:
        return np.asarray(values)
    except ValueError:
        return np.array(None)
