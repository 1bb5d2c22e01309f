"""The search for a player's least exploitable blend, by analytic centres of cutting planes.

The value of a blend is the largest of the cuts' values for it, a convex function of the weights. The next blend to try
minimises t x (number of constraints) / width less the logarithms of the weights and of t - cut for each cut. Its value
by the cuts is at most ``width`` above the least one. Newton's method finds it, with the weights as units of change.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import types

from rlccfr.kernels.blending.blend_layout import BOUND, CUTS, LEAST
from rlccfr.kernels.blending.cuts import respond
from rlccfr.kernels.handles import blend_of, game_of
from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import HANDLE

WIDTH = 0.3
"""How near the next blend is to the least by the cuts, as a share of what is still unknown."""

INWARD = 1e-3
"""Share of the uniform blend in the one from which the next one is sought."""

NEWTON = 30
"""Most steps of Newton's method per cut."""

NEAR = 0.1
"""Newton's method ends where the decrement's square is below this."""

LEAST_PIVOT = 1e-12
"""Least pivot of Newton's system, whose diagonal is at least 1 but for rounding."""

TO_BOUNDARY = 0.95
"""Share of the way to the boundary that a step may go."""


@inlined
def fill_levels(weights, cuts, number, levels):
    """Set the value of a blend by each cut; return the largest."""
    top = -np.inf
    for i in range(number):
        value = 0.0
        for j in range(len(weights)):
            value += cuts[i, j] * weights[j]
        levels[i] = value
        top = max(top, value)
    return top


@inlined
def fill_system(weights, cuts, number, top, pull, blend):
    """Set Newton's system, with each weight as the unit of its change; return the unit of ``top``'s change.

    Args:
        blend: ``hessian`` gets the lower half of the matrix, ``steps[0]`` the negative gradient, ``steps[1]`` the
            weights, whose changes must add up to nothing; ``steps[2]`` is overwritten.
    """
    count, hessian, steps, levels = len(weights), blend.hessian, blend.steps, blend.levels
    curvature, slope = 0.0, 0.0
    for i in range(number):
        inverse = 1.0 / (top - levels[i])
        curvature += inverse * inverse
        slope += inverse
    unit = 1.0 / sqrt(curvature)
    for a in range(count + 1):
        steps[0, a], steps[1, a] = 1.0, weights[a] if a < count else 0.0
        for b in range(a):
            hessian[a, b] = 0.0
        hessian[a, a] = 1.0
    steps[0, count] = (slope - pull) * unit
    for i in range(number):
        inverse = 1.0 / (top - levels[i])
        for a in range(count):
            steps[2, a] = cuts[i, a] * weights[a] * inverse
            steps[0, a] -= steps[2, a]
            hessian[count, a] -= steps[2, a] * inverse * unit
        for a in range(count):
            scaled = steps[2, a]
            for b in range(a + 1):
                hessian[a, b] += scaled * steps[2, b]
    return unit


@inlined
def factorise(matrix):
    """Replace the lower half of a positive definite matrix by the factor L; the matrix is the transpose of L times L.

    Rows are finished from the last on, so that loops begin at 0: only these become vector operations.
    """
    for a in range(len(matrix) - 1, -1, -1):
        scale = 1.0 / sqrt(max(matrix[a, a], LEAST_PIVOT))
        for b in range(a + 1):
            matrix[a, b] *= scale
        for c in range(a):
            multiple = matrix[a, c]
            for b in range(c + 1):
                matrix[c, b] -= multiple * matrix[a, b]


@inlined
def substitute(factor, right, found):
    """Solve a system by its matrix's factor; see :func:`factorise`."""
    size = len(factor)
    for a in range(size):
        found[a] = right[a]
    for a in range(size - 1, -1, -1):
        found[a] /= factor[a, a]
        for c in range(a):
            found[c] -= factor[a, c] * found[a]
    for a in range(size):
        total = found[a]
        for c in range(a):
            total -= factor[a, c] * found[c]
        found[a] = total / factor[a, a]


