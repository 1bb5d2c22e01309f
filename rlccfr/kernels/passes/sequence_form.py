"""Exact passes over the sequence form: reach, gradient, regrets, average, best response."""

from __future__ import annotations

import numpy as np
from numba import types

from rlccfr.games.flat_tree import LANES
from rlccfr.kernels.handles import HANDLE, scratch_of, view_of
from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import F8, F8S, SCRATCH, VIEW


@inlined
def infosets_from_last(view, player):
    """The infosets of ``player``, children before parents."""
    return range(np.int64(view.infoset_begin[player + 1]) - 1, np.int64(view.infoset_begin[player]) - 1, -1)


@inlined
def row_of(view, infoset):
    """An infoset's first sequence and number of actions.

    Passes hand rows of one to three on as constants: loops of a length known to the compiler take half the time.
    """
    first = np.int64(view.first_sequence[infoset])
    return first, np.int64(view.first_sequence[infoset + 1]) - first


@inlined
def reach_row(policy, reach, above, first, actions):
    """One infoset's part of :func:`reach_pass`."""
    for k in range(first, first + actions):
        reach[k] = above * policy[k]


@inlined
def reach_pass(view, player, policy, reach):
    """Own reach of every sequence of ``player``, parents first; the empty sequence's is 1."""
    reach[len(policy) + player] = 1.0
    for infoset in range(view.infoset_begin[player], view.infoset_begin[player + 1]):
        above = reach[view.parent[infoset]]
        first, actions = row_of(view, infoset)
        if actions == 2:
            reach_row(policy, reach, above, first, 2)
        elif actions == 1:
            reach_row(policy, reach, above, first, 1)
        elif actions == 3:
            reach_row(policy, reach, above, first, 3)
        else:
            reach_row(policy, reach, above, first, actions)


@inlined
def gradient_pass(view, player, reach, scratch):
    """Payoff of each sequence of ``player`` at the leaves that it ends in, given the opponent's reach.

    Each of a block's lines is one sequence of the opponent: its payoffs are added up, weighted with its
    reach, LANES columns at a time in registers; a block that the opponent does not reach is not read.
    """
    gradient, line_reach, leaf = scratch.gradient, scratch.line_reach, scratch.leaf
    first = view.first_sequence[view.infoset_begin[player]]
    last = view.first_sequence[view.infoset_begin[player + 1]]
    gradient[first:last] = 0.0
    gradient[len(gradient) - 2 + player] = 0.0
    blocks, payoff = (view.blocks_0, view.payoff_0) if player == 0 else (view.blocks_1, view.payoff_1)
    own, opponent = (view.leaf_0, view.leaf_1) if player == 0 else (view.leaf_1, view.leaf_0)
    for b in range(len(blocks)):
        block = blocks[b]
        stride, first_line, first_own = np.int64(block["stride"]), np.int64(block["opponent"]), np.int64(block["own"])
        lines, columns = np.int64(block["opponent_end"]) - first_line, np.int64(block["own_end"]) - first_own
        first_payoff, factor, reached = np.int64(block["payoff"]), block["factor"], 0.0
        for j in range(lines):
            weight = reach[opponent[first_line + j]]
            line_reach[j] = weight
            reached += weight
        if reached == 0.0:
            continue
        for quad in range(0, stride, LANES):
            sum_0, sum_1, sum_2, sum_3 = 0.0, 0.0, 0.0, 0.0
            at = first_payoff + quad
            for j in range(lines):
                weight = line_reach[j]
                sum_0 += payoff[at] * weight
                sum_1 += payoff[at + 1] * weight
                sum_2 += payoff[at + 2] * weight
                sum_3 += payoff[at + 3] * weight
                at += stride
            leaf[quad], leaf[quad + 1], leaf[quad + 2], leaf[quad + 3] = sum_0, sum_1, sum_2, sum_3
        for k in range(columns):
            gradient[own[first_own + k]] += factor * leaf[k]


@inlined
def mass_pass(view, player, reach, mass):
    """Opponent and chance reach of every infoset of ``player``."""
    for infoset in range(view.infoset_begin[player], view.infoset_begin[player + 1]):
        total = 0.0
        for k in range(view.mass_begin[infoset], view.mass_begin[infoset + 1]):
            total += view.mass_probability[k] * reach[view.mass_sequence[k]]
        mass[infoset] = total


@inlined
def value_pass(view, player, policy, gradient):
    """Counterfactual values bottom up; leaves instantaneous regrets in ``gradient``."""
    for infoset in infosets_from_last(view, player):
        first, last = view.first_sequence[infoset], view.first_sequence[infoset + 1]
        value = 0.0
        for k in range(first, last):
            value += policy[k] * gradient[k]
        gradient[view.parent[infoset]] += value
        for k in range(first, last):
            gradient[k] -= value


