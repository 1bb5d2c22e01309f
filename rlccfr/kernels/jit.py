"""The one way in which this package compiles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba import config, njit
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering

from rlccfr.kernels.cache import KernelCache

UNJITTED = bool(getattr(config, "DISABLE_JIT", False))
"""Whether kernels run as plain Python."""

SETTING = "SLP_VECTORIZE"
WIDTH = '"prefer-vector-width"="256"'
"""Of vectors, in bits. Rows of tables have a few entries: where LLVM takes 512, as on AMD's Zen 4 and 5, it reads in
one piece what was just written in several, and waits (ADR 17)."""


class _Lower(Lower):
    def setup_function(self, fndesc: Any) -> None:
        super().setup_function(fndesc)
        set.add(self.function.attributes, WIDTH)  # its own ``add`` knows no attribute that has a value


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):
    _name = "rlccfr_lowering"

    @property
    def lowering_class(self) -> type[Lower]:
        return _Lower


class _Compiler(CompilerBase):
    """Numba's own, but for the width of vectors, which only an attribute of the function can set for it alone."""

    def define_pipelines(self) -> list[PassManager]:
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.passes = [(_Lowering if one is NativeLowering else one, name) for one, name in manager.passes]
        manager.finalize()
        return [manager]


COMPILER: dict[str, Any] = {"error_model": "numpy", "pipeline_class": _Compiler}
"""What all functions are compiled with, those of components too."""

OPTIONS: dict[str, Any] = {**COMPILER, "_nrt": False}
_PIECE: dict[str, Any] = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, **OPTIONS}


def kernel(signature: Any = None) -> Callable[..., Any]:
    """``@kernel`` or ``@kernel(signature)``: compiled at first use or ahead, and cached on disk.

    Kernels allocate nothing, so Numba's reference counting (``_nrt``) is switched off: with it, every mention of
    an array that came in a struct costs two calls, which made walks three times as slow.
    """
    if hasattr(signature, "__code__"):
        return cached(signature, None, OPTIONS)  # type: ignore[no-any-return]

    def compiled(function: Callable[..., Any]) -> Any:
        with vectorised():
            return cached(function, signature, OPTIONS)

    return compiled


def cached(function: Callable[..., Any], signature: Any, options: dict[str, Any]) -> Any:
    """Compile a function of this package for a signature, or at first use; see :mod:`rlccfr.kernels.cache`."""
    dispatcher = njit(**options)(function)
    if UNJITTED:
        return dispatcher
    dispatcher._cache = KernelCache(function)
    if signature is not None:
        dispatcher.compile(signature)
        dispatcher.disable_compile()
    return dispatcher


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
