"""Exact passes over the sequence form: reach, gradient, regrets, average, best response.

A sequence of a player is an infoset of the player with an action there, or the empty sequence. x(s) is the player's own
reach of its sequence s, the product of its policy's probabilities on the way; y(s) is the opponent's likewise. A(s, s')
is the payoff, times the chances on the way, of the leaves where s and s' are the players' last sequences. The passes
compute, in the notation of the proof in docs/adr/0020:

1. Reach, from the root down: x(I, a) = x(parent sequence of I) policy(I, a).
2. Payoffs at leaves: g(s) = sum over s' of A(s, s') y(s').
3. Values, from the leaves up: v(s) = g(s) + sum of v(I) over the infosets I right below s, where v(I) = sum over a of
   policy(I, a) v(s) with s = (I, a). For a best response, v(I) is the largest of these v(s), not their mean.
4. Mass: the reach of the opponent and chance, summed over the histories of an infoset.

In a quotient (:class:`rlccfr.games.quotient.Quotient`), an infoset stands for several, and the value that it passes up
is multiplied by its multiplicity. Actions of an infoset that belong to one class are called *twins*. Only the first
twin has payoffs and infosets below it; the others have the same value.
"""

from __future__ import annotations

import numpy as np
from numba import types

from rlccfr.games.records import LANES
from rlccfr.kernels.handles import game_of, scratch_of
from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import F8, F8S, HANDLE, SCRATCH, VIEW
from rlccfr.kernels.passes.rows import infosets_from_last, pass_up, sequences_of, settle_twins, unrolled


@unrolled
def reach_row(view, infoset, first, actions, policy, reach):
    """Set the owner's reach of one infoset's sequences; see :func:`reach_pass`."""
    parent_reach = reach[view.parent[infoset]]
    for k in range(first, first + actions):
        reach[k] = parent_reach * policy[k]


@inlined
def reach_pass(view, player, policy, reach):
    """Set the player's own reach of each of its sequences, parents first; the empty sequence has reach 1.

    Args:
        policy: (m,) policies of both players.
        reach: (m + 2,) the player's entries are overwritten.
    """
    reach[len(policy) + player] = 1.0
    for infoset in range(view.infoset_begin[player], view.infoset_begin[player + 1]):
        reach_row(view, infoset, policy, reach)


@inlined
def gradient_pass(view, player, reach, scratch):
    """Set the gradient of each sequence of ``player``: the payoff at the leaves where it is the player's last sequence.

    Payoffs are weighted with the reach of the opponent and chance. The matrix of payoffs is stored in dense blocks. A
    column of a block is one sequence of the player, a line is one of the opponent. The lines are added up, weighted
    with their reach, LANES columns at a time in registers. A block that the opponent does not reach is not read.

    Args:
        reach: (m + 2,) reach of the opponent's sequences.
        scratch: the player's entries of ``gradient`` are overwritten, and so are ``line_reach`` and ``leaf``.
    """
    gradient = scratch.gradient
    first, end = sequences_of(view, player)
    gradient[first:end] = 0.0
    gradient[len(gradient) - 2 + player] = 0.0
    gradient_of_blocks(view, player, reach, scratch, 0, len(view.blocks_0))


@inlined
def gradient_of_blocks(view, player, reach, scratch, begin, end):
    """Add the payoffs of blocks ``begin`` to ``end - 1`` to the gradients; see :func:`gradient_pass`."""
    gradient = scratch.gradient
    line_reach = scratch.line_reach
    column_sums = scratch.leaf
    blocks, payoff = (view.blocks_0, view.payoff_0) if player == 0 else (view.blocks_1, view.payoff_1)
    column_sequence, line_sequence = (view.leaf_0, view.leaf_1) if player == 0 else (view.leaf_1, view.leaf_0)
    for b in range(begin, end):
        block = blocks[b]
        stride = np.int64(block["stride"])
        first_line = np.int64(block["opponent"])
        lines = np.int64(block["opponent_end"]) - first_line
        first_column = np.int64(block["own"])
        columns = np.int64(block["own_end"]) - first_column
        first_payoff = np.int64(block["payoff"])
        factor = block["factor"]
        # 1. Gather the reach of the lines once, since all columns need it.
        block_reach = 0.0
        for j in range(lines):
            weight = reach[line_sequence[first_line + j]]
            line_reach[j] = weight
            block_reach += weight
        if block_reach == 0.0:
            continue
        # 2. Add up the lines. The four sums are written out so that they stay in one register of four doubles. Lines
        # are padded to a multiple of four columns, so the last columns need no loop of their own.
        for column in range(0, stride, LANES):
            sum_0 = 0.0
            sum_1 = 0.0
            sum_2 = 0.0
            sum_3 = 0.0
            at = first_payoff + column
            for j in range(lines):
                weight = line_reach[j]
                sum_0 += payoff[at] * weight
                sum_1 += payoff[at + 1] * weight
                sum_2 += payoff[at + 2] * weight
                sum_3 += payoff[at + 3] * weight
                at += stride
            column_sums[column] = sum_0
            column_sums[column + 1] = sum_1
            column_sums[column + 2] = sum_2
            column_sums[column + 3] = sum_3
        # 3. Add the sums to the columns' sequences, without the padding. Blocks that are equal up to a factor share
        # their payoffs, so the factor comes last.
        for k in range(columns):
            gradient[column_sequence[first_column + k]] += factor * column_sums[k]


