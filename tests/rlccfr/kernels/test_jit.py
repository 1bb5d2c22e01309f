from __future__ import annotations

import pytest
from numba import njit, types

from rlccfr.kernels.jit import COMPILER, OPTIONS, WIDTH


@pytest.mark.parametrize("options", [COMPILER, OPTIONS])
def test_functions_are_compiled_for_vectors_of_that_width(options):
    signature = (types.float64[::1],)

    @njit(signature, **options)
    def double(row):
        for k in range(len(row)):
            row[k] *= 2.0

    assert WIDTH in double.inspect_llvm(signature)
