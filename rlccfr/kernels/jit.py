"""Compilation of kernels, with the compiler options that the whole package uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba import config, njit, typeof

from rlccfr.kernels.cache import KernelCache

UNJITTED = bool(getattr(config, "DISABLE_JIT", False))
"""Whether kernels run as plain Python."""

VECTORIZER_SETTING = "SLP_VECTORIZE"
"""Numba's setting that lets LLVM merge neighbouring operations ("superword-level parallelism")."""

COMPILER: dict[str, Any] = {"error_model": "numpy"}
"""Compiler options of all functions, including those of components."""

OPTIONS: dict[str, Any] = {**COMPILER, "_nrt": False}
"""Compiler options of kernels."""

_INLINED_OPTIONS: dict[str, Any] = {
    "forceinline": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    **OPTIONS,
}


def kernel(signature: Any = None) -> Callable[..., Any]:
    """Compile a kernel and cache it on disk: ``@kernel`` at its first call, ``@kernel(signature)`` on import.

    Kernels allocate nothing, so Numba's reference counting (``_nrt``) is off. With reference counting, every use of an
    array from a struct costs two calls, and walks take three times as long.
    """
    if hasattr(signature, "__code__"):
        return cached(signature, None, OPTIONS)  # type: ignore[no-any-return]

    def compiled(function: Callable[..., Any]) -> Any:
        with vectorised():
            return cached(function, signature, OPTIONS)

    return compiled


def ready(function: Any, *arguments: Any) -> None:
    """Compile a kernel for the types of ``arguments`` without calling it, so that its first call is fast, too."""
    if not UNJITTED:
        function.compile(tuple(map(typeof, arguments)))


def released(signature: Any) -> Callable[..., Any]:
    """Compile a kernel as :func:`kernel` does, but let other threads of Python run while it runs.

    It is compiled on import, or at its first call if the signature is None.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        with vectorised():
            return cached(function, signature, {**OPTIONS, "nogil": True})

    return compiled


def cached(function: Callable[..., Any], signature: Any, options: dict[str, Any]) -> Any:
    """Compile a function of this package, and cache the result on disk.

    If the signature is None, the function is compiled at its first call.
    """
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
    """Let LLVM merge neighbouring operations, such as additions, into vector instructions; Numba's default forbids it.

    In the kernels, this makes the sums of the gradient faster.
    """
    previous = getattr(config, VECTORIZER_SETTING)
    setattr(config, VECTORIZER_SETTING, 1)
    try:
        yield
    finally:
        setattr(config, VECTORIZER_SETTING, previous)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a small function that is merged into the kernels that call it.

    A call that passes 20 arrays would cost more than the function's own work. Never call the function from Python: the
    process would crash. The function has no wrappers for Python and no file on disk, because they would lengthen the
    first compilation.
    """
    return njit(**_INLINED_OPTIONS)(function)  # type: ignore[no-any-return]
