"""Running scales of tables that sampled runs discount.

A discount changes the whole table at every iteration; a walk changes only a few rows. So the tables hold true values
multiplied by running scales. Each player has three: for positive regrets, for negative regrets, and for the policy sum.
To discount a whole table, a kernel only divides its scale by the discount. When a scale is about to overflow, or a
discount is 0, the table itself is brought up to date.
"""

from __future__ import annotations

from numba import types

from rlccfr.kernels.jit import inlined, kernel
from rlccfr.kernels.layout import (
    AVERAGE,
    F8M,
    FLOOR,
    NEGATIVE,
    NEGATIVE_DISCOUNT,
    POSITIVE,
    POSITIVE_DISCOUNT,
    TABLES,
    VIEW,
    Step,
)
from rlccfr.kernels.passes.rows import sequences_of

LARGEST_SCALE = 1e100
"""Scale beyond which tables are brought up to date; products with entries are still far from overflowing."""


@kernel
def settle(view, player, tables, scale):
    """Convert a player's tables to true units, and set its scales to 1.

    Args:
        tables: ``regret`` and ``policy_sum`` are changed in place.
        scale: (2, 3) changed in place.
    """
    first, end = sequences_of(view, player)
    for k in range(first, end):
        tables.regret[k] /= scale[player, POSITIVE] if tables.regret[k] > 0.0 else scale[player, NEGATIVE]
        tables.policy_sum[k] /= scale[player, AVERAGE]
    scale[player] = 1.0


@inlined
def discount(view, player, tables, scale, column, factor):
    """Multiply one kind of a player's entries by ``factor``, by changing the scale alone if possible.

    Args:
        tables: ``regret`` and ``policy_sum`` are changed in place.
        scale: (2, 3) changed in place.
        column: kind of the entries: POSITIVE, NEGATIVE or AVERAGE.
    """
    if factor == 1.0:
        return
    if factor > 0.0 and scale[player, column] / factor < LARGEST_SCALE:
        scale[player, column] /= factor
        return
    # The scale would overflow, or the entries become 0, which no scale can express. So the table itself must change.
    settle(view, player, tables, scale)
    first, end = sequences_of(view, player)
    for k in range(first, end):
        if column == AVERAGE:
            tables.policy_sum[k] *= factor
        elif (tables.regret[k] > 0.0) == (column == POSITIVE):
            tables.regret[k] *= factor


@inlined
def discounted_step(view, player, tables, scale, now, ahead):
    """Discount a player's regrets, and return the :class:`Step` for the updates that follow.

    Args:
        tables, scale: changed in place; see :func:`discount`.
        now, ahead: (5 + p,) schedule rows of this iteration and of the next.
    """
    discount(view, player, tables, scale, POSITIVE, now[POSITIVE_DISCOUNT])
    discount(view, player, tables, scale, NEGATIVE, now[NEGATIVE_DISCOUNT])
    # The scales contain the discounts by now: dividing by them gives discounted true regrets.
    store = (scale[player, POSITIVE], scale[player, NEGATIVE])
    load = (1.0 / store[0], 1.0 / store[1])
    return Step(now, ahead, now[FLOOR], load, store)


@kernel(types.void(VIEW, TABLES, F8M))
def settle_all(view, tables, scale):
    """Convert both players' tables to true units.

    Args:
        tables: ``regret`` and ``policy_sum`` are changed in place.
        scale: (2, 3) set to 1.
    """
    for player in range(2):
        settle(view, player, tables, scale)
