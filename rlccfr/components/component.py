"""What update rules, samplers and abstractions have in common: an id, checked fields, and published theorems."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from numbers import Integral, Real
from types import MappingProxyType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from rlccfr.components.schedules import Schedule
from rlccfr.errors import ComponentError, brief

_NO_HYPERPARAMETERS: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class Component:
    """Base of update rules, samplers and abstractions.

    The registry fills in these fields.

    Args:
        id: name in the registry; empty for a component that is not registered.
        hyperparameters: names and values that the component was made with.
        registration: number of the registration of its factory, which changes if a factory is registered again.

    Raises:
        ComponentError: a field's value is not of the field's type.
    """

    id: str = ""
    hyperparameters: Mapping[str, Any] = field(default_factory=lambda: _NO_HYPERPARAMETERS)
    registration: int = field(default=0, compare=False, repr=False)

    def __post_init__(self) -> None:
        _check_fields(self)

    @property
    def title(self) -> str:
        """The component's name in messages."""
        return repr(self.id) if self.id else f"this {type(self).__name__}"

    @property
    def learns(self) -> bool:
        """Whether the component needs a fitted model, such as a network."""
        return False

    @property
    def spec(self) -> dict[str, Any]:
        """Dictionary ``{"id": ..., **hyperparameters}`` for JSON; the component can be made again from it."""
        return {"id": self.id, **self.hyperparameters}

    def same_as(self, other: Component) -> bool:
        """Return whether both components have the same kind and spec; one without an id equals only itself."""
        return self is other or (bool(self.id) and type(self) is type(other) and self.spec == other.spec)


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """Published theorems about the convergence of algorithms with a component.

    An algorithm has a guarantee if each of its three components has one for the algorithm's kind of iteration: exact
    passes or sampled walks.

    Attributes:
        exact: the theorem for exact passes; empty if there is none.
        sampled: the theorem for unbiased, bounded estimates; empty if there is none.
        exact_open, sampled_open: reason why ``exact`` or ``sampled`` is empty.
        exact_fit: id of the tabular rule that a deep rule equals if its networks fit exactly.
        fitted: theorems about a deep rule with particular samplers, by the samplers' ids.
    """

    exact: str = ""
    sampled: str = ""
    exact_open: str = ""
    sampled_open: str = ""
    exact_fit: str = ""
    fitted: Mapping[str, str] = field(default_factory=dict)


# The words for a type in messages, and the types whose values are accepted: NumPy's numbers, too.
_IN_WORDS: dict[type, str] = {bool: "True or False", int: "an integer", float: "a number", str: "a string"}
_ACCEPTED: dict[Any, Any] = {bool: (bool, np.bool_), int: Integral, float: Real, str: str}


_Check = Callable[[Any], bool]
"""Function that returns whether a value is of a type."""


def _check_fields(component: Any) -> None:
    """Check that each field's value is of the field's type; otherwise, the engine could misread a wrong value.

    Raises:
        ComponentError: a value is of another type.
    """
    for name, hint, is_of_type in _field_checks(component.__class__):
        value = getattr(component, name)
        if not is_of_type(value):
            value_in_words = "a function" if inspect.isroutine(value) else brief(value)
            raise ComponentError(f"{name} must be {_in_words(hint)}, not {value_in_words}")


@cache
def _field_checks(component_class: type) -> tuple[tuple[str, Any, _Check], ...]:
    """Return the name, the type and the check of each field that a component's class has from this library.

    If the class is a user's subclass, the fields that it adds are left out, since they may have any type.
    """
    library_class = next(base for base in component_class.__mro__ if base.__module__.partition(".")[0] == "rlccfr")
    hints = get_type_hints(library_class)
    return tuple((name, hint, _check_of_type(hint)) for name, hint in hints.items())


def _check_of_type(hint: Any) -> _Check:
    """Return a function that says whether a value is of a type; a number also serves as a schedule.

    Types are taken apart only once for each class, because components are made often, and this takes time.
    """
    origin = get_origin(hint)
    arguments = get_args(hint)
    if origin in (Union, UnionType):
        checks = [_check_of_type(choice) for choice in arguments]
        return lambda value: any(check(value) for check in checks)
    if origin is Literal:
        return lambda value: isinstance(value, str) and value in arguments
    if origin is tuple:
        is_item_of_type = _check_of_type(arguments[0])
        return lambda value: isinstance(value, tuple) and all(is_item_of_type(item) for item in value)
    if origin is Callable:
        if hint != Schedule:
            return callable
        is_number = _check_of_type(float)
        return lambda value: callable(value) or is_number(value)
    accepted = _ACCEPTED.get(hint, origin or hint)
    if hint is bool:
        return lambda value: isinstance(value, accepted)
    # In Python, True is an integer; here it does not count as one.
    return lambda value: isinstance(value, accepted) and not isinstance(value, bool)


def _in_words(hint: Any) -> str:
    """Return a description of a type's values for a message, such as ``an integer``."""
    origin = get_origin(hint)
    arguments = get_args(hint)
    if hint == Schedule:
        return "a schedule (a function of t)"
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(_in_words(choice) for choice in arguments))
    if origin is Literal:
        return f"one of {', '.join(arguments)}"
    if origin is tuple:
        return f"a tuple in which each value is {_in_words(arguments[0])}"
    if origin is Callable:
        return "a function"
    if hint is type(None):
        return "None"
    return _IN_WORDS.get(hint, f"of type {(origin or hint).__name__}")