@kernel(types.void(VIEW, types.int64, F8S, F8S, F8S, SCRATCH))
def regrets_against(view, player, policy, response, mass, scratch):
    """A player's instantaneous regrets, in ``scratch.gradient``, and masses, against the opponent's response."""
    reach_pass(view, 1 - player, response, scratch.reach)
    gradient_pass(view, player, scratch.reach, scratch)
    mass_pass(view, player, scratch.reach, mass)
    value_pass(view, player, policy, scratch.gradient)


@inlined
def best_response_pass(view, player, gradient, response):
    """A pure best response of ``player`` (the first of equals), by the gradient."""
    for infoset in infosets_from_last(view, player):
        first, last = view.first_sequence[infoset], view.first_sequence[infoset + 1]
        best = first
        for k in range(first, last):
            response[k] = 0.0
            if gradient[k] > gradient[best]:
                best = k
        response[best] = 1.0
        gradient[view.parent[infoset]] += gradient[best]


@inlined
def best_value_row(parent, gradient, first, actions):
    """One infoset's part of :func:`best_value_pass`."""
    best = gradient[first]
    for k in range(first + 1, first + actions):
        best = max(best, gradient[k])
    gradient[parent] += best


@inlined
def best_value_pass(view, player, gradient):
    """Values of a best response of ``player`` bottom up, by the gradient; at its end, the game's."""
    for infoset in infosets_from_last(view, player):
        first, actions = row_of(view, infoset)
        if actions == 2:
            best_value_row(view.parent[infoset], gradient, first, 2)
        elif actions == 1:
            best_value_row(view.parent[infoset], gradient, first, 1)
        elif actions == 3:
            best_value_row(view.parent[infoset], gradient, first, 3)
        else:
            best_value_row(view.parent[infoset], gradient, first, actions)


@inlined
def average_row(tables, reach, above, increment, decay, column, first, actions):
    """One infoset's part of :func:`reach_and_average_pass`."""
    for k in range(first, first + actions):
        reach[k] = above * tables.policy[k]
        scaled = increment * reach[k]
        if column >= 0:
            scaled *= tables.state[k, column]
        tables.policy_sum[k] = decay * tables.policy_sum[k] + scaled


@kernel
def reach_and_average_pass(view, player, tables, reach, decay, weight, column):
    """Own reach, and S <- decay S + weight x chance weight x own reach, for every sequence of ``player``."""
    reach[len(tables.policy) + player] = 1.0
    for infoset in range(view.infoset_begin[player], view.infoset_begin[player + 1]):
        above, increment = reach[view.parent[infoset]], weight * view.chance_weight[infoset]
        first, actions = row_of(view, infoset)
        if actions == 2:
            average_row(tables, reach, above, increment, decay, column, first, 2)
        elif actions == 1:
            average_row(tables, reach, above, increment, decay, column, first, 1)
        elif actions == 3:
            average_row(tables, reach, above, increment, decay, column, first, 3)
        else:
            average_row(tables, reach, above, increment, decay, column, first, actions)


@kernel(types.void(VIEW, F8S, SCRATCH))
def best_responses(view, policy, scratch):
    """Both players' best responses to ``policy``, into scratch."""
    for player in range(2):
        reach_pass(view, player, policy, scratch.reach)
    for player in range(2):
        gradient_pass(view, player, scratch.reach, scratch)
        best_response_pass(view, player, scratch.gradient, scratch.response)


@kernel(types.UniTuple(F8, 3)(HANDLE, HANDLE, F8S))
def evaluate(view, scratch, policy):
    """Player 0's value of ``policy``, and both players' values of a best response to it.

    Args:
        view, scratch: handles, since handing on 20 arrays from Python takes longer than a small game.
    """
    view, scratch, value = view_of(view), scratch_of(scratch), 0.0
    for player in range(2):
        reach_pass(view, player, policy, scratch.reach)
    for player in range(2):
        gradient_pass(view, player, scratch.reach, scratch)
        if player == 0:
            value = scratch.gradient[-2]
            for k in range(view.first_sequence[view.infoset_begin[1]]):
                value += scratch.reach[k] * scratch.gradient[k]
        best_value_pass(view, player, scratch.gradient)
    return value, scratch.gradient[-2], scratch.gradient[-1]


@inlined
def respond_and_average(view, tables, scratch, decay, weight, column):
    """The opening of an iteration against best responses: respond to both players, average both."""
    best_responses(view, tables.policy, scratch)
    for player in range(2):
        reach_and_average_pass(view, player, tables, scratch.reach, decay[player], weight[player], column)
        reach_pass(view, player, scratch.response, scratch.response_reach)
