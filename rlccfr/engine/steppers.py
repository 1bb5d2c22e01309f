"""The kinds of iteration; one is chosen when components are bound.

To add a kind, write a module with a :class:`~rlccfr.engine.stepper.Stepper` and add a line to :data:`STEPPERS`.
"""

from __future__ import annotations

from collections.abc import Callable
from pkgutil import resolve_name
from typing import Any, NamedTuple

from rlccfr.engine.binding import Binding
from rlccfr.engine.stepper import Stepper


class Kind(NamedTuple):
    """A kind of iteration: a test for the bindings that it serves, and the import path of its stepper."""

    serves: Callable[[Binding], bool]
    path: str


STEPPERS = (
    Kind(lambda binding: binding.public and binding.sampler.exact, "rlccfr.engine.public.passes:PublicStepper"),
    Kind(lambda binding: binding.public, "rlccfr.engine.public.drawn:DrawnStepper"),
    Kind(lambda binding: binding.abstraction.responds, "rlccfr.engine.buckets.responding:RespondingStepper"),
    Kind(lambda binding: binding.learns, "rlccfr.engine.learning.learned:LearnedStepper"),
    Kind(lambda binding: binding.rule.controller is not None, "rlccfr.engine.controlled:ControlledStepper"),
    Kind(lambda binding: binding.sampler.exact, "rlccfr.engine.exact:ExactStepper"),
    Kind(lambda binding: binding.is_quick, "rlccfr.engine.walks:QuickStepper"),
    Kind(lambda binding: True, "rlccfr.engine.walks:WalkStepper"),
)
"""All kinds of iteration; the first that serves a binding is used. Modules are imported when they are needed."""


def stepper_for(state: Any, binding: Binding, previous: Stepper[Any] | None = None) -> Stepper[Any]:
    """Return a new stepper of the first kind that serves a binding; see :class:`Stepper`."""
    path = next(kind.path for kind in STEPPERS if kind.serves(binding))
    stepper: Stepper[Any] = resolve_name(path)(state, binding, previous)
    return stepper
