"""Functions and structs of arrays as kernels take them: their addresses in an array.

Numba looks up a first-class function's addresses in Python whenever one is handed to compiled code, 50
microseconds each, which is as long as 100 iterations on Kuhn, and an array's in a sixth of one. So they are looked
up once, and kept as words.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from rlccfr.kernels.jit import UNJITTED, kernel
from rlccfr.kernels.layout import INCLUSION, MIXTURE, POLICY_MAP, REWEIGHT, SCRATCH, VIEW

HANDLE = types.int64[::1]
WORDS = 128  # at least as many as Numba's structs have: of a function three today, of an array seven


def _pointer(context: Any, builder: Any, array: Any, kind: Any) -> Any:
    """The handle's words as a pointer to a value of that type."""
    struct = context.get_value_type(kind)
    assert context.get_abi_sizeof(struct) <= 8 * WORDS
    data = cgutils.create_struct_proxy(HANDLE)(context, builder, array).data
    return builder.bitcast(data, struct.as_pointer())


@intrinsic
def _store(typing_context, handle, value):
    def generate(context, builder, signature, arguments):
        builder.store(arguments[1], _pointer(context, builder, arguments[0], value))
        return context.get_dummy_value()

    return types.void(handle, value), generate


def _type_of(kind: Any) -> Any:
    """Numba's type of a struct, or of functions of a signature."""
    return kind if isinstance(kind, types.Type) else types.FunctionType(kind)


def _loader(kind: Any) -> Any:
    """``load(handle)``: the struct or function of that type or signature, for use inside a kernel."""
    value_type = _type_of(kind)

    @intrinsic
    def load(typing_context, handle):
        def generate(context, builder, signature, arguments):
            return builder.load(_pointer(context, builder, arguments[0], value_type))

        return value_type(handle), generate

    return (lambda value: value) if UNJITTED else load


def handle_of(value: Any, kind: Any) -> Any:
    """The handle of a struct of arrays of that type, or of a function compiled for that signature.

    Un-jitted, the value itself. The value must outlive the handle.
    """
    if UNJITTED:
        return value
    words = np.zeros(WORDS, np.int64)
    kernel(types.void(HANDLE, _type_of(kind)))(_write)(words, value)
    return words


def _write(handle, value):
    _store(handle, value)


reweight_of = _loader(REWEIGHT)
policy_map_of = _loader(POLICY_MAP)
inclusion_of = _loader(INCLUSION)
mixture_of = _loader(MIXTURE)
view_of = _loader(VIEW)
scratch_of = _loader(SCRATCH)
