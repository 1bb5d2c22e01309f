"""Draws of chance: public outcomes, and perhaps a private state of one player or of each.

All draws are from marginal probabilities: outcomes without regard to private states, a private state without regard to
the other player's. A pass divides by these probabilities, and the values of terminals account for private states
that exclude each other. So estimates are unbiased (Johanson, Bard, Lanctot, Gibson and Bowling, AAMAS 2012).

The same holds where players have ranges. The exact value of a player's hand h is a sum over the opponent's hands g and
the boards b such that h, g and b have no card in common. A term is p(b) w(g) r u: p(b) is the probability of the board
given any two hands that allow it, w(g) the weight of the opponent's hand, r its reach by actions, u the payoff. So
weights are factors of the terms, as reach is. A term that is drawn with a probability of q > 0 and divided by q has the
right mean, whatever q is. Here q(b) is proportional to p(b) times the sum of the weights of player 0's hands that b
allows; every board in the tree allows some. A hand's q is proportional to its weight.

Nor is anything drawn much more rarely than the game deals it, which would increase the variance of estimates. Let M be
the product of both ranges' sums of weights, and Z the sum of w(h) w(g) over the pairs that do not exclude each other.
The game deals such a pair with the probability w(h) w(g) / Z, which is M / Z times q(h) q(g). It deals a board with a
probability of at most M / Z times q(b), apart from a factor of at most 46 / 44 for each card, because q(b) takes only
player 0's two cards out of the deck, not all four.

Discounts apply to all entries of a table, but a pass visits only those that it draws. So each decision stores the
logarithm of the product of all discounts up to its last update. If private states are drawn one by one, a decision
stores one such logarithm for each of them. Later discounts are *pending*: they are applied when the entries are visited
again.
"""

from __future__ import annotations

from math import exp
from typing import NamedTuple

import numpy as np

from rlccfr.games.public.records import CHANCE
from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.walks.random_words import uniform

LEAST_LOG = -1000.0
"""Logarithm that stands for a discount of 0; its exponential is 0."""

# Kinds of discounts: entries of ``clock``; the first two are also the columns of ``regret_log``.
POSITIVE = 0
NEGATIVE = 1
AVERAGE = 2


class Drawing(NamedTuple):
    """What a pass draws: public outcomes, private states or nothing; and the discounts that are pending.

    The logs have one entry per decision, or one per private state of a decision if these are drawn one by one.
    """

    draws_public: bool  # whether public outcomes are drawn; if not, nothing is
    draws_own: bool  # whether the private state of the player who is updated is drawn
    draws_opponent: bool  # whether the opponent's private state is drawn
    outcome_cumulative: np.ndarray  # (nodes,) probability that chance draws this child or an earlier sibling
    rows_by_parent: np.ndarray  # rows of each deal, sorted by the row of the deal before; in the layout of ``above``
    root_cumulative: np.ndarray  # (rows of both players at the root,) sum of the private states' weights up to each row
    regret_start: np.ndarray  # (nodes,) first entry of ``regret_log`` at each decision
    average_start: np.ndarray  # (nodes,) first entry of ``average_log`` at each decision
    regret_log: np.ndarray  # (entries, 2) logarithms of the products of all discounts up to the last update
    average_log: np.ndarray  # (entries,) as regret_log, for policy sums
    clock: np.ndarray  # (3,) logarithms of the products of all discounts up to the present iteration, by kind
    rng: np.ndarray  # (1,) state of the generator


NO_DRAWING = Drawing(
    draws_public=False,
    draws_own=False,
    draws_opponent=False,
    outcome_cumulative=np.zeros(0),
    rows_by_parent=np.zeros(0, np.int32),
    root_cumulative=np.zeros(0),
    regret_start=np.zeros(0, np.int64),
    average_start=np.zeros(0, np.int64),
    regret_log=np.zeros((0, 2)),
    average_log=np.zeros(0),
    clock=np.zeros(3),
    rng=np.zeros(1, np.uint64),
)
"""The drawing of exact passes, which draw nothing."""


@inlined
def draw_by_cumulative(cumulative, first, end, rng):
    """Draw an index from ``first`` to ``end - 1`` in proportion to weights, given their cumulative sums.

    Returns:
        The index, and 1 / (its probability).
    """
    total = cumulative[end - 1]
    threshold = uniform(rng) * total
    low = first
    high = end - 1
    while low < high:  # the first index whose cumulative weight is above the threshold
        middle = (low + high) // 2
        if cumulative[middle] > threshold:
            high = middle
        else:
            low = middle + 1
    weight = cumulative[low] - (cumulative[low - 1] if low > first else 0.0)
    return low, total / weight


