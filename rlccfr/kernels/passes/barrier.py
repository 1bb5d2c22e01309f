"""A barrier for the threads of an exact pass: each waits until all have arrived.

A pass has phases of some 10 microseconds. Waiting through Python or the operating system would take as long, so threads
spin; now and then they let others run, in case there are fewer cores than threads.
"""

from __future__ import annotations

import sys
from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from rlccfr.kernels.jit import inlined
from rlccfr.kernels.layout import HANDLE

ARRIVED = 0
"""Index in the barrier's array of the number of threads that have arrived."""

GENERATION = 8
"""Index in the barrier's array of the number of times that all threads have arrived.

It lies a cache line apart from ARRIVED, since waiting threads read it.
"""

WORDS = 16
"""Length of the barrier's array."""

READS_PER_YIELD = 1000
"""Number of reads of the barrier after which a thread lets others run."""

if sys.platform == "win32":

    @inlined
    def let_others_run():
        """Do nothing: the C library of Windows has no function that lets other threads run."""

else:
    _sched_yield = types.ExternalFunction("sched_yield", types.int32())

    @inlined
    def let_others_run():
        """Let another thread have this core, if one waits for it."""
        _sched_yield()


def _address(context: Any, builder: Any, array: Any, index: Any) -> Any:
    """Return a pointer to an element of an array of 64-bit integers."""
    return builder.gep(cgutils.create_struct_proxy(HANDLE)(context, builder, array).data, [index])


@intrinsic
def _add(typing_context, array, index, value):
    def generate(context, builder, signature, arguments):
        address = _address(context, builder, arguments[0], arguments[1])
        return builder.atomic_rmw("add", address, arguments[2], "acq_rel")

    return types.int64(HANDLE, types.int64, types.int64), generate


@intrinsic
def _read(typing_context, array, index):
    def generate(context, builder, signature, arguments):
        return builder.load_atomic(_address(context, builder, *arguments), "acquire", 8)

    return types.int64(HANDLE, types.int64), generate


@intrinsic
def _write(typing_context, array, index, value):
    def generate(context, builder, signature, arguments):
        address = _address(context, builder, arguments[0], arguments[1])
        builder.store_atomic(arguments[2], address, "release", 8)
        return context.get_dummy_value()

    return types.void(HANDLE, types.int64, types.int64), generate


@inlined
def wait_for_all(barrier, threads):
    """Wait until all threads have called this function.

    Args:
        barrier: (WORDS,) of int64, shared by the threads and 0 at first; changed in place.
        threads: number of threads.
    """
    # Read before arriving: once all have arrived, the generation may change at any time.
    generation = _read(barrier, GENERATION)
    if _add(barrier, ARRIVED, 1) == threads - 1:
        # The last to arrive makes the barrier ready for its next use, and only then releases the others. Releasing
        # also makes what threads wrote before the barrier visible to those that read after it.
        _write(barrier, ARRIVED, 0)
        _write(barrier, GENERATION, generation + 1)
        return
    reads = 0
    while _read(barrier, GENERATION) == generation:
        reads += 1
        if reads % READS_PER_YIELD == 0:
            let_others_run()
