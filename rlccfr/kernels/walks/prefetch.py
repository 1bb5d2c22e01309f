"""A hint to the processor to load a cache line before it is needed."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from rlccfr.kernels.jit import UNJITTED

_READ, _KEEP_IN_ALL_CACHES, _DATA = 0, 3, 1
"""Arguments of LLVM's intrinsic."""


@intrinsic
def _prefetch(typing_context, array, index):
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word, byte = ir.IntType(32), ir.IntType(8).as_pointer()
        data = context.make_array(array)(context, builder, arguments[0]).data
        place = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        hint = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        builder.call(hint, [place, word(_READ), word(_KEEP_IN_ALL_CACHES), word(_DATA)])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


def _nothing(array: Any, index: int) -> None:
    """Do nothing."""


prefetch = _nothing if UNJITTED else _prefetch
"""``prefetch(array, index)`` asks for the cache line of a 1-D array's element; the index is not checked."""
