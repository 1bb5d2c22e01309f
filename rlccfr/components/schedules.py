"""Schedules: numbers that depend on the iteration."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rlccfr.errors import BrokenComponentError, ComponentError, first_line, what_failed_in
from rlccfr.interrupts import raise_if_interrupt

Schedule = Callable[[np.ndarray], Any]
"""Function from iterations t = 1, 2, ... (a float array) to one value per iteration, or to one value for all."""

SCHEDULE_COLUMNS = ("positive_discount", "negative_discount", "floor", "average_decay", "prediction")
"""Names of the first columns of the array of a rule's schedules; a column for each of its ``parameters`` follows."""


MOMENTUM_COLUMNS = ("weight", "memory", "power")
"""Names of the columns that take the place of the parameters' columns if the rule has momentum."""


MOMENTUM_BOUNDS = {"momentum.memory": (0.0, 1.0), "momentum.power": (1.0, math.inf)}
"""Least and largest values of the columns for momentum that have bounds."""


def always(value: float) -> Schedule:
    """Return the schedule that is ``value`` at every iteration."""
    return lambda t: value


UNIT = always(1.0)
ZERO = always(0.0)


def _fill_column(column: np.ndarray, subject: str, schedule: Schedule | float, t: np.ndarray) -> None:
    """Write a schedule's values into ``column``, of the shape of ``t``.

    Args:
        subject: what the schedule is, for error messages.
        schedule: the schedule, or a number.
        t: the iterations, as floats. The schedule is given a copy, since it may change its argument.

    Raises:
        BrokenComponentError: the schedule fails.
    """
    if not callable(schedule):
        column[:] = schedule
        return
    try:
        with np.errstate(all="ignore"):  # callers check the values
            values = np.asarray(schedule(t.copy()))
        if values.dtype.kind == "c":
            raise TypeError("it returns complex numbers")
        column[:] = values
    except MemoryError:
        raise
    except (TypeError, ValueError, LookupError) as error:
        raise BrokenComponentError(
            f"{subject} must turn an array of iterations, shape {t.shape}, into an array of that shape or one number; "
            f"use NumPy's functions: {first_line(error)}"
        ) from None
    except Exception as error:  # functions of other authors raise errors of any class
        raise_if_interrupt(error)
        raise BrokenComponentError(f"{subject} fails: {what_failed_in(schedule, error)}") from error


def schedule_rows(owner: str, columns: Mapping[str, Schedule | float], first: int, count: int) -> np.ndarray:
    """Return the values of schedules at iterations ``first`` to ``first + count``, shape (count + 1, len(columns)).

    Args:
        owner: the rule or the sampler, for error messages.
        columns: schedules or numbers, by name; each gives one column of the result.
        first: first iteration; iterations are counted from 1.
        count: number of iterations after the first.

    Raises:
        ComponentError: a schedule fails, or returns a number that is out of range.
    """
    t = np.arange(first, first + count + 1, dtype=np.float64)
    rows = np.empty((count + 1, len(columns)))
    for k, (name, column) in enumerate(columns.items()):
        subject = f"{name} of {owner}"
        _fill_column(rows[:, k], subject, column, t)
        is_factor = name.endswith(("discount", "decay"))
        is_invalid = np.isnan(rows[:, k]) if name == "floor" else ~np.isfinite(rows[:, k])  # a floor may be infinite
        least, most = MOMENTUM_BOUNDS.get(name, (0.0 if is_factor else -math.inf, math.inf))
        is_invalid |= (rows[:, k] < least) | (rows[:, k] > most)
        if is_invalid.any():
            row = int(np.argmax(is_invalid))
            wanted = "" if math.isinf(least) else f" of at least {least:g}"
            wanted += "" if math.isinf(most) else f" and at most {most:g}"
            raise ComponentError(
                f"{subject} is {rows[row, k]:g} at iteration {first + row}, not a finite number{wanted}; iterations "
                "are counted from 1"
            )
    return rows
