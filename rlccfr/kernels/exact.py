"""Exact passes over the sequence form: reach, gradient, regrets, average, best response."""

from __future__ import annotations

import numpy as np
from numba import types

from rlccfr.game_tree import LANES
from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import F8, F8S, SCRATCH, VIEW


@inlined
def infosets_from_last(view, player):
    """The infosets of ``player``, children before parents."""
    return range(np.int64(view.infoset_begin[player + 1]) - 1, np.int64(view.infoset_begin[player]) - 1, -1)


@inlined
def reach_pass(view, player, policy, reach):
    """Own reach of every sequence of ``player``, parents first; the empty sequence's is 1."""
    reach[len(policy) + player] = 1.0
    for infoset in range(view.infoset_begin[player], view.infoset_begin[player + 1]):
        above = reach[view.parent[infoset]]
        for k in range(view.first_sequence[infoset], view.first_sequence[infoset + 1]):
            reach[k] = above * policy[k]


@inlined
def gradient_pass(view, player, reach, gradient, leaf):
    """Payoff of each sequence of ``player`` at the leaves that it ends in, given the opponent's reach.

    Each of a block's lines is one sequence of the opponent: its payoffs are added up, weighted with its
    reach, four at a time; a line that the opponent does not reach is not read.
    """
    first = view.first_sequence[view.infoset_begin[player]]
    last = view.first_sequence[view.infoset_begin[player + 1]]
    gradient[first:last] = 0.0
    gradient[len(gradient) - 2 + player] = 0.0
    blocks, payoff = (view.blocks_0, view.payoff_0) if player == 0 else (view.blocks_1, view.payoff_1)
    own, opponent = (view.leaf_0, view.leaf_1) if player == 0 else (view.leaf_1, view.leaf_0)
    for b in range(len(blocks)):
        block = blocks[b]
        for quad in range(0, block["stride"], LANES):
            for lane in range(LANES):
                leaf[quad + lane] = 0.0
        at = block["payoff"]
        for line in range(block["opponent"], block["opponent_end"]):
            weight = reach[opponent[line]]
            if weight != 0.0:
                for quad in range(0, block["stride"], LANES):
                    for lane in range(LANES):
                        leaf[quad + lane] += payoff[at + quad + lane] * weight
            at += block["stride"]
        for k in range(block["own_end"] - block["own"]):
            gradient[own[block["own"] + k]] += leaf[k]


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
    """Counterfactual values bottom up; leaves instantaneous regrets in ``gradient``. Returns the game value."""
    for infoset in infosets_from_last(view, player):
        first, last = view.first_sequence[infoset], view.first_sequence[infoset + 1]
        value = 0.0
        for k in range(first, last):
            value += policy[k] * gradient[k]
        gradient[view.parent[infoset]] += value
        for k in range(first, last):
            gradient[k] -= value
    return gradient[len(gradient) - 2 + player]


@inlined
def best_response_pass(view, player, gradient, response):
    """A pure best response of ``player`` (the first of equals), by the gradient. Returns its value."""
    for infoset in infosets_from_last(view, player):
        first, last = view.first_sequence[infoset], view.first_sequence[infoset + 1]
        best = first
        for k in range(first, last):
            response[k] = 0.0
            if gradient[k] > gradient[best]:
                best = k
        response[best] = 1.0
        gradient[view.parent[infoset]] += gradient[best]
    return gradient[len(gradient) - 2 + player]


@inlined
def average_pass(view, player, reach, tables, decay, weight, column):
    """S <- decay S + weight x chance weight x own reach, for every sequence of ``player``."""
    for infoset in range(view.infoset_begin[player], view.infoset_begin[player + 1]):
        increment = weight * view.chance_weight[infoset]
        for k in range(view.first_sequence[infoset], view.first_sequence[infoset + 1]):
            scaled = increment * reach[k]
            if column >= 0:
                scaled *= tables.state[k, column]
            tables.policy_sum[k] = decay * tables.policy_sum[k] + scaled


@kernel(types.UniTuple(F8, 2)(VIEW, F8S, SCRATCH))
def best_responses(view, policy, scratch):
    """Both players' best responses to ``policy``, into scratch. Returns their values."""
    for player in range(2):
        reach_pass(view, player, policy, scratch.reach)
    for player in range(2):
        gradient_pass(view, player, scratch.reach, scratch.gradient, scratch.leaf)
        best_response_pass(view, player, scratch.gradient, scratch.response)
    return scratch.gradient[-2], scratch.gradient[-1]


@kernel(types.UniTuple(F8, 2)(VIEW, F8S, SCRATCH))
def policy_values(view, policy, scratch):
    """Both players' values of ``policy``."""
    for player in range(2):
        reach_pass(view, player, policy, scratch.reach)
    for player in range(2):
        gradient_pass(view, player, scratch.reach, scratch.gradient, scratch.leaf)
        value_pass(view, player, policy, scratch.gradient)
    return scratch.gradient[-2], scratch.gradient[-1]


@inlined
def respond_and_average(view, tables, scratch, decay, weight, column):
    """The opening of an iteration against best responses: respond to both players, average both."""
    best_responses(view, tables.policy, scratch)
    for player in range(2):
        average_pass(view, player, scratch.reach, tables, decay[player], weight[player], column)
        reach_pass(view, player, scratch.response, scratch.response_reach)
