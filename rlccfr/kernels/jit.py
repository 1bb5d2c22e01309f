"""The one way in which this package compiles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba import config, njit

SETTING = "SLP_VECTORIZE"
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False}
_PIECE: dict[str, Any] = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, **_OPTIONS}


def kernel(signature: Any = None) -> Callable[..., Any]:
    """``@kernel`` or ``@kernel(signature)``: compiled at first use or ahead, and cached on disk.

    Kernels allocate nothing, so Numba's reference counting (``_nrt``) is switched off: with it, every mention of
    an array that came in a struct costs two calls, which made walks three times as slow.
    """
    if hasattr(signature, "__code__"):
        return njit(cache=True, **_OPTIONS)(signature)  # type: ignore[no-any-return]
    with vectorised():
        return njit(signature, cache=True, **_OPTIONS)  # type: ignore[no-any-return]


@contextmanager
def vectorised() -> Iterator[None]:
    """LLVM may merge neighbouring operations into vectors, which Numba forbids unless told: the gradient's sums."""
    before = getattr(config, SETTING)
    setattr(config, SETTING, 1)
    try:
        yield
    finally:
        setattr(config, SETTING, before)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """A small piece of kernels, merged into each of its callers: handing on 20 arrays costs more than it does.

    It is not to be called from Python, which would crash: the wrappers for that, and a file of its own on disk, would
    lengthen the first compilation.
    """
    return njit(**_PIECE)(function)  # type: ignore[no-any-return]
