"""The value of a blend, and a bound on the value of every blend: payoffs and best responses for K policies at once.

A blend is a mixture of policies: its reach is the sum of their reaches, each times its weight. So the payoffs against
it are sums of the payoffs against each policy, which are computed once. A best response to one blend has a value
against each policy. The sum of these values, each times the policy's weight in another blend, is what the response gets
against that blend. So the value of that blend, which is that of a best response to it, is at least this sum. Such a
linear bound is a *cut*; it is tight at the blend that it comes from.
"""

from __future__ import annotations

import numpy as np
from numba import types

from rlccfr.kernels.handles import game_of, scratch_of
from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import F8M, F8S, HANDLE
from rlccfr.kernels.passes.rows import infosets_from_last, sequences_of
from rlccfr.kernels.passes.sequence_form import gradient_pass, reach_pass


@kernel(types.void(HANDLE, F8S, F8S))
def fill_reach(game, policy, reach):
    """Set each player's own reach of its sequences.

    Args:
        game: handle.
        policy: (m,) policies of both players.
        reach: (m + 2,) overwritten.
    """
    _, view = game_of(game)
    for player in range(2):
        reach_pass(view, player, policy, reach)


@kernel(types.void(HANDLE, HANDLE, F8S, F8M, types.int64))
def fill_payoffs(game, scratch, reach, payoffs, number):
    """Set both players' payoffs against one of the policies.

    Args:
        game, scratch: handles; ``gradient`` of the scratch memory is overwritten.
        reach: (m + 2,) reach of the policy.
        payoffs: (m + 2, K) gradient of each sequence against each of the opponent's policies; see
            :func:`rlccfr.kernels.passes.sequence_form.gradient_pass`. The policy's column is overwritten.
        number: the policy's number.
    """
    _, view = game_of(game)
    scratch = scratch_of(scratch)
    for player in range(2):
        gradient_pass(view, player, reach, scratch)
    # A row per sequence: the sweep of a best response goes through all policies at one sequence, then to the next.
    for k in range(len(payoffs)):
        payoffs[k, number] = scratch.gradient[k]


@inlined
def best_action(view, infoset, weights, values):
    """Return the sequence of an infoset that is best against a blend; of twins, the first has their value."""
    first, end = np.int64(view.first_sequence[infoset]), np.int64(view.first_sequence[infoset + 1])
    best = first
    best_value = -np.inf
    for k in range(first, end):
        if len(view.twin) and view.twin[k] != k:
            continue
        value = 0.0
        for j in range(len(weights)):
            value += weights[j] * values[k, j]
        if value > best_value:
            best = k
            best_value = value
    return best


@kernel(types.float64(HANDLE, types.int64, F8S, F8M, F8M, F8S))
def respond(game, player, weights, payoffs, values, cut):
    """Compute a best response of ``player`` to a blend of the opponent's policies, and its value against each of them.

    The response is deterministic, so its values against all policies are passed up along the actions that it takes.

    Args:
        game: handle.
        weights: (K,) the blend.
        payoffs: (m + 2, K) payoffs against each policy.
        values: (m + 2, K) the player's rows are overwritten.
        cut: (K,) overwritten with the response's value against each policy.

    Returns:
        The response's value against the blend.
    """
    _, view = game_of(game)
    count = len(weights)
    empty_sequence = len(payoffs) - 2 + player
    first, end = sequences_of(view, player)
    for k in range(first, end):
        for j in range(count):
            values[k, j] = payoffs[k, j]
    for j in range(count):
        values[empty_sequence, j] = payoffs[empty_sequence, j]
    # From the leaves up, the blend decides which action is best; its values against all policies go on.
    for infoset in infosets_from_last(view, player):
        best = best_action(view, infoset, weights, values)
        multiplicity = view.multiplicity[infoset] if len(view.multiplicity) else 1.0
        parent = view.parent[infoset]
        for j in range(count):
            values[parent, j] += multiplicity * values[best, j]
    value = 0.0
    for j in range(count):
        cut[j] = values[empty_sequence, j]
        value += weights[j] * cut[j]
    return value
