from __future__ import annotations

import pytest
from numba import types

from rlccfr.kernels import cache
from rlccfr.kernels.counting import compiled_kernels
from rlccfr.kernels.jit import UNJITTED, kernel


def doubled(number):
    return 2 * number


@pytest.mark.skipif(UNJITTED, reason="nothing is compiled")
def test_only_kernels_that_are_compiled_count(monkeypatch, tmp_path):
    monkeypatch.setattr(cache, "kernels_folder", lambda: tmp_path)
    with compiled_kernels() as names:
        assert kernel(types.int64(types.int64))(doubled)(3) == 6
    assert names == ["doubled"]
    with compiled_kernels() as names:
        assert kernel(types.int64(types.int64))(doubled)(3) == 6  # is loaded from disk
    assert names == []
