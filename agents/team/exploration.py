"""Which cell the team measures next.

The team's greedy triple is where it would settle, so that is measured first of all. What it does not know is whether
another pick of *one* agent would be better. So after every component has been tried once, single agents deviate from
the best cell so far: a search along three axes instead of over their product. Which agent and to what is drawn at
random: few measurements make Q-values that tell good picks from bad ones, but not yet the untried from each other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import numpy as np

from rlccfr.errors import RLCCFRError

Triple = tuple[int, int, int]
"""Action indices of update rule, sampler and abstraction."""

QFunction = Callable[[tuple[int, ...]], np.ndarray]
"""From the picks made so far (none, one or two indices) to the Q-values of the agent whose turn it is."""


def greedy_triple(q: QFunction, among: np.ndarray, picks: tuple[int, ...] = ()) -> Triple:
    """What the agents pick in turn after ``picks``, each by its own Q-values.

    Args:
        among: bool of the catalog's shape; only its true cells can be the outcome. At least one must continue
            ``picks``.
    """
    while len(picks) < 3:
        open_ = among[picks].reshape(among.shape[len(picks)], -1).any(axis=1)
        picks = (*picks, int(np.argmax(np.where(open_, q(picks), -np.inf))))
    return picks[0], picks[1], picks[2]


def next_to_measure(
    q: QFunction,
    measured: Mapping[Triple, float],
    available: np.ndarray,
    epsilon: float,
    generator: np.random.Generator,
    *,
    cover: bool = True,
) -> Triple:
    """A cell that has not been measured.

    In this order: one that covers components never tried; with probability ``epsilon`` any; the greedy triple; a
    deviation of one agent from the best measured cell; any.

    Args:
        measured: cells tried in this situation so far, with the mean of the agents' rewards.
        available: bool of the catalog's shape: cells that can be run.
        cover: try each component once before anything else.

    Raises:
        RLCCFRError: none is left.
    """
    new = available.copy()
    for triple in measured:
        new[triple] = False
    if not new.any():
        raise RLCCFRError("every available cell has been measured: there is nothing left to explore")
    covering = _covering(measured, new, generator) if cover else None
    if covering is not None:
        return covering
    if generator.random() >= epsilon:
        best = greedy_triple(q, available)
        if new[best]:
            return best
        incumbent = max(measured, key=measured.__getitem__)
        for agent in generator.permutation(3):
            near = _neighbours(incumbent, int(agent), new)
            if near:
                return near[int(generator.integers(len(near)))]
    return _random(new, generator)


def _covering(measured: Collection[Triple], new: np.ndarray, generator: np.random.Generator) -> Triple | None:
    """A new cell made of as many untried components as can be, or None where all have been tried."""
    score = np.zeros(new.shape)
    for axis in range(3):
        others = tuple(other for other in range(3) if other != axis)
        untried = np.asarray(new.any(axis=others))
        untried[[triple[axis] for triple in measured]] = False
        score += np.expand_dims(untried, others)
    score[~new] = 0.0
    return _random(score == score.max(), generator) if score.max() > 0 else None


def _neighbours(base: Triple, agent: int, new: np.ndarray) -> list[Triple]:
    """New cells where one agent leaves ``base`` and the others stay."""
    found = []
    for choice in range(new.shape[agent]):
        pick = list(base)
        pick[agent] = choice
        if new[tuple(pick)]:
            found.append((pick[0], pick[1], pick[2]))
    return found


def _random(among: np.ndarray, generator: np.random.Generator) -> Triple:
    cells = np.argwhere(among)
    rule, sampler, abstraction = (int(index) for index in cells[generator.integers(len(cells))])
    return rule, sampler, abstraction
