"""Operations on the lanes of a bundle: eight doubles, which the compiler keeps in one or two vector registers.

Each operation is written out for its eight lanes, because Numba builds no tuples in loops. The compiler merges the
eight operations into one instruction. Indices are unsigned, which saves a test for negative ones; with such tests, the
compiler could not merge loads. See :mod:`rlccfr.games.bundles`.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from rlccfr.kernels.jit import inlined

NONE = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
"""Zeros in all lanes."""


@inlined
def load(table, first):
    """Return the lanes of a table whose first entry is ``first``."""
    at = np.uint64(first)
    return (
        table[at],
        table[at + np.uint64(1)],
        table[at + np.uint64(2)],
        table[at + np.uint64(3)],
        table[at + np.uint64(4)],
        table[at + np.uint64(5)],
        table[at + np.uint64(6)],
        table[at + np.uint64(7)],
    )


@inlined
def store(table, first, a):
    """Write lanes to a table, from the entry ``first`` on."""
    at = np.uint64(first)
    table[at] = a[0]
    table[at + np.uint64(1)] = a[1]
    table[at + np.uint64(2)] = a[2]
    table[at + np.uint64(3)] = a[3]
    table[at + np.uint64(4)] = a[4]
    table[at + np.uint64(5)] = a[5]
    table[at + np.uint64(6)] = a[6]
    table[at + np.uint64(7)] = a[7]


@inlined
def plus(a, b):
    """Return the sums of lanes."""
    return (
        a[0] + b[0],
        a[1] + b[1],
        a[2] + b[2],
        a[3] + b[3],
        a[4] + b[4],
        a[5] + b[5],
        a[6] + b[6],
        a[7] + b[7],
    )


@inlined
def minus(a, b):
    """Return the differences of lanes."""
    return (
        a[0] - b[0],
        a[1] - b[1],
        a[2] - b[2],
        a[3] - b[3],
        a[4] - b[4],
        a[5] - b[5],
        a[6] - b[6],
        a[7] - b[7],
    )


@inlined
def times(a, b):
    """Return the products of lanes."""
    return (
        a[0] * b[0],
        a[1] * b[1],
        a[2] * b[2],
        a[3] * b[3],
        a[4] * b[4],
        a[5] * b[5],
        a[6] * b[6],
        a[7] * b[7],
    )


@inlined
def scaled(a, factor):
    """Return lanes times a number."""
    return (
        a[0] * factor,
        a[1] * factor,
        a[2] * factor,
        a[3] * factor,
        a[4] * factor,
        a[5] * factor,
        a[6] * factor,
        a[7] * factor,
    )


@inlined
def reciprocals(a):
    """Return the reciprocals of lanes."""
    return (
        1.0 / a[0],
        1.0 / a[1],
        1.0 / a[2],
        1.0 / a[3],
        1.0 / a[4],
        1.0 / a[5],
        1.0 / a[6],
        1.0 / a[7],
    )


@inlined
def at_least(a, least):
    """Return lanes that are raised to a number where they are below it."""
    return (
        max(a[0], least),
        max(a[1], least),
        max(a[2], least),
        max(a[3], least),
        max(a[4], least),
        max(a[5], least),
        max(a[6], least),
        max(a[7], least),
    )


@inlined
def _chosen(a, limit, above, otherwise):
    return above if a > limit else otherwise


@inlined
def where_above(a, limit, above, otherwise):
    """Return lanes of ``above`` where ``a`` is above a number, and ``otherwise``, a number, elsewhere."""
    return (
        _chosen(a[0], limit, above[0], otherwise),
        _chosen(a[1], limit, above[1], otherwise),
        _chosen(a[2], limit, above[2], otherwise),
        _chosen(a[3], limit, above[3], otherwise),
        _chosen(a[4], limit, above[4], otherwise),
        _chosen(a[5], limit, above[5], otherwise),
        _chosen(a[6], limit, above[6], otherwise),
        _chosen(a[7], limit, above[7], otherwise),
    )


@inlined
def scaled_by_sign(a, positive, negative):
    """Return lanes times one of two numbers: ``positive`` where they are above 0, ``negative`` elsewhere."""
    return (
        a[0] * _chosen(a[0], 0.0, positive, negative),
        a[1] * _chosen(a[1], 0.0, positive, negative),
        a[2] * _chosen(a[2], 0.0, positive, negative),
        a[3] * _chosen(a[3], 0.0, positive, negative),
        a[4] * _chosen(a[4], 0.0, positive, negative),
        a[5] * _chosen(a[5], 0.0, positive, negative),
        a[6] * _chosen(a[6], 0.0, positive, negative),
        a[7] * _chosen(a[7], 0.0, positive, negative),
    )


@inlined
def powers(a, power):
    """Return lanes, none of which is negative, to the power 1, 1.5 or 2."""
    if power == 1.0:
        return a
    if power == 2.0:
        return times(a, a)
    return times(a, square_roots(a))


@inlined
def square_roots(a):
    """Return the square roots of lanes."""
    return (
        sqrt(a[0]),
        sqrt(a[1]),
        sqrt(a[2]),
        sqrt(a[3]),
        sqrt(a[4]),
        sqrt(a[5]),
        sqrt(a[6]),
        sqrt(a[7]),
    )


@inlined
def shifted(a, summand):
    """Return lanes plus a number."""
    return (
        a[0] + summand,
        a[1] + summand,
        a[2] + summand,
        a[3] + summand,
        a[4] + summand,
        a[5] + summand,
        a[6] + summand,
        a[7] + summand,
    )
