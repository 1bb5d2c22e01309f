"""The search for a player's least exploitable blend, by analytic centres of cutting planes.

Let w be the weights of a blend, a point of the simplex. The blend's value v(w) is the value of the opponent's best
response to it, which is a convex function of w. Each blend that is tried gives a cut c_i with v(w) >= c_i w for all w;
see kernels/blending/cuts.py. As far as the cuts tell, the least value is the solution of a linear program: minimise t
with c_i w <= t for all i. Instead of solving this program, the search tries a centre of the region that the cuts leave.
With K weights and n cuts, the centre minimises over w and t::

    (n + K) / width * t - sum_i log(t - c_i w) - sum_j log(w_j)

1. As far as the cuts tell, the centre's value is at most ``width`` above the least value, because there are n + K
   logarithms.
2. The centre is far from all cuts, so the next cut takes away much of the region. A solution of the linear program lies
   at a corner, where the next cut may take away hardly anything.
3. The least value over w of any mixture of the cuts is a lower bound on the value of every blend. With weights
   proportional to 1 / (t - c_i w) at the centre, this bound is at most ``width`` below t: these weights are a feasible
   solution of the dual program.

Newton's method finds the centre, with the weights as units of change: w_j changes by w_j d_j.

In the code, t is ``top``, c_i w is ``levels[i]``, and (n + K) / width is ``pull``.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import types

from rlccfr.kernels.blending.blend_layout import (
    CONSTRAINT,
    CONSTRAINT_STEP,
    LEAST_VALUE,
    LOWER_BOUND,
    NEGATIVE_GRADIENT,
    NUM_CUTS,
    STEP,
)
from rlccfr.kernels.handles import blend_search_of
from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import HANDLE

WIDTH = 0.3
"""``width`` of the next centre (see the module's docstring), as a share of (best value so far - lower bound)."""

UNIFORM_SHARE = 1e-3
"""Share of the uniform blend in the blend from which Newton's method starts, so that all weights are positive."""

NEWTON_STEPS = 30
"""Largest number of steps of Newton's method per cut."""

LARGEST_SQUARED_DECREMENT = 0.1
"""Newton's method ends when the decrement's square is below this."""

LEAST_PIVOT = 1e-12
"""Value to which smaller pivots of Newton's matrix are raised. Only rounding errors can make a pivot that small."""

TO_BOUNDARY = 0.95
"""Largest share of the way to the boundary of the feasible region that a step may go."""


@inlined
def fill_levels(weights, cuts, num_cuts, levels):
    """Set ``levels[i]`` to c_i w, the bound of cut i on a blend's value, and return the largest of these bounds."""
    largest = -np.inf
    for i in range(num_cuts):
        value = 0.0
        for j in range(len(weights)):
            value += cuts[i, j] * weights[j]
        levels[i] = value
        largest = max(largest, value)
    return largest


@inlined
def fill_system(weights, cuts, num_cuts, top, pull, search):
    """Fill the linear system of a Newton step; return the unit in which the step gives the change of ``top``.

    The step gives the change of a weight in units of that weight. With s_i = 1 / (top - c_i w), the objective's
    derivative with respect to top is pull - sum_i s_i. Its derivative with respect to w_j, in units of w_j, is
    sum_i s_i c_ij w_j - 1. Cut i has one number for each variable: s_i for top, -s_i c_ij w_j for w_j. The second
    derivative with respect to two variables is the sum over i of the product of their numbers. The logarithms of the
    weights add the unit matrix.

    Args:
        top: the variable t of the objective.
        pull: factor of ``top`` in the objective.
        search: ``hessian`` gets the lower half of the matrix. Two rows of ``steps`` get the negative gradient and the
            constraint: the changes, each times its weight, must add up to 0. The row of the step is overwritten.
    """
    count = len(weights)
    hessian = search.hessian
    levels = search.levels
    negative_gradient = search.steps[NEGATIVE_GRADIENT]
    constraint = search.steps[CONSTRAINT]
    scaled_cut = search.steps[STEP]  # the step is found later; until then, its row is free
    # The unit of the change of top makes its diagonal entry 1; the diagonal entries of the weights are at least 1.
    curvature = 0.0
    slope = 0.0
    for i in range(num_cuts):
        inverse = 1.0 / (top - levels[i])
        curvature += inverse * inverse
        slope += inverse
    unit = 1.0 / sqrt(curvature)
    # The part of the logarithms of the weights. Row ``count`` is that of top.
    for a in range(count + 1):
        negative_gradient[a] = 1.0
        constraint[a] = weights[a] if a < count else 0.0
        for b in range(a):
            hessian[a, b] = 0.0
        hessian[a, a] = 1.0
    negative_gradient[count] = (slope - pull) * unit
    # The part of each cut.
    for i in range(num_cuts):
        inverse = 1.0 / (top - levels[i])
        for a in range(count):
            scaled_cut[a] = cuts[i, a] * weights[a] * inverse
            negative_gradient[a] -= scaled_cut[a]
            hessian[count, a] -= scaled_cut[a] * inverse * unit
        for a in range(count):
            entry = scaled_cut[a]
            for b in range(a + 1):
                hessian[a, b] += entry * scaled_cut[b]
    return unit


@inlined
def factorise(matrix):
    """Replace the lower half of a positive definite matrix by its factor L; the matrix is the product of L^T and L.

    Rows are finished from the last one up, so that the inner loops begin at 0: only such loops become vector
    operations.
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
def substitute(factor, right_side, solution):
    """Solve a linear system, given the factor of its matrix; see :func:`factorise`."""
    size = len(factor)
    for a in range(size):
        solution[a] = right_side[a]
    # First by the transpose of L, from the last row on, then by L.
    for a in range(size - 1, -1, -1):
        solution[a] /= factor[a, a]
        for c in range(a):
            solution[c] -= factor[a, c] * solution[a]
    for a in range(size):
        total = solution[a]
        for c in range(a):
            total -= factor[a, c] * solution[c]
        solution[a] = total / factor[a, a]


@inlined
def solve_for_step(search):
    """Solve Newton's system under the constraint, write the step to ``steps``, and return the decrement's square.

    With H the matrix, g the negative gradient and w the constraint, the step d has H d = g - m w and w d = 0, for some
    multiplier m. So d = H^-1 g - m H^-1 w with m = (w H^-1 g) / (w H^-1 w). The decrement's square is d g.
    """
    factor = search.hessian
    negative_gradient = search.steps[NEGATIVE_GRADIENT]
    constraint = search.steps[CONSTRAINT]
    step = search.steps[STEP]
    constraint_step = search.steps[CONSTRAINT_STEP]
    size = len(factor)
    substitute(factor, negative_gradient, step)
    substitute(factor, constraint, constraint_step)
    step_violation = 0.0
    constraint_violation = 0.0
    for a in range(size):
        step_violation += constraint[a] * step[a]
        constraint_violation += constraint[a] * constraint_step[a]
    squared_decrement = 0.0
    for a in range(size):
        step[a] -= step_violation / constraint_violation * constraint_step[a]
        squared_decrement += step[a] * negative_gradient[a]
    return squared_decrement


@inlined
def longest_step(weights, cuts, num_cuts, top, top_move, search):
    """Return a length of Newton's step, at most 1, that keeps the weights positive and the cuts' values below ``top``.

    Args:
        top_move: change of ``top`` in a step of 1.
        search: ``moves`` gets the change of each cut's value in a step of 1.
    """
    change = search.steps[STEP]
    levels = search.levels
    moves = search.moves
    step = 1.0
    for j in range(len(weights)):
        if change[j] < 0.0:
            step = min(step, -TO_BOUNDARY / change[j])
    for i in range(num_cuts):
        move = 0.0
        for j in range(len(weights)):
            move += cuts[i, j] * weights[j] * change[j]
        moves[i] = move
        if top_move < move:
            step = min(step, TO_BOUNDARY * (top - levels[i]) / (move - top_move))
    return step


@inlined
def dual_bound(cuts, num_cuts, top, search):
    """Return a lower bound on the value of every blend; see point 3 of the module's docstring.

    Each cut comes from a response of the opponent. Mix the cuts with weights proportional to 1 / (t - c_i w). Entry j
    of the mixture is what the mixed responses get against policy j. So against any blend, they get at least the least
    entry.

    Args:
        top: the variable t, above all levels.
        search: ``levels`` holds the values c_i w of the present blend; the row of the constraint's step is overwritten.
    """
    values = search.steps[CONSTRAINT_STEP]
    total = 0.0
    for j in range(cuts.shape[1]):
        values[j] = 0.0
    for i in range(num_cuts):
        cut_weight = 1.0 / (top - search.levels[i])
        total += cut_weight
        for j in range(cuts.shape[1]):
            values[j] += cut_weight * cuts[i, j]
    least = np.inf
    for j in range(cuts.shape[1]):
        least = min(least, values[j])
    return least / total


@inlined
def move_to_centre(weights, cuts, num_cuts, width, search):
    """Move a blend to the centre that the module's docstring defines; return a lower bound on the value of every blend.

    Args:
        weights: (K,) positive, with sum 1; changed in place.
        width: by how much the centre's value may exceed the least value, as far as the cuts tell; see point 1 of the
            module's docstring.
        search: ``levels``, ``moves``, ``hessian`` and ``steps`` are overwritten.
    """
    count = len(weights)
    levels = search.levels
    change = search.steps[STEP]
    pull = (num_cuts + count) / width
    top = width + fill_levels(weights, cuts, num_cuts, levels)
    for _ in range(NEWTON_STEPS):
        # One damped step of Newton's method.
        unit = fill_system(weights, cuts, num_cuts, top, pull, search)
        factorise(search.hessian)
        squared_decrement = solve_for_step(search)
        if not squared_decrement < np.inf:  # it is NaN or infinite: the last blend stays
            break
        step = longest_step(weights, cuts, num_cuts, top, unit * change[count], search)
        for j in range(count):
            weights[j] *= 1.0 + step * change[j]
        top += step * unit * change[count]
        for i in range(num_cuts):
            levels[i] += step * search.moves[i]
        if squared_decrement < LARGEST_SQUARED_DECREMENT:
            break
    # The steps keep the sum at 1, except for rounding errors.
    total = 0.0
    for j in range(count):
        total += weights[j]
    for j in range(count):
        weights[j] /= total
    return dual_bound(cuts, num_cuts, top, search)


@kernel(types.void(HANDLE, types.int64, types.float64))
def improve(search, player, value):
    """Record a best response to a player's blend, and choose the next blend to try.

    Args:
        search: handle; changed in place. The response's cut is the next one of ``cuts``.
        value: value of the response against the blend.
    """
    search = blend_search_of(search)
    weights = search.weights[player]
    progress = search.progress[player]
    cuts = search.cuts[player]
    last_cut = np.int64(progress[NUM_CUTS])
    num_cuts = last_cut + 1
    count = len(weights)
    # 1. The opponent's best response to the blend gives a cut and the blend's value. The response's least value against
    # any of the policies is a bound: no blend makes it lower.
    least = np.inf
    for j in range(count):
        least = min(least, cuts[last_cut, j])
    if value < progress[LEAST_VALUE]:
        progress[LEAST_VALUE] = value
        for j in range(count):
            search.best[player, j] = weights[j]
    progress[NUM_CUTS] = num_cuts
    progress[LOWER_BOUND] = max(progress[LOWER_BOUND], least)
    # 2. Seek the next blend from the best one, pushed a little into the interior of the simplex.
    unknown = progress[LEAST_VALUE] - progress[LOWER_BOUND]
    if unknown > 0.0 and num_cuts < len(cuts):
        for j in range(count):
            weights[j] = (1.0 - UNIFORM_SHARE) * search.best[player, j] + UNIFORM_SHARE / count
        bound = move_to_centre(weights, cuts, num_cuts, WIDTH * unknown, search)
        if bound > progress[LOWER_BOUND]:  # false if the bound is NaN
            progress[LOWER_BOUND] = bound