@inlined
def mass_pass(view, player, reach, mass):
    """Set the opponent and chance reach of every infoset of ``player``.

    Args:
        reach: (m + 2,) reach of the opponent's sequences.
        mass: (n,) the player's entries are overwritten.
    """
    mass_of(view, view.infoset_begin[player], view.infoset_begin[player + 1], reach, mass)


@inlined
def mass_of(view, begin, end, reach, mass):
    """Set the mass of infosets ``begin`` to ``end - 1``; see :func:`mass_pass`."""
    for infoset in range(begin, end):
        total = 0.0
        for k in range(view.mass_begin[infoset], view.mass_begin[infoset + 1]):
            total += view.mass_probability[k] * reach[view.mass_sequence[k]]
        mass[infoset] = total


@inlined
def value_pass(view, player, policy, gradient):
    """Add up counterfactual values bottom up, and turn them into instantaneous regrets.

    Args:
        policy: (m,) policies of both players.
        gradient: (m + 2,) payoffs at the leaves; the player's entries are overwritten with its regrets.
    """
    for infoset in infosets_from_last(view, player):
        first, end = view.first_sequence[infoset], view.first_sequence[infoset + 1]
        settle_twins(view, first, end, gradient)
        value = 0.0
        for k in range(first, end):
            value += policy[k] * gradient[k]
        pass_up(view, infoset, value, gradient)
        # Nothing reads the infoset's values any more, so its regrets take their place.
        for k in range(first, end):
            gradient[k] -= value


@kernel(types.void(VIEW, types.int64, F8S, F8S, F8S, SCRATCH))
def regrets_against(view, player, policy, response, mass, scratch):
    """Compute a player's instantaneous regrets and masses.

    Args:
        policy: (m,) the player's policy.
        response: (m,) the opponent's policy.
        mass: (n,) the player's entries are overwritten.
        scratch: ``gradient`` gets the player's regrets, ``reach`` the opponent's reach.
    """
    reach_pass(view, 1 - player, response, scratch.reach)
    gradient_pass(view, player, scratch.reach, scratch)
    mass_pass(view, player, scratch.reach, mass)
    value_pass(view, player, policy, scratch.gradient)


@inlined
def best_response_pass(view, player, gradient, response):
    """Compute a best response of ``player``.

    Of equally good actions it plays the first; if that action has twins (see ``view.twin``), all of them share the
    probability equally.

    Args:
        gradient: (m + 2,) payoffs at the leaves; the player's entries are overwritten with values.
        response: (m,) the player's entries are overwritten.
    """
    for infoset in infosets_from_last(view, player):
        first, end = view.first_sequence[infoset], view.first_sequence[infoset + 1]
        settle_twins(view, first, end, gradient)
        best = first
        twins = 1
        for k in range(first, end):
            response[k] = 0.0
            if gradient[k] > gradient[best]:
                best = k
        if len(view.twin):  # twins share the probability, so that they keep equal reach
            twins = 0
            for k in range(first, end):
                twins += view.twin[k] == best
            for k in range(first, end):
                response[k] = (view.twin[k] == best) / twins
        else:
            response[best] = 1.0
        pass_up(view, infoset, gradient[best], gradient)


@unrolled
def best_value_row(view, infoset, first, actions, gradient):
    """Add one infoset's best value to its parent sequence."""
    settle_twins(view, first, first + actions, gradient)
    best = gradient[first]
    for k in range(first + 1, first + actions):
        best = max(best, gradient[k])
    pass_up(view, infoset, best, gradient)


