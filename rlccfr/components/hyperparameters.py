"""What a factory of components may have as hyperparameters."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from typing import Any

from rlccfr.errors import ComponentError, brief

Bounds = tuple[float, float]
"""Least and largest value of a number."""

NON_NEGATIVE: Bounds = (0.0, math.inf)
"""Bounds of a number for which no others are given."""

VALUE_TYPES = (bool, int, float, str)
"""Types of hyperparameters' values, all of which can be written in an id, such as ``"dcfr(alpha=2)"``, and in JSON."""


def check_hyperparameters(
    title: str, factory: Callable[..., Any], bounds: Mapping[str, Bounds], later: Iterable[str]
) -> None:
    """Check the hyperparameters of a factory, and what its registration says of them.

    Args:
        title: kind and id of the component, for error messages.
        factory: the factory; its arguments are the hyperparameters.
        bounds: bounds of numbers, by name.
        later: names of hyperparameters that were added later.

    Raises:
        ComponentError: a hyperparameter lacks a default, or has one of a wrong type or out of its bounds; or a name is
            not a hyperparameter.
    """
    parameters = inspect.signature(factory).parameters
    for what, names in {"bounds": bounds, "later": later}.items():
        if unknown := [name for name in names if name not in parameters]:
            raise ComponentError(f"{title}: {what}= names {unknown[0]!r}, which is not a hyperparameter")
    for name, parameter in parameters.items():
        default = parameter.default
        if default is inspect.Parameter.empty:
            raise ComponentError(f"{title}: the hyperparameter {name!r} needs a default")
        if default is not None and type(default) not in VALUE_TYPES:
            raise ComponentError(
                f"{title}: the default of {name!r} must be a number, True, False, None or text, not {brief(default)}"
            )
        if default is None and parameter.annotation is inspect.Parameter.empty:
            raise ComponentError(
                f"{title}: annotate {name!r}, whose default is None, such as {name}: float | None = None"
            )
        pair = bounds.get(name, NON_NEGATIVE)
        if not _are_bounds(pair):
            raise ComponentError(f"{title}: the bounds of {name!r} must be (least, largest), not {brief(pair)}")
        low, high = pair
        is_number = isinstance(default, (int, float)) and not isinstance(default, bool)
        if is_number and not (low <= default <= high and abs(default) <= sys.float_info.max):
            raise ComponentError(
                f"{title}: the default of {name!r} is {brief(default)}, but must be finite and lie in [{low:g}, "
                f"{high:g}]: change it, or give other bounds"
            )


def _are_bounds(value: Any) -> bool:
    """Return whether a value is a pair of numbers, the least first."""
    is_pair = isinstance(value, (tuple, list)) and len(value) == 2
    return is_pair and all(isinstance(bound, Real) for bound in value) and bool(value[0] <= value[1])
