"""The value of a blend, and a bound on the value of every blend: payoffs and best responses for K policies at once.

A blend is a mixture of policies: its reach is the sum of their reaches, each times its weight. So the payoffs against
it are sums of the payoffs against each policy, which are computed once. The value of a blend is what a best response to
it gets. Let R be a best response to a blend A. Against another blend B, R gets the sum of its values against each
policy, each times the policy's weight in B. A best response to B gets at least as much. So this sum, which is linear in
the weights of B, is a lower bound on the value of B. Such a bound is a *cut*; it is tight at A.
"""

from __future__ import annotations

import numpy as np
from numba import types

from rlccfr.kernels.handles import game_of, scratch_of
from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import F8M, F8S, HANDLE
from rlccfr.kernels.passes.rows import infosets_from_last, sequences_of
from rlccfr.kernels.passes.sequence_form import gradient_pass, reach_pass

TILE = 1024
"""Number of sequences that are processed for all policies before the next ones, so that their values stay cached."""


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


@kernel(types.void(HANDLE, HANDLE, F8S, F8S))
def fill_payoffs(game, scratch, reach, payoffs):
    """Set both players' payoffs against one of the policies.

    Args:
        game, scratch: handles; ``gradient`` of the scratch memory is overwritten.
        reach: (m + 2,) reach of the policy.
        payoffs: (m + 2,) overwritten with the gradient of each sequence against the opponent's policy; see
            :func:`rlccfr.kernels.passes.sequence_form.gradient_pass`.
    """
    _, view = game_of(game)
    scratch = scratch_of(scratch)
    for player in range(2):
        gradient_pass(view, player, reach, scratch)
    for k in range(len(payoffs)):
        payoffs[k] = scratch.gradient[k]


@inlined
def best_action(view, infoset, values):
    """Return the sequence of an infoset that has the largest value; of twins, only the first is compared."""
    first, end = np.int64(view.first_sequence[infoset]), np.int64(view.first_sequence[infoset + 1])
    best = first
    for k in range(first + 1, end):
        if len(view.twin) and view.twin[k] != k:
            continue
        if values[k] > values[best]:
            best = k
    return best


@inlined
def multiplicity_of(view, infoset):
    """Return how many infosets, all below one parent sequence, an infoset of a quotient stands for; 1 in a game."""
    return view.multiplicity[infoset] if len(view.multiplicity) else 1.0


@kernel(types.float64(HANDLE, types.int64, F8S, F8M, F8M, F8S))
def respond(game, player, weights, payoffs, work, cut):
    """Compute a best response of ``player`` to a blend of K of the opponent's policies.

    Also compute the response's value against each of these policies.

    Args:
        game: handle.
        weights: (K,) the blend.
        payoffs: (K, m + 2) payoffs against each policy.
        work: (2, m + 2) overwritten for the player's sequences: their values against the blend, and the response's
            reach of them.
        cut: (K,) overwritten with the response's value against each policy.

    Returns:
        The response's value against the blend.
    """
    _, view = game_of(game)
    values = work[0]
    reach = work[1]
    empty_sequence = len(values) - 2 + player
    first, last = sequences_of(view, player)
    begin, end = np.int64(first), np.int64(last)
    # 1. From the leaves up: payoffs against the blend, and the values of the best actions below.
    for start in range(begin, end, TILE):
        stop = min(start + TILE, end)
        tile_values = values[start:stop]
        tile_values[:] = 0.0
        for j in range(len(weights)):
            weight = weights[j]
            tile_payoffs = payoffs[j, start:stop]
            for k in range(len(tile_values)):
                tile_values[k] += weight * tile_payoffs[k]
    values[empty_sequence] = 0.0
    for j in range(len(weights)):
        values[empty_sequence] += weights[j] * payoffs[j, empty_sequence]
    for infoset in infosets_from_last(view, player):
        values[view.parent[infoset]] += multiplicity_of(view, infoset) * values[best_action(view, infoset, values)]
    # 2. From the root down: the response's reach, which counts infosets as often as their values count above.
    reach[begin:end] = 0.0
    reach[empty_sequence] = 1.0
    for infoset in range(view.infoset_begin[player], view.infoset_begin[player + 1]):
        infoset_reach = reach[view.parent[infoset]]
        if infoset_reach > 0.0:
            reach[best_action(view, infoset, values)] = multiplicity_of(view, infoset) * infoset_reach
    # 3. The value against each policy is linear in that reach.
    for j in range(len(weights)):
        cut[j] = payoffs[j, empty_sequence]
    for start in range(begin, end, TILE):
        stop = min(start + TILE, end)
        for j in range(len(weights)):
            cut[j] += np.dot(reach[start:stop], payoffs[j, start:stop])
    return values[empty_sequence]
