from __future__ import annotations

import numpy as np
import pytest
from numba import njit, types

from rlccfr.kernels.jit import UNJITTED, ready


@pytest.mark.skipif(UNJITTED, reason="kernels run as plain Python")
def test_a_kernel_is_made_ready_without_a_call():
    called = njit(lambda row: row[0])
    ready(called, np.ones(3))
    assert called.signatures == [(types.float64[::1],)]
