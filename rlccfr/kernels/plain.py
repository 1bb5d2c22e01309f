"""Compiling the plain functions that components bring, against the signatures that kernels call them by."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from numba import njit

from rlccfr.errors import ComponentError
from rlccfr.kernels.handles import handle_of
from rlccfr.kernels.jit import COMPILER, cached
from rlccfr.kernels.layout import INCLUSION, MIXTURE, POLICY_MAP, REWEIGHT


def _no_reweight(instant_regret, mass, state, parameters, utility_range):
    pass


def _no_map(row, state, parameters, utility_range):
    pass


def _no_inclusion(policy, count, parameters, probability):
    pass


def _no_mixture(policy, count, visits, parameters):
    return 0.0


@cache
def _compiled(function: Callable[..., Any], signature: Any) -> Any:
    # Not what was typed at a prompt, nor what a module holds that can't be imported again by its name.
    on_disk = os.path.exists(function.__code__.co_filename) and function.__module__ in sys.modules
    ours = function.__module__.split(".")[0] == "rlccfr"
    try:
        if ours and on_disk:
            return handle_of(cached(function, signature, COMPILER), signature)
        return handle_of(njit(signature, cache=on_disk, **COMPILER)(function), signature)
    except Exception as error:  # Numba's errors have no common base and run over pages
        reason = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise ComponentError(f"Numba can't compile {function.__name__}{signature.args}: {reason}") from error


def reweight_function(function: Callable[..., None] | None) -> Any:
    """The handle of a rule's ``reweight``; of one that does nothing for None."""
    return _compiled(function or _no_reweight, REWEIGHT)


def policy_map_function(function: Callable[..., None] | None) -> Any:
    """The handle of a rule's ``policy_map``."""
    return _compiled(function or _no_map, POLICY_MAP)


def inclusion_function(function: Callable[..., None] | None) -> Any:
    """The handle of a sampler's ``inclusion``."""
    return _compiled(function or _no_inclusion, INCLUSION)


def mixture_function(function: Callable[..., float] | None) -> Any:
    """The handle of a sampler's ``mixture``."""
    return _compiled(function or _no_mixture, MIXTURE)
