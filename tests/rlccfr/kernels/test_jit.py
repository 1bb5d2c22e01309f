from __future__ import annotations

import numpy as np
import pytest
from numba import njit, types

from rlccfr.kernels.jit import COMPILER, OPTIONS, UNJITTED, WIDTH, ready


@pytest.mark.parametrize("options", [COMPILER, OPTIONS])
def test_functions_are_compiled_for_vectors_of_that_width(options):
    signature = (types.float64[::1],)

    @njit(signature, **options)
    def double(row):
        for k in range(len(row)):
            row[k] *= 2.0

    assert WIDTH in double.inspect_llvm(signature)


@pytest.mark.skipif(UNJITTED, reason="kernels run as plain Python")
def test_a_kernel_is_made_ready_without_a_call():
    called = njit(lambda row: row[0])
    ready(called, np.ones(3))
    assert called.signatures == [(types.float64[::1],)]
