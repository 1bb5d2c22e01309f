"""Compilation of the plain functions of components for the signatures with which kernels call them.

A *plain function* is one that a component's author writes in Python on the arrays of one infoset; see
:mod:`rlccfr.components`.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from rlccfr.errors import ComponentError
from rlccfr.kernels.handles import handle_of
from rlccfr.kernels.jit import COMPILER, cached
from rlccfr.kernels.layout import INCLUSION, MIXTURE, POLICY_MAP, REGULARISE, REWEIGHT, REWEIGHT_BY_REGRET
from rlccfr.plugins import is_the_librarys


class PlainSignature(NamedTuple):
    """Signature with which kernels call a plain function."""

    field: str  # name of the component's field
    arguments: str  # description for the function's author
    result: str
    signature: Any  # Numba's signature
    default: Callable[..., Any]  # used if the field is None

    def __str__(self) -> str:
        return f"{self.field}({self.arguments}) -> {self.result}"


def _no_reweight(instant_regret, mass, state, parameters, utility_range):
    pass


def _no_reweight_by_regret(instant_regret, mass, state, parameters, utility_range, regret):
    pass


def _no_map(row, state, parameters, utility_range):
    pass


def _no_regularisation(values, policy, reach, state, parameters, utility_range):
    return 0.0


def _no_inclusion(policy, count, parameters, probability):
    pass


def _no_mixture(policy, count, visits, parameters):
    return 0.0


# How error messages describe the arguments. A is the number of the infoset's actions, k that of the rule's
# arrays, p that of the component's parameters.
_STATE = "state: float64 (A, k), parameters: float64 (p,), utility_range: float64"
_INSTANT = f"instant_regret: float64 (A,), mass: float64, {_STATE}"
_COUNTS = "policy: float64 (A,), count: float64 (A,)"
_REWEIGHT = PlainSignature("reweight", _INSTANT, "None", REWEIGHT, _no_reweight)
_REWEIGHT_BY_REGRET = PlainSignature(
    "reweight", f"{_INSTANT}, regret: float64 (A,)", "None", REWEIGHT_BY_REGRET, _no_reweight_by_regret
)
_POLICY_MAP = PlainSignature("policy_map", f"row: float64 (A,), {_STATE}", "None", POLICY_MAP, _no_map)
_REGULARISE = PlainSignature(
    "regularise",
    f"values: float64 (A,), policy: float64 (A,), reach: float64 (A,), {_STATE}",
    "float64",
    REGULARISE,
    _no_regularisation,
)
_INCLUSION = PlainSignature(
    "inclusion", f"{_COUNTS}, parameters: float64 (p,), probability: float64 (A,)", "None", INCLUSION, _no_inclusion
)
_MIXTURE = PlainSignature(
    "mixture", f"{_COUNTS}, visits: float64, parameters: float64 (p,)", "float64", MIXTURE, _no_mixture
)


def reads_regret(reweight: Callable[..., None] | None) -> bool:
    """Return whether a rule's ``reweight`` takes a sixth argument: the infoset's cumulative regrets."""
    return inspect.isfunction(reweight) and _num_arguments(reweight) == len(_REWEIGHT_BY_REGRET.signature.args)


def reweight_functions(function: Callable[..., None] | None) -> tuple[Any, Any]:
    """Return two handles for a rule's ``reweight``: of a function without the argument ``regret``, and of one with it.

    A kernel's function argument has one fixed signature, so a rule carries both. ``RuleFlags.reads_regret`` says which
    one is called; the other does nothing.

    Raises:
        ComponentError: the function has the wrong arguments, or it can't be compiled.
    """
    if reads_regret(function):
        return _compiled(None, _REWEIGHT), _compiled(function, _REWEIGHT_BY_REGRET)
    return _compiled(function, _REWEIGHT), _compiled(None, _REWEIGHT_BY_REGRET)


def policy_map_function(function: Callable[..., None] | None) -> Any:
    """Return the handle of a rule's ``policy_map``; if it is None, that of a function that does nothing.

    Raises:
        ComponentError: the function has the wrong arguments, or it can't be compiled.
    """
    return _compiled(function, _POLICY_MAP)


def regularise_function(function: Callable[..., float] | None) -> Any:
    """Return the handle of a rule's ``regularise``; if it is None, that of a function that returns 0.

    Raises:
        ComponentError: the function has the wrong arguments, or it can't be compiled.
    """
    return _compiled(function, _REGULARISE)


def inclusion_function(function: Callable[..., None] | None) -> Any:
    """Return the handle of a sampler's ``inclusion``; if it is None, that of a function that does nothing.

    Raises:
        ComponentError: the function has the wrong arguments, or it can't be compiled.
    """
    return _compiled(function, _INCLUSION)


def mixture_function(function: Callable[..., float] | None) -> Any:
    """Return the handle of a sampler's ``mixture``; if it is None, that of a function that returns 0.

    Raises:
        ComponentError: the function has the wrong arguments, or it can't be compiled.
    """
    return _compiled(function, _MIXTURE)


def check_signature(field: str, function: Callable[..., Any]) -> None:
    """Check that the function in a component's field is a plain function with the field's arguments.

    Raises:
        ComponentError: it is not.
    """
    signatures = {known.field: known for known in (_REWEIGHT, _POLICY_MAP, _REGULARISE, _INCLUSION, _MIXTURE)}
    expected = signatures[field]
    if field == "reweight" and reads_regret(function):
        expected = _REWEIGHT_BY_REGRET
    _check_arguments(function, expected)


@cache
def _compiled(function: Callable[..., Any] | None, expected: PlainSignature) -> Any:
    """Compile a function and return its handle; if it is None, that of the expected signature's default.

    Raises:
        ComponentError: the function's arguments are not those of ``expected``, or it can't be compiled.
    """
    function = expected.default if function is None else function
    _check_arguments(function, expected)
    # Don't cache functions typed at a prompt, or of a module that can't be imported again by its name.
    on_disk = os.path.exists(function.__code__.co_filename) and function.__module__ in sys.modules
    try:
        if is_the_librarys(function) and on_disk:
            return handle_of(cached(function, expected.signature, COMPILER), expected.signature)
        return handle_of(_jitted(function, expected.signature, on_disk), expected.signature)
    except Exception as error:  # Numba's errors have no common base and are pages long
        reason = _mutable_variable(function, expected, str(error)) or _reason(error)
        raise ComponentError(f"Numba can't compile {function.__name__} as {expected}: {reason}") from error


def _check_arguments(function: Callable[..., Any], expected: PlainSignature) -> None:
    if not inspect.isfunction(function):
        raise ComponentError(f"{expected.field} must be a plain function, not {function!r}; define {expected}")
    if _num_arguments(function) != len(expected.signature.args):
        sixth = ", and may take a sixth, regret: float64 (A,)" if expected is _REWEIGHT else ""
        signature = f"{function.__name__}{inspect.signature(function)}"
        raise ComponentError(f"{signature} must take the arguments of {expected}{sixth}")


def _mutable_variable(function: Callable[..., Any], expected: PlainSignature, message: str) -> str | None:
    """Return what is wrong with a function that uses a mutable global or closure variable; None if it doesn't.

    Numba rejects global lists, dicts and sets, and treats global arrays as constants.

    Args:
        message: Numba's error.
    """
    variables = inspect.getclosurevars(function)
    mutable: tuple[type, ...] = (list, dict, set)
    if "readonly array" in message:  # the function tries to change an array from outside
        mutable += (np.ndarray,)
    for name, value in {**variables.globals, **variables.nonlocals}.items():
        if isinstance(value, mutable):
            state = "state in arrays=..., and " if "state:" in expected.arguments else ""
            return f"its non-local variable {name!r} has type {type(value).__name__}; keep {state}constants in a tuple"
    return None


def _jitted(function: Callable[..., Any], signature: Any, on_disk: bool) -> Any:
    """Return a function compiled for a signature, with checks of its arrays' indices.

    With ``on_disk``, the machine code is cached beside the function's source file if possible.
    """
    try:
        return njit(signature, cache=on_disk, boundscheck=True, **COMPILER)(function)
    except ModuleNotFoundError:  # the cached code is that of a file imported by another name
        return njit(signature, boundscheck=True, **COMPILER)(function)


def _num_arguments(function: Callable[..., Any]) -> int:
    """Return the number of a function's required positional arguments; -1 if it has arguments of any other kind."""
    parameters = inspect.signature(function).parameters.values()
    are_required = all(p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty for p in parameters)
    return len(parameters) if are_required else -1


def _reason(error: Exception) -> str:
    """Return the first informative line of Numba's error, with the source line if the error names one."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    informative = [
        line
        for line in lines
        if not line.startswith("Failed in nopython mode pipeline") and " object at 0x" not in line
    ]
    first_line = informative[0] if informative else type(error).__name__
    call = next((line for line in lines if line.startswith(">>> ")), None)  # of a function that Numba does not know
    if call is not None and first_line.startswith("No implementation of function"):
        reason = f"no implementation of {call.removeprefix('>>> ')}"
    else:
        reason = re.sub(r"[.]*\s*Raised from .*", "", first_line)
    # The innermost place comes last. Each match has two groups of one alternative, and two that are empty.
    source_lines = re.findall(r'File "([^"]+)", line (\d+)|Raised from (\S+) \((\d+)\)', text)
    if not source_lines:
        return reason
    path, number = (group for group in source_lines[-1] if group)
    return f"{reason} (line {number} of {os.path.basename(path)})"
