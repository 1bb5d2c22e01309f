"""The compiled part of the engine; the only place where Numba is used.

Importing a submodule compiles it once on a fresh machine; later processes load it from the cache.
"""

from __future__ import annotations

import sys

LARGEST = "sampled_iterations.sampled_iterations-*"
"""Pattern of the files of the kernel that takes longest to compile."""


def prepare_cache() -> None:
    """Tidy the cache of compiled kernels; if the largest kernel is missing, print why the first use takes a while."""
    from rlccfr.kernels.cache import drop_unused, kernel_folder
    from rlccfr.kernels.jit import UNJITTED

    if UNJITTED:
        return
    folder = kernel_folder()
    drop_unused(folder)
    if not any(folder.glob(LARGEST)):
        print("rlccfr: compiling its kernels, once on this machine (about half a minute)", file=sys.stderr)
