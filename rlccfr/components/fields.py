"""Check of a component's fields against their declared types."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from numbers import Integral, Real
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from rlccfr.components.schedules import Schedule
from rlccfr.errors import ComponentError, brief

_PLAIN: dict[type, str] = {bool: "True or False", int: "an integer", float: "a number", str: "a string"}
_ACCEPTED: dict[Any, Any] = {bool: (bool, np.bool_), int: Integral, float: Real, str: str}  # NumPy's numbers, too


def check_fields(component: Any) -> None:
    """Check that each field's value is of the field's type.

    Raises:
        ComponentError: it isn't. Unchecked, many a wrong value would pass as another that was not meant.
    """
    for name, hint in _hints(component.__class__).items():
        value = getattr(component, name)
        if not _fits(value, hint):
            given = "a function" if inspect.isroutine(value) else brief(value)
            raise ComponentError(f"{name} must be {_wanted(hint)}, not {given}")


@cache
def _hints(kind: type) -> dict[str, Any]:
    """Return the types of the fields of the library's own class; a class derived from it may have any others."""
    own = next(one for one in kind.__mro__ if one.__module__.partition(".")[0] == "rlccfr")
    return get_type_hints(own)


def _fits(value: Any, hint: Any) -> bool:
    """Return whether a value is of a type; a number also serves as a schedule."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, one) for one in get_args(hint))
    if origin is Literal:
        return isinstance(value, str) and value in get_args(hint)
    if origin is tuple:
        return isinstance(value, tuple) and all(_fits(one, get_args(hint)[0]) for one in value)
    if origin is Callable:
        return callable(value) or (hint == Schedule and _fits(value, float))
    accepted = _ACCEPTED.get(hint, origin or hint)
    return isinstance(value, accepted) and (hint is bool or not isinstance(value, bool))


def _wanted(hint: Any) -> str:
    """Return what a value of a type is, for a message."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint == Schedule:
        return "a schedule (a function of t)"
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(map(_wanted, inner)))
    if origin is Literal:
        return f"one of {', '.join(inner)}"
    if origin is tuple:
        return f"a tuple in which each value is {_wanted(inner[0])}"
    if origin is Callable:
        return "a function"
    return "None" if hint is type(None) else _PLAIN.get(hint, f"of type {(origin or hint).__name__}")
