"""Handles: arrays through which kernels receive functions and structs of arrays.

When a struct is passed to compiled code, Numba looks up each of its arrays in Python, which takes a sixth of a
microsecond per array. A first-class function takes 50 microseconds, as long as 100 iterations on Kuhn. So a handle is
made once and passed at every call (docs/adr/0003 and 0018). The handle is an array of the struct's words as compiled
code stores them.
"""

from __future__ import annotations

import weakref
from functools import cache
from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from rlccfr.kernels.blending.blend_layout import BLEND_SEARCH
from rlccfr.kernels.control.control_layout import CONTROL
from rlccfr.kernels.jit import UNJITTED, inlined, kernel
from rlccfr.kernels.layout import (
    BUNDLES,
    GAME,
    HANDLE,
    INCLUSION,
    MIXTURE,
    POLICY_MAP,
    REGULARISE,
    REWEIGHT,
    REWEIGHT_BY_REGRET,
    RULE,
    RUN,
    SCRATCH,
    TABLES,
    Rule,
)
from rlccfr.kernels.walks.walk_layout import DRAWS, PATH, SAMPLING, WALK_STATE, Sampling

WORDS_PER_VALUE = 7
"""Largest number of words, of 8 bytes each, in which Numba stores one value.

At present a one-dimensional array takes seven, and a function three.
"""


def _pointer(context: Any, builder: Any, array: Any, kind: Any) -> Any:
    """Return a handle's words as a pointer to a value of type ``kind``."""
    struct = context.get_value_type(kind)
    assert context.get_abi_sizeof(struct) <= 8 * _words_of(kind)  # 8 bytes a word
    data = cgutils.create_struct_proxy(HANDLE)(context, builder, array).data
    return builder.bitcast(data, struct.as_pointer())


def _words_of(kind: Any) -> int:
    """Return an upper bound on the number of words of a value of type ``kind``."""
    field_types = getattr(kind, "types", None)  # of a tuple
    if field_types is not None:
        return sum(map(_words_of, field_types))
    num_axes = getattr(kind, "ndim", 0)
    return WORDS_PER_VALUE + 2 * num_axes  # an array keeps a length and a stride per axis


@intrinsic
def _store(typing_context, handle, value):
    def generate(context, builder, signature, arguments):
        builder.store(arguments[1], _pointer(context, builder, arguments[0], value))
        return context.get_dummy_value()

    return types.void(handle, value), generate


def _type_of(kind: Any) -> Any:
    """Return Numba's type for ``kind``: a struct's type, or a signature of functions."""
    return kind if isinstance(kind, types.Type) else types.FunctionType(kind)


def _loader(kind: Any) -> Any:
    """Return ``load(handle)``, with which a kernel gets the struct or function that a handle holds.

    A kernel loads at its start. Loading inside a loop is much slower, because the compiler can't know that nothing
    changes.

    Args:
        kind: type of the struct, or signature of the function.
    """
    value_type = _type_of(kind)

    @intrinsic
    def load(typing_context, handle):
        def generate(context, builder, signature, arguments):
            return builder.load(_pointer(context, builder, arguments[0], value_type))

        return value_type(handle), generate

    if UNJITTED:  # the handle is the value itself
        return lambda value: value
    return load


def _write(handle, value):
    _store(handle, value)


@cache
def _writer(kind: Any) -> Any:
    """Return ``write(handle, value)`` for values of type ``kind``."""
    return kernel(types.void(HANDLE, kind))(_write)


def prepare_handles(*kinds: Any) -> None:
    """Compile the writers of handles, or load them from disk, so that the first handle takes no longer than later ones.

    Args:
        kinds: types of structs, or signatures of functions.
    """
    if not UNJITTED:
        for kind in kinds:
            _writer(_type_of(kind))


def handle_of(value: Any, kind: Any) -> Any:
    """Return the handle of a struct, or of a compiled function.

    The handle keeps the value alive. The value's arrays may be changed in place, but not replaced. Without
    compilation, the handle is the value itself.

    Args:
        kind: type of the struct, or signature of the function.
    """
    if UNJITTED:
        return value
    value_type = _type_of(kind)
    words = np.zeros(_words_of(value_type), np.int64)
    _writer(value_type)(words, value)
    # The words point into the value's arrays, so the value must live as long as they do; nothing else refers to it.
    weakref.finalize(words, _keep_alive, value).atexit = False
    return words


def _keep_alive(value: Any) -> None:
    """Do nothing; as a handle's finalizer, this keeps the value alive as long as the handle."""


game_of = _loader(GAME)
bundle_view_of = _loader(BUNDLES)
run_of = _loader(RUN)
scratch_of = _loader(SCRATCH)
tables_of = _loader(TABLES)
walk_state_of = _loader(WALK_STATE)
draws_of = _loader(DRAWS)
path_of = _loader(PATH)
control_of = _loader(CONTROL)
blend_search_of = _loader(BLEND_SEARCH)
_rule_of = _loader(RULE)
_sampling_of = _loader(SAMPLING)
_reweight_of = _loader(REWEIGHT)
_reweight_by_regret_of = _loader(REWEIGHT_BY_REGRET)
_policy_map_of = _loader(POLICY_MAP)
_regularise_of = _loader(REGULARISE)
_inclusion_of = _loader(INCLUSION)
_mixture_of = _loader(MIXTURE)


@inlined
def rule_of(handle):
    """Return the rule that a handle holds, with the rule's functions."""
    rule = _rule_of(handle)
    reweight = _reweight_of(rule.reweight)
    reweight_by_regret = _reweight_by_regret_of(rule.reweight_by_regret)
    policy_map = _policy_map_of(rule.policy_map)
    regularise = _regularise_of(rule.regularise)
    return Rule(rule.flags, reweight, reweight_by_regret, policy_map, regularise, rule.utility_range)


@inlined
def flags_of(handle):
    """Return the flags of the rule that a handle holds."""
    return _rule_of(handle).flags


@inlined
def sampling_of(handle):
    """Return the sampler's settings and functions that a handle holds."""
    sampling = _sampling_of(handle)
    return Sampling(sampling.plan, _inclusion_of(sampling.inclusion), _mixture_of(sampling.mixture))


@inlined
def plan_of(handle):
    """Return the sampler's settings that a handle holds, without the sampler's functions."""
    return _sampling_of(handle).plan
