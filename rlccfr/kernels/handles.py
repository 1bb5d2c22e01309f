"""Functions as kernels take them: their addresses in an array.

Numba looks up a first-class function's addresses in Python whenever one is handed to compiled code, 50
microseconds each, which is as long as 100 iterations on Kuhn. So they are looked up once, and kept as words.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from rlccfr.kernels.jit import kernel
from rlccfr.kernels.layout import INCLUSION, MIXTURE, POLICY_MAP, REWEIGHT

UNJITTED = bool(getattr(config, "DISABLE_JIT", False))
HANDLE = types.int64[::1]
WORDS = 8  # at least as many as Numba's struct of a function has; three today


def _pointer(context: Any, builder: Any, array: Any, function_type: Any) -> Any:
    """The handle's words as a pointer to a function's struct."""
    struct = context.get_value_type(function_type)
    assert context.get_abi_sizeof(struct) <= 8 * WORDS
    data = cgutils.create_struct_proxy(HANDLE)(context, builder, array).data
    return builder.bitcast(data, struct.as_pointer())


@intrinsic
def _store(typing_context, handle, function):
    def generate(context, builder, signature, arguments):
        builder.store(arguments[1], _pointer(context, builder, arguments[0], function))
        return context.get_dummy_value()

    return types.void(handle, function), generate


def _loader(signature: Any) -> Any:
    """``load(handle)``: the function of that signature, for use inside a kernel."""
    function_type = types.FunctionType(signature)

    @intrinsic
    def load(typing_context, handle):
        def generate(context, builder, signature, arguments):
            return builder.load(_pointer(context, builder, arguments[0], function_type))

        return function_type(handle), generate

    return (lambda function: function) if UNJITTED else load


def handle_of(function: Any, signature: Any) -> Any:
    """The handle of a function compiled for ``signature``; un-jitted, the function itself.

    The function must outlive the handle.
    """
    if UNJITTED:
        return function
    words = np.zeros(WORDS, np.int64)
    kernel(types.void(HANDLE, types.FunctionType(signature)))(_write)(words, function)
    return words


def _write(handle, function):
    _store(handle, function)


reweight_of = _loader(REWEIGHT)
policy_map_of = _loader(POLICY_MAP)
inclusion_of = _loader(INCLUSION)
mixture_of = _loader(MIXTURE)
