"""The compiled part of the engine; the only place where Numba is used.

Importing a submodule compiles it once on a fresh machine; later processes load it from the cache.
"""

from __future__ import annotations

import sys

PASSES, WALKS = "exact_iterations.exact_iterations-*", "sampled_iterations.sampled_iterations-*"
PUBLIC = "public_iterations.*"
"""Patterns of the files of the kernels that take longest to compile: for exact passes, for walks, for public trees."""


def prepare_cache() -> None:
    """Tidy the cache of compiled kernels, and announce the compilation of those for exact passes."""
    from rlccfr.kernels.cache import drop_unused, kernel_folder
    from rlccfr.kernels.jit import UNJITTED

    if not UNJITTED:
        drop_unused(kernel_folder())
        announce(PASSES, "exact passes")


def announce(pattern: str, use: str) -> None:
    """If a kernel is not compiled yet, print why its first use takes a while.

    Args:
        pattern: pattern of the kernel's files.
        use: what the kernel is for.
    """
    from rlccfr.kernels.cache import kernel_folder
    from rlccfr.kernels.jit import UNJITTED

    if not (UNJITTED or any(kernel_folder().glob(pattern))):
        print(f"rlccfr: compiling its kernels for {use}, once on this machine (about 15 seconds)", file=sys.stderr)