@inlined
def solve(blend):
    """Solve Newton's system under the constraint, into ``steps[2]``; return the decrement's square."""
    factor, steps = blend.hessian, blend.steps
    size = len(factor)
    substitute(factor, steps[0], steps[2])
    substitute(factor, steps[1], steps[3])
    against, along = 0.0, 0.0
    for a in range(size):
        against += steps[1, a] * steps[2, a]
        along += steps[1, a] * steps[3, a]
    decrement = 0.0
    for a in range(size):
        steps[2, a] -= against / along * steps[3, a]
        decrement += steps[2, a] * steps[0, a]
    return decrement


@inlined
def longest(weights, cuts, number, top, fall, blend):
    """Return the step, at most 1, that keeps weights positive and cuts below ``top``.

    Args:
        fall: change of ``top`` in a step of 1.
        blend: ``moves`` gets the change of each cut's value in a step of 1.
    """
    change, levels, moves = blend.steps[2], blend.levels, blend.moves
    step = 1.0
    for j in range(len(weights)):
        if change[j] < 0.0:
            step = min(step, -TO_BOUNDARY / change[j])
    for i in range(number):
        move = 0.0
        for j in range(len(weights)):
            move += cuts[i, j] * weights[j] * change[j]
        moves[i] = move
        if fall < move:
            step = min(step, TO_BOUNDARY * (top - levels[i]) / (move - fall))
    return step


@inlined
def bound_of(cuts, number, top, blend):
    """Return the least value, over policies, of the mixture of the cuts with weights 1 / (top - level)."""
    values, total = blend.steps[3], 0.0
    for j in range(cuts.shape[1]):
        values[j] = 0.0
    for i in range(number):
        share = 1.0 / (top - blend.levels[i])
        total += share
        for j in range(cuts.shape[1]):
            values[j] += share * cuts[i, j]
    least = np.inf
    for j in range(cuts.shape[1]):
        least = min(least, values[j])
    return least / total


@inlined
def centre(weights, cuts, number, width, blend):
    """Move a blend to the centre that the module describes, and return a bound on the value of every blend.

    Args:
        weights: (K,) positive, with sum 1; changed in place.
        number: number of cuts.
        width: see the module.
        blend: ``levels``, ``moves``, ``hessian`` and ``steps`` are overwritten.
    """
    count, levels, change = len(weights), blend.levels, blend.steps[2]
    pull = (number + count) / width
    top = width + fill_levels(weights, cuts, number, levels)
    for _ in range(NEWTON):
        unit = fill_system(weights, cuts, number, top, pull, blend)
        factorise(blend.hessian)
        decrement = solve(blend)
        if not decrement < np.inf:
            break
        step = longest(weights, cuts, number, top, unit * change[count], blend)
        for j in range(count):
            weights[j] *= 1.0 + step * change[j]
        top += step * unit * change[count]
        for i in range(number):
            levels[i] += step * blend.moves[i]
        if decrement < NEAR:
            break
    total = 0.0
    for j in range(count):
        total += weights[j]
    for j in range(count):
        weights[j] /= total
    return bound_of(cuts, number, top, blend)


@kernel(types.void(HANDLE, HANDLE, types.int64))
def improve(game, blend, player):
    """Try a player's blend, and choose the next one to try.

    Args:
        game: handle.
        blend: handle; all but ``payoffs`` is changed in place.
    """
    _, view = game_of(game)
    blend = blend_of(blend)
    weights, found, cuts = blend.weights[player], blend.found[player], blend.cuts[player]
    done, count = np.int64(found[CUTS]), len(weights)
    respond(view, 1 - player, weights, blend.payoffs, blend.values, cuts[done])
    value, least = 0.0, np.inf
    for j in range(count):
        value += weights[j] * cuts[done, j]
        least = min(least, cuts[done, j])
    if value < found[LEAST]:
        found[LEAST] = value
        for j in range(count):
            blend.best[player, j] = weights[j]
    found[CUTS] = done + 1
    found[BOUND] = max(found[BOUND], least)
    unknown = found[LEAST] - found[BOUND]
    if unknown > 0.0 and done + 1 < len(cuts):
        for j in range(count):
            weights[j] = (1.0 - INWARD) * blend.best[player, j] + INWARD / count
        bound = centre(weights, cuts, done + 1, WIDTH * unknown, blend)
        if bound > found[BOUND]:  # not if it is no number
            found[BOUND] = bound