@inlined
def draw_row_below(view, drawing, begin, rows, parent_row):
    """Draw one of a deal's rows that come from a given row of the deal before, in proportion to their weights.

    Args:
        begin: first entry of the player's rows in ``above``.
        rows: number of the player's rows.

    Returns:
        The row, and 1 / (its probability); -1 and 0 if the outcome excludes all of them.
    """
    # Rows are sorted by parent. Bisection finds this parent's first row; a scan finds their end and sum of weights.
    low = 0
    high = rows
    while low < high:
        middle = (low + high) // 2
        if view.above[begin + drawing.rows_by_parent[begin + middle]] < parent_row:
            low = middle + 1
        else:
            high = middle
    total = 0.0
    end = low
    while end < rows and view.above[begin + drawing.rows_by_parent[begin + end]] == parent_row:
        total += view.weight[begin + drawing.rows_by_parent[begin + end]]
        end += 1
    if end == low:
        return np.int64(-1), 0.0
    remaining = uniform(drawing.rng) * total
    index = low
    while index < end - 1:
        remaining -= view.weight[begin + drawing.rows_by_parent[begin + index]]
        if remaining < 0.0:
            break
        index += 1
    row = np.int64(drawing.rows_by_parent[begin + index])
    return row, total / view.weight[begin + row]


@inlined
def regret_discounts(drawing, entry):
    """Return the discounts of positive and of other regrets since the last update, and record this update."""
    log = drawing.regret_log[entry]
    clock = drawing.clock
    positive = exp(clock[POSITIVE] - log[POSITIVE])
    negative = exp(clock[NEGATIVE] - log[NEGATIVE])
    log[POSITIVE] = clock[POSITIVE]
    log[NEGATIVE] = clock[NEGATIVE]
    return positive, negative


@inlined
def average_decay(drawing, entry):
    """Return the decay of policy sums since the last update, and record this update."""
    decay = exp(drawing.clock[AVERAGE] - drawing.average_log[entry])
    drawing.average_log[entry] = drawing.clock[AVERAGE]
    return decay


@kernel
def settle(view, tables, drawing, first_player, end_player):
    """Apply all discounts that are pending at the decisions of some players.

    Args:
        tables: ``regret``, ``policy_sum`` and, after a discount of 0, ``policy`` are changed in place.
        drawing: ``regret_log`` and ``average_log`` are changed in place.
        first_player, end_player: the players are ``first_player`` to ``end_player - 1``.
    """
    for index in range(len(view.nodes)):
        node = view.nodes[index]
        if not first_player <= node["kind"] < end_player:
            continue
        count = node["num_children"]
        rows = view.deals[node["deal"]]["rows"][node["kind"]]
        positive = 1.0
        negative = 1.0
        decay = 1.0
        for r in range(rows):
            # A decision's rows share one entry of a log, unless private states are drawn one by one.
            if r == 0 or drawing.draws_own:
                positive, negative = regret_discounts(drawing, drawing.regret_start[index] + r)
            if r == 0 or drawing.draws_opponent:
                decay = average_decay(drawing, drawing.average_start[index] + r)
            for k in range(node["table"] + r, node["table"] + r + count * rows, rows):
                tables.regret[k] *= positive if tables.regret[k] > 0.0 else negative
                tables.policy_sum[k] *= decay
                if positive == 0.0 and len(tables.policy):  # it is proportional to positive regrets, which are now 0
                    tables.policy[k] = 0.0


@kernel
def clear_ended_averages(view, policy_sum, drawing):
    """Set the policy sums to 0 at rows where a decay of 0 is pending.

    Any other pending decay leaves the proportions of a row's sums, and thereby the average policy, as they are.

    Args:
        policy_sum: (m,) changed in place.
        drawing: ``average_log`` is changed in place.
    """
    clock = drawing.clock[AVERAGE]
    if clock > 0.5 * LEAST_LOG:  # no decay has been 0
        return
    for index in range(len(view.nodes)):
        node = view.nodes[index]
        if node["kind"] >= CHANCE:
            continue
        count = node["num_children"]
        rows = view.deals[node["deal"]]["rows"][node["kind"]]
        is_ended = False
        for r in range(rows):
            # A decision's rows share one entry of the log, unless the opponent's private states are drawn one by one.
            if r == 0 or drawing.draws_opponent:
                entry = drawing.average_start[index] + r
                is_ended = exp(clock - drawing.average_log[entry]) == 0.0
                if is_ended:
                    drawing.average_log[entry] = clock
            if is_ended:
                for k in range(node["table"] + r, node["table"] + r + count * rows, rows):
                    policy_sum[k] = 0.0
