"""Compilation of kernels; the whole package compiles with these options."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba import config, njit, typeof
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering

from rlccfr.kernels.cache import KernelCache

UNJITTED = bool(getattr(config, "DISABLE_JIT", False))
"""Whether kernels run as plain Python."""

SETTING = "SLP_VECTORIZE"
WIDTH = '"prefer-vector-width"="256"'
"""Attribute that limits vectors to 256 bits.

With 512 bits, LLVM's choice on AMD's Zen 4 and 5, the code stalls: it reads short rows of tables in one piece right
after they were written in several (ADR 17).
"""


class _Lower(Lower):
    def setup_function(self, fndesc: Any) -> None:
        super().setup_function(fndesc)
        set.add(self.function.attributes, WIDTH)  # its own ``add`` rejects attributes with a value


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):
    _name = "rlccfr_lowering"

    @property
    def lowering_class(self) -> type[Lower]:
        return _Lower


class _Compiler(CompilerBase):
    """Numba's compiler with another width of vectors, which only a function attribute can set per function."""

    def define_pipelines(self) -> list[PassManager]:
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.passes = [(_Lowering if one is NativeLowering else one, name) for one, name in manager.passes]
        manager.finalize()
        return [manager]


COMPILER: dict[str, Any] = {"error_model": "numpy", "pipeline_class": _Compiler}
"""Compiler options of all functions, including those of components."""

OPTIONS: dict[str, Any] = {**COMPILER, "_nrt": False}
_PIECE: dict[str, Any] = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, **OPTIONS}


def kernel(signature: Any = None) -> Callable[..., Any]:
    """Compile a kernel and cache it on disk: ``@kernel`` at first use, ``@kernel(signature)`` at once.

    Kernels allocate nothing, so Numba's reference counting (``_nrt``) is off. With it, every use of an array from a
    struct cost two calls, and walks took three times as long.
    """
    if hasattr(signature, "__code__"):
        return cached(signature, None, OPTIONS)  # type: ignore[no-any-return]

    def compiled(function: Callable[..., Any]) -> Any:
        with vectorised():
            return cached(function, signature, OPTIONS)

    return compiled


def ready(function: Any, *arguments: Any) -> None:
    """Compile a kernel for arguments of these types, without calling it, so that its first call takes no longer."""
    if not UNJITTED:
        function.compile(tuple(map(typeof, arguments)))


def released(signature: Any) -> Callable[..., Any]:
    """Compile a kernel as :func:`kernel` does; other threads of Python run while it does."""

    def compiled(function: Callable[..., Any]) -> Any:
        with vectorised():
            return cached(function, signature, {**OPTIONS, "nogil": True})

    return compiled


def cached(function: Callable[..., Any], signature: Any, options: dict[str, Any]) -> Any:
    """Compile a function of this package and cache the result on disk; a signature of None means at first use."""
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
    """Let LLVM merge neighbouring operations into vectors, such as the gradient's sums; Numba's default forbids it."""
    before = getattr(config, SETTING)
    setattr(config, SETTING, 1)
    try:
        yield
    finally:
        setattr(config, SETTING, before)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a small function that is merged into the kernels that call it.

    A call that passes 20 arrays would cost more than the function's own work. Never call the function from Python,
    which would crash. It has no wrappers for Python and no file on disk, because they would lengthen the first
    compilation.
    """
    return njit(**_PIECE)(function)  # type: ignore[no-any-return]