@inlined
def best_value_pass(view, player, gradient):
    """Add up the values of a best response of ``player`` bottom up; the empty sequence gets the total.

    Args:
        gradient: (m + 2,) payoffs at the leaves; the player's entries are overwritten.
    """
    for infoset in infosets_from_last(view, player):
        best_value_row(view, infoset, gradient)


@unrolled
def average_row(view, infoset, first, actions, tables, reach, decay, weight, column):
    """Set the owner's reach and the policy sum of one infoset's sequences; see :func:`reach_and_average_pass`."""
    parent_reach = reach[view.parent[infoset]]
    infoset_weight = weight * view.chance_weight[infoset]
    for k in range(first, first + actions):
        reach[k] = parent_reach * tables.policy[k]
        increment = infoset_weight * reach[k]
        if column >= 0:
            increment *= tables.state[k, column]
        tables.policy_sum[k] = decay * tables.policy_sum[k] + increment


@kernel
def reach_and_average_pass(view, player, tables, reach, decay, weight, column):
    """Set the player's own reach x, and S <- decay * S + weight * (chance weight) * x, for each of its sequences.

    The chance weight makes the increments equal to those of sampled walks in expectation. It cancels in the average
    policy.

    Args:
        tables: ``policy_sum``, the S, is changed in place.
        reach: (m + 2,) the player's entries are overwritten.
        column: column of ``tables.state`` that multiplies each increment; negative for none.
    """
    reach[len(tables.policy) + player] = 1.0
    for infoset in range(view.infoset_begin[player], view.infoset_begin[player + 1]):
        average_row(view, infoset, tables, reach, decay, weight, column)


@kernel(types.void(VIEW, F8S, SCRATCH))
def best_responses(view, policy, scratch):
    """Compute both players' best responses to a policy (m,).

    Args:
        scratch: overwritten; ``response`` gets the best responses, ``reach`` the reach under the policy.
    """
    for player in range(2):
        reach_pass(view, player, policy, scratch.reach)
    for player in range(2):
        gradient_pass(view, player, scratch.reach, scratch)
        best_response_pass(view, player, scratch.gradient, scratch.response)


@inlined
def value_of(view, policy, scratch):
    """Return player 0's value of a policy (m,), from the player's reach and payoffs at the leaves in ``scratch``.

    Args:
        scratch: over a quotient, ``response_reach`` is overwritten.
    """
    if len(view.multiplicity):
        # Passing values up counts how many infosets each infoset of the quotient stands for; reach does not.
        values = scratch.response_reach
        for k in range(len(scratch.gradient)):
            values[k] = scratch.gradient[k]
        value_pass(view, 0, policy, values)
        return values[-2]
    value = scratch.gradient[-2]  # leaves before which player 0 has no move
    for k in range(view.first_sequence[view.infoset_begin[1]]):
        value += scratch.reach[k] * scratch.gradient[k]
    return value


@inlined
def evaluation(view, scratch, policy):
    """Return player 0's value of a policy (m,), and each player's value of a best response to it.

    A value is the player's own expected utility.

    Args:
        scratch: overwritten, apart from ``response``.
    """
    value = 0.0
    for player in range(2):
        reach_pass(view, player, policy, scratch.reach)
    for player in range(2):
        gradient_pass(view, player, scratch.reach, scratch)
        # The policy's value is read off the payoffs at the leaves, before the best response overwrites them.
        if player == 0:
            value = value_of(view, policy, scratch)
        best_value_pass(view, player, scratch.gradient)
    return value, scratch.gradient[-2], scratch.gradient[-1]


@kernel(types.UniTuple(F8, 3)(HANDLE, HANDLE, F8S))
def evaluate(game, scratch, policy):
    """Return the three values that :func:`evaluation` returns.

    Args:
        game, scratch: handles; the scratch memory is overwritten.
    """
    _, view = game_of(game)
    return evaluation(view, scratch_of(scratch), policy)


@inlined
def respond_and_average(view, tables, scratch, decay, weight, column):
    """Begin an iteration against best responses: compute them, and average both players' policies.

    Args:
        tables: ``policy_sum`` is changed in place.
        scratch: overwritten; ``response_reach`` gets the reach under the best responses, ``reach`` under the policy.
        decay, weight: pairs, one number per player; see :func:`reach_and_average_pass`.
        column: as for :func:`reach_and_average_pass`.
    """
    best_responses(view, tables.policy, scratch)
    for player in range(2):
        reach_and_average_pass(view, player, tables, scratch.reach, decay[player], weight[player], column)
        reach_pass(view, player, scratch.response, scratch.response_reach)
