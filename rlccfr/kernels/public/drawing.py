"""Draws of chance: public outcomes, and perhaps one private state of a player.

All draws come from marginal probabilities: an outcome without regard to private states, a private state without regard
to the other player's. A pass divides by these probabilities, and the values of terminals account for private states
that exclude each other. So estimates are unbiased (Johanson, Bard, Lanctot, Gibson and Bowling, AAMAS 2012).

Tables of what was not drawn are not touched, but discounts hold for all. Each node, or each private state if they are
drawn one by one, remembers the logarithms of the products of discounts at its last update.
"""

from __future__ import annotations

from math import exp
from typing import NamedTuple

import numpy as np

from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.walks.random_words import uniform

LEAST_LOG = -1000.0
"""Logarithm that stands for a discount of 0; its exponential is 0."""

POSITIVE, NEGATIVE, AVERAGE = 0, 1, 2
"""Columns of what is pending."""


class Drawing(NamedTuple):
    """What passes draw, and the discounts that are pending where no pass has been."""

    public: bool  # whether public outcomes are drawn; else nothing is
    own: bool  # whether the player's private state is drawn
    other: bool  # whether the opponent's private state is drawn
    cumulative: np.ndarray  # (nodes,) probability that chance draws this child or an earlier sibling
    heirs: np.ndarray  # rows of each deal, sorted by the row of the deal before; placed like ``above``
    roots: np.ndarray  # (rows of both players at the root,) number of private states up to each row
    regret_place: np.ndarray  # (nodes,) first entry of ``regret_log`` at each decision
    average_place: np.ndarray  # (nodes,) first entry of ``average_log`` at each decision
    regret_log: np.ndarray  # (places, 2) logarithms of the products of discounts at the last update
    average_log: np.ndarray  # (places,)
    clock: np.ndarray  # (3,) the same now
    rng: np.ndarray  # (1,) state of the generator


def _nothing() -> Drawing:
    none, whole = np.zeros(0), np.zeros(0, np.int64)
    return Drawing(
        public=False,
        own=False,
        other=False,
        cumulative=none,
        heirs=np.zeros(0, np.int32),
        roots=none,
        regret_place=whole,
        average_place=whole,
        regret_log=np.zeros((0, 2)),
        average_log=none,
        clock=np.zeros(3),
        rng=np.zeros(1, np.uint64),
    )


NO_DRAWING = _nothing()
"""The drawing of exact passes."""


@inlined
def draw_between(cumulative, first, last, rng):
    """Draw an index by cumulative weights.

    Returns:
        The index, and 1 / (its probability).
    """
    total = cumulative[last - 1]
    luck, low, high = uniform(rng) * total, first, last - 1
    while low < high:
        middle = (low + high) // 2
        if cumulative[middle] > luck:
            high = middle
        else:
            low = middle + 1
    own = cumulative[low] - (cumulative[low - 1] if low > first else 0.0)
    return low, total / own


@inlined
def draw_heir(view, drawing, begin, rows, row):
    """Draw one of a deal's rows that come from a given row of the deal before, by their weights.

    Args:
        begin: first entry of the player's rows in ``above``.
        rows: number of the player's rows.

    Returns:
        The row, and 1 / (its probability); -1 and 0 if the outcome excludes all of them.
    """
    low, high = 0, rows
    while low < high:
        middle = (low + high) // 2
        if view.above[begin + drawing.heirs[begin + middle]] < row:
            low = middle + 1
        else:
            high = middle
    total, end = 0.0, low
    while end < rows and view.above[begin + drawing.heirs[begin + end]] == row:
        total += view.weight[begin + drawing.heirs[begin + end]]
        end += 1
    if end == low:
        return np.int64(-1), 0.0
    luck, found = uniform(drawing.rng) * total, low
    while found < end - 1:
        luck -= view.weight[begin + drawing.heirs[begin + found]]
        if luck < 0.0:
            break
        found += 1
    drawn = np.int64(drawing.heirs[begin + found])
    return drawn, total / view.weight[begin + drawn]


@inlined
def regret_discounts(drawing, place):
    """Return the discounts of positive and of other regrets since the last update, and note this one."""
    log, clock = drawing.regret_log[place], drawing.clock
    positive, negative = exp(clock[POSITIVE] - log[POSITIVE]), exp(clock[NEGATIVE] - log[NEGATIVE])
    log[POSITIVE], log[NEGATIVE] = clock[POSITIVE], clock[NEGATIVE]
    return positive, negative


@inlined
def average_decay(drawing, place):
    """Return the decay of policy sums since the last update, and note this one."""
    found = exp(drawing.clock[AVERAGE] - drawing.average_log[place])
    drawing.average_log[place] = drawing.clock[AVERAGE]
    return found


@kernel
def settle(view, tables, drawing):
    """Apply all discounts that are pending.

    Args:
        tables: ``regret`` and ``policy_sum`` are changed in place.
        drawing: ``regret_log`` and ``average_log`` are changed in place.
    """
    for index in range(len(view.nodes)):
        node = view.nodes[index]
        if node["kind"] > 1:
            continue
        count, rows = node["num_children"], view.deals[node["deal"]]["rows"][node["kind"]]
        positive, negative, decay = 1.0, 1.0, 1.0
        for r in range(rows):
            if r == 0 or drawing.own:
                positive, negative = regret_discounts(drawing, drawing.regret_place[index] + r)
            if r == 0 or drawing.other:
                decay = average_decay(drawing, drawing.average_place[index] + r)
            for k in range(node["table"] + r, node["table"] + r + count * rows, rows):
                tables.regret[k] *= positive if tables.regret[k] > 0.0 else negative
                tables.policy_sum[k] *= decay
