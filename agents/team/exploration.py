"""The choice of the algorithm that a team measures next.

Once every component has been tried, the team's greedy triple is measured, since the team would recommend it. The
team then does not know whether another pick of *one* agent would be better. So single agents deviate from the best
algorithm measured so far: a search along three axes instead of over their product. The deviating agent and its pick are
drawn at random: after few measurements, Q-values distinguish good picks from bad ones, but do not yet rank untried
picks.

There is no schedule of exploration: ``epsilon`` of :class:`rlccfr.agents.Hyperparameters` is constant, and 0 by
default.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import numpy as np

from rlccfr.envs.reward import Worth
from rlccfr.errors import RLCCFRError

Triple = tuple[int, int, int]
"""Action indices of update rule, sampler and abstraction."""

QFunction = Callable[[tuple[int, ...]], np.ndarray]
"""Function from the picks so far (none, one or two indices) to the Q-values of the agent whose turn it is."""


def greedy_triple(q: QFunction, among: np.ndarray, picks: tuple[int, ...] = ()) -> Triple:
    """Return the triple that the agents pick in turn after ``picks``, each by its own Q-values.

    Args:
        among: bool array of the catalog's shape, true for the algorithms to choose from; at least one must begin with
            ``picks``.
    """
    while len(picks) < 3:
        legal = among[picks].reshape(among.shape[len(picks)], -1).any(axis=1)
        picks = (*picks, int(np.argmax(np.where(legal, q(picks), -np.inf))))
    return picks[0], picks[1], picks[2]


def next_to_measure(
    q: QFunction,
    measured: Mapping[Triple, Worth],
    available: np.ndarray,
    epsilon: float,
    generator: np.random.Generator,
    *,
    cover: bool = True,
) -> Triple:
    """Return an algorithm that has not been measured.

    It is the first of these that exists: an algorithm with untried components; with probability ``epsilon``, one drawn
    at random; the greedy triple; a deviation of one agent from the best measured algorithm; one drawn at random.

    Args:
        measured: worth of each algorithm measured in this situation.
        available: bool array of the catalog's shape, true for the algorithms that can run.
        cover: whether to try each component once before anything else.

    Raises:
        RLCCFRError: every available algorithm has been measured.
    """
    unmeasured = available.copy()
    for triple in measured:
        unmeasured[triple] = False
    if not unmeasured.any():
        raise RLCCFRError("every available algorithm has been measured: there is nothing left to explore")
    covering = _covering(measured, unmeasured, generator) if cover else None
    if covering is not None:
        return covering
    if generator.random() >= epsilon:
        best = greedy_triple(q, recommendable(measured, available))
        if unmeasured[best]:  # the team would recommend what it has never measured
            return best
        # Otherwise, an agent drawn at random deviates; if all of its deviations were measured, the next agent does.
        incumbent = max(measured, key=measured.__getitem__)
        for agent in generator.permutation(3):
            neighbours = _neighbours(incumbent, int(agent), unmeasured)
            if neighbours:
                return neighbours[int(generator.integers(len(neighbours)))]
    return _random(unmeasured, generator)


def recommendable(measured: Mapping[Triple, Worth], available: np.ndarray) -> np.ndarray:
    """Return which algorithms may be recommended, as a bool array of the catalog's shape.

    These are the available algorithms, except those that were measured and have not converged. If none remains, all
    available algorithms may be recommended.
    """
    allowed = available.copy()
    for triple, worth in measured.items():
        if not worth.converged:
            allowed[triple] = False
    return allowed if allowed.any() else available


def _covering(measured: Collection[Triple], unmeasured: np.ndarray, generator: np.random.Generator) -> Triple | None:
    """Return an unmeasured algorithm with as many untried components as possible; None if all have been tried."""
    untried_counts = np.zeros(unmeasured.shape)
    for axis in range(3):
        # An untried component counts only if one of its algorithms can still be measured.
        other_axes = tuple(other for other in range(3) if other != axis)
        untried = np.asarray(unmeasured.any(axis=other_axes))
        untried[[triple[axis] for triple in measured]] = False
        untried_counts += np.expand_dims(untried, other_axes)
    untried_counts[~unmeasured] = 0.0
    most = untried_counts.max()
    return _random(untried_counts == most, generator) if most > 0 else None


def _neighbours(base: Triple, agent: int, unmeasured: np.ndarray) -> list[Triple]:
    """Return the unmeasured algorithms that differ from ``base`` in one agent's pick."""
    neighbours = []
    for choice in range(unmeasured.shape[agent]):
        pick = list(base)
        pick[agent] = choice
        if unmeasured[tuple(pick)]:
            neighbours.append((pick[0], pick[1], pick[2]))
    return neighbours


def _random(among: np.ndarray, generator: np.random.Generator) -> Triple:
    """Return an algorithm drawn at random from those for which ``among``, of the catalog's shape, is true."""
    cells = np.argwhere(among)
    rule, sampler, abstraction = (int(index) for index in cells[generator.integers(len(cells))])
    return rule, sampler, abstraction
